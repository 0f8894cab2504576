//! Windows to batches: like lengths together, under a token budget.

use std::ops::Range;

use super::tokens::Window;

/// Padded tokens of one batch. More is slower on a CPU: the activations fall out of its caches.
const BUDGET_TOKENS: usize = 1024;

/// Sorts windows by length and cuts them into batches; `batches` are ranges of the sorted windows.
pub(super) fn plan(windows: &mut [Window]) -> Vec<Range<usize>> {
    windows.sort_by_key(|window| window.ids.len());
    let mut batches = Vec::new();
    let mut start = 0;
    for end in 1..=windows.len() {
        let is_last = end == windows.len();
        if is_last || (end + 1 - start) * windows[end].ids.len() > BUDGET_TOKENS {
            batches.push(start..end);
            start = end;
        }
    }
    batches
}

/// A batch as the model takes it: `rows * width`, row by row, padded with zeros.
pub(super) struct Padded {
    /// Windows.
    pub(super) rows: usize,
    /// Tokens of the longest window.
    pub(super) width: usize,
    /// Token ids.
    pub(super) ids: Vec<i64>,
    /// 1 for a token, 0 for padding.
    pub(super) mask: Vec<i64>,
    /// Which of a pair of texts a token belongs to.
    pub(super) types: Vec<i64>,
}

impl Padded {
    /// Pads the windows of one batch.
    pub(super) fn new(windows: &[Window]) -> Self {
        let width = windows.iter().map(|window| window.ids.len()).max();
        let width = width.unwrap_or(0);
        let mut padded = Self {
            rows: windows.len(),
            width,
            ids: vec![0; windows.len() * width],
            mask: vec![0; windows.len() * width],
            types: vec![0; windows.len() * width],
        };
        for (row, window) in windows.iter().enumerate() {
            let range = row * width..row * width + window.ids.len();
            padded.ids[range.clone()].copy_from_slice(&window.ids);
            padded.types[range.start..range.start + window.types.len()].copy_from_slice(&window.types);
            padded.mask[range].fill(1);
        }
        padded
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn window(text: usize, tokens: usize) -> Window {
        Window { text, place: 0, ids: vec![7; tokens], types: Vec::new() }
    }

    #[test]
    fn padding_is_masked() {
        let pair = Window { types: vec![0, 1, 1], ..window(1, 3) };
        let padded = Padded::new(&[window(0, 1), pair]);
        assert_eq!(padded.ids, [7, 0, 0, 7, 7, 7]);
        assert_eq!(padded.types, [0, 0, 0, 0, 1, 1]);
        assert_eq!(padded.mask, [1, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn no_windows_make_no_batches() {
        assert!(plan(&mut []).is_empty());
    }

    proptest! {
        #[test]
        fn every_window_is_in_one_batch_within_the_budget(
            lengths in proptest::collection::vec(1_usize..600, 0..200)
        ) {
            let mut windows: Vec<_> =
                lengths.iter().enumerate().map(|(text, tokens)| window(text, *tokens)).collect();
            let batches = plan(&mut windows);
            let mut next = 0;
            for batch in batches {
                prop_assert_eq!(batch.start, next);
                prop_assert!(!batch.is_empty());
                next = batch.end;
                let padded = batch.len() * windows[batch.end - 1].ids.len();
                prop_assert!(padded <= BUDGET_TOKENS || batch.len() == 1);
            }
            prop_assert_eq!(next, windows.len());
        }
    }
}
