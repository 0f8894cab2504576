//! Each page's text: from its characters, or from its picture where it has none and the models for that are there.

use std::time::{Duration, Instant};

use pdfium_render::prelude::{PdfDocument, PdfPage, PdfPageObjectType, PdfPageObjectsCommon};

use super::glyphs::{self, Fragment};
use super::labels::Labels;
use super::{FORMAT, scan};
use crate::extract::ocr::OcrModels;
use crate::extract::{ExtractError, ExtractLimits, ExtractStep, TextBuilder};

/// Share of a document's time that pictures of pages may take; the rest is for what has text.
const OCR_SHARE: f64 = 0.7;

/// Numbers and fragments of the pages that have text; the others go to the coverage with the reason.
pub(super) fn read_pages(
    document: &PdfDocument<'_>,
    limits: &ExtractLimits,
    built: &mut TextBuilder,
    on_step: &mut dyn FnMut(ExtractStep),
) -> Result<(Vec<u32>, Vec<Vec<Fragment>>), ExtractError> {
    let num_pages = document.pages().len();
    let mut reader = PageReader::new(limits);
    let mut numbers = Vec::new();
    let mut pages = Vec::new();
    for index in 0..num_pages {
        let number = index as u32 + 1;
        let mut begin = || on_step(ExtractStep::Page { page: number, pages: num_pages as u32 });
        begin();
        reader.labels.note(document, index);
        match reader.read(document, index, &mut begin) {
            Ok(fragments) => {
                numbers.push(number);
                pages.push(fragments);
            }
            Err(reason) => built.coverage.pages_without_text.push((number, reason.describe().to_owned())),
        }
    }
    reader.notes().for_each(|note| built.note(note));
    if pages.is_empty() {
        return Err(no_text_error(built, num_pages as u32, reader.scanned_pages));
    }
    Ok((numbers, pages))
}

/// Reads the pages of one document.
struct PageReader<'a> {
    models: Option<&'a OcrModels>,
    started: Instant,
    ocr_time: Duration,
    labels: Labels,
    /// Pages that are pictures and were not read.
    scanned_pages: u32,
    /// Pages whose picture was read.
    ocr_pages: u32,
    /// Sum of the confidences of their lines, and how many there are.
    confidence: (f64, usize),
    /// Why OCR does not work, once it does not.
    ocr_failure: Option<String>,
}

impl<'a> PageReader<'a> {
    fn new(limits: &'a ExtractLimits) -> Self {
        Self {
            models: limits.ocr.as_ref(),
            started: Instant::now(),
            ocr_time: Duration::from_secs(limits.document_secs.into()).mul_f64(OCR_SHARE),
            labels: Labels::default(),
            scanned_pages: 0,
            ocr_pages: 0,
            confidence: (0.0, 0),
            ocr_failure: None,
        }
    }

    fn read(
        &mut self,
        document: &PdfDocument<'_>,
        index: i32,
        begin: &mut dyn FnMut(),
    ) -> Result<Vec<Fragment>, NoText> {
        let page = document.pages().get(index).map_err(|_| NoText::Damaged)?;
        let reason = match read_page(&page) {
            Ok(fragments) => return Ok(fragments),
            Err(reason) => reason,
        };
        if !matches!(reason, NoText::Image | NoText::Unmapped) {
            return Err(reason);
        }
        // The page's own time was for its characters; its picture has as much again.
        begin();
        self.read_picture(&page, reason, begin).inspect_err(|reason| {
            self.scanned_pages += u32::from(matches!(reason, NoText::Image | NoText::Late));
        })
    }

    fn read_picture(
        &mut self,
        page: &PdfPage<'_>,
        reason: NoText,
        begin: &mut dyn FnMut(),
    ) -> Result<Vec<Fragment>, NoText> {
        let Some(models) = self.models.filter(|_| self.ocr_failure.is_none()) else {
            return Err(reason);
        };
        if self.started.elapsed() > self.ocr_time {
            return Err(NoText::Late);
        }
        match scan::read(models, page, begin) {
            Ok(scan) if scan.fragments.is_empty() => {
                Err(if reason == NoText::Image { NoText::Picture } else { reason })
            }
            Ok(scan) => {
                self.ocr_pages += 1;
                self.confidence.0 += scan.confidences.iter().map(|confidence| f64::from(*confidence)).sum::<f64>();
                self.confidence.1 += scan.confidences.len();
                Ok(scan.fragments)
            }
            Err(failure) => {
                self.ocr_failure = Some(failure);
                Err(reason)
            }
        }
    }

    /// What the reader of the document should know.
    fn notes(&self) -> impl Iterator<Item = String> {
        let ocr = (self.ocr_pages > 0).then(|| {
            let mean = self.confidence.0 / self.confidence.1.max(1) as f64;
            format!(
                "The text of {} pages was read from their pictures (OCR, mean confidence {mean:.2}): it may have mistakes.",
                self.ocr_pages
            )
        });
        let failure = self.ocr_failure.as_ref().map(|failure| format!("OCR does not work: {failure}."));
        self.labels.describe().into_iter().chain(ocr).chain(failure)
    }
}

fn no_text_error(built: &TextBuilder, pages: u32, scanned_pages: u32) -> ExtractError {
    let path = std::path::PathBuf::new();
    if scanned_pages > 0 {
        return ExtractError::NeedsOcr { path, pages };
    }
    match built.coverage.pages_without_text.first() {
        Some((_, reason)) if [NoText::Damaged, NoText::Unmapped].map(NoText::describe).contains(&reason.as_str()) => {
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
    /// OCR found nothing in the image.
    Picture,
    /// The time for OCR is used up.
    Late,
    Blank,
}

impl NoText {
    fn describe(self) -> &'static str {
        match self {
            Self::Damaged => "the page is damaged",
            Self::Unmapped => "its fonts do not say which characters they show",
            Self::Image => "the page is an image without text",
            Self::Picture => "the page is an image in which no text was found",
            Self::Late => "the page is an image, and the time for reading images in one document was used up",
            Self::Blank => "the page is blank",
        }
    }
}

fn read_page(page: &PdfPage<'_>) -> Result<Vec<Fragment>, NoText> {
    let text = page.text().map_err(|_| NoText::Damaged)?;
    let glyphs = glyphs::read_fragments(&text);
    if glyphs.is_unmapped() {
        Err(NoText::Unmapped)
    } else if !glyphs.fragments.is_empty() {
        Ok(glyphs.fragments)
    } else if shows_anything(page) {
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
