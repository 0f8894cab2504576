//! The one error that people see: what failed, what was found, what to do.

use crate::chunk::ChunkError;
use crate::embed::EmbedError;
use crate::extract::ReadOptionsError;
use crate::ingest::{EmbedFailure, IngestError};
use crate::retrieve::RetrieveError;
use crate::store::StoreError;

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

impl Error {
    /// An error with a title and what was found.
    pub fn new(title: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { title: title.into(), detail: detail.into(), hint: None }
    }

    /// The same error with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<StoreError> for Error {
    fn from(err: StoreError) -> Self {
        let detail = err.to_string();
        let (title, hint) = match &err {
            StoreError::Name { .. } => ("Library name", None),
            StoreError::Io { .. } => {
                ("Disk", Some("check that the folder can be written and that the disk is not full"))
            }
            StoreError::Newer { .. } => ("Newer library", Some("update Outcrop")),
            StoreError::Older { .. } => ("Older library", Some("close the other Outcrop and open the library again")),
            StoreError::Damaged { .. } => ("Damaged library", Some("run `outcrop verify --repair`")),
            StoreError::Emptied { .. } => (
                "Damaged library",
                Some("put a copy of the file back, or remove the library's folder and ingest the documents again"),
            ),
            StoreError::ReadOnly { .. } => ("Read-only library", Some("close the other Outcrop that holds it")),
            StoreError::Archive { .. } => {
                ("Library archive", Some("`outcrop export FILE` writes what can be imported"))
            }
            StoreError::Exists { .. } => ("Library exists", Some("give another name with `--library NAME`")),
            StoreError::NoDocument(_) => ("No such document", Some("`outcrop documents` lists those that are there")),
            StoreError::NoText(_) => ("No text", Some("`outcrop documents` says why")),
            StoreError::Vectors { .. } | StoreError::Database { .. } => ("Library", None),
        };
        Self { title: title.to_owned(), detail, hint: hint.map(str::to_owned) }
    }
}

impl From<EmbedError> for Error {
    fn from(err: EmbedError) -> Self {
        let title = match err {
            EmbedError::Load(_) => "Embedding model",
            EmbedError::Run(_) => "Embedding",
            EmbedError::Cancelled => "Cancelled",
        };
        Self::new(title, err.to_string())
    }
}

impl From<ChunkError> for Error {
    fn from(err: ChunkError) -> Self {
        Self::new("Chunker", err.to_string())
    }
}

impl From<EmbedFailure> for Error {
    fn from(err: EmbedFailure) -> Self {
        match err {
            EmbedFailure::Embed(err) => err.into(),
            EmbedFailure::Store(err) => err.into(),
        }
    }
}

impl From<IngestError> for Error {
    fn from(err: IngestError) -> Self {
        match err {
            IngestError::Store(err) => err.into(),
            IngestError::Model(err) => err.into(),
            IngestError::Chunker(err) => err.into(),
            IngestError::Read(err) => err.into(),
            IngestError::Thread(detail) => Self::new("Ingest", detail),
        }
    }
}

impl From<ReadOptionsError> for Error {
    fn from(err: ReadOptionsError) -> Self {
        Self::new("How to read", err.to_string())
    }
}

impl From<RetrieveError> for Error {
    fn from(err: RetrieveError) -> Self {
        match err {
            RetrieveError::Store(err) => err.into(),
            RetrieveError::Embed(err) => err.into(),
            RetrieveError::Options(detail) => Self::new("Search options", detail),
        }
    }
}

impl From<engine::Error> for Error {
    fn from(err: engine::Error) -> Self {
        Self::new("Vector search", err.to_string())
    }
}
