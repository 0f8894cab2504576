//! PDF through PDFium: text in reading order, the page of every character, headings by type size.
//!
//! `glyphs` turns a page's characters into fragments of lines, `running` takes running headers and footers away,
//! `columns` puts fragments into reading order, `lines` joins them to lines and `flow` lines to paragraphs. `picture`
//! draws a page and boxes the words that `quote` finds on it.

mod columns;
mod flow;
mod glyphs;
mod lines;
mod picture;
mod quote;
mod running;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::OnceLock;

use pdfium_render::prelude::{
    PdfDocument, PdfDocumentMetadataTagType, PdfPage, PdfPageObjectType, PdfPageObjectsCommon, Pdfium, PdfiumError,
    PdfiumInternalError,
};

use flow::PageLines;
use glyphs::Fragment;
pub(super) use picture::draw;

use super::{DocumentKind, ExtractError, ExtractLimits, ExtractStep, Extraction, TextBuilder};

/// What the errors call this format.
const FORMAT: &str = "PDF";
/// Pages of one document; a page tree that claims more is an attack.
const MOST_PAGES: i32 = 200_000;
/// Where a whole file has its `startxref`, from its end.
const TRAILER_BYTES: u64 = 64 << 10;

/// Reads the file at `path` as a PDF.
pub(super) fn read(
    path: &Path,
    limits: &ExtractLimits,
    on_step: &mut dyn FnMut(ExtractStep),
) -> Result<Extraction, ExtractError> {
    let pdfium = load_library(limits.pdfium.as_deref())?;
    let document = pdfium.load_pdf_from_file(path, None).map_err(open_error)?;
    check_trailer(path)?;
    let num_pages = document.pages().len();
    if num_pages > MOST_PAGES {
        return Err(ExtractError::over_budget(format!("it claims {num_pages} pages, at most {MOST_PAGES} are read")));
    }
    let mut built = TextBuilder::new(limits);
    built.coverage.pages = Some(num_pages as u32);
    let (numbers, mut fragments) = read_pages(&document, &mut built, on_step)?;
    on_step(ExtractStep::Assembling);
    let running = running::drop_running_lines(&mut fragments);
    if running > 0 {
        built.note(format!("Repeated headers and footers were left out on {running} pages."));
    }
    let lines = fragments.into_iter().map(lines::page_lines);
    let pages: Vec<_> = numbers.into_iter().zip(lines).map(|(number, lines)| PageLines { number, lines }).collect();
    let heading = flow::write_pages(&mut built, &pages)?;
    built.title = metadata_title(&document).or(heading);
    built.finish(DocumentKind::Pdf)
}

/// The library, loaded once for this process.
fn load_library(path: Option<&Path>) -> Result<&'static Pdfium, ExtractError> {
    static PDFIUM: OnceLock<Pdfium> = OnceLock::new();
    if let Some(pdfium) = PDFIUM.get() {
        return Ok(pdfium);
    }
    let missing = |detail: String| ExtractError::MissingLibrary { detail };
    let Some(path) = path else {
        return Err(missing("reading PDF needs the PDFium library, which is not installed".to_owned()));
    };
    if !path.is_file() {
        return Err(missing(format!("reading PDF needs the PDFium library, which is not at {}", path.display())));
    }
    let bindings = Pdfium::bind_to_library(path)
        .map_err(|err| missing(format!("the PDFium library cannot be loaded from {}: {err:?}", path.display())))?;
    Ok(PDFIUM.get_or_init(|| Pdfium::new(bindings)))
}

fn open_error(err: PdfiumError) -> ExtractError {
    use PdfiumError::PdfiumLibraryInternalError as Internal;
    let detail = match err {
        PdfiumError::IoError(err) => return ExtractError::io(&err),
        Internal(PdfiumInternalError::PasswordError | PdfiumInternalError::SecurityError) => {
            return ExtractError::encrypted();
        }
        Internal(PdfiumInternalError::FormatError) => {
            "its cross-reference table or page tree cannot be read".to_owned()
        }
        err => format!("{err:?}"),
    };
    ExtractError::damaged(FORMAT, detail)
}

