//! PDF through PDFium: text in reading order, the page of every character, headings by type size.
//!
//! `pages` asks each page for its text, `glyphs` turns its characters into fragments of lines and `scan` reads pages
//! that are pictures; `labels` notes what is printed for page numbers; `running` takes running headers and footers away,
//! `columns` puts fragments into reading order, `lines` joins them to lines and `flow` lines to paragraphs.
//! `picture` draws a page and boxes the words that `quote` finds on it.

mod columns;
mod flow;
mod glyphs;
mod labels;
mod lines;
mod pages;
mod picture;
mod quote;
mod running;
mod scan;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::OnceLock;

use pdfium_render::prelude::{PdfDocument, PdfDocumentMetadataTagType, Pdfium, PdfiumError, PdfiumInternalError};

use flow::PageLines;
use glyphs::Fragment;
pub(super) use picture::draw;
pub(super) use scan::{Scan, read_picture};

use super::{
    DocumentKind, ExtractError, ExtractLimits, ExtractStep, Extraction, Metadata, Password, PixelBox, TextBuilder,
    properties,
};

/// What the errors call this format.
const FORMAT: &str = "PDF";
/// Pages of one document; a page tree that claims more is an attack.
const MOST_PAGES: i32 = 200_000;
/// Where a whole file has its `startxref`, from its end.
const TRAILER_BYTES: u64 = 64 << 10;

/// Reads the file at `path` as a PDF.
pub(super) fn read(
    path: &Path,
    password: Option<&Password>,
    limits: &ExtractLimits,
    on_step: &mut dyn FnMut(ExtractStep),
) -> Result<Extraction, ExtractError> {
    let pdfium = load_library(limits.pdfium.as_deref())?;
    let document = open(pdfium, path, password)?;
    check_trailer(path)?;
    let num_pages = document.pages().len();
    if num_pages > MOST_PAGES {
        return Err(ExtractError::over_budget(format!("it claims {num_pages} pages, at most {MOST_PAGES} are read")));
    }
    let mut built = TextBuilder::new(limits);
    built.coverage.pages = Some(num_pages as u32);
    let (numbers, mut fragments) = pages::read_pages(&document, limits, &mut built, on_step)?;
    on_step(ExtractStep::Assembling);
    let running = running::drop_running_lines(&mut fragments);
    if running > 0 {
        built.note(format!("Repeated headers and footers were left out on {running} pages."));
    }
    let lines = fragments.into_iter().map(lines::page_lines);
    let pages: Vec<_> = numbers.into_iter().zip(lines).map(|(number, lines)| PageLines { number, lines }).collect();
    let heading = flow::write_pages(&mut built, &pages)?;
    built.title = metadata_title(&document).or(heading);
    add_metadata(&mut built.metadata, &document);
    built.finish(DocumentKind::Pdf)
}

/// Writes pages that are pictures and nothing else, by number.
pub(super) fn write_scans(built: &mut TextBuilder, scans: Vec<(u32, Scan)>) -> Result<(), ExtractError> {
    let page = |(number, scan): (u32, Scan)| PageLines { number, lines: lines::page_lines(scan.fragments) };
    let pages: Vec<PageLines> = scans.into_iter().map(page).collect();
    flow::write_pages(built, &pages).map(drop)
}

/// Boxes around the words of `quote` on a page that is a picture.
pub(super) fn quoted(fragments: Vec<Fragment>, quote: &str) -> Vec<PixelBox> {
    let fragments = lines::in_reading_order(fragments);
    let stretches = quote::find(&fragments, quote);
    let place =
        |found: Fragment| PixelBox { left: found.left, top: found.top(), right: found.right, bottom: found.bottom() };
    stretches.into_iter().map(|stretch| place(stretch.of(&fragments))).collect()
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

/// Opens the file, with the password where one is known and needed.
fn open<'p>(pdfium: &'p Pdfium, path: &Path, password: Option<&Password>) -> Result<PdfDocument<'p>, ExtractError> {
    let is_given = password.is_some();
    pdfium.load_pdf_from_file(path, password.map(Password::reveal)).map_err(|err| open_error(err, is_given))
}

fn open_error(err: PdfiumError, has_password: bool) -> ExtractError {
    use PdfiumError::PdfiumLibraryInternalError as Internal;
    let detail = match err {
        PdfiumError::IoError(err) => return ExtractError::io(&err),
        Internal(PdfiumInternalError::PasswordError | PdfiumInternalError::SecurityError) => {
            let path = std::path::PathBuf::new();
            return if has_password {
                ExtractError::PasswordWrong { path }
            } else {
                ExtractError::PasswordNeeded { path }
            };
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

/// What the document's properties say but for its title.
fn add_metadata(metadata: &mut Metadata, document: &PdfDocument<'_>) {
    use PdfDocumentMetadataTagType as Tag;
    let tags = document.metadata();
    for (tag, name) in [
        (Tag::Author, "author"),
        (Tag::Subject, "subject"),
        (Tag::Keywords, "keywords"),
        (Tag::CreationDate, "created"),
        (Tag::ModificationDate, "modified"),
    ] {
        if let Some(found) = tags.get(tag) {
            properties::add(metadata, name, found.value(), name);
        }
    }
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
