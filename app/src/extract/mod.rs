//! Text out of files: one module per format, each giving an [`Extraction`].
//!
//! Start reading at [`extract_file`]: `detect` says what a file is, the module of that format fills a
//! `TextBuilder`, which alone decides what may stand in a text.
//!
//! Invariant: documents are hostile input. What parses them runs in the extract worker
//! ([`crate::worker`]) under a wall-clock budget and a memory limit; nothing here may be called on
//! untrusted bytes from the window's process.

mod blocks;
mod builder;
mod csv;
mod decode;
mod detect;
mod docx;
mod epub;
mod error;
mod front_matter;
mod html;
mod images;
mod json;
mod mail;
mod markdown;
mod metadata;
mod ocr;
mod opendocument;
mod options;
mod package;
mod pdf;
mod picture;
mod place;
mod pptx;
mod properties;
mod read;
mod rows;
mod rtf;
mod sections;
mod spreadsheet;
mod text;
mod xml;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use builder::TextBuilder;
pub use detect::takes_password;
pub use error::ExtractError;
pub use metadata::{Metadata, is_part_of_day, property_name};
pub use ocr::OcrModels;
pub use options::{COMMON_ENCODINGS, Password, Passwords, ReadOptions, ReadOptionsError};
pub use picture::{PagePicture, PageRequest, PixelBox, draw_page};
pub use place::PlaceIndex;
pub use read::{extract_file, extract_with_steps};

use crate::progress::CancelToken;

/// The format a document was read as. In JSON usual endings stand for it too: `md`, `pptx`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentKind {
    /// Plain text.
    #[serde(alias = "txt")]
    Text,
    /// Markdown.
    #[serde(alias = "md")]
    Markdown,
    /// HTML.
    #[serde(alias = "htm")]
    Html,
    /// Comma- or otherwise separated values.
    #[serde(alias = "tsv")]
    Csv,
    /// JSON or JSON lines.
    #[serde(alias = "jsonl")]
    Json,
    /// Source code.
    Code,
    /// PDF.
    Pdf,
    /// Word (OOXML).
    Docx,
    /// OpenDocument text.
    Odt,
    /// A presentation (PPTX, ODP).
    #[serde(alias = "pptx", alias = "odp")]
    Slides,
    /// A workbook (XLSX, XLSB, XLS, ODS).
    #[serde(alias = "xlsx", alias = "xlsb", alias = "xls", alias = "ods")]
    Spreadsheet,
    /// EPUB book.
    Epub,
    /// Mail: a message or a mailbox.
    #[serde(alias = "eml", alias = "mbox")]
    Mail,
    /// RTF.
    Rtf,
    /// An image (PNG, JPEG, WebP, TIFF) whose text was read by OCR.
    #[serde(alias = "png", alias = "jpg", alias = "jpeg", alias = "webp", alias = "tif", alias = "tiff")]
    Image,
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
    /// What the document says of itself; `None` where it was read before that was kept.
    pub metadata: Option<Metadata>,
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
    /// A physical page or slide, counted from 1.
    Page(u32),
    /// The section under a heading, the heading line included, down to the next heading of any level; the path
    /// is every enclosing heading from the outermost to this one.
    Section(Vec<String>),
    /// A table row, counted from 1 for the first row after the header; in a workbook the row's own number, in a
    /// mailbox the message.
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

/// Reads text out of files; the extract worker's pool in the product, a fake in tests.
pub trait Extract: Send + Sync {
    /// Reads one file, in a process where it can do no harm.
    ///
    /// # Errors
    /// See [`ExtractError`].
    fn extract(&self, path: &Path, cancel: &CancelToken) -> Result<Extraction, ExtractError>;

    /// Reads one file as `options` say. A reader that knows no options reads it as if none were given.
    ///
    /// # Errors
    /// See [`ExtractError`].
    fn extract_as(
        &self,
        path: &Path,
        _options: &ReadOptions,
        cancel: &CancelToken,
    ) -> Result<Extraction, ExtractError> {
        self.extract(path, cancel)
    }

    /// Names what this reader can do besides what every reader can, such as `ocr`: a file that gave no text is read
    /// again once this changes.
    fn abilities(&self) -> &'static str {
        ""
    }

    /// Draws a page of a file, in a process where it can do no harm.
    ///
    /// # Errors
    /// [`ExtractError::Unsupported`] for formats whose pages cannot be drawn; else see [`ExtractError`].
    fn draw_page(
        &self,
        path: &Path,
        _request: &PageRequest,
        _cancel: &CancelToken,
    ) -> Result<PagePicture, ExtractError> {
        Err(ExtractError::Unsupported { path: path.to_owned(), found: "a reader that draws no pages".to_owned() })
    }

    /// Draws a page of a file that `password` opens. A reader that opens no encrypted file draws it as any other.
    ///
    /// # Errors
    /// As [`Extract::draw_page`].
    fn draw_locked_page(
        &self,
        path: &Path,
        request: &PageRequest,
        _password: &Password,
        cancel: &CancelToken,
    ) -> Result<PagePicture, ExtractError> {
        self.draw_page(path, request, cancel)
    }
}

/// How far the reading of a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExtractStep {
    /// A page begins; the budget of one page starts anew.
    Page {
        /// The page, from 1.
        page: u32,
        /// Pages in all.
        pages: u32,
    },
    /// The pages are read and the text is put together.
    Assembling,
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
    /// What reads pages that are pictures, if it is installed; without it they are reported.
    pub ocr: Option<OcrModels>,
}

impl Default for ExtractLimits {
    fn default() -> Self {
        Self {
            document_secs: 300,
            page_secs: 20,
            memory_bytes: 4 << 30,
            text_bytes: 256 << 20,
            pdfium: None,
            ocr: None,
        }
    }
}
