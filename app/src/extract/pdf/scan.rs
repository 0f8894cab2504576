//! Pages that are pictures: drawn, read by OCR, and given as fragments like those of pages with text.

use pdfium_render::prelude::{PdfPage, PdfRenderConfig};

use super::glyphs::Fragment;
use crate::extract::ocr::{self, OcrLine, OcrModels, Picture};

/// Resolution of the picture, in pixels a point: 200 an inch.
const PIXELS_PER_POINT: f32 = 200.0 / 72.0;
/// Pixels of the longer side, for posters.
const LONGEST_SIDE: f32 = 4000.0;
/// Lines that are read with less confidence are dirt.
const LEAST_CONFIDENCE: f32 = 0.5;
/// Type size as a share of the height of a line's box, which has some air around the letters.
const SIZE_OF_BOX: f32 = 0.68;
/// Height of the baseline above the bottom of the box, as a share of its height.
const BASELINE_OF_BOX: f32 = 0.25;
/// Boxes whose height is within this of the page's middle one have its type size: they differ by their letters.
const SAME_SIZE: f32 = 0.3;

/// What was read of a picture.
pub(in crate::extract) struct Scan {
    pub(in crate::extract) fragments: Vec<Fragment>,
    /// Of each line, 0 to 1.
    pub(in crate::extract) confidences: Vec<f32>,
}

/// Draws a page and reads it; for `on_step` see [`ocr::read`].
///
/// # Errors
/// The page cannot be drawn, or a model does not work.
pub(super) fn read(models: &OcrModels, page: &PdfPage<'_>, on_step: &mut dyn FnMut()) -> Result<Scan, String> {
    let longer = page.width().value.max(page.height().value).max(1.0);
    let scale = PIXELS_PER_POINT.min(LONGEST_SIDE / longer);
    let config = PdfRenderConfig::new().scale_page_by_factor(scale);
    let bitmap = page.render_with_config(&config).map_err(|err| format!("the page cannot be drawn: {err:?}"))?;
    let side = |pixels: i32| usize::try_from(pixels).unwrap_or(0);
    let picture = Picture::from_rgba(side(bitmap.width()), side(bitmap.height()), &bitmap.as_rgba_bytes())
        .ok_or("the page has no size")?;
    read_picture(models, &picture, scale, on_step)
}

/// Reads a picture that has `scale` pixels a point.
///
/// # Errors
/// A model does not work.
pub(in crate::extract) fn read_picture(
    models: &OcrModels,
    picture: &Picture,
    scale: f32,
    on_step: &mut dyn FnMut(),
) -> Result<Scan, String> {
    let mut lines = ocr::read(models, picture, on_step)?;
    lines.retain(|line| line.confidence >= LEAST_CONFIDENCE);
    Ok(Scan { confidences: lines.iter().map(|line| line.confidence).collect(), fragments: fragments(lines, scale) })
}

fn fragments(lines: Vec<OcrLine>, scale: f32) -> Vec<Fragment> {
    let height = |line: &OcrLine| line.bottom - line.top;
    let mut heights: Vec<f32> = lines.iter().map(height).collect();
    heights.sort_by(f32::total_cmp);
    let middle = heights.get(heights.len() / 2).copied().unwrap_or(0.0);
    let even = |height: f32| if (height - middle).abs() <= SAME_SIZE * middle { middle } else { height };
    lines
        .into_iter()
        .map(|line| Fragment {
            left: line.left / scale,
            right: line.right / scale,
            baseline: (line.bottom - BASELINE_OF_BOX * height(&line)) / scale,
            size: SIZE_OF_BOX * even(height(&line)) / scale,
            turns: 0,
            text: line.text,
        })
        .collect()
}
