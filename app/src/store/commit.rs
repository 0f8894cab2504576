//! Changes of the searchable set, each one transaction of the database.
//!
//! Order: rows of new chunks are safe in the vector file before the transaction that makes them searchable; rows of
//! chunks that are no longer searchable are forgotten after it. A kill between the two leaves rows that no search
//! sees.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use super::documents::{json, status_text};
use super::{
    ChunkId, ChunkingKey, DocumentId, DocumentStatus, Hash, KnownDocument, NewChunk, Store, StoreError, chunks,
    documents, hold, passed_over, texts,
};
use crate::chunk::ChunkerConfig;
use crate::extract::{Extraction, Metadata, ReadOptions};

/// Ids are reserved on disk in blocks of at least this many, so that not every document costs a write for them.
const RESERVED_IDS: usize = 4096;

/// A document about to become searchable.
pub(crate) struct ReadyDocument<'a> {
    pub(crate) id: DocumentId,
    pub(crate) bytes: u64,
    pub(crate) hash: Hash,
    pub(crate) extraction: &'a Extraction,
    /// How the file was read.
    pub(crate) read: &'a ReadOptions,
    pub(crate) title: String,
    pub(crate) key: ChunkingKey,
    pub(crate) embedder: &'a str,
    pub(crate) dims: usize,
    /// Chunks in document order; at least one.
    pub(crate) chunks: Vec<NewChunk>,
    /// `chunks.len() * dims` floats.
    pub(crate) vectors: &'a [f32],
}

/// Why a document is not searchable, and what is remembered of it.
#[derive(Clone, Copy)]
pub(crate) struct Unready<'a> {
    pub(crate) status: DocumentStatus,
    pub(crate) reason: &'a str,
    /// A hash that tells later whether the reason still holds.
    pub(crate) mark: Option<&'a Hash>,
    /// How often in a row reading took too long.
    pub(crate) timeouts: u32,
    /// How the file is to be read from now on.
    pub(crate) read: Option<&'a ReadOptions>,
    /// What it is to be cut with from now on.
    pub(crate) chunker: Option<&'a ChunkerConfig>,
}

impl<'a> Unready<'a> {
    /// A reason after which the file is read and cut as before.
    pub(crate) fn new(status: DocumentStatus, reason: &'a str) -> Self {
        Self { status, reason, mark: None, timeouts: 0, read: None, chunker: None }
    }
}

/// Rows to forget, by the model they belong to.
type Stale = Vec<(String, Vec<u64>)>;

impl Store {
    /// Puts files in the queue; those that are documents already stay as they are.
    pub(crate) fn enqueue(&self, files: &[(PathBuf, u64)]) -> Result<(), StoreError> {
        self.database.write_quietly(|transaction| {
            files.iter().try_for_each(|(path, bytes)| documents::enqueue(transaction, path, *bytes))
        })
    }

    /// The document of a path.
    pub(crate) fn document_at(&self, path: &Path) -> Result<Option<KnownDocument>, StoreError> {
        self.database.read(|connection| documents::by_path(connection, path))
    }

    /// What the active chunking of a document was made with.
    pub(crate) fn active_key(&self, id: DocumentId) -> Result<Option<ChunkingKey>, StoreError> {
        self.database.read(|connection| chunks::active_key(connection, id))
    }

    /// Ready documents with these bytes, by id.
    pub(crate) fn ready_with_hash(&self, hash: &Hash) -> Result<Vec<KnownDocument>, StoreError> {
        self.database.read(|connection| documents::ready_by_hash(connection, hash))
    }

    /// Gives `document` the path of `newcomer`, which is dropped: the file was renamed.
    pub(crate) fn adopt_path(&self, document: DocumentId, newcomer: DocumentId, path: &Path) -> Result<(), StoreError> {
        self.database.write(|transaction| {
            documents::delete(transaction, newcomer)?;
            documents::rename(transaction, document, path)
        })
    }

