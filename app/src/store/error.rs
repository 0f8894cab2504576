//! Why the store could not do something: one type, with the file it is about.

use std::path::{Path, PathBuf};

use super::DocumentId;

/// Why a library could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The name cannot be a folder's name.
    #[error(
        "{found:?} cannot name a library: expected 1 to 64 letters, digits, spaces, '-', '_' or '.', not starting with '.'"
    )]
    Name {
        /// What was given.
        found: String,
    },
    /// The system refused to read or write.
    #[error("{detail}: {path:?}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's message.
        detail: String,
    },
    /// Made by a newer version of Outcrop.
    #[error(
        "the library has schema version {found} but this version of Outcrop knows {supported} at most; update Outcrop to open it: {path:?}"
    )]
    Newer {
        /// The version in the file.
        found: i64,
        /// The newest version known.
        supported: i64,
        /// The database.
        path: PathBuf,
    },
    /// Made by an older version, and this process may not migrate it.
    #[error(
        "the library has schema version {found} and must be brought to {supported}, but another process holds it: close that one and open the library again: {path:?}"
    )]
    Older {
        /// The version in the file.
        found: i64,
        /// The version needed.
        supported: i64,
        /// The database.
        path: PathBuf,
    },
    /// The bytes are not what the format says.
    #[error("{detail}; run `outcrop verify --repair` or restore a backup: {path:?}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// The database lost everything.
    #[error("the database is empty though the library has vectors: it was cut off or written over: {path:?}")]
    Emptied {
        /// The database.
        path: PathBuf,
    },
    /// Another process writes the library.
    #[error(
        "another process holds the library, so it is open for reading only; close that process and open the library again: {path:?}"
    )]
    ReadOnly {
        /// The library's folder.
        path: PathBuf,
    },
    /// A file cannot become a library, or a library not a file.
    #[error("{detail}: {path:?}")]
    Archive {
        /// The archive.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// A library of this name is there and not empty.
    #[error("a library with documents or chats is already there: {path:?}")]
    Exists {
        /// Its folder.
        path: PathBuf,
    },
    /// No document has this id.
    #[error("no document has the id {}", .0.0)]
    NoDocument(DocumentId),
    /// The document has no text.
    #[error("document {} has no stored text", .0.0)]
    NoText(DocumentId),
    /// The vector index refused a call.
    #[error("the vector file answered: {detail}: {path:?}")]
    Vectors {
        /// The vector file.
        path: PathBuf,
        /// The engine's message.
        detail: String,
    },
    /// The database refused a statement.
    #[error("the database answered: {detail}: {path:?}")]
    Database {
        /// The database.
        path: PathBuf,
        /// SQLite's message.
        detail: String,
    },
}

impl StoreError {
    pub(crate) fn io(path: &Path, err: &std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), detail: err.to_string() }
    }

    pub(crate) fn damaged(path: &Path, detail: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), detail: detail.into() }
    }

    pub(crate) fn sqlite(path: &Path, err: &rusqlite::Error) -> Self {
        let detail = err.to_string();
        let code = err.sqlite_error_code();
        let is_damage = matches!(code, Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase))
            || matches!(
                err,
                rusqlite::Error::FromSqlConversionFailure(..)
                    | rusqlite::Error::InvalidColumnType(..)
                    | rusqlite::Error::IntegralValueOutOfRange(..)
            );
        if is_damage {
            Self::damaged(path, format!("the database is damaged ({detail})"))
        } else {
            Self::Database { path: path.to_owned(), detail }
        }
    }
}
