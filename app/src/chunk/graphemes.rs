//! Where a text may be cut without splitting a grapheme, and trimming that respects it.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// Grapheme boundaries of one text, found in one pass so that later questions cost nothing, whatever the text.
#[derive(Clone, Debug)]
pub(crate) struct Graphemes {
    /// A bit for each byte where a grapheme starts; `None` where every byte starts one.
    starts: Option<Vec<u64>>,
    len: usize,
}

impl Graphemes {
    pub(crate) fn new(text: &str) -> Self {
        let every_byte = text.is_ascii() && !text.contains('\r');
        Self { starts: (!every_byte).then(|| start_bits(text)), len: text.len() }
    }

    pub(crate) fn is_boundary(&self, position: usize) -> bool {
        match &self.starts {
            None => true,
            Some(_) if position == 0 || position >= self.len => true,
            Some(bits) => bits[position / 64] >> (position % 64) & 1 == 1,
        }
    }

    /// The last boundary at or before `position`.
    pub(crate) fn floor(&self, position: usize) -> usize {
        let mut position = position.min(self.len);
        while !self.is_boundary(position) {
            position -= 1;
        }
        position
    }

    /// The first boundary at or after `position`.
    pub(crate) fn ceil(&self, position: usize) -> usize {
        let mut position = position.min(self.len);
        while !self.is_boundary(position) {
            position += 1;
        }
        position
    }

    /// The end of the grapheme that starts at `position`.
    pub(crate) fn next(&self, position: usize) -> usize {
        self.ceil(position.saturating_add(1))
    }

    /// The first grapheme at or after `position` that is not white space (the text's end if there is none).
    pub(crate) fn skip_blank(&self, text: &str, position: usize) -> usize {
        let rest = &text[position..];
        self.floor(text.len() - rest.trim_start().len()).max(position)
    }

    /// The end of the last grapheme before `position` that is not white space, no earlier than `start`.
    pub(crate) fn trim_end(&self, text: &str, start: usize, position: usize) -> usize {
        let kept = text[start..position].trim_end().len();
        self.ceil(start + kept).min(position)
    }

    /// `range` without white space at its ends; empty if it is all white space.
    pub(crate) fn trim(&self, text: &str, range: Range<usize>) -> Range<usize> {
        let start = self.skip_blank(text, range.start).min(range.end);
        start..self.trim_end(text, start, range.end)
    }
}

fn start_bits(text: &str) -> Vec<u64> {
    let mut bits = vec![0_u64; text.len() / 64 + 1];
    for (position, _) in text.grapheme_indices(true) {
        bits[position / 64] |= 1 << (position % 64);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_follow_graphemes() {
        let text = "e\u{301}👨‍👩‍👧\r\nx";
        let graphemes = Graphemes::new(text);
        let found: Vec<usize> = (0..=text.len()).filter(|&p| graphemes.is_boundary(p)).collect();
        assert_eq!(found, [0, 3, 21, 23, 24]);
        assert_eq!(graphemes.floor(10), 3);
        assert_eq!(graphemes.ceil(10), 21);
    }

    #[test]
    fn trimming_never_splits_a_grapheme() {
        let text = " \u{301}a \r\n";
        let graphemes = Graphemes::new(text);
        assert_eq!(graphemes.trim(text, 0..text.len()), 0..4);
        assert_eq!(Graphemes::new("  \n").trim("  \n", 0..3), 3..3);
    }
}