    /// Makes a document searchable, in place of what it held before. `false` when it was removed meanwhile.
    pub(crate) fn make_ready(&self, ready: ReadyDocument<'_>) -> Result<bool, StoreError> {
        let fingerprint = ready.key.fingerprint.clone();
        let ids = self.append_rows(&fingerprint, ready.dims, ready.vectors)?;
        let stale = self.database.write(|transaction| commit_ready(transaction, ready, &ids))?;
        if let Some(stale) = stale {
            self.forget_rows(&stale);
            Ok(true)
        } else {
            self.forget_rows(&[(fingerprint, ids)]);
            Ok(false)
        }
    }

    /// Keeps what a document says of itself.
    pub(crate) fn set_metadata(&self, id: DocumentId, metadata: &Metadata) -> Result<(), StoreError> {
        self.database.write(|transaction| documents::set_metadata(transaction, id, Some(metadata)))
    }

    /// Counts another try that took too long, of a document that stays searchable.
    pub(crate) fn count_timeouts(&self, id: DocumentId, timeouts: u32) -> Result<(), StoreError> {
        self.database.write(|transaction| documents::set_timeouts(transaction, id, timeouts))
    }

    /// Takes a document out of the searchable set and records why.
    pub(crate) fn make_unready(&self, id: DocumentId, unready: Unready<'_>) -> Result<(), StoreError> {
        let Unready { status, reason, mark, timeouts, read, chunker } = unready;
        let stale = self.database.write(|transaction| {
            let stale = active_rows(transaction, id)?;
            if let Some(Ok(extraction)) = texts::get(transaction, id)? {
                documents::set_cut_mark(transaction, id, &extraction.text)?;
            }
            chunks::remove_all(transaction, id)?;
            texts::remove(transaction, id)?;
            documents::set_status(transaction, id, status, Some(reason))?;
            documents::set_metadata(transaction, id, None)?;
            documents::set_mark(transaction, id, mark)?;
            documents::set_wishes(transaction, id, read, chunker, timeouts)?;
            Ok(stale)
        })?;
        self.forget_rows(&stale);
        Ok(())
    }

    /// Records for the documents of `paths` that wait in the queue that they were not read, and gives what is known of
    /// each path.
    pub(crate) fn cancel_waiting(
        &self,
        paths: &[PathBuf],
        reason: &str,
    ) -> Result<Vec<Option<KnownDocument>>, StoreError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        self.database
            .write_quietly(|transaction| paths.iter().map(|path| cancel_waiting(transaction, path, reason)).collect())
    }

    /// Chunks and pages of a document.
    pub(crate) fn size_of(&self, id: DocumentId) -> Result<(usize, Option<u32>), StoreError> {
        self.database.read(|connection| {
            let chunks = chunks::active_ids(connection, id)?.len();
            Ok((chunks, documents::pages(connection, id)?))
        })
    }

    /// Removes documents and gives how many were there.
    pub(crate) fn remove(&self, ids: &[DocumentId]) -> Result<usize, StoreError> {
        self.expect_writable()?;
        let (removed, stale) = self.database.write(|transaction| {
            let (mut removed, mut stale) = (0, Stale::new());
            for &id in ids {
                if documents::exists(transaction, id)? {
                    stale.extend(active_rows(transaction, id)?);
                    chunks::remove_all(transaction, id)?;
                    documents::delete(transaction, id)?;
                    removed += 1;
                }
            }
            Ok((removed, stale))
        })?;
        self.forget_rows(&stale);
        Ok(removed)
    }

    /// Appends rows under ids that were never used, and returns when they are safe.
    fn append_rows(&self, fingerprint: &str, dims: usize, vectors: &[f32]) -> Result<Vec<u64>, StoreError> {
        let index = self.vectors.get_or_make(fingerprint, dims)?;
        let count = vectors.len() / dims.max(1);
        // Held until the rows are written: ids must increase in row order.
        let mut block = hold(&self.ids);
        let last_id = index.last_id().unwrap_or(0);
        if block.start <= last_id || block.end.saturating_sub(block.start) < count as u64 {
            let reserved = count.max(RESERVED_IDS);
            let first =
                self.database.write_quietly(|transaction| chunks::reserve_ids(transaction, reserved, last_id))?;
            *block = first..first + reserved as u64;
        }
        let ids: Vec<u64> = (block.start..block.start + count as u64).collect();
        index.append(&ids, vectors)?;
        block.start += count as u64;
        Ok(ids)
    }

    /// Makes vector searches faster after many rows were added. What cannot be written costs nothing but time.
    pub(crate) fn quicken(&self, fingerprint: &str) {
        let quicken = || self.vectors.get(fingerprint)?.map_or(Ok(()), |index| index.quicken());
        if let Err(err) = quicken() {
            tracing::warn!("vectors are searched without codes: {err}");
        }
    }

    /// Rows that no search sees any more; when forgetting fails, the next open does it.
    fn forget_rows(&self, stale: &[(String, Vec<u64>)]) {
        for (fingerprint, ids) in stale.iter().filter(|(_, ids)| !ids.is_empty()) {
            let forget = || -> Result<(), StoreError> {
                if let Some(index) = self.vectors.get(fingerprint)? {
                    index.delete(ids)?;
                    index.compact()?;
                }
                Ok(())
            };
            if let Err(err) = forget() {
                tracing::warn!("stale rows are kept until the library is opened next: {err}");
            }
        }
    }
}

