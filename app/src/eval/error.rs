//! Why a measurement could not be made.

use std::path::PathBuf;

use crate::chunk::ChunkError;
use crate::embed::EmbedError;

/// Why a labelled set could not be read or measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// A file is missing or does not follow the format.
    #[error("{detail}: {path:?}")]
    Data {
        /// The file.
        path: PathBuf,
        /// What was found and expected, and where.
        detail: String,
    },
    /// A text could not be chunked.
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    /// Texts could not be embedded.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The passages could not be searched.
    #[error("{0}")]
    Search(String),
    /// The model did not answer.
    #[error("{0}")]
    Answer(String),
}

impl EvalError {
    pub(super) fn data(path: &std::path::Path, detail: impl Into<String>) -> Self {
        Self::Data { path: path.to_owned(), detail: detail.into() }
    }
}
