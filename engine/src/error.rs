//! What can go wrong, each with what was found, what was expected and where.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action}: {source}: {path:?}")]
    Io {
        /// What was tried, as a verb phrase.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The first bytes are not those of a vector file.
    #[error("not a vector file (no superblock starts with its magic bytes): {path:?}")]
    NotAVectorFile {
        /// The file.
        path: PathBuf,
    },
    /// Written by a newer version of the format.
    #[error("the file needs format {found} but this engine reads {supported}; update the program: {path:?}")]
    UnsupportedFormat {
        /// What the file says.
        found: String,
        /// What this engine knows.
        supported: String,
        /// The file.
        path: PathBuf,
    },
    /// The file contradicts itself or its checksums.
    #[error("damaged vector file, {defect}: {path:?}")]
    Damaged {
        /// What does not fit, with found and expected.
        defect: String,
        /// The file.
        path: PathBuf,
    },
    /// The file is shorter than what was committed to it.
    #[error("the file has {found_bytes} bytes but its committed rows need {expected_bytes}; it was cut off: {path:?}")]
    Truncated {
        /// Length now.
        found_bytes: u64,
        /// Length that the committed rows need.
        expected_bytes: u64,
        /// The file.
        path: PathBuf,
    },
    /// Another writer holds the file.
    #[error("another writer has the file open; close it or open read-only: {path:?}")]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// A write through a handle opened for reading.
    #[error("the file was opened read-only: {path:?}")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// A file description that no file can have.
    #[error("cannot lay out a vector file: {reason}")]
    BadSpec {
        /// What does not fit.
        reason: String,
    },
    /// Rows of a length that is not `ids × dims`.
    #[error("{found} values were given for {ids} rows, expected {ids} x {dims}")]
    RowShape {
        /// Values given.
        found: usize,
        /// Ids given.
        ids: usize,
        /// Dimensions of the file.
        dims: usize,
    },
    /// A row with a value that cannot be stored.
    #[error("row {row} of the batch has {value} at dimension {dim}; every value must be finite{hint}")]
    BadRow {
        /// Row in the batch, from 0.
        row: usize,
        /// Dimension, from 0.
        dim: usize,
        /// The value.
        value: f32,
        /// More about the limit, or empty.
        hint: &'static str,
    },
    /// Ids must strictly increase over the life of a file.
    #[error("id {id} at position {position} does not exceed the id {previous} before it")]
    IdOrder {
        /// Position in the batch, from 0.
        position: usize,
        /// The id.
        id: u64,
        /// The id before it.
        previous: u64,
    },
    /// Query vectors of a wrong length.
    #[error("the query has {found} values, expected a multiple of the file's {dims} dimensions: {path:?}")]
    QueryShape {
        /// Values given.
        found: usize,
        /// Dimensions of the file.
        dims: usize,
        /// The file.
        path: PathBuf,
    },
    /// A query vector that has no answer.
    #[error("query {query} {reason}")]
    BadQuery {
        /// Position in the batch, from 0.
        query: usize,
        /// Why it has no answer.
        reason: &'static str,
    },
    /// A filter made for another file, or before a compaction.
    #[error(
        "the filter belongs to another file or to a state before its compaction; make it again from this snapshot: {path:?}"
    )]
    ForeignFilter {
        /// The file searched.
        path: PathBuf,
    },
    /// A file of another program that cannot be taken in.
    #[error("cannot read vectors: {reason}: {path:?}")]
    BadSource {
        /// What was found and what was expected.
        reason: String,
        /// The file.
        path: PathBuf,
    },
    /// A GPU was demanded and none can be used.
    #[error("no usable GPU: {reason}")]
    NoGpu {
        /// Why.
        reason: String,
    },
    /// The worker threads could not be started.
    #[error("cannot start the search threads: {reason}")]
    Threads {
        /// Why.
        reason: String,
    },
}

impl Error {
    /// Wraps an [`io::Error`] with what was tried on which file.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }

    /// A contradiction found in `path`.
    pub(crate) fn damaged(path: &Path, defect: impl Into<String>) -> Self {
        Self::Damaged { defect: defect.into(), path: path.to_owned() }
    }
}
