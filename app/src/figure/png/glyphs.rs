//! Text as polygons: the outlines of Inter.

use skrifa::instance::{Location, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};

use super::coverage::Point;

const INTER: &[u8] = include_bytes!("../../../../assets/fonts/Inter.ttf");

/// Weights of plain and of strong text.
const PLAIN_WEIGHT: f32 = 420.0;
const STRONG_WEIGHT: f32 = 620.0;
/// Straight pieces of a curve.
const PIECES: usize = 6;

/// The outlines of one line of text from (0, 0) along the base line, and its width.
pub(super) fn outlines(text: &str, size: f32, is_strong: bool) -> (Vec<Vec<Point>>, f32) {
    let mut pen = Pen::default();
    let Ok(font) = FontRef::new(INTER) else { return (pen.polygons, 0.0) };
    let weight = if is_strong { STRONG_WEIGHT } else { PLAIN_WEIGHT };
    let location: Location = font.axes().location([("wght", weight)]);
    let (charmap, outlines) = (font.charmap(), font.outline_glyphs());
    let metrics = font.glyph_metrics(Size::new(size), &location);
    for letter in text.chars() {
        // A letter that Inter lacks is a gap of one digit's width.
        let Some(glyph) = charmap.map(letter) else {
            pen.left += metrics.advance_width(charmap.map('0').unwrap_or(GlyphId::NOTDEF)).unwrap_or(size / 2.0);
            continue;
        };
        if let Some(outline) = outlines.get(glyph) {
            // A glyph that is damaged leaves a gap.
            let _ = outline.draw(DrawSettings::unhinted(Size::new(size), &location), &mut pen);
        }
        pen.left += metrics.advance_width(glyph).unwrap_or(0.0);
    }
    (pen.polygons, pen.left)
}

/// Collects outlines as polygons, downwards positive.
#[derive(Default)]
struct Pen {
    polygons: Vec<Vec<Point>>,
    /// Where the glyph begins.
    left: f32,
}

impl Pen {
    fn last(&self) -> Point {
        self.polygons.last().and_then(|polygon| polygon.last()).copied().unwrap_or_default()
    }

    fn add(&mut self, x: f32, y: f32) {
        let point = (self.left + x, -y);
        if let Some(polygon) = self.polygons.last_mut() {
            polygon.push(point);
        }
    }
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.polygons.push(Vec::new());
        self.add(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.add(x, y);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        let (from_x, from_y) = (self.last().0 - self.left, -self.last().1);
        for piece in 1..=PIECES {
            let t = piece as f32 / PIECES as f32;
            let blend = |from: f32, control: f32, to: f32| {
                (1.0 - t) * (1.0 - t) * from + 2.0 * (1.0 - t) * t * control + t * t * to
            };
            self.add(blend(from_x, cx, x), blend(from_y, cy, y));
        }
    }

    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        let (from_x, from_y) = (self.last().0 - self.left, -self.last().1);
        for piece in 1..=PIECES {
            let t = piece as f32 / PIECES as f32;
            let u = 1.0 - t;
            let blend = |from: f32, first: f32, second: f32, to: f32| {
                u * u * u * from + 3.0 * u * u * t * first + 3.0 * u * t * t * second + t * t * t * to
            };
            self.add(blend(from_x, cx0, cx1, x), blend(from_y, cy0, cy1, y));
        }
    }

    fn close(&mut self) {}
}
