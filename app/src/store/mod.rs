//! A library on disk: SQLite is the authority, the engine's `.vec` files hold the vectors.
//!
//! Invariant: the searchable set is exactly the chunks of the documents whose status is `Ready`. A document
//! becomes `Ready` in one transaction, after its rows are safe in the vector file; rows that the database does not
//! know are never seen by a search and are forgotten when the library is opened next.
//!
//! Must not know: how text is extracted, chunked or embedded, and how results are ranked. [`LibraryPaths`] says
//! where the files are; start reading at `Store`.

mod archive;
mod cache;
mod catalog;
mod chats;
mod chunks;
mod commit;
mod database;
mod documents;
mod engine_file;
mod error;
mod keywords;
mod layout;
mod lock;
mod memory;
mod mentions;
mod passed_over;
mod record;
mod recover;
mod schema;
mod texts;
mod tokens;
mod vectors;
mod verify;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use lock::WriterLock;
use vectors::VectorFiles;

pub use archive::ArchiveReport;
pub use chats::{ChatId, ChatRecord};
pub use error::StoreError;
pub use layout::LibraryPaths;
pub use memory::MemoryIndex;
pub use record::{ChunkId, ChunkRecord, DocumentId, DocumentRecord, DocumentStatus};
pub use tokens::{index_tokens, is_grammar_pair, query_tokens};

pub(crate) use mentions::{count_mentions, holds_all};
pub use vectors::{VectorHits, VectorIndex};
pub use verify::{Problem, VerifyReport};

pub(crate) use archive::import as import_archive;
pub(crate) use cache::key as cache_key;
pub(crate) use catalog::Catalog;
pub(crate) use chunks::{ChunkingKey, NewChunk};
pub(crate) use commit::{ReadyDocument, Unready};
pub(crate) use database::{Database, ReadView, hold};
pub(crate) use documents::{Hash, KnownDocument, text_hash, text_mark};
pub(crate) use engine_file::EngineFiles;
pub(crate) use record::{DocumentProfile, path_as_text, paths_as_text};
pub(crate) use verify::Findings;

/// How often, and for how long each time, a second process waits for the first to make a new library.
const FIRST_START_WAITS: u32 = 20;
const FIRST_START_WAIT: std::time::Duration = std::time::Duration::from_millis(50);

/// One open library on disk.
#[derive(Debug)]
pub(crate) struct Store {
    paths: LibraryPaths,
    database: Database,
    vectors: VectorFiles,
    catalog: Mutex<Arc<Catalog>>,
    ids: Mutex<std::ops::Range<u64>>,
    writer: Option<WriterLock>,
}

/// Opens a database that another process writes, and may just be making: it gets a moment for that.
fn open_beside_writer(path: &std::path::Path) -> Result<Database, StoreError> {
    let mut waits = FIRST_START_WAITS;
    loop {
        match Database::open_read_only(path) {
            Err(_) if waits > 0 => waits -= 1,
            opened => return opened,
        }
        std::thread::sleep(FIRST_START_WAIT);
    }
}

/// SQLite takes an empty file for a new database; beside vectors it is one that lost everything.
fn refuse_cut_off(paths: &LibraryPaths) -> Result<(), StoreError> {
    let database = paths.database();
    let is_empty = std::fs::metadata(&database).is_ok_and(|metadata| metadata.len() == 0);
    let entries = std::fs::read_dir(paths.vectors_folder()).into_iter().flatten().flatten();
    let has_vectors = entries.into_iter().any(|entry| entry.path().extension().is_some_and(|ext| ext == "vec"));
    if is_empty && has_vectors {
        return Err(StoreError::Emptied { path: database });
    }
    Ok(())
}

impl Store {
    /// Opens a library, making it if it is not there. When another process holds it, it is opened for reading only.
    pub(crate) fn open(paths: LibraryPaths, opener: Box<dyn vectors::OpenIndex>) -> Result<Self, StoreError> {
        let folder = paths.vectors_folder();
        std::fs::create_dir_all(&folder).map_err(|err| StoreError::io(&folder, &err))?;
        let writer = WriterLock::take(&paths.lock_file())?;
        refuse_cut_off(&paths)?;
        let database = match &writer {
            Some(_) => Database::open(&paths.database())?,
            None => open_beside_writer(&paths.database())?,
        };
        let store = Self {
            vectors: VectorFiles::new(paths.clone(), opener, writer.is_some()),
            paths,
            database,
            catalog: Mutex::default(),
            ids: Mutex::new(0..0),
            writer,
        };
        store.recover()?;
        Ok(store)
    }

    /// Opens a library for reading only: it is brought to a consistent state as ever, then another process may write it.
    pub(crate) fn open_to_read(paths: LibraryPaths, opener: Box<dyn vectors::OpenIndex>) -> Result<Self, StoreError> {
        let mut store = Self::open(paths, opener)?;
        store.vectors.stop_writing();
        store.writer = None;
        Ok(store)
    }

