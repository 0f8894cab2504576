//! Text out of files: one module per format, each giving an [`Extraction`].
//!
//! Invariant: documents are hostile input. What parses them runs in the extract worker
//! ([`crate::worker`]) under a wall-clock budget and a memory limit; nothing here may be called on
//! untrusted bytes from the window's process.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::progress::CancelToken;

/// The format a document was read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentKind {
    /// Plain text.
    Text,
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
    /// Comma- or otherwise separated values.
    Csv,
    /// JSON or JSON lines.
    Json,
    /// Source code.
    Code,
    /// PDF.
    Pdf,
    /// Word (OOXML).
    Docx,
}

/// The text of a document and where each part of it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extraction {
    /// The format.
    pub kind: DocumentKind,
    /// The document's own title, if it has one.
    pub title: Option<String>,
    /// All text, `\n` line ends, no NUL and no BOM. Every later byte range points into it.
    pub text: String,
    /// Places, sorted by start. Spans of one kind do not overlap; spans of different kinds may.
    pub spans: Vec<Span>,
    /// What was and what was not read.
    pub coverage: Coverage,
}

/// A byte range of the text with its place in the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// What the range is.
    pub place: SpanPlace,
}

/// What a span of text is in its document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpanPlace {
    /// A physical page, counted from 1.
    Page(u32),
    /// The section under a heading, the heading line included, down to the next heading of any level; the path
    /// is every enclosing heading from the outermost to this one.
    Section(Vec<String>),
    /// A table row, counted from 1 for the first row after the header.
    Row(u32),
}

/// What was and what was not read of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Number of pages, for formats that have them.
    pub pages: Option<u32>,
    /// Pages (from 1) that gave no text, with the reason.
    pub pages_without_text: Vec<(u32, String)>,
    /// Anything else that the reader of the document should know, a sentence each.
    pub notes: Vec<String>,
}

/// Where a byte range stands in its document, for citations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// First and last page, from 1.
    pub pages: Option<(u32, u32)>,
    /// Heading path at the start of the range, outermost first.
    pub heading: Vec<String>,
    /// First and last table row, from 1.
    pub rows: Option<(u32, u32)>,
    /// First and last line, from 1.
    pub lines: (u32, u32),
}

/// Why a file gave no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum ExtractError {
    /// No reader for this kind of file.
    #[error(
        "no reader for {found}: {path:?}; supported are text, Markdown, HTML, CSV, JSON, source code, PDF and DOCX"
    )]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it seems to be.
        found: String,
    },
    /// A password is needed.
    #[error(
        "the file is encrypted and needs a password: {path:?}; remove the password and add it again"
    )]
    Encrypted {
        /// The file.
        path: PathBuf,
    },
    /// Pages are there but none of them has text.
    #[error(
        "none of the {pages} pages has text, they are probably scanned images: {path:?}; run it through OCR first"
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
    /// Over a size, time or memory budget.
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

impl Extraction {
    /// Where `range` (bytes of `text`) stands.
    pub fn place(&self, range: Range<usize>) -> Place {
        let _ = range;
        Place::default()
    }
}

/// Reads one file in this process. Called by the extract worker only.
///
/// # Errors
/// See [`ExtractError`].
pub fn extract_file(path: &Path, limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    let _ = limits;
    Err(ExtractError::Unsupported {
        path: path.to_owned(),
        found: "anything".to_owned(),
    })
}

/// Reads text out of files; the extract worker's pool in the product, a fake in tests.
pub trait Extract: Send + Sync {
    /// Reads one file, in a process where it can do no harm.
    ///
    /// # Errors
    /// See [`ExtractError`].
    fn extract(&self, path: &Path, cancel: &CancelToken) -> Result<Extraction, ExtractError>;
}

/// Budgets for one document.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExtractLimits {
    /// Wall-clock seconds for the whole document.
    pub document_secs: u32,
    /// Wall-clock seconds for one page.
    pub page_secs: u32,
    /// Address space of the worker, in bytes.
    pub memory_bytes: u64,
    /// Text (and inflated data) of one document, in bytes.
    pub text_bytes: u64,
    /// Where the PDFium library is, if it is installed.
    pub pdfium: Option<PathBuf>,
}

impl Default for ExtractLimits {
    fn default() -> Self {
        Self {
            document_secs: 300,
            page_secs: 20,
            memory_bytes: 4 << 30,
            text_bytes: 256 << 20,
            pdfium: None,
        }
    }
}
