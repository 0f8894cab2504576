//! The example questions over the sample documents: the passage that answers each is found, and what no sample answers
//! is refused. `tests/data/questions.toml` says which is which.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod model_support;

use model_support::library_of_samples;
use outcrop::CancelToken;
use outcrop::answer::{AskOptions, EXTRACTIVE};
use outcrop::retrieve::{SearchHit, SearchOptions};

/// Passages that the answering one must be among.
const FOUND_WITHIN: usize = 5;

/// A question of the record, with the sample and the words that answer it (both empty where nothing does).
struct Question {
    text: String,
    source: String,
    phrase: String,
}

/// The questions recorded under `key`.
fn questions(key: &str) -> Vec<Question> {
    let record: toml::Table = include_str!("../data/questions.toml").parse().unwrap();
    let field =
        |question: &toml::Value, name| question.get(name).map_or("", |value| value.as_str().unwrap()).to_owned();
    let questions = record[key].as_array().unwrap().iter().map(|question| Question {
        text: field(question, "question"),
        source: field(question, "source"),
        phrase: field(question, "phrase"),
    });
    questions.collect()
}

/// Whether a hit lies in the recorded source and holds the recorded words, line ends counted as spaces.
fn answers(hit: &SearchHit, question: &Question) -> bool {
    let words = hit.chunk.text.split_whitespace().collect::<Vec<_>>().join(" ");
    hit.path.ends_with(&question.source) && words.contains(&question.phrase)
}

#[test]
fn each_question_finds_the_passage_that_answers_it() {
    let home = tempfile::tempdir().unwrap();
    let (library, _) = library_of_samples(home.path());
    let options = SearchOptions { k: FOUND_WITHIN, ..SearchOptions::default() };
    let missed: Vec<String> = questions("answerable")
        .into_iter()
        .filter(|question| {
            let results = library.search(&question.text, &options).unwrap();
            !results.hits.iter().any(|hit| answers(hit, question))
        })
        .map(|question| question.text)
        .collect();
    assert!(missed.is_empty(), "not among the first {FOUND_WITHIN} passages: {missed:#?}");
}

#[test]
fn what_no_sample_answers_is_refused_without_a_model() {
    let home = tempfile::tempdir().unwrap();
    let (library, _) = library_of_samples(home.path());
    let options = AskOptions { model: Some(EXTRACTIVE.to_owned()), ..AskOptions::default() };
    for question in questions("unanswerable") {
        let answer = library.ask(&question.text, &options, &mut |_| (), &CancelToken::new()).unwrap();
        assert!(answer.refused && answer.reason.is_some(), "{}: {}", question.text, answer.answer);
    }
}

#[test]
fn what_a_sample_answers_is_not_refused() {
    let home = tempfile::tempdir().unwrap();
    let (library, _) = library_of_samples(home.path());
    let options = AskOptions { model: Some(EXTRACTIVE.to_owned()), ..AskOptions::default() };
    let refused: Vec<String> = questions("answerable")
        .into_iter()
        .filter_map(|question| {
            let answer = library.ask(&question.text, &options, &mut |_| (), &CancelToken::new()).unwrap();
            answer.refused.then(|| format!("{}: {}", question.text, answer.reason.unwrap_or_default()))
        })
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn reranking_keeps_the_answering_passage_near_the_top() {
    let home = tempfile::tempdir().unwrap();
    let (library, _) = library_of_samples(home.path());
    let options = SearchOptions { k: FOUND_WITHIN, rerank: true, ..SearchOptions::default() };
    let missed: Vec<String> = questions("answerable")
        .into_iter()
        .filter(|question| {
            let results = library.search(&question.text, &options).unwrap();
            assert!(results.hits.iter().all(|hit| hit.scores.rerank.is_some()));
            !results.hits.iter().any(|hit| answers(hit, question))
        })
        .map(|question| question.text)
        .collect();
    assert!(missed.is_empty(), "not among the first {FOUND_WITHIN} passages: {missed:#?}");
}
