//! From a page's characters to fragments: pieces of lines without a wide gap.
//!
//! PDFium's order is kept inside a fragment, because it has put right-to-left text into logical order and has
//! found the spaces that the file only shows as gaps. Between fragments its order is not believed: it follows
//! the drawing order, which jumps between columns.

use pdfium_render::prelude::{PdfPageText, PdfPageTextChar};

/// A gap wider than this, in type sizes, ends a fragment.
pub(super) const WIDE_GAP: f32 = 1.3;
/// The same for right-to-left text, where numbers leave gaps until they are filled.
const WIDE_GAP_RTL: f32 = 6.0;
/// A gap wider than this, in type sizes, is a space even if PDFium found none.
const WORD_GAP: f32 = 0.28;
/// What PDFium puts in place of a hyphen at the end of a line.
const LINE_END_HYPHEN: u32 = 0x02;
/// A hyphen that shows only where a line ends.
const SOFT_HYPHEN: u32 = 0xad;
/// Type size when a file says none that makes sense.
const FALLBACK_SIZE: f32 = 10.0;

/// A piece of a line. Coordinates are points, as seen by a reader of the text: x to the right, y downwards.
#[derive(Clone, Debug)]
pub(in crate::extract) struct Fragment {
    pub(super) text: String,
    pub(super) left: f32,
    pub(super) right: f32,
    pub(super) baseline: f32,
    pub(super) size: f32,
    /// Quarter turns of the text against the page.
    pub(super) turns: u8,
}

impl Fragment {
    pub(super) fn top(&self) -> f32 {
        self.baseline - 0.8 * self.size
    }

    pub(super) fn bottom(&self) -> f32 {
        self.baseline + 0.2 * self.size
    }
}

/// What a page gave.
#[derive(Default)]
pub(super) struct PageGlyphs {
    pub(super) fragments: Vec<Fragment>,
    mapped: usize,
    unmapped: usize,
}

impl PageGlyphs {
    /// Whether most characters have no meaning in Unicode, as with a damaged character map.
    pub(super) fn is_unmapped(&self) -> bool {
        self.unmapped > self.mapped
    }
}

/// The fragments of a page, in PDFium's order.
pub(super) fn read_fragments(text: &PdfPageText<'_>) -> PageGlyphs {
    let mut reader = FragmentReader::default();
    for character in text.chars().iter() {
        reader.note(&character);
    }
    reader.finish()
}

/// One character with its place.
struct Glyph {
    character: char,
    left: f32,
    right: f32,
    baseline: f32,
    size: f32,
    turns: u8,
}

#[derive(Default)]
struct FragmentReader {
    page: PageGlyphs,
    open: Option<Fragment>,
    space_pending: bool,
    high_surrogate: Option<u32>,
}

impl FragmentReader {
    fn note(&mut self, character: &PdfPageTextChar<'_>) {
        let value = match character.unicode_value() {
            LINE_END_HYPHEN if character.is_hyphen().unwrap_or(false) => Some('-'),
            SOFT_HYPHEN => Some('-'),
            value => self.unicode(value),
        };
        let Some(value) = value else {
            return;
        };
        if matches!(value, '\r' | '\n') {
            self.close();
        } else if value.is_whitespace() {
            self.space_pending = true;
        } else if is_unmapped(value) {
            self.page.unmapped += 1;
        } else if let Some(glyph) = place_glyph(character, value) {
            self.page.mapped += 1;
            self.add(&glyph);
        }
    }

    /// Joins surrogate pairs, which come as two characters.
    fn unicode(&mut self, value: u32) -> Option<char> {
        let high = self.high_surrogate.take();
        match value {
            0xd800..=0xdbff => {
                self.high_surrogate = Some(value);
                None
            }
            0xdc00..=0xdfff => char::from_u32(0x10000 + ((high? - 0xd800) << 10) + (value - 0xdc00)),
            _ => char::from_u32(value),
        }
    }

