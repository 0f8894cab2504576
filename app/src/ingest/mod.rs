//! From files to a searchable library: extract, chunk, embed, store. Survives a kill at any point.
//!
//! The order for each file: text is extracted in a worker process, chunked, embedded through the cache, its rows are
//! written and synced, and one transaction makes the document `Ready`. A file that fails is recorded with its reason
//! and the next one goes on. Start reading at `run::ingest`.
//!
//! Must not know: windows, command lines, how results are ranked.

mod ahead;
mod embedding;
mod finish;
mod index;
mod meter;
mod passage;
mod prepare;
mod repair;
mod run;
mod scan;
mod source;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::chunk::ChunkerConfig;
use crate::extract::ReadOptions;
use crate::store::{DocumentId, DocumentStatus};

pub(crate) use embedding::{EmbedFailure, embed_cached};
pub(crate) use finish::CUTS_LOST;
pub(crate) use repair::repair;
pub(crate) use run::{IngestError, Ingestion, ingest, ingest_changes};
pub(crate) use scan::absolute;

pub use scan::{ScannedFile, scan};

/// How to ingest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IngestOptions {
    /// The chunker; documents already ready with another one are chunked anew, unless they keep theirs.
    pub chunker: ChunkerConfig,
    /// Whether documents keep the chunker they were made with, also where their file has changed or could not be read
    /// for a while; cuts by hand are kept as long as the text is the same. Off by default.
    #[serde(default)]
    pub keep_chunkers: bool,
    /// Whether the document's title and the passage's heading path are embedded and indexed in front of the passage,
    /// so that "How do I reset it?" reaches a paragraph under "Reset" that does not repeat the word. They are never
    /// part of what is cited. On by default.
    pub context: bool,
    /// How files are read. What is left open stays as each document has it.
    #[serde(default)]
    pub read: ReadOptions,
}

impl Default for IngestOptions {
    fn default() -> Self {
        Self { chunker: ChunkerConfig::default(), keep_chunkers: false, context: true, read: ReadOptions::default() }
    }
}

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileOutcome {
    /// The file.
    #[serde(serialize_with = "crate::store::path_as_text")]
    pub path: PathBuf,
    /// Its document, where one was recorded.
    pub document: Option<DocumentId>,
    /// Its state now.
    pub status: DocumentStatus,
    /// Why it is not ready.
    pub reason: Option<String>,
    /// What else the person should know, a sentence each: what the reader says of the file, and that cuts made by hand
    /// were lost.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Whether it was already there, unchanged.
    pub unchanged: bool,
    /// Number of pages, for formats that have them.
    pub pages: Option<u32>,
    /// Chunks made.
    pub chunks: usize,
    /// Wall-clock seconds.
    pub secs: f64,
}

/// What became of all files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IngestReport {
    /// One entry for each file, in the order found.
    pub files: Vec<FileOutcome>,
    /// Files found in folders that no reader is there for; they are no documents.
    #[serde(serialize_with = "crate::store::paths_as_text")]
    pub skipped: Vec<PathBuf>,
    /// Pictures found in folders in which there is no text; they are no documents.
    #[serde(default, serialize_with = "crate::store::paths_as_text")]
    pub without_text: Vec<PathBuf>,
    /// Documents under the folders that were forgotten because their files are gone.
    #[serde(serialize_with = "crate::store::paths_as_text")]
    pub removed: Vec<PathBuf>,
    /// Whether the user stopped it.
    pub cancelled: bool,
    /// Wall-clock seconds in all.
    pub secs: f64,
}

impl IngestReport {
    /// How many files it tells of.
    pub(crate) fn num_files(&self) -> usize {
        self.files.len() + self.skipped.len() + self.without_text.len()
    }
}
