//! Figures as PNG.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

const INTER: &[u8] = include_bytes!("../../../assets/fonts/Inter.ttf");

/// Widest picture: more pixels than a printed page has.
const MOST_PIXELS: u32 = 20_000;

/// Why a figure did not become a PNG.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the figure cannot be drawn as PNG: {0}")]
pub struct PngError(String);

/// The font of all figures, so that pictures are the same on every machine.
static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(INTER.to_vec());
    fonts.set_sans_serif_family("Inter");
    Arc::new(fonts)
});

/// Draws an SVG document with `scale` pixels for each of its units.
///
/// # Errors
/// It is no SVG, or the picture would have no pixels or too many.
pub fn to_png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let options = Options { fontdb: Arc::clone(&FONTS), font_family: "Inter".to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|err| PngError(err.to_string()))?;
    let size = tree.size();
    let (width, height) = ((size.width() * scale).ceil() as u32, (size.height() * scale).ceil() as u32);
    let pixmap = Pixmap::new(width, height).filter(|_| width.max(height) <= MOST_PIXELS);
    let mut pixmap = pixmap.ok_or_else(|| PngError(format!("{width} × {height} pixels")))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|err| PngError(err.to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;
    use crate::figure::{Anchor, Canvas, Font};

    #[test]
    fn text_and_shapes_become_pixels() {
        let draw = |text: &str| {
            let mut canvas = Canvas::new(120.0, 40.0, "white");
            let font = Font { size: 20.0, colour: "black", is_strong: true };
            canvas.text((10.0, 28.0), Anchor::Start, &font, text);
            to_png(&canvas.finish(), 2.0).unwrap()
        };
        assert!(draw("layers").starts_with(b"\x89PNG"));
        assert_ne!(draw("layers"), draw(""), "text leaves pixels");
    }

    #[test]
    fn no_picture_says_why() {
        assert!(to_png("not a picture", 1.0).unwrap_err().to_string().contains("PNG"));
        let huge = Canvas::new(1e5, 10.0, "white").finish();
        assert!(to_png(&huge, 1.0).unwrap_err().to_string().contains("100000 × 10"));
    }
}