fn commit_ready(connection: &Connection, ready: ReadyDocument<'_>, ids: &[u64]) -> rusqlite::Result<Option<Stale>> {
    if !documents::exists(connection, ready.id)? {
        return Ok(None);
    }
    let stale = active_rows(connection, ready.id)?;
    let stored = texts::get(connection, ready.id)?.and_then(Result::ok);
    if stored.as_ref().is_none_or(|stored| !is_same_text(stored, ready.extraction)) {
        chunks::remove_all(connection, ready.id)?;
    }
    if stored.as_ref() != Some(ready.extraction) {
        texts::put(connection, ready.id, ready.extraction)?;
    }
    let chunks: Vec<(ChunkId, NewChunk)> = ids.iter().map(|&id| ChunkId(id)).zip(ready.chunks).collect();
    chunks::put_active(connection, ready.id, &ready.key, ready.embedder, &chunks)?;
    passed_over::forget_document(connection, ready.id)?;
    let coverage = &ready.extraction.coverage;
    let without_text: Vec<u32> = coverage.pages_without_text.iter().map(|(page, _)| *page).collect();
    connection.execute(
        "UPDATE documents SET title = ?2, status = ?3, reason = NULL, kind = ?4, pages = ?5,
                pages_without_text = ?6, bytes = ?7, hash = ?8, read = ?9, chunker = ?10, cut_mark = NULL, timeouts = 0,
                metadata = ?11
         WHERE id = ?1",
        params![
            ready.id.0 as i64,
            ready.title,
            status_text(DocumentStatus::Ready),
            json(&ready.extraction.kind)?,
            coverage.pages,
            json(&without_text)?,
            ready.bytes as i64,
            ready.hash.as_slice(),
            json(ready.read)?,
            json(&ready.key.config)?,
            ready.extraction.metadata.as_ref().map(json).transpose()?,
        ],
    )?;
    Ok(Some(stale))
}

/// Whether chunks of one extraction are chunks of the other.
fn is_same_text(one: &Extraction, other: &Extraction) -> bool {
    let Extraction { kind, title, text, spans, coverage, metadata: _ } = one;
    (kind, title, text, spans, coverage) == (&other.kind, &other.title, &other.text, &other.spans, &other.coverage)
}

fn cancel_waiting(connection: &Connection, path: &Path, reason: &str) -> rusqlite::Result<Option<KnownDocument>> {
    let Some(mut known) = documents::by_path(connection, path)? else {
        return Ok(None);
    };
    if known.status == DocumentStatus::Queued {
        known.status = DocumentStatus::Cancelled;
        documents::set_status(connection, known.id, known.status, Some(reason))?;
    }
    Ok(Some(known))
}

fn active_rows(connection: &Connection, id: DocumentId) -> rusqlite::Result<Stale> {
    let key = chunks::active_key(connection, id)?;
    key.map(|key| Ok((key.fingerprint, chunks::active_ids(connection, id)?))).into_iter().collect()
}
