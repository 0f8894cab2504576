//! Answers without a generator: the sentences that answer best, word for word, each with its citation.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::ops::Range;

use super::Citation;
use super::passage::Passage;
use super::segments::segments;
use super::words::{Term, term_set};

/// Name shown to people, and to ask for it by.
pub const EXTRACTIVE: &str = "extractive";

/// Passages that are looked into.
pub(super) const MOST_READ: usize = 5;
const MAX_SENTENCES: usize = 3;
/// Sentences that are compared with the question by meaning, the best by words.
const MAX_COMPARED: usize = 16;
/// A further sentence must be nearly as good as the best one.
const MIN_SHARE_OF_BEST: f32 = 0.75;
/// What the rank of a passage counts beside the words of a sentence.
const RANK_WEIGHT: f32 = 0.3;
/// A sentence with fewer words that carry meaning is a heading or a remnant.
const MIN_WORDS: usize = 3;

/// Similarity of the question with each text, for a semantic order; one number a text, or none at all.
pub(super) type Similarity<'a> = dyn Fn(&[&str]) -> Option<Vec<f32>> + 'a;

/// An answer of whole sentences.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExtractiveAnswer {
    /// The sentences with their markers.
    pub(super) text: String,
    /// Their sources.
    pub(super) citations: Vec<Citation>,
    /// Share of the question's words that they hold, headers of tables included.
    pub(super) held: f32,
}

struct Candidate<'a> {
    passage: Passage<'a>,
    range: Range<usize>,
    words: HashSet<Term>,
    score: f32,
}

impl Candidate<'_> {
    fn text(&self) -> &str {
        &self.passage.hit.chunk.text[self.range.clone()]
    }
}

/// Takes the best sentences of `passages` for `question`; `None` if no passage has a sentence.
pub(super) fn extract(
    question: &str,
    passages: &[Passage<'_>],
    similarity: &Similarity<'_>,
) -> Option<ExtractiveAnswer> {
    let mut candidates = candidates(passages);
    score_by_words(question, &mut candidates);
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    candidates.truncate(MAX_COMPARED);
    add_similarity(&mut candidates, similarity);
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    let best = candidates.first()?.score;
    candidates.retain(|candidate| candidate.score >= best * MIN_SHARE_OF_BEST);
    Some(compose(question, &without_repetitions(candidates)))
}

/// Share of the question's words that a text holds.
pub(super) fn share_of_question(question: &str, words: &HashSet<Term>) -> f32 {
    let asked = term_set(question);
    asked.intersection(words).count() as f32 / asked.len().max(1) as f32
}

fn candidates<'a>(passages: &[Passage<'a>]) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    for passage in passages.iter().take(MOST_READ) {
        let text = &passage.hit.chunk.text;
        let whole = segments(text).into_iter().map(|segment| {
            let words = segment.words.union(&segment.header).cloned().collect();
            Candidate { passage: *passage, range: segment.range, words, score: 0.0 }
        });
        let all: Vec<_> = whole.collect();
        let is_long = |candidate: &Candidate<'_>| candidate.words.len() >= MIN_WORDS;
        let keep_all = !all.iter().any(is_long);
        found.extend(all.into_iter().filter(|candidate| keep_all || is_long(candidate)));
    }
    found
}

/// Share of the question's idf-weighted words, plus the passage's rank.
fn score_by_words(question: &str, candidates: &mut [Candidate<'_>]) {
    let asked = term_set(question);
    let weights = idf(&asked, candidates);
    let total: f32 = weights.values().sum();
    for candidate in candidates {
        let found: f32 = asked.intersection(&candidate.words).filter_map(|term| weights.get(term)).sum();
        let rank = 1.0 / candidate.passage.number as f32;
        candidate.score = found / total.max(f32::EPSILON) + RANK_WEIGHT * rank;
    }
}

fn add_similarity(candidates: &mut [Candidate<'_>], similarity: &Similarity<'_>) {
    let texts: Vec<&str> = candidates.iter().map(Candidate::text).collect();
    let Some(values) = similarity(&texts).filter(|values| values.len() == texts.len()) else {
        return;
    };
    for (candidate, value) in candidates.iter_mut().zip(values) {
        candidate.score += value.max(0.0);
    }
}

fn idf<'t>(asked: &'t HashSet<Term>, candidates: &[Candidate<'_>]) -> HashMap<&'t Term, f32> {
    let count = candidates.len() as f32;
    asked
        .iter()
        .map(|term| {
            let holders = candidates.iter().filter(|candidate| candidate.words.contains(term)).count();
            (term, ((count + 1.0) / (holders as f32 + 0.5)).ln())
        })
        .collect()
}

/// The first few that do not say the same again, as overlapping passages do.
fn without_repetitions(candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    let mut kept: Vec<Candidate<'_>> = Vec::new();
    for candidate in candidates {
        let says_the_same = |other: &Candidate<'_>| {
            let shared = other.words.intersection(&candidate.words).count();
            shared * 10 >= candidate.words.len() * 8
        };
        if kept.len() < MAX_SENTENCES && !kept.iter().any(says_the_same) {
            kept.push(candidate);
        }
    }
    kept.sort_by_key(|candidate| (candidate.passage.number, candidate.range.start));
    kept
}

fn compose(question: &str, sentences: &[Candidate<'_>]) -> ExtractiveAnswer {
    let mut text = String::new();
    let mut citations = Vec::with_capacity(sentences.len());
    for sentence in sentences {
        if !text.is_empty() {
            text.push(' ');
        }
        let words: Vec<&str> = sentence.text().split_whitespace().collect();
        let _ = write!(text, "{} [{}]", words.join(" "), sentence.passage.number);
        citations.push(sentence.passage.cite(sentence.range.clone()));
    }
    let held = sentences.iter().flat_map(|sentence| sentence.words.iter().cloned()).collect();
    ExtractiveAnswer { text, citations, held: share_of_question(question, &held) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;
    use crate::answer::samples::hits;

    fn answer(question: &str, texts: &[&str]) -> ExtractiveAnswer {
        let hits = hits(texts);
        extract(question, &Passage::number_all(&hits), &|_| None).unwrap()
    }

    #[test]
    fn the_sentence_that_answers_is_taken_word_for_word() {
        let answer = answer(
            "How much is paid for standby time?",
            &[
                "The drilling contract has six articles.\nStandby time is paid at 145 euros per hour. Boats are extra.",
                "The mail boat sails daily except on Sunday.",
            ],
        );
        assert_eq!(answer.text, "Standby time is paid at 145 euros per hour. [1]");
        assert_eq!(answer.citations[0].quote, "Standby time is paid at 145 euros per hour.");
    }

    #[test]
    fn a_passage_given_twice_is_quoted_once() {
        let text = "Rye bread is baked with 600 of rye flour.";
        let answer = answer("How is rye bread baked?", &[text, text]);
        assert_eq!(answer.text, format!("{text} [1]"));
    }

    #[test]
    fn similarity_decides_where_words_do_not() {
        let hits = hits(&["Waiting costs 145 euros each hour. The boat sails at nine every day."]);
        let similarity =
            |texts: &[&str]| Some(texts.iter().map(|text| if text.contains("Waiting") { 0.9 } else { 0.1 }).collect());
        let answer = extract("price of standby", &Passage::number_all(&hits), &similarity).unwrap();
        assert_eq!(answer.text, "Waiting costs 145 euros each hour. [1]");
    }

    #[test]
    fn no_passages_give_no_answer() {
        assert_eq!(extract("why", &[], &|_| None), None);
    }
}
