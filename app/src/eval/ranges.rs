//! Sets of positions as ranges.

use std::ops::Range;

/// Number of positions in the union of `ranges`, which may overlap and come in any order.
pub fn union_len(ranges: &[Range<usize>]) -> usize {
    let mut sorted: Vec<&Range<usize>> = ranges.iter().filter(|range| !range.is_empty()).collect();
    sorted.sort_unstable_by_key(|range| range.start);
    let (mut covered, mut len) = (0, 0);
    for range in sorted {
        len += range.end.saturating_sub(range.start.max(covered));
        covered = covered.max(range.end);
    }
    len
}

/// What two ranges share; `None` where they do not even touch, an empty range where they touch.
pub fn contact(left: &Range<usize>, right: &Range<usize>) -> Option<Range<usize>> {
    let (start, end) = (left.start.max(right.start), left.end.min(right.end));
    (start <= end).then_some(start..end)
}

/// Turns byte positions of one text into code-point positions.
pub struct CodePoints {
    starts: Vec<usize>,
}

impl CodePoints {
    /// Reads `text` once.
    pub fn new(text: &str) -> Self {
        Self { starts: text.char_indices().map(|(at, _)| at).collect() }
    }

    /// Number of code points before the byte `position`.
    pub fn at(&self, position: usize) -> usize {
        self.starts.partition_point(|&start| start < position)
    }

    /// The range in code points.
    pub fn range(&self, bytes: &Range<usize>) -> Range<usize> {
        self.at(bytes.start)..self.at(bytes.end)
    }

    /// The range in bytes; `None` where it goes beyond the text of `num_bytes`.
    pub fn bytes(&self, range: &Range<usize>, num_bytes: usize) -> Option<Range<usize>> {
        let byte = |point: usize| match self.starts.get(point) {
            Some(&start) => Some(start),
            None => (point == self.starts.len()).then_some(num_bytes),
        };
        Some(byte(range.start)?..byte(range.end)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_count_each_position_once() {
        assert_eq!(union_len(&[5..9, 0..3, 2..6, 4..4]), 9);
        assert_eq!(union_len(&[]), 0);
    }

    #[test]
    fn touching_is_contact_without_length() {
        assert_eq!(contact(&(0..5), &(5..9)), Some(5..5));
        assert_eq!(contact(&(0..5), &(3..9)), Some(3..5));
        assert_eq!(contact(&(0..5), &(6..9)), None);
    }

    #[test]
    fn positions_go_both_ways() {
        let text = "a漢b";
        let points = CodePoints::new(text);
        assert_eq!(points.range(&(1..4)), 1..2);
        assert_eq!(points.bytes(&(1..2), text.len()), Some(1..4));
        assert_eq!(points.bytes(&(1..3), text.len()), Some(1..5));
        assert_eq!(points.bytes(&(1..4), text.len()), None);
    }
}
