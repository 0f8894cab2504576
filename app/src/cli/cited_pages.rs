//! `outcrop ask --pages DIR`: the cited pages as pictures, with the cited words marked.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::CliError;
use super::session::Session;
use crate::answer::Citation;
use crate::extract::{PagePicture, PageRequest, PixelBox};
use crate::library::Library;

/// Width of a picture in pixels: a page of text is read well.
const WIDTH: u32 = 1200;
/// Pages of one citation: a quote stands on one or two.
const MOST_PAGES: usize = 4;
/// What the marked words' paper is multiplied with, of 255: a highlighter's yellow.
const MARKER: [u16; 3] = [255, 232, 92];

/// A page of a citation, as it was written.
#[derive(Serialize)]
pub(super) struct CitedPage {
    marker: u32,
    page: u32,
    #[serde(serialize_with = "crate::store::path_as_text")]
    file: PathBuf,
    width: u32,
    height: u32,
    /// Where the cited words stand, in pixels; empty where they are not found on the page.
    boxes: Vec<PixelBox>,
}

/// Makes the folder for the pages, before anything is asked.
///
/// # Errors
/// It cannot be made.
pub(super) fn make_folder(folder: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(folder)
        .map_err(|err| CliError::failed("the folder for the pages cannot be made", format!("{err}: {folder:?}"), None))
}

/// Writes the pages of `citations` into `folder`; a page that cannot be drawn or written is a note.
pub(super) fn write(session: &Session, library: &Library, citations: &[Citation], folder: &Path) -> Vec<CitedPage> {
    let mut written: Vec<CitedPage> = Vec::new();
    for citation in citations {
        let Some((first, last)) = citation.pages else { continue };
        for page in (first..=last).take(MOST_PAGES) {
            if session.cancel.is_cancelled() {
                return written;
            }
            let request = PageRequest { page, width: WIDTH, quote: citation.quote.clone() };
            let mut picture = match library.draw_page(citation.document, &request, &session.cancel) {
                Ok(Some(picture)) => picture,
                Ok(None) => continue,
                Err(err) => {
                    session.note(&format!("page {page} of {}: {err}", citation.path.display()));
                    continue;
                }
            };
            let earlier = written.iter().filter(|earlier| (earlier.marker, earlier.page) == (citation.marker, page));
            let again = match earlier.count() {
                0 => String::new(),
                count => format!("-{}", count + 1),
            };
            let file = folder.join(format!("{}-p{page}{again}.png", citation.marker));
            mark(&mut picture);
            let PagePicture { width, height, rgba, boxes, .. } = picture;
            if let Err(err) = image::save_buffer(&file, &rgba, width, height, image::ExtendedColorType::Rgba8) {
                session.note(&format!("page {page} could not be written: {err}: {}", file.display()));
                continue;
            }
            written.push(CitedPage { marker: citation.marker, page, file, width, height, boxes });
        }
    }
    written
}

/// Marks the boxes as with a highlighter.
fn mark(picture: &mut PagePicture) {
    let width = picture.width as usize;
    for PixelBox { left, top, right, bottom } in &picture.boxes {
        let columns = (left.max(0.0) as usize)..(right.ceil() as usize).min(width);
        for row in (top.max(0.0) as usize)..(bottom.ceil() as usize).min(picture.height as usize) {
            for column in columns.clone() {
                let at = (row * width + column) * 4;
                let Some(pixel) = picture.rgba.get_mut(at..at + 3) else { continue };
                for (value, ink) in pixel.iter_mut().zip(MARKER) {
                    *value = (u16::from(*value) * ink / 255) as u8;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_marked_within_the_picture() {
        let boxes = vec![PixelBox { left: -1.0, top: 0.0, right: 1.0, bottom: 9.0 }];
        let mut picture = PagePicture { page: 1, pages: 1, width: 2, height: 2, rgba: vec![255; 16], boxes };
        mark(&mut picture);
        let pixel = |at: usize| picture.rgba[at * 4..at * 4 + 4].to_vec();
        assert_eq!((pixel(0), pixel(1)), (vec![255, 232, 92, 255], vec![255; 4]));
        assert_eq!((pixel(2), pixel(3)), (vec![255, 232, 92, 255], vec![255; 4]));
    }
}
