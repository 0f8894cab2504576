//! Drawing figures as self-contained SVG documents in the colours of `assets/theme`, and those as PNG.
//!
//! Start at `Canvas`. Must not know: what is drawn.

mod axis;
mod canvas;
pub(crate) mod html;
mod png;
mod theme;

pub(crate) use axis::Axis;
pub(crate) use canvas::{Anchor, Canvas, Font, Point, escaped};
pub use png::{PngError, to_png};
pub(crate) use theme::theme;

/// `12 345`, with thin spaces.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push('\u{2009}');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_in_threes() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234_567), "1\u{2009}234\u{2009}567");
    }
}
