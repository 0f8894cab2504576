//! [`Library`]: the one API over a library of documents.
//!
//! A `Library` is `Send + Sync`; share it as `Arc<Library>`. Searches run while an ingest writes. One process writes a
//! library; a second one opens it for reading only and [`Library::is_read_only`] says so.
//!
//! ```
//! use std::sync::Arc;
//! use outcrop::embed::HashEmbedder;
//! use outcrop::extract::{Coverage, DocumentKind, Extract, ExtractError, Extraction};
//! use outcrop::ingest::IngestOptions;
//! use outcrop::retrieve::SearchOptions;
//! use outcrop::{CancelToken, Library, LibraryOptions};
//!
//! // The product reads files in worker processes; this one reads plain text here.
//! struct PlainText;
//! impl Extract for PlainText {
//!     fn extract(&self, path: &std::path::Path, _: &CancelToken) -> Result<Extraction, ExtractError> {
//!         let text = std::fs::read_to_string(path).unwrap_or_default();
//!         Ok(Extraction {
//!             kind: DocumentKind::Text, title: None, text, spans: Vec::new(), coverage: Coverage::default(),
//!             metadata: None,
//!         })
//!     }
//! }
//!
//! let folder = tempfile::tempdir()?;
//! let note = folder.path().join("pump.txt");
//! std::fs::write(&note, "Hold the red button for five seconds to reset the pump.")?;
//!
//! let library = Library::open(LibraryOptions {
//!     home: Some(folder.path().join("home")),
//!     embedder: Some(Arc::new(HashEmbedder)),
//!     extractor: Some(Arc::new(PlainText)),
//!     ..LibraryOptions::default()
//! })?;
//! let report = library.ingest(&[note], &IngestOptions::default(), &|_| {}, &CancelToken::new())?;
//! assert_eq!(report.files.len(), 1);
//!
//! let results = library.search("How do I reset the pump?", &SearchOptions::default())?;
//! assert!(results.into_iter().next().is_some_and(|hit| hit.chunk.text.contains("red button")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Files of a library are listed at [`crate::store::LibraryPaths`].

mod archive;
mod ask;
mod chats;
mod error;
mod home;
mod map;
mod options;
mod pages;
mod preview;
mod readers;
mod search;
mod whole;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::answer::{Answer, AskEvent, AskOptions, Generators};
use crate::embed::{self, Embedder, Rerankers};
use crate::extract::{Extract, Extraction, Passwords};
use crate::ingest::{self, IngestOptions, IngestReport, Ingestion};
use crate::models;
use crate::progress::{CancelToken, IngestProgress};
use crate::retrieve::LateInteraction;
use crate::store::{ChunkRecord, DocumentId, DocumentRecord, EngineFiles, LibraryPaths, Store, VerifyReport};
use crate::watch::Changes;

pub use error::Error;
pub use home::home_folder;
pub use map::{LibraryMap, MapPassage};
pub use options::{Access, GpuChoice, LibraryOptions};
pub use pages::NEEDS_PASSWORD;
pub use preview::{ChunkPreview, Previewer, preview_chunks};

use readers::extract_pool;

/// Name of the library that is opened where none is named.
pub(crate) const DEFAULT_NAME: &str = "default";

/// The error for a library that must be there, with the names of those that are.
fn no_library(paths: &LibraryPaths) -> Error {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let found = paths.folder().parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let mut others: Vec<String> = found.into_iter().flatten().flatten().map(|entry| name(&entry.path())).collect();
    others.sort();
    let there =
        if others.is_empty() { "there is none yet".to_owned() } else { format!("there are {}", others.join(", ")) };
    Error::new("No such library", format!("{:?} was not found; {there}", name(paths.folder())))
        .with_hint("`outcrop ingest PATH…` makes one; `--library NAME` names another")
}

/// An open library.
pub struct Library {
    home: PathBuf,
    models: PathBuf,
    store: Store,
    embedder: Arc<dyn Embedder>,
    embedder_note: Option<String>,
    extractor: Arc<dyn Extract>,
    passwords: Passwords,
    searcher: Arc<engine::Searcher>,
    worker_binary: Option<PathBuf>,
    generators: Mutex<Generators>,
    late: Mutex<LateInteraction>,
    rerankers: Mutex<Rerankers>,
}

impl Library {
    /// Opens a library, making it if it is not there unless `access` says otherwise, and brings it to a consistent state
    /// after a kill.
    ///
    /// # Errors
    /// The folder cannot be written, the library is not there though it must be, or it was made by a newer version or is
    /// damaged. A damaged vector file is an error of what needs it, not of opening: [`Library::verify`] makes it anew.
    pub fn open(options: LibraryOptions) -> Result<Self, Error> {
        let home = home_folder(options.home)?;
        let models = models::folder(options.models.as_deref(), &home);
        let paths = LibraryPaths::new(&home, options.name.as_deref().unwrap_or(DEFAULT_NAME))?;
        if options.access != Access::Make && !paths.database().is_file() {
            return Err(no_library(&paths));
        }
        let searcher =
            Arc::new(engine::Searcher::new(&engine::SearcherOptions { gpu: options.gpu.into(), threads: None })?);
        let (embedder, embedder_note) = match options.embedder {
            Some(embedder) => (embedder, None),
            None => embed::open_installed(&models),
        };
        let extractor = match options.extractor {
            Some(extractor) => extractor,
            None => extract_pool(options.worker_binary.clone(), &models)?,
        };
        let vectors = Box::new(EngineFiles::new(searcher.clone()));
        let store = match options.access {
            Access::Read => Store::open_to_read(paths, vectors)?,
            Access::Make | Access::Write => Store::open(paths, vectors)?,
        };
        let generators =
            Generators::new(models.clone(), options.worker_binary.clone()).with_gpu(options.gpu == GpuChoice::Auto);
        Ok(Self {
            store,
            home,
            generators: Mutex::new(generators),
            late: Mutex::default(),
            rerankers: Mutex::new(Rerankers::new(models.clone())),
            models,
            embedder,
            embedder_note,
            extractor,
            passwords: Passwords::default(),
            searcher,
            worker_binary: options.worker_binary,
        })
    }

