//! Sizes of text: the [`Measure`] trait, code points and tokens.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Counts the size of a piece of text in the chunker's unit.
pub trait Measure: Sync {
    /// The size of `text`. Need not be additive.
    fn size(&self, text: &str) -> usize;

    /// Whether the size of a text is the sum of the sizes of its parts wherever it is cut next to white space.
    /// If so, sizes are measured once for each word and then only added up.
    fn adds_up_at_spaces(&self) -> bool {
        false
    }
}

/// Counts Unicode code points.
#[derive(Clone, Copy, Debug, Default)]
pub struct CharMeasure;

impl Measure for CharMeasure {
    fn size(&self, text: &str) -> usize {
        text.chars().count()
    }

    fn adds_up_at_spaces(&self) -> bool {
        true
    }
}

/// Counts tokens word by word, words being what white space separates, and remembers short words.
///
/// Equal to the tokenizer's own count for tokenizers that never join words (`WordPiece`; `SentencePiece` with a
/// mark for each word), and close to it for byte-level ones. Much faster than tokenizing every candidate chunk.
pub struct WordMeasure<F> {
    count: F,
    known: Mutex<HashMap<Box<str>, usize>>,
}

/// Longer words are rare and not remembered.
const REMEMBERED_WORD_BYTES: usize = 32;
/// Bounds the memory of the word cache to a few megabytes.
const REMEMBERED_WORDS: usize = 100_000;

impl<F: Fn(&str) -> usize + Sync> WordMeasure<F> {
    /// `count` gives the tokens of one word, special tokens not counted.
    pub fn new(count: F) -> Self {
        Self { count, known: Mutex::default() }
    }

    fn word_size(&self, word: &str) -> usize {
        if word.len() > REMEMBERED_WORD_BYTES {
            return (self.count)(word);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(size) = known.get(word) {
            return *size;
        }
        let size = (self.count)(word);
        if known.len() < REMEMBERED_WORDS {
            known.insert(word.into(), size);
        }
        size
    }
}

impl<F: Fn(&str) -> usize + Sync> Measure for WordMeasure<F> {
    fn size(&self, text: &str) -> usize {
        text.split_whitespace().map(|word| self.word_size(word)).sum()
    }

    fn adds_up_at_spaces(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chars_are_code_points() {
        assert_eq!(CharMeasure.size("a\u{301}漢"), 3);
    }

    #[test]
    fn words_are_counted_once_and_summed() {
        let calls = Mutex::new(0);
        let measure = WordMeasure::new(|word: &str| {
            *calls.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            word.len().div_ceil(4)
        });
        assert_eq!(measure.size("stone stone  bed"), 2 + 2 + 1);
        assert_eq!(measure.size("stone bed"), 3);
        assert_eq!(*calls.lock().unwrap_or_else(PoisonError::into_inner), 2);
    }
}
