//! The segments whose vectors are compared: sentences, within bounds.

use std::ops::Range;

use super::breaks::Breaks;
use super::graphemes::Graphemes;
use super::measure::CharMeasure;
use super::merge::MergeRules;
use super::pack::{Limits, Packer};
use super::ruler::{Ruler, Scale};
use super::sentences::starts;

/// A longer sentence is split: an embedder sees no more at once than about this.
const LONGEST_CHARS: usize = 1000;
/// A segment with fewer letters and digits (`1.`, `---`, `Yes.`) says too little to be compared; it goes with the
/// one that follows.
const FEWEST_LETTERS: usize = 8;

/// Splits `text` into sentence-level segments, in order, trimmed and without blank ones. Depends on nothing but
/// the text, so that their vectors can be kept whatever becomes of the chunker's parameters.
pub fn segments(text: &str) -> Vec<Range<usize>> {
    let graphemes = Graphemes::new(text);
    let starts = starts(text, &graphemes).sentences;
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let sentences: Vec<_> = starts.iter().zip(ends).map(|(&start, end)| graphemes.trim(text, start..end)).collect();
    split_long(text, &join_short(text, &sentences))
}

fn join_short(text: &str, sentences: &[Range<usize>]) -> Vec<Range<usize>> {
    let rules = MergeRules {
        is_small: &|sentence| letters(&text[sentence.clone()]) < FEWEST_LETTERS,
        fits: &|merged| merged.len() <= LONGEST_CHARS,
        prefers_left: &|_| false,
    };
    rules.merge(sentences)
}

/// Letters and digits, counted up to the fewest that matter; those beyond ASCII count twice, which is fair to
/// scripts that write a word with one or two.
fn letters(text: &str) -> usize {
    let mut sum = 0;
    for letter in text.chars().filter(|letter| letter.is_alphanumeric()) {
        sum += if letter.is_ascii() { 1 } else { 2 };
        if sum >= FEWEST_LETTERS {
            break;
        }
    }
    sum
}

fn split_long(text: &str, sentences: &[Range<usize>]) -> Vec<Range<usize>> {
    if sentences.iter().all(|sentence| sentence.len() <= LONGEST_CHARS) {
        return sentences.to_vec();
    }
    let scale = Scale::new(text, &CharMeasure);
    let packer = Packer {
        ruler: Ruler { text, measure: &CharMeasure, scale: &scale },
        breaks: &Breaks::sentences(text, &scale.graphemes),
        limits: Limits { size: LONGEST_CHARS, overlap: 0, min_size: 0, overlaps_words: false },
    };
    let mut split = Vec::with_capacity(sentences.len());
    for sentence in sentences {
        packer.pack(sentence.clone(), &mut split);
    }
    split
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        segments(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn sentences_become_segments_and_marks_go_with_what_follows() {
        let text = "Rocks are old. Water is young.\n\n---\n\nWind moves sand.\n\nYes.";
        assert_eq!(texts(text), ["Rocks are old.", "Water is young.", "---\n\nWind moves sand.\n\nYes."]);
    }

    #[test]
    fn blank_texts_have_none() {
        assert!(segments("").is_empty());
        assert!(segments(&" \n".repeat(2000)).is_empty());
    }

    #[test]
    fn long_sentences_are_split_within_bounds() {
        let text = "word ".repeat(1000);
        let segments = texts(&text);
        assert!(segments.len() >= 5);
        assert!(segments.iter().all(|segment| segment.chars().count() <= LONGEST_CHARS));
    }
}
