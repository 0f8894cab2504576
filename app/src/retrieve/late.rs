//! Late interaction (Khattab & Zaharia 2020, "ColBERT"): a passage's score is the mean over the question's tokens of
//! the highest cosine with any token of the passage. The token vectors are those of the embedder in use.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::embed::{EmbedError, Embedder, TextRole, TokenVectors};
use crate::progress::CancelToken;

/// Token vectors of passages kept between questions, in bytes: about a thousand passages.
const KEPT_BYTES: usize = 96 << 20;
/// What 1 is in the rows of [`TokenVectors`], squared.
const ONE: f64 = 127.0 * 127.0;

/// Scores passages by their tokens and keeps the vectors of those seen before. For one embedder and one library: a
/// passage's id stands for its text.
#[derive(Debug, Default)]
pub struct LateInteraction {
    kept: BTreeMap<u64, Arc<TokenVectors>>,
    kept_bytes: usize,
    most_bytes: Option<usize>,
}

impl LateInteraction {
    /// Keeps everything it has seen, for measuring over a set that fits in memory.
    pub fn unbounded() -> Self {
        Self { most_bytes: Some(usize::MAX), ..Self::default() }
    }

    /// One score for each passage, -1 to 1; `None` where the embedder has no token vectors.
    ///
    /// # Errors
    /// The model failed, or `cancel` was set.
    pub fn scores(
        &mut self,
        embedder: &dyn Embedder,
        question: &str,
        passages: &[(u64, String)],
        cancel: &CancelToken,
    ) -> Result<Option<Vec<f64>>, EmbedError> {
        let Some(asked) = embedder.token_vectors(&[question], TextRole::Query, cancel)? else {
            return Ok(None);
        };
        let asked = asked.into_iter().next().unwrap_or_default();
        self.make_room(passages.len());
        let new: Vec<&(u64, String)> = passages.iter().filter(|(id, _)| !self.kept.contains_key(id)).collect();
        let texts: Vec<&str> = new.iter().map(|(_, text)| text.as_str()).collect();
        let Some(vectors) = embedder.token_vectors(&texts, TextRole::Passage, cancel)? else {
            return Ok(None);
        };
        for ((id, _), vectors) in new.into_iter().zip(vectors) {
            self.kept_bytes += vectors.rows.len();
            self.kept.insert(*id, Arc::new(vectors));
        }
        let nothing = TokenVectors::default();
        let score = |(id, _): &(u64, String)| {
            let passage = self.kept.get(id).map_or(&nothing, Arc::as_ref);
            if cancel.is_cancelled() { Err(EmbedError::Cancelled) } else { Ok(max_similarity(&asked, passage)) }
        };
        passages.par_iter().map(score).collect::<Result<Vec<f64>, EmbedError>>().map(Some)
    }

    /// Forgets everything when there is too much: what is asked next is mostly not what was asked before.
    fn make_room(&mut self, coming: usize) {
        if coming > 0 && self.kept_bytes > self.most_bytes.unwrap_or(KEPT_BYTES) {
            self.kept.clear();
            self.kept_bytes = 0;
        }
    }
}

/// Mean over the question's tokens of the highest cosine with a token of the passage; 0 if either has none.
fn max_similarity(asked: &TokenVectors, passage: &TokenVectors) -> f64 {
    let dims = asked.dims.max(1);
    let tokens = asked.rows.len() / dims;
    if tokens == 0 || passage.rows.is_empty() {
        return 0.0;
    }
    let highest = |token: &[i8]| passage.rows.chunks_exact(dims).map(|row| dot(token, row)).max().unwrap_or(0);
    let sum: i64 = asked.rows.chunks_exact(dims).map(|token| i64::from(highest(token))).sum();
    sum as f64 / ONE / tokens as f64
}

fn dot(one: &[i8], other: &[i8]) -> i32 {
    one.iter().zip(other).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure is the test's message")]

    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Each letter is a token, along an axis of its own; counts the texts it is given.
    #[derive(Default)]
    struct Letters(AtomicUsize);

    impl Embedder for Letters {
        fn name(&self) -> &'static str {
            "letters"
        }
        fn fingerprint(&self) -> &'static str {
            "letters"
        }
        fn dims(&self) -> usize {
            26
        }
        fn count_tokens(&self, text: &str) -> usize {
            text.len()
        }
        fn window_tokens(&self) -> usize {
            100
        }
        fn embed(
            &self,
            texts: &[&str],
            _: TextRole,
            _: &CancelToken,
            _: &mut dyn FnMut(usize),
        ) -> Result<Vec<f32>, EmbedError> {
            Ok(vec![0.0; texts.len() * 26])
        }
        fn token_vectors(
            &self,
            texts: &[&str],
            _: TextRole,
            _: &CancelToken,
        ) -> Result<Option<Vec<TokenVectors>>, EmbedError> {
            self.0.fetch_add(texts.len(), Ordering::Relaxed);
            let row = |letter: u8| (b'a'..=b'z').map(move |axis| if axis == letter { 127 } else { 0 });
            let vectors =
                texts.iter().map(|text| TokenVectors { dims: 26, rows: text.bytes().flat_map(row).collect() });
            Ok(Some(vectors.collect()))
        }
    }

    fn scores(late: &mut LateInteraction, embedder: &Letters, question: &str, passages: &[&str]) -> Vec<f64> {
        let passages: Vec<(u64, String)> = (0..).zip(passages.iter().map(|text| (*text).to_owned())).collect();
        late.scores(embedder, question, &passages, &CancelToken::new()).unwrap().unwrap()
    }

    #[test]
    fn a_passage_scores_the_share_of_tokens_that_it_has() {
        let found = scores(&mut LateInteraction::default(), &Letters::default(), "abcd", &["xxabcd", "ab", "", "x"]);
        assert_eq!(found, [1.0, 0.5, 0.0, 0.0]);
        assert_eq!(scores(&mut LateInteraction::default(), &Letters::default(), "", &["a"]), [0.0]);
    }

    #[test]
    fn passages_seen_before_are_not_embedded_again() {
        let (mut late, embedder) = (LateInteraction::default(), Letters::default());
        scores(&mut late, &embedder, "ab", &["ab", "cd"]);
        let before = embedder.0.load(Ordering::Relaxed);
        assert_eq!(scores(&mut late, &embedder, "cd", &["ab", "cd"]), [0.0, 1.0]);
        assert_eq!(embedder.0.load(Ordering::Relaxed) - before, 1, "the question alone");
    }

    #[test]
    fn a_cancel_is_heard_when_all_vectors_are_there() {
        let (mut late, embedder, cancel) = (LateInteraction::default(), Letters::default(), CancelToken::new());
        let passages = [(0, "ab".to_owned())];
        assert_eq!(late.scores(&embedder, "ab", &passages, &cancel), Ok(Some(vec![1.0])));
        cancel.cancel();
        assert_eq!(late.scores(&embedder, "ab", &passages, &cancel), Err(EmbedError::Cancelled));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let (mut late, embedder) =
            (LateInteraction { most_bytes: Some(100), ..Default::default() }, Letters::default());
        for round in 0..20_u64 {
            let passages = [(round, "abcdefgh".to_owned())];
            late.scores(&embedder, "a", &passages, &CancelToken::new()).unwrap();
            assert!(late.kept_bytes <= 100 + 8 * 26);
        }
    }
}
