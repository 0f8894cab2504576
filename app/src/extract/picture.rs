//! Pictures of pages: what is asked for, what comes back.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{ExtractError, ExtractLimits, pdf};

/// A page to draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRequest {
    /// The page, from 1.
    pub page: u32,
    /// Width of the picture in pixels.
    pub width: u32,
    /// The words to be marked; those that stand on this page.
    pub quote: String,
}

/// A part of a picture, in pixels from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PixelBox {
    /// Left edge.
    pub left: f32,
    /// Upper edge.
    pub top: f32,
    /// Right edge.
    pub right: f32,
    /// Lower edge.
    pub bottom: f32,
}

/// A page as it looks, with the boxes of the words asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PagePicture {
    /// The page, from 1.
    pub page: u32,
    /// Pages of the document.
    pub pages: u32,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Four bytes a pixel, row by row.
    pub rgba: Vec<u8>,
    /// Where the words stand; empty when they are not on this page.
    pub boxes: Vec<PixelBox>,
}

/// Draws a page of the file at `path` in this process. Called by the extract worker only.
///
/// # Errors
/// The file is no PDF, is damaged, or has no such page.
pub fn draw_page(path: &Path, request: &PageRequest, limits: &ExtractLimits) -> Result<PagePicture, ExtractError> {
    let is_pdf = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pdf"));
    if !is_pdf {
        return Err(ExtractError::Unsupported {
            path: path.to_owned(),
            found: "no PDF, so no page to draw".to_owned(),
        });
    }
    pdf::draw(path, request, limits).map_err(|err| err.at(path))
}
