//! Texts to windows of token ids.

use std::path::Path;

use tokenizers::{PostProcessor as _, Tokenizer, TruncationDirection};

use super::EmbedError;

/// One forward pass's worth of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// Index of the text.
    pub(super) text: usize,
    /// Which window of the text, from 0.
    pub(super) place: usize,
    /// Token ids with the special tokens around them.
    pub(super) ids: Vec<i64>,
    /// Which of a pair of texts each token belongs to, 0 or 1; empty for a single text.
    pub(super) types: Vec<i64>,
}

/// A tokenizer with the special tokens that the model expects around a text.
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    before: Vec<u32>,
    after: Vec<u32>,
}

impl Tokens {
    /// Loads `tokenizer.json`.
    pub(super) fn open(path: &Path) -> Result<Self, EmbedError> {
        let load = |detail: String| EmbedError::Load(format!("{detail}: {}", path.display()));
        let bytes = std::fs::read(path).map_err(|err| load(err.to_string()))?;
        let mut tokenizer = Tokenizer::from_bytes(&bytes).map_err(|err| load(format!("not a tokenizer: {err}")))?;
        tokenizer.with_truncation(None).map_err(|err| load(err.to_string()))?.with_padding(None);
        let (before, after) =
            special_tokens(&tokenizer).map_err(|err| load(format!("the tokenizer does not work: {err}")))?;
        Ok(Self { tokenizer, before, after })
    }

    /// Special tokens around every window.
    pub(super) fn num_special(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// Tokens of `text` alone.
    pub(super) fn count(&self, text: &str) -> usize {
        self.ids(text).map_or(0, |ids| ids.len())
    }

    /// The windows of `prefix + text`, each of at most `window` tokens with the special ones; none for a blank text.
    pub(super) fn windows(
        &self,
        index: usize,
        prefix: &str,
        text: &str,
        window: usize,
    ) -> Result<Vec<Window>, EmbedError> {
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let ids = if prefix.is_empty() { self.ids(text)? } else { self.ids(&format!("{prefix}{text}"))? };
        let room = window.saturating_sub(self.num_special()).max(1);
        Ok(split(ids.len(), room)
            .into_iter()
            .enumerate()
            .map(|(place, range)| Window { text: index, place, ids: self.with_special(&ids[range]), types: Vec::new() })
            .collect())
    }

    /// Positions of a window's own tokens, the special ones left out.
    pub(super) fn content_of(&self, window: &Window) -> std::ops::Range<usize> {
        let end = window.ids.len().saturating_sub(self.after.len());
        self.before.len().min(end)..end
    }

    /// The query with each passage, in at most `window` tokens with the special ones. The passage is cut where they do
    /// not fit, and the query only where it leaves less than a quarter for the passage.
    pub(super) fn pairs(&self, query: &str, passages: &[&str], window: usize) -> Result<Vec<Window>, EmbedError> {
        let failed = |err: tokenizers::Error| EmbedError::Run(format!("a text cannot be tokenized: {err}"));
        let special = self.tokenizer.get_post_processor().map_or(0, |processor| processor.added_tokens(true));
        let room = window.saturating_sub(special).max(2);
        let part = |text: &str, most_tokens: usize| {
            let mut part = self.tokenizer.encode_fast(text, false).map_err(failed)?;
            part.truncate(most_tokens, 0, TruncationDirection::Right);
            part.take_overflowing();
            Ok::<_, EmbedError>(part)
        };
        let query = part(query, room - (room / 4).max(1))?;
        let pair = |(text, passage): (usize, &&str)| {
            let mut passage = part(passage, room - query.len())?;
            passage.set_type_ids(vec![1; passage.len()]);
            let pair = self.tokenizer.post_process(query.clone(), Some(passage), true).map_err(failed)?;
            let numbers = |numbers: &[u32]| numbers.iter().map(|number| i64::from(*number)).collect();
            Ok(Window { text, place: 0, ids: numbers(pair.get_ids()), types: numbers(pair.get_type_ids()) })
        };
        passages.iter().enumerate().map(pair).collect()
    }

    fn ids(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        self.tokenizer
            .encode_fast(text, false)
            .map(|encoding| encoding.get_ids().to_vec())
            .map_err(|err| EmbedError::Run(format!("a text cannot be tokenized: {err}")))
    }

    fn with_special(&self, ids: &[u32]) -> Vec<i64> {
        self.before.iter().chain(ids).chain(&self.after).map(|id| i64::from(*id)).collect()
    }
}

/// What the tokenizer puts before and after a text.
fn special_tokens(tokenizer: &Tokenizer) -> tokenizers::Result<(Vec<u32>, Vec<u32>)> {
    let plain = tokenizer.encode_fast("a", false)?;
    let full = tokenizer.encode_fast("a", true)?;
    let (plain, full) = (plain.get_ids(), full.get_ids());
    let at = full.windows(plain.len().max(1)).position(|part| part == plain).unwrap_or(full.len());
    let after = full.get(at + plain.len()..).unwrap_or_default();
    Ok((full[..at].to_vec(), after.to_vec()))
}

/// Ranges of at most `room` tokens that overlap by an eighth and cover all `total`; one empty range for none.
fn split(total: usize, room: usize) -> Vec<std::ops::Range<usize>> {
    let stride = room - room / 8;
    let mut ranges = Vec::new();
    let mut start = 0;
    loop {
        let end = (start + room).min(total);
        ranges.push(start..end);
        if end == total {
            return ranges;
        }
        start += stride;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_text_is_one_window() {
        assert_eq!(split(5, 16), vec![0..5; 1]);
        assert_eq!(split(16, 16), vec![0..16; 1]);
    }

    #[test]
    fn windows_overlap_by_an_eighth() {
        assert_eq!(split(40, 16), [0..16, 14..30, 28..40]);
    }

    proptest! {
        #[test]
        fn windows_cover_every_token_in_order(total in 0_usize..5000, room in 1_usize..512) {
            let ranges = split(total, room);
            prop_assert_eq!(ranges[0].start, 0);
            prop_assert_eq!(ranges[ranges.len() - 1].end, total);
            for pair in ranges.windows(2) {
                prop_assert!(pair[1].start <= pair[0].end && pair[1].start > pair[0].start);
            }
            prop_assert!(ranges.iter().all(|range| range.len() <= room));
        }
    }
}