    fn add(&mut self, glyph: &Glyph) {
        let space_pending = std::mem::take(&mut self.space_pending);
        match &mut self.open {
            Some(open) if continues(open, glyph) => {
                let gap = gap_between(open, glyph);
                if space_pending || (gap > WORD_GAP * open.size && is_spaced(glyph.character)) {
                    open.text.push(' ');
                }
                open.left = open.left.min(glyph.left);
                open.right = open.right.max(glyph.right);
                open.size = open.size.max(glyph.size);
                push_expanded(&mut open.text, glyph.character);
            }
            _ => {
                self.close();
                let mut text = String::new();
                push_expanded(&mut text, glyph.character);
                self.open = Some(Fragment {
                    text,
                    left: glyph.left,
                    right: glyph.right,
                    baseline: glyph.baseline,
                    size: glyph.size,
                    turns: glyph.turns,
                });
            }
        }
    }

    fn close(&mut self) {
        self.space_pending = false;
        self.page.fragments.extend(self.open.take());
    }

    fn finish(mut self) -> PageGlyphs {
        self.close();
        self.page
    }
}

/// Whether a glyph belongs to the fragment: on its line, without a wide gap.
fn continues(open: &Fragment, glyph: &Glyph) -> bool {
    let sizes = open.size.min(glyph.size);
    let is_rtl = is_right_to_left(glyph.character) || open.text.chars().any(is_right_to_left);
    let widest = if is_rtl { WIDE_GAP_RTL } else { WIDE_GAP };
    open.turns == glyph.turns
        && (open.baseline - glyph.baseline).abs() < 0.5 * sizes.max(0.6 * open.size)
        && gap_between(open, glyph) <= widest * open.size
}

/// The distance to the nearer end of the fragment; negative inside it.
fn gap_between(open: &Fragment, glyph: &Glyph) -> f32 {
    (glyph.left - open.right).max(open.left - glyph.right)
}

fn place_glyph(character: &PdfPageTextChar<'_>, value: char) -> Option<Glyph> {
    let (x, y) = character.origin().ok()?;
    let bounds = character.tight_bounds().ok()?;
    let matrix = character.matrix().ok()?;
    let scale = matrix.c().hypot(matrix.d());
    let size = character.unscaled_font_size().value.abs() * scale;
    let turns = quarter_turns(matrix.a(), matrix.b());
    let (first, baseline) = turn_upright(x.value, y.value, turns);
    let one = turn_upright(bounds.left().value, bounds.bottom().value, turns);
    let other = turn_upright(bounds.right().value, bounds.top().value, turns);
    let glyph = Glyph {
        character: value,
        left: one.0.min(other.0).min(first),
        right: one.0.max(other.0).max(first),
        baseline,
        size: if size > 0.1 && size < 10_000.0 { size } else { FALLBACK_SIZE },
        turns,
    };
    let is_placed = glyph.left.is_finite() && glyph.right.is_finite() && glyph.baseline.is_finite();
    is_placed.then_some(glyph)
}

/// Quarter turns, counter-clockwise, of a baseline with the direction (`a`, `b`).
fn quarter_turns(a: f32, b: f32) -> u8 {
    if a.abs() >= b.abs() {
        if a < 0.0 { 2 } else { 0 }
    } else if b > 0.0 {
        1
    } else {
        3
    }
}

/// A point of the page in the coordinates of text that is turned by `turns`, y downwards.
pub(super) fn turn_upright(x: f32, y: f32, turns: u8) -> (f32, f32) {
    match turns {
        0 => (x, -y),
        1 => (y, x),
        2 => (-x, y),
        _ => (-y, -x),
    }
}

fn is_unmapped(value: char) -> bool {
    matches!(value, '\0' | '\u{fffd}'..='\u{ffff}' | '\u{e000}'..='\u{f8ff}') || value.is_control()
}

/// Scripts that put spaces between words.
fn is_spaced(value: char) -> bool {
    !matches!(value, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

/// Hebrew, Arabic and their neighbours.
pub(super) fn is_right_to_left(value: char) -> bool {
    matches!(value, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Adds a character, ligatures as their letters.
fn push_expanded(text: &mut String, value: char) {
    match value {
        'ﬀ' => text.push_str("ff"),
        'ﬁ' => text.push_str("fi"),
        'ﬂ' => text.push_str("fl"),
        'ﬃ' => text.push_str("ffi"),
        'ﬄ' => text.push_str("ffl"),
        'ﬅ' | 'ﬆ' => text.push_str("st"),
        _ => text.push(value),
    }
}