/// PDFium mends files that were cut off and gives what is left of them. Half a document must not pass for a
/// whole one, so its end has to be there.
fn check_trailer(path: &Path) -> Result<(), ExtractError> {
    let read_tail = || -> std::io::Result<(u64, Vec<u8>)> {
        let mut file = File::open(path)?;
        let file_bytes = file.metadata()?.len();
        file.seek(SeekFrom::Start(file_bytes.saturating_sub(TRAILER_BYTES)))?;
        let mut tail = Vec::new();
        file.take(TRAILER_BYTES).read_to_end(&mut tail)?;
        Ok((file_bytes, tail))
    };
    let (file_bytes, tail) = read_tail().map_err(|err| ExtractError::io(&err))?;
    let has = |word: &[u8]| tail.windows(word.len()).any(|window| window == word);
    if has(b"startxref") || has(b"%%EOF") {
        return Ok(());
    }
    Err(ExtractError::damaged(FORMAT, format!("it is cut off: its last part is missing after byte {file_bytes}")))
}

/// Numbers and fragments of the pages that have text; the others go to the coverage with the reason.
fn read_pages(
    document: &PdfDocument<'_>,
    built: &mut TextBuilder,
    on_step: &mut dyn FnMut(ExtractStep),
) -> Result<(Vec<u32>, Vec<Vec<Fragment>>), ExtractError> {
    let num_pages = document.pages().len();
    let mut numbers = Vec::new();
    let mut pages = Vec::new();
    let mut scanned_pages = 0;
    for index in 0..num_pages {
        let number = index as u32 + 1;
        on_step(ExtractStep::Page { page: number, pages: num_pages as u32 });
        match read_page(document, index) {
            Ok(fragments) => {
                numbers.push(number);
                pages.push(fragments);
            }
            Err(reason) => {
                scanned_pages += u32::from(reason == NoText::Image);
                let reason = reason.describe().to_owned();
                built.coverage.pages_without_text.push((number, reason));
            }
        }
    }
    if pages.is_empty() {
        return Err(no_text_error(built, num_pages as u32, scanned_pages));
    }
    Ok((numbers, pages))
}

fn no_text_error(built: &TextBuilder, pages: u32, scanned_pages: u32) -> ExtractError {
    let path = std::path::PathBuf::new();
    if scanned_pages > 0 {
        return ExtractError::NeedsOcr { path, pages };
    }
    match built.coverage.pages_without_text.first() {
        Some((_, reason)) if reason != NoText::Blank.describe() => {
            ExtractError::damaged(FORMAT, format!("page 1: {reason}"))
        }
        _ => ExtractError::Empty { path },
    }
}

/// Why a page gave no text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NoText {
    Damaged,
    Unmapped,
    Image,
    Blank,
}

impl NoText {
    fn describe(self) -> &'static str {
        match self {
            Self::Damaged => "the page is damaged",
            Self::Unmapped => "its fonts do not say which characters they show",
            Self::Image => "the page is an image without text",
            Self::Blank => "the page is blank",
        }
    }
}

fn read_page(document: &PdfDocument<'_>, index: i32) -> Result<Vec<Fragment>, NoText> {
    let page = document.pages().get(index).map_err(|_| NoText::Damaged)?;
    let text = page.text().map_err(|_| NoText::Damaged)?;
    let glyphs = glyphs::read_fragments(&text);
    if glyphs.is_unmapped() {
        Err(NoText::Unmapped)
    } else if !glyphs.fragments.is_empty() {
        Ok(glyphs.fragments)
    } else if shows_anything(&page) {
        Err(NoText::Image)
    } else {
        Err(NoText::Blank)
    }
}

/// Whether a page without text shows an image, or a drawing that may be outlined text.
fn shows_anything(page: &PdfPage<'_>) -> bool {
    page.objects().iter().any(|object| {
        matches!(
            object.object_type(),
            PdfPageObjectType::Image
                | PdfPageObjectType::Path
                | PdfPageObjectType::Shading
                | PdfPageObjectType::XObjectForm
        )
    })
}

/// The title in the document's properties, unless a program put a file name there.
fn metadata_title(document: &PdfDocument<'_>) -> Option<String> {
    let tag = document.metadata().get(PdfDocumentMetadataTagType::Title)?;
    let title = tag.value().trim().trim_matches('\0');
    let lower = title.to_lowercase();
    let is_file_name = lower.starts_with("microsoft word")
        || lower == "untitled"
        || [".doc", ".docx", ".tex", ".dvi", ".indd", ".qxd", ".pdf"]
            .iter()
            .any(|extension| lower.ends_with(extension));
    (!title.is_empty() && !is_file_name).then(|| title.to_owned())
}