    /// Outcrop's home.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Where models and native libraries are.
    pub fn models_folder(&self) -> &Path {
        &self.models
    }

    /// The binary that worker processes run, where one was named.
    pub fn worker_binary(&self) -> Option<&Path> {
        self.worker_binary.as_deref()
    }

    /// The files of this library.
    pub fn paths(&self) -> &LibraryPaths {
        self.store.paths()
    }

    /// The embedder in use.
    pub fn embedder(&self) -> &Arc<dyn Embedder> {
        &self.embedder
    }

    /// A sentence for people when no embedding model is installed and the hash embedder stands in.
    pub fn embedder_note(&self) -> Option<&str> {
        self.embedder_note.as_deref()
    }

    /// What the vector leg runs on, for the status line, for example `CPU` or `NVIDIA H200`.
    pub fn backend_name(&self) -> String {
        self.searcher.backend_name()
    }

    /// Whether another process holds the library, so that this one cannot write.
    pub fn is_read_only(&self) -> bool {
        self.store.is_read_only()
    }

    /// Ingests files and folders. Unchanged files are skipped, changed ones replaced, those gone from a folder removed.
    ///
    /// # Errors
    /// The library cannot be written. A file that fails is not an error: see the report.
    pub fn ingest(
        &self,
        paths: &[PathBuf],
        options: &IngestOptions,
        on_progress: &(dyn Fn(&IngestProgress) + Sync),
        cancel: &CancelToken,
    ) -> Result<IngestReport, Error> {
        Ok(ingest::ingest(self.ingestion(options, cancel), paths, on_progress)?)
    }

    /// Ingests what changed in folders, or everything in them where the changes are incomplete.
    ///
    /// # Errors
    /// The library cannot be written. A file that fails is not an error: see the report.
    pub fn ingest_changes(
        &self,
        folders: &[PathBuf],
        changes: &Changes,
        options: &IngestOptions,
        on_progress: &(dyn Fn(&IngestProgress) + Sync),
        cancel: &CancelToken,
    ) -> Result<IngestReport, Error> {
        if changes.is_incomplete {
            return self.ingest(folders, options, on_progress, cancel);
        }
        let ingestion = self.ingestion(options, cancel);
        Ok(ingest::ingest_changes(ingestion, folders, &changes.paths, on_progress)?)
    }

    fn ingestion<'a>(&'a self, options: &'a IngestOptions, cancel: &'a CancelToken) -> Ingestion<'a> {
        Ingestion {
            store: &self.store,
            embedder: self.embedder.as_ref(),
            extractor: self.extractor.as_ref(),
            options,
            passwords: &self.passwords,
            cancel,
        }
    }

    /// Every document, by id.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn documents(&self) -> Result<Vec<DocumentRecord>, Error> {
        Ok(self.store.documents()?)
    }

    /// The stored extraction of a document.
    ///
    /// # Errors
    /// There is no such document, or it has no text.
    pub fn extraction(&self, document: DocumentId) -> Result<Extraction, Error> {
        Ok(self.store.extraction(document)?)
    }

    /// The chunks of a document's active chunking, in order.
    ///
    /// # Errors
    /// There is no such document, or the database cannot be read.
    pub fn chunks(&self, document: DocumentId) -> Result<Vec<ChunkRecord>, Error> {
        Ok(self.store.chunks(document)?)
    }

    /// Vectors of `texts` through the library's embedding cache, row by row.
    ///
    /// # Errors
    /// The model failed or the user stopped it.
    pub fn embed_cached(
        &self,
        texts: &[&str],
        cancel: &CancelToken,
        on_done: &mut dyn FnMut(usize),
    ) -> Result<Vec<f32>, Error> {
        let embedder = self.embedder.as_ref();
        Ok(ingest::embed_cached(&self.store, embedder, texts, cancel, on_done)?)
    }

    /// Removes documents; their chunks are not searchable once this returns. Gives how many were there.
    ///
    /// # Errors
    /// The library cannot be written.
    pub fn remove(&self, documents: &[DocumentId]) -> Result<usize, Error> {
        Ok(self.store.remove(documents)?)
    }

    /// Answers a question from the library's passages, streaming.
    ///
    /// # Errors
    /// The library cannot be read or the model does not load. A refusal is not an error.
    pub fn ask(
        &self,
        question: &str,
        options: &AskOptions,
        on_event: &mut dyn FnMut(AskEvent),
        cancel: &CancelToken,
    ) -> Result<Answer, Error> {
        ask::ask(self, question, options, on_event, cancel)
    }

    /// Checks every checksum of the library and every reference between its files, both ways. With `repair`, what is
    /// derived (index, vectors) is made anew from the stored text, and documents whose text is damaged become
    /// `Failed` with the reason. Rows that are written meanwhile may be reported as belonging to no passage.
    ///
    /// # Errors
    /// The library cannot be read, or not written where a repair is asked for. Damage is part of the report.
    pub fn verify(&self, repair: bool) -> Result<VerifyReport, Error> {
        Ok(ingest::repair(&self.store, self.embedder.as_ref(), repair)?)
    }
}
