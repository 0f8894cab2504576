//! Why a file gave no text, in words for the person whose file it is.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Why a file gave no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum ExtractError {
    /// No reader for this kind of file.
    #[error(
        "no reader for {found}: {path:?}; supported are text, Markdown, HTML, CSV, JSON, source code, PDF, DOCX, ODT, \
         RTF, PPTX, ODP, XLSX, XLS, ODS, EPUB, mail and pictures of text (PNG, JPEG, WebP, TIFF)"
    )]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it seems to be.
        found: String,
    },
    /// A password is needed, and files of this format are not opened with one.
    #[error("the file is encrypted and needs a password: {path:?}; remove the password and add it again")]
    Encrypted {
        /// The file.
        path: PathBuf,
    },
    /// A password is needed.
    #[error(
        "the file is encrypted and needs a password: {path:?}; give it with `outcrop ingest --password FILE`, or in \
         the window"
    )]
    PasswordNeeded {
        /// The file.
        path: PathBuf,
    },
    /// The password is another one.
    #[error("the password does not fit: {path:?}; give the file's own password")]
    PasswordWrong {
        /// The file.
        path: PathBuf,
    },
    /// The options ask for a part of the file that it does not have.
    #[error("{detail}: {path:?}")]
    NothingSelected {
        /// The file.
        path: PathBuf,
        /// What was asked for and what is there.
        detail: String,
    },
    /// A picture in which no text was found.
    #[error("no text was found in the picture: {path:?}")]
    PictureWithoutText {
        /// The file.
        path: PathBuf,
    },
    /// Pages are there but none of them has text.
    #[error(
        "none of the {pages} pages has text, they are pictures: {path:?}; run `outcrop models fetch pp-ocrv4` and add it again"
    )]
    NeedsOcr {
        /// The file.
        path: PathBuf,
        /// Number of pages.
        pages: u32,
    },
    /// Nothing but white space.
    #[error("the file holds no text: {path:?}")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The bytes do not follow the format.
    #[error("damaged {format} file: {detail}: {path:?}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The format it claims.
        format: String,
        /// What is wrong, and where.
        detail: String,
    },
    /// Reading took longer than it may. Another time, on a machine with less to do, it may not.
    #[error("{detail}: {path:?}")]
    TimedOut {
        /// The file.
        path: PathBuf,
        /// Which limit, and where.
        detail: String,
    },
    /// Over a budget of size or memory, or claiming to be.
    #[error("{detail}: {path:?}")]
    OverBudget {
        /// The file.
        path: PathBuf,
        /// Which budget, its limit and what was needed.
        detail: String,
    },
    /// The worker died while reading this file.
    #[error("the reader crashed on this file ({detail}): {path:?}; other files are not affected")]
    Crashed {
        /// The file.
        path: PathBuf,
        /// Signal or exit status.
        detail: String,
    },
    /// The user stopped it.
    #[error("cancelled: {path:?}")]
    Cancelled {
        /// The file.
        path: PathBuf,
    },
    /// A native library is missing.
    #[error("{detail}; run `outcrop models fetch`")]
    MissingLibrary {
        /// Which one, and where it was looked for.
        detail: String,
    },
    /// The file could not be read.
    #[error("{detail}: {path:?}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's message.
        detail: String,
    },
}

impl ExtractError {
    /// The same error about the file at `path`; readers below [`super::extract_file`] leave the path empty.
    #[must_use]
    pub fn at(mut self, new_path: &Path) -> Self {
        match &mut self {
            Self::Unsupported { path, .. }
            | Self::Encrypted { path }
            | Self::PasswordNeeded { path }
            | Self::PasswordWrong { path }
            | Self::NothingSelected { path, .. }
            | Self::PictureWithoutText { path }
            | Self::TimedOut { path, .. }
            | Self::NeedsOcr { path, .. }
            | Self::Empty { path }
            | Self::Damaged { path, .. }
            | Self::OverBudget { path, .. }
            | Self::Crashed { path, .. }
            | Self::Cancelled { path }
            | Self::Io { path, .. } => new_path.clone_into(path),
            Self::MissingLibrary { .. } => {}
        }
        self
    }

    /// What is wrong, without the file.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Damaged { detail, .. } | Self::OverBudget { detail, .. } | Self::Io { detail, .. } => detail.clone(),
            Self::Unsupported { found, .. } => format!("no reader for {found}"),
            other => other.to_string(),
        }
    }

    pub(super) fn unsupported(found: impl Into<String>) -> Self {
        Self::Unsupported { path: PathBuf::new(), found: found.into() }
    }

    pub(super) fn encrypted() -> Self {
        Self::Encrypted { path: PathBuf::new() }
    }

    pub(super) fn nothing_selected(detail: impl Into<String>) -> Self {
        Self::NothingSelected { path: PathBuf::new(), detail: detail.into() }
    }

    pub(super) fn empty() -> Self {
        Self::Empty { path: PathBuf::new() }
    }

    pub(super) fn damaged(format: &str, detail: impl Into<String>) -> Self {
        Self::Damaged { path: PathBuf::new(), format: format.to_owned(), detail: detail.into() }
    }

    pub(super) fn over_budget(detail: impl Into<String>) -> Self {
        Self::OverBudget { path: PathBuf::new(), detail: detail.into() }
    }

    pub(super) fn io(err: &std::io::Error) -> Self {
        Self::Io { path: PathBuf::new(), detail: err.to_string() }
    }
}