    pub(crate) fn paths(&self) -> &LibraryPaths {
        &self.paths
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.writer.is_none()
    }

    pub(crate) fn expect_writable(&self) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Err(StoreError::ReadOnly { path: self.paths.folder().to_owned() });
        }
        Ok(())
    }

    /// Every document, by id.
    pub(crate) fn documents(&self) -> Result<Vec<DocumentRecord>, StoreError> {
        self.database.read(documents::list)
    }

    /// Id and path of every document.
    pub(crate) fn document_paths(&self) -> Result<Vec<(DocumentId, PathBuf)>, StoreError> {
        self.database.read(documents::paths)
    }

    /// The stored extraction of a document.
    pub(crate) fn extraction(&self, id: DocumentId) -> Result<crate::extract::Extraction, StoreError> {
        let found = self.database.read(|connection| {
            let is_known = documents::exists(connection, id)?;
            Ok(is_known.then_some(texts::get(connection, id)?))
        })?;
        found
            .ok_or(StoreError::NoDocument(id))?
            .ok_or(StoreError::NoText(id))?
            .map_err(|detail| StoreError::damaged(self.database.path(), format!("document {}: {detail}", id.0)))
    }

    /// The chunks of a document's active chunking, in order.
    pub(crate) fn chunks(&self, id: DocumentId) -> Result<Vec<ChunkRecord>, StoreError> {
        let found = self.database.read(|connection| {
            let is_known = documents::exists(connection, id)?;
            Ok(is_known.then_some(chunks::of_document(connection, id)?))
        })?;
        found.ok_or(StoreError::NoDocument(id))
    }

    /// A snapshot for a search, with the searchable set it sees.
    pub(crate) fn snapshot(&self) -> Result<(ReadView<'_>, Arc<Catalog>), StoreError> {
        let view = self.database.view()?;
        let load = || -> rusqlite::Result<Arc<Catalog>> {
            let generation = Catalog::generation(&view)?;
            let mut kept = hold(&self.catalog);
            if !kept.is_of(generation) {
                *kept = Arc::new(Catalog::load(&view)?);
            }
            Ok(kept.clone())
        };
        let catalog = load().map_err(|err| self.database.error(&err))?;
        Ok((view, catalog))
    }

    /// A searchable chunk of a snapshot.
    pub(crate) fn chunk(&self, view: &ReadView<'_>, id: u64) -> Result<ChunkRecord, StoreError> {
        let found = self.read_in(view, |connection| chunks::by_id(connection, id))?;
        found.ok_or_else(|| StoreError::damaged(self.database.path(), format!("chunk {id} is not there")))
    }

    /// Path and title of a document of a snapshot.
    pub(crate) fn path_and_title(&self, view: &ReadView<'_>, id: DocumentId) -> Result<(PathBuf, String), StoreError> {
        self.read_in(view, |connection| documents::path_and_title(connection, id))
    }

    /// Documents of a snapshot that can be searched; what they say of themselves only where that is asked for.
    pub(crate) fn ready_documents(
        &self,
        view: &ReadView<'_>,
        with_metadata: bool,
    ) -> Result<Vec<DocumentProfile>, StoreError> {
        self.read_in(view, |connection| documents::list_ready(connection, with_metadata))
    }

    /// Passages of a snapshot that hold `token`, by id, with how often.
    pub(crate) fn postings(&self, view: &ReadView<'_>, token: &str) -> Result<Vec<(u64, u32)>, StoreError> {
        self.read_in(view, |connection| keywords::postings(connection, token))
    }

    /// Runs a statement on a snapshot.
    pub(crate) fn read_in<T>(
        &self,
        view: &ReadView<'_>,
        work: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        work(view).map_err(|err| self.database.error(&err))
    }

    /// The vectors of one model, if there are any.
    pub(crate) fn vectors(&self, fingerprint: &str) -> Result<Option<Arc<dyn VectorIndex>>, StoreError> {
        self.vectors.get(fingerprint)
    }

    /// The error for searchable chunks whose vector file is not there.
    pub(crate) fn no_vectors(&self, fingerprint: &str) -> StoreError {
        StoreError::damaged(&self.paths.vectors(fingerprint), "the vector file is missing")
    }

    /// Cached vectors by key; `None` where the text was never embedded.
    pub(crate) fn cached_vectors(&self, keys: &[Hash], dims: usize) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
        self.database.read(|connection| keys.iter().map(|key| cache::get(connection, key, dims)).collect())
    }

    /// Caches vectors by key.
    pub(crate) fn cache_vectors(&self, entries: &[(Hash, &[f32])]) -> Result<(), StoreError> {
        self.database.write_quietly(|transaction| cache::put(transaction, entries))
    }
}
