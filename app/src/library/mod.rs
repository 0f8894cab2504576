//! [`Library`]: the one API over a library of documents.
//!
//! A `Library` is `Send + Sync`; share it as `Arc<Library>`. Searches run while an ingest writes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::answer::{Answer, AskEvent, AskOptions};
use crate::embed::Embedder;
use crate::extract::Extraction;
use crate::ingest::{IngestOptions, IngestReport};
use crate::progress::{CancelToken, IngestProgress};
use crate::retrieve::{SearchOptions, SearchResults};
use crate::store::{ChunkRecord, DocumentId, DocumentRecord};

/// Which library to open and what to open it with.
#[derive(Clone, Default)]
pub struct LibraryOptions {
    /// Outcrop's home: libraries, models and logs. `None` takes `OUTCROP_HOME`, else the user's data folder.
    pub home: Option<PathBuf>,
    /// Where models and native libraries are; `None` takes `OUTCROP_MODELS`, else `<home>/models`.
    pub models: Option<PathBuf>,
    /// The library's name; `None` is `default`.
    pub name: Option<String>,
    /// The embedder; `None` takes the installed default model, else the hash embedder with a note.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Where the vector leg runs.
    pub gpu: GpuChoice,
    /// The binary that worker processes run; `None` is the running program.
    pub worker_binary: Option<PathBuf>,
}

/// Where the vector leg runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GpuChoice {
    /// A hardware GPU if there is one and the data is worth it, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Off,
    /// A software adapter, for tests.
    Software,
}

/// An error with what a user needs to act on it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{title}: {detail}")]
pub struct Error {
    /// A few words.
    pub title: String,
    /// What was found and what was expected.
    pub detail: String,
    /// What to do, where there is something to do.
    pub hint: Option<String>,
}

/// An open library.
pub struct Library {
    home: PathBuf,
}

impl Library {
    /// Opens a library, making it if it is not there, and brings it to a consistent state after a kill.
    ///
    /// # Errors
    /// The folder cannot be written, or the library was made by a newer version or is damaged.
    pub fn open(options: LibraryOptions) -> Result<Self, Error> {
        Ok(Self {
            home: options.home.unwrap_or_default(),
        })
    }

    /// Outcrop's home.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The embedder in use.
    pub fn embedder(&self) -> &Arc<dyn Embedder> {
        todo!()
    }

    /// A sentence for people when no embedding model is installed and the hash embedder stands in.
    pub fn embedder_note(&self) -> Option<&str> {
        None
    }

    /// What the vector leg runs on, for the status line, for example `CPU` or `NVIDIA H200`.
    pub fn backend_name(&self) -> String {
        "CPU".to_owned()
    }

    /// Whether another process holds the library, so that this one cannot write.
    pub fn is_read_only(&self) -> bool {
        false
    }

    /// Ingests files and folders (recursively). Unchanged files are skipped, changed ones replaced atomically.
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
        let _ = (paths, options, on_progress, cancel);
        todo!()
    }

    /// Every document, by id.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn documents(&self) -> Result<Vec<DocumentRecord>, Error> {
        todo!()
    }

    /// The stored extraction of a document.
    ///
    /// # Errors
    /// There is no such document, or it has no text.
    pub fn extraction(&self, document: DocumentId) -> Result<Extraction, Error> {
        let _ = document;
        todo!()
    }

    /// The chunks of a document's active chunking, in order.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn chunks(&self, document: DocumentId) -> Result<Vec<ChunkRecord>, Error> {
        let _ = document;
        todo!()
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
        let _ = (texts, cancel, on_done);
        todo!()
    }

    /// Removes documents; their chunks are not searchable once this returns.
    ///
    /// # Errors
    /// The library cannot be written.
    pub fn remove(&self, documents: &[DocumentId]) -> Result<usize, Error> {
        let _ = documents;
        todo!()
    }

    /// Finds passages. Any query text is valid; an empty one finds nothing.
    ///
    /// # Errors
    /// An option is out of range, or the library cannot be read.
    pub fn search(&self, query: &str, options: &SearchOptions) -> Result<SearchResults, Error> {
        let _ = (query, options);
        todo!()
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
        let _ = (question, options, on_event, cancel);
        todo!()
    }
}
