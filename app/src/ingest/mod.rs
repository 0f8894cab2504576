//! From files to a searchable library: extract, chunk, embed, store. Survives a kill at any point.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::chunk::ChunkerConfig;
use crate::store::{DocumentId, DocumentStatus};

/// How to ingest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IngestOptions {
    /// The chunker; documents already ready with another one are chunked anew.
    pub chunker: ChunkerConfig,
}

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileOutcome {
    /// The file.
    pub path: PathBuf,
    /// Its document, where one was recorded.
    pub document: Option<DocumentId>,
    /// Its state now.
    pub status: DocumentStatus,
    /// Why it is not ready.
    pub reason: Option<String>,
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
    /// Whether the user stopped it.
    pub cancelled: bool,
    /// Wall-clock seconds in all.
    pub secs: f64,
}
