//! A page as a picture, with the words of a quotation boxed.

use std::path::Path;

use pdfium_render::prelude::{PdfPage, PdfPoints, PdfRenderConfig, PdfiumError};

use super::glyphs::{self, Fragment};
use super::{FORMAT, lines, load_library, open, quote, quoted, scan};
use crate::extract::{ExtractError, ExtractLimits, PagePicture, PageRequest, Password, PixelBox};

const MIN_WIDTH: u32 = 64;
const MAX_WIDTH: u32 = 4096;
/// A page of absurd proportions is cut down to this many pixels.
const MAX_HEIGHT: i32 = 8192;

/// Draws a page.
pub(in crate::extract) fn draw(
    path: &Path,
    request: &PageRequest,
    password: Option<&Password>,
    limits: &ExtractLimits,
) -> Result<PagePicture, ExtractError> {
    let pdfium = load_library(limits.pdfium.as_deref())?;
    let document = open(pdfium, path, password)?;
    let pages = document.pages().len();
    let damaged = |err: PdfiumError| ExtractError::damaged(FORMAT, format!("page {}: {err:?}", request.page));
    let no_page = || ExtractError::damaged(FORMAT, format!("it has {pages} pages, not page {}", request.page));
    let index = i32::try_from(request.page).ok().and_then(|page| page.checked_sub(1));
    let index = index.filter(|index| *index < pages && *index >= 0).ok_or_else(no_page)?;
    let page = document.pages().get(index).map_err(damaged)?;
    let config = PdfRenderConfig::new()
        .set_target_width(request.width.clamp(MIN_WIDTH, MAX_WIDTH) as i32)
        .set_maximum_height(MAX_HEIGHT);
    let bitmap = page.render_with_config(&config).map_err(damaged)?;
    let (width, height) = (bitmap.width() as u32, bitmap.height() as u32);
    let rgba = bitmap.as_rgba_bytes();
    if rgba.len() != width as usize * height as usize * 4 {
        return Err(ExtractError::damaged(FORMAT, format!("page {} cannot be drawn", request.page)));
    }
    let boxes = match boxes(&page, &request.quote, &config) {
        found if found.is_empty() && !request.quote.trim().is_empty() => scanned_boxes(&page, request, limits, width),
        found => found,
    };
    Ok(PagePicture { page: request.page, pages: pages as u32, width, height, rgba, boxes })
}

/// Where the words of `quote` stand on the page, in pixels.
fn boxes(page: &PdfPage<'_>, quote: &str, config: &PdfRenderConfig) -> Vec<PixelBox> {
    let Ok(text) = page.text() else {
        return Vec::new();
    };
    let fragments = lines::in_reading_order(glyphs::read_fragments(&text).fragments);
    let stretches = quote::find(&fragments, quote);
    stretches.into_iter().filter_map(|stretch| to_pixels(page, &stretch.of(&fragments), config)).collect()
}

/// The same on a page that is a picture, whose words OCR finds again.
fn scanned_boxes(page: &PdfPage<'_>, request: &PageRequest, limits: &ExtractLimits, width: u32) -> Vec<PixelBox> {
    let has_text = page.text().is_ok_and(|text| !text.all().trim().is_empty());
    let Some(models) = limits.ocr.as_ref().filter(|_| !has_text) else {
        return Vec::new();
    };
    let to_pixels = width as f32 / page.width().value.max(1.0);
    // Without the models' help the page is still worth seeing.
    let fragments = scan::read(models, page, &mut || ()).map(|scan| scan.fragments).unwrap_or_default();
    quoted(fragments, &request.quote).into_iter().map(|found| found.scaled(to_pixels)).collect()
}

/// A box in the coordinates of [`Fragment`] as pixels of the picture.
fn to_pixels(page: &PdfPage<'_>, found: &Fragment, config: &PdfRenderConfig) -> Option<PixelBox> {
    let corner = |x: f32, y: f32| {
        let (x, y) = turn_back(x, y, found.turns);
        page.points_to_pixels(PdfPoints::new(x), PdfPoints::new(y), config).ok()
    };
    let (one, other) = (corner(found.left, found.top())?, corner(found.right, found.bottom())?);
    Some(PixelBox {
        left: one.0.min(other.0) as f32,
        top: one.1.min(other.1) as f32,
        right: one.0.max(other.0) as f32,
        bottom: one.1.max(other.1) as f32,
    })
}

/// A point of turned text as a point of the page, y upwards: undoes what [`glyphs`] did.
fn turn_back(x: f32, y: f32, turns: u8) -> (f32, f32) {
    match turns {
        0 => (x, -y),
        1 => (y, x),
        2 => (-x, y),
        _ => (-y, -x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_there_and_back_changes_nothing() {
        for turns in 0..4 {
            let (x, y) = glyphs::turn_upright(3.0, 7.0, turns);
            assert_eq!(turn_back(x, y, turns), (3.0, 7.0));
        }
    }
}
