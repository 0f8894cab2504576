//! What the store tells of documents and chunks.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};

use crate::chunk::ChunkerConfig;
use crate::extract::{DocumentKind, Metadata, Place, ReadOptions};

/// Writes a path as text. A name that is no UTF-8 keeps its place in the output, with `\u{FFFD}` for what is not text.
///
/// # Errors
/// Those of the serializer.
pub(crate) fn path_as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// [`path_as_text`] for a list of paths.
///
/// # Errors
/// Those of the serializer.
pub(crate) fn paths_as_text<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

/// A document's id within its library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DocumentId(pub u64);

/// A chunk's id within its library: the id of its row in the vector file. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChunkId(pub u64);

/// The state of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentStatus {
    /// Text extracted, chunked, embedded: searchable.
    Ready,
    /// Gave an error; the reason says which.
    Failed,
    /// Pages without any text.
    NeedsOcr,
    /// Needs a password.
    Encrypted,
    /// Waiting.
    Queued,
    /// Stopped by the user.
    Cancelled,
}

/// A document as listed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DocumentRecord {
    /// Its id.
    pub id: DocumentId,
    /// Absolute path of the file.
    #[serde(serialize_with = "path_as_text")]
    pub path: PathBuf,
    /// Title, or the file name.
    pub title: String,
    /// Its state.
    pub status: DocumentStatus,
    /// Why it is not ready.
    pub reason: Option<String>,
    /// The format, once known.
    pub kind: Option<DocumentKind>,
    /// Number of pages, for formats that have them.
    pub pages: Option<u32>,
    /// Pages without text, from 1.
    pub pages_without_text: Vec<u32>,
    /// Chunks of the active chunking.
    pub chunks: usize,
    /// Size of the file.
    pub bytes: u64,
    /// What it is cut with; of a document that is not ready, what it was cut with or will be.
    pub chunker: Option<ChunkerConfig>,
    /// How its file is read.
    pub read: ReadOptions,
    /// Name of the embedder of the active chunking.
    pub embedder: Option<String>,
    /// What it says of itself; `None` where it was read before that was kept, which reading it again mends.
    pub metadata: Option<Metadata>,
}

/// What filters look at.
#[derive(Clone, Debug)]
pub(crate) struct DocumentProfile {
    pub(crate) id: DocumentId,
    pub(crate) path: PathBuf,
    pub(crate) kind: Option<DocumentKind>,
    pub(crate) title: String,
    pub(crate) pages: Option<u32>,
    pub(crate) bytes: u64,
    pub(crate) metadata: Option<Metadata>,
}

impl From<DocumentRecord> for DocumentProfile {
    fn from(record: DocumentRecord) -> Self {
        let DocumentRecord { id, path, kind, title, pages, bytes, metadata, .. } = record;
        Self { id, path, kind, title, pages, bytes, metadata }
    }
}

/// A stored chunk with what a citation needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChunkRecord {
    /// Its id.
    pub id: ChunkId,
    /// Its document.
    pub document: DocumentId,
    /// Position in the document, from 0.
    pub index: usize,
    /// First byte in the extracted text.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// The text of the range.
    pub text: String,
    /// Where it stands.
    pub place: Place,
    /// Tokens of the embedder.
    pub tokens: usize,
    /// See [`crate::chunk::Chunk`].
    pub left_similarity: Option<f32>,
    /// See [`crate::chunk::Chunk`].
    pub right_similarity: Option<f32>,
}
