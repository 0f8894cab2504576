//! Does a passage support a sentence of the answer, and where?
//!
//! The rule: of the sentence's words that carry meaning at least [`MIN_SUPPORT`] stand in the passage, and every
//! word with digits does.

use std::collections::HashSet;
use std::ops::Range;

use super::sentences::sentences;
use super::words::{Term, term_set};

/// Share of the words that must be found.
pub(super) const MIN_SUPPORT: f32 = 0.6;
/// What a second sentence must add to be quoted too.
const MIN_GAIN: f32 = 0.2;

/// A passage prepared for matching.
pub(super) struct Evidence<'a> {
    text: &'a str,
    words: HashSet<Term>,
    sentences: Vec<(Range<usize>, HashSet<Term>)>,
}

impl<'a> Evidence<'a> {
    /// Splits a passage into its sentences and words. `context`, such as title and headings, counts as said by
    /// the passage but is never quoted.
    pub(super) fn new(text: &'a str, context: &str) -> Self {
        let mut words = term_set(text);
        words.extend(term_set(context));
        let sentences = sentences(text).into_iter().map(|range| (range.clone(), term_set(&text[range]))).collect();
        Self { text, words, sentences }
    }

    /// Share of `claim`'s words that the passage holds; 0 if a word with digits is missing or there are no words.
    pub(super) fn support(&self, claim: &HashSet<Term>) -> f32 {
        let missing_digits = claim.iter().any(|term| term.has_digits && !self.words.contains(term));
        if missing_digits || claim.is_empty() {
            return 0.0;
        }
        let found = claim.iter().filter(|term| self.words.contains(*term)).count();
        found as f32 / claim.len() as f32
    }

    /// Whether the passage supports `claim`.
    pub(super) fn supports(&self, claim: &HashSet<Term>) -> bool {
        self.support(claim) >= MIN_SUPPORT
    }

    /// The sentence, or two next to each other, that hold most of `claim`; all of the passage if it has none.
    pub(super) fn best_range(&self, claim: &HashSet<Term>) -> Range<usize> {
        let share = |words: &HashSet<Term>| claim.intersection(words).count() as f32 / claim.len().max(1) as f32;
        let mut best: Option<(f32, usize)> = None;
        for (index, (_, words)) in self.sentences.iter().enumerate() {
            if best.is_none_or(|(most, _)| share(words) > most) {
                best = Some((share(words), index));
            }
        }
        let Some((most, index)) = best else {
            return 0..self.text.len();
        };
        let with = |other: usize| {
            let (_, words) = self.sentences.get(other)?;
            let both = self.sentences[index].1.union(words).cloned().collect();
            Some((share(&both), other))
        };
        let neighbours = [index.checked_sub(1).and_then(with), with(index + 1)];
        let added = neighbours
            .into_iter()
            .flatten()
            .filter(|(both, _)| both - most >= MIN_GAIN)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let (first, last) = match added {
            Some((_, other)) => (index.min(other), index.max(other)),
            None => (index, index),
        };
        self.sentences[first].0.start..self.sentences[last].0.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSAGE: &str = "The Contractor is paid 310 euros per metre. Standby time is paid at 145 euros per hour. \
                           Boats are extra.";

    #[test]
    fn a_paraphrase_is_supported_and_quoted_at_its_sentence() {
        let evidence = Evidence::new(PASSAGE, "");
        let claim = term_set("For standby time, 145 euros are paid per hour.");
        assert!(evidence.supports(&claim));
        assert_eq!(&PASSAGE[evidence.best_range(&claim)], "Standby time is paid at 145 euros per hour.");
    }

    #[test]
    fn a_wrong_number_is_not_supported() {
        let evidence = Evidence::new(PASSAGE, "");
        assert!(!evidence.supports(&term_set("Standby time is paid at 155 euros per hour.")));
    }

    #[test]
    fn another_topic_is_not_supported() {
        let evidence = Evidence::new(PASSAGE, "");
        assert!(!evidence.supports(&term_set("Bread is baked with rye flour.")));
        assert!(!evidence.supports(&term_set("It is.")));
    }

    #[test]
    fn two_sentences_are_quoted_where_both_are_needed() {
        let evidence = Evidence::new(PASSAGE, "");
        let claim = term_set("310 euros per metre and 145 euros per hour of standby time.");
        let quote = &PASSAGE[evidence.best_range(&claim)];
        assert!(quote.contains("310") && quote.contains("145") && !quote.contains("Boats"));
    }
}
