//! Pictures of pages: what is asked for, what comes back.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::detect::{Format, HEAD_BYTES, detect};
use super::read::read_head;
use super::{ExtractError, ExtractLimits, Password, images, pdf};

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

impl PixelBox {
    /// The box on the same picture in another size.
    pub(super) fn scaled(self, factor: f32) -> Self {
        let Self { left, top, right, bottom } = self;
        let [left, top, right, bottom] = [left, top, right, bottom].map(|edge| edge * factor);
        Self { left, top, right, bottom }
    }
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
/// The file is neither a PDF nor an image, is damaged, needs another password, or has no such page.
pub fn draw_page(
    path: &Path,
    request: &PageRequest,
    password: Option<&Password>,
    limits: &ExtractLimits,
) -> Result<PagePicture, ExtractError> {
    let draw = || {
        let head = read_head(path, HEAD_BYTES).map_err(|err| ExtractError::io(&err))?;
        match detect(path, &head)? {
            Format::Pdf => pdf::draw(path, request, password, limits),
            Format::Image => images::draw(path, request, limits),
            _ => Err(ExtractError::unsupported("no PDF and no image, so no page to draw")),
        }
    };
    draw().map_err(|err| err.at(path))
}
