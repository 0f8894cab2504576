//! Figures as PNG: draws the SVG documents that [`super::Canvas`] writes (rectangles, lines, polygons, circles and
//! text in Inter), and no other ones. The same drawing gives the same picture on every machine.

mod coverage;
mod drawing;
mod glyphs;

use std::io::Cursor;

use image::{ImageFormat, RgbImage};

/// Widest picture: more pixels than a printed page has.
const MOST_PIXELS: u32 = 20_000;

/// Why a figure did not become a PNG.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the figure cannot be drawn as PNG: {0}")]
pub struct PngError(String);

/// Draws an SVG document with `scale` pixels for each of its units.
///
/// # Errors
/// It is no SVG of ours, or the picture would have no pixels or too many.
pub fn to_png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let picture = drawing::draw(svg, scale)?;
    let (width, height) = (picture.width, picture.height);
    let image = RgbImage::from_raw(width, height, picture.into_bytes())
        .ok_or_else(|| PngError(format!("{width} × {height} pixels")))?;
    let mut png = Cursor::new(Vec::new());
    image.write_to(&mut png, ImageFormat::Png).map_err(|err| PngError(err.to_string()))?;
    Ok(png.into_inner())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;
    use crate::figure::{Anchor, Canvas, Font};

    fn pixels(svg: &str) -> RgbImage {
        image::load_from_memory(&to_png(svg, 2.0).unwrap()).unwrap().into_rgb8()
    }

    #[test]
    fn shapes_cover_the_pixels_that_they_should() {
        let mut canvas = Canvas::new(40.0, 20.0, "white");
        canvas.rect((10.0, 5.0), (10.0, 10.0), "black", "");
        canvas.line((0.0, 18.0), (40.0, 18.0), "black", 2.0);
        let picture = pixels(&canvas.finish());
        assert_eq!(picture.dimensions(), (80, 40));
        let at = |x, y| picture.get_pixel(x, y).0[0];
        assert_eq!((at(30, 20), at(18, 20), at(50, 20)), (0, 255, 255));
        assert_eq!((at(5, 36), at(5, 30)), (0, 255));
    }

    #[test]
    fn text_leaves_pixels_where_it_is_anchored() {
        let ink = |anchor| {
            let mut canvas = Canvas::new(120.0, 40.0, "white");
            let font = Font { size: 20.0, colour: "black", is_strong: true };
            canvas.text((60.0, 28.0), anchor, &font, "layers");
            let picture = pixels(&canvas.finish());
            let dark = |x: u32| (0..80).filter(|&y| picture.get_pixel(x, y).0[0] < 128).count();
            ((0..118).map(dark).sum::<usize>(), (122..240).map(dark).sum::<usize>())
        };
        let (left, right) = ink(Anchor::Start);
        assert!(left == 0 && right > 100, "{left} {right}");
        let (left, right) = ink(Anchor::End);
        assert!(left > 100 && right == 0, "{left} {right}");
    }

    #[test]
    fn no_picture_says_why() {
        assert!(to_png("not a picture", 1.0).unwrap_err().to_string().contains("no <svg>"));
        let huge = Canvas::new(1e5, 10.0, "white").finish();
        assert!(to_png(&huge, 1.0).unwrap_err().to_string().contains("100000 × 10"));
    }
}
