//! Merging small neighbours.

use std::ops::Range;

/// When to merge, asked in document order.
pub(crate) struct MergeRules<'a> {
    /// Whether a range should not stay alone.
    pub(crate) is_small: &'a dyn Fn(&Range<usize>) -> bool,
    /// Whether a merged range respects the cap.
    pub(crate) fits: &'a dyn Fn(Range<usize>) -> bool,
    /// Whether the range with this index belongs to the one before it rather than to the one after it.
    pub(crate) prefers_left: &'a dyn Fn(usize) -> bool,
}

impl MergeRules<'_> {
    /// Merges every small range with the neighbour it prefers, else with the other one, where that fits.
    pub(crate) fn merge(&self, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
        let mut is_waiting = false;
        for (index, range) in ranges.iter().enumerate() {
            let mut range = range.clone();
            if is_waiting {
                range = self.settle(&mut merged, range);
            }
            let is_small = (self.is_small)(&range);
            let goes_left = is_small && (index + 1 == ranges.len() || (self.prefers_left)(index));
            is_waiting = is_small && !(goes_left && self.join_left(&mut merged, &range));
            if is_waiting || !goes_left {
                merged.push(range);
            }
        }
        merged
    }

    /// Finds a place for the small last range of `merged`: with `next`, else with the one before it.
    fn settle(&self, merged: &mut Vec<Range<usize>>, next: Range<usize>) -> Range<usize> {
        let Some(small) = merged.pop() else {
            return next;
        };
        if (self.fits)(small.start..next.end) {
            return small.start..next.end;
        }
        if !self.join_left(merged, &small) {
            merged.push(small);
        }
        next
    }

    fn join_left(&self, merged: &mut [Range<usize>], range: &Range<usize>) -> bool {
        let Some(left) = merged.last_mut().filter(|left| (self.fits)(left.start..range.end)) else {
            return false;
        };
        left.end = range.end;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merge(ends: &[usize], prefers_left: bool) -> Vec<Range<usize>> {
        let starts = [0].into_iter().chain(ends.iter().copied());
        let ranges: Vec<_> = starts.zip(ends).map(|(start, &end)| start..end).collect();
        let rules = MergeRules {
            is_small: &|range| range.len() < 5,
            fits: &|range| range.len() <= 12,
            prefers_left: &|_| prefers_left,
        };
        rules.merge(&ranges)
    }

    #[test]
    fn small_ranges_go_to_the_side_they_prefer() {
        assert_eq!(merge(&[8, 10, 18], true), [0..10, 10..18]);
        assert_eq!(merge(&[8, 10, 18], false), [0..8, 8..18]);
    }

    #[test]
    fn the_other_side_is_taken_where_the_preferred_one_is_full() {
        assert_eq!(merge(&[12, 14, 20], true), [0..12, 12..20]);
        assert_eq!(merge(&[8, 10, 22], false), [0..10, 10..22]);
        assert_eq!(merge(&[12, 14], false), [0..12, 12..14]);
    }

    #[test]
    fn runs_of_small_ranges_grow_together() {
        assert_eq!(merge(&[2, 4, 6, 8], false), vec![0..8; 1]);
        assert!(merge(&[], true).is_empty());
    }
}
