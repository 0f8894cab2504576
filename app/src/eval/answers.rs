//! Measuring answers: what the gate refuses, and how much of what a model writes the passages support.
//!
//! The documents of a labelled set are the passages. Everything else is the product's own: its ranking, gate,
//! prompt, generator and verification.

use std::path::Path;
use std::time::Instant;

use serde::Deserialize;

use super::EvalError;
use super::answer_rows::{ANSWERABLE, AnswerRecord, AnswersRow, GateRow};
use super::bootstrap::mean;
use super::judgements::{JudgedDocument, JudgedQuestion, JudgedSet, read_lines, spread};
use super::replay::{Recorded, Recording, Replayed};
use super::run::collection;
use crate::answer::{self, AskOptions, GateScale, Generator, Question, Task};
use crate::embed::{Embedder, TextRole};
use crate::extract::Place;
use crate::progress::CancelToken;
use crate::retrieve::{MemoryCollection, Outcomes, Question as Asked, Ranked, SearchHit, SearchResults, rank};
use crate::store::{ChunkId, ChunkRecord, DocumentId};

/// Share of answerable questions that may be refused.
const FALSE_REFUSALS: f64 = 0.05;

/// A model that fails at this many questions in a row will not answer the next one either.
pub const MOST_FAILURES: usize = 3;

/// Questions over one set, with the documents indexed.
pub struct AnswersRun<'a> {
    set: &'a JudgedSet,
    embedder: &'a dyn Embedder,
    collection: MemoryCollection,
    cancel: &'a CancelToken,
}

#[derive(Deserialize)]
struct Plain {
    text: String,
}

/// The questions of a file, at most `most`, spread over it.
///
/// # Errors
/// The file is missing or damaged.
pub fn questions_of(path: &Path, most: usize) -> Result<Vec<String>, EvalError> {
    let all: Vec<Plain> = read_lines(path)?;
    Ok(spread(all, most).into_iter().map(|question| question.text).collect())
}

impl<'a> AnswersRun<'a> {
    /// Embeds the documents. `on_done` gets the number embedded so far and of all.
    ///
    /// # Errors
    /// Embedding failed, or `cancel` was set.
    pub fn new(
        set: &'a JudgedSet,
        embedder: &'a dyn Embedder,
        cancel: &'a CancelToken,
        on_done: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, EvalError> {
        let texts: Vec<String> = set.documents.iter().map(JudgedDocument::titled_text).collect();
        let documents: Vec<&str> = texts.iter().map(String::as_str).collect();
        let total = documents.len();
        let vectors = embedder.embed(&documents, TextRole::Passage, cancel, &mut |done| on_done(done, total))?;
        Ok(Self { set, embedder, collection: collection(&documents, &vectors, embedder)?, cancel })
    }

    /// What the gate does with each kind of question; the first kind is the answerable one, which sets the threshold.
    ///
    /// # Errors
    /// The passages could not be searched.
    pub fn gate(&self, kinds: &[(String, Vec<String>)]) -> Result<Vec<GateRow>, EvalError> {
        let mut scored = Vec::with_capacity(kinds.len());
        for (name, questions) in kinds {
            let scores = questions.iter().map(|question| self.gate_score(question));
            scored.push((name, scores.collect::<Result<Vec<f64>, EvalError>>()?));
        }
        let threshold = scored.first().map_or(0.0, |(_, scores)| quantile(scores, FALSE_REFUSALS));
        let default = f64::from(AskOptions::default().gate);
        let share = |scores: &[f64], under: f64| {
            scores.iter().filter(|score| **score < under).count() as f64 / scores.len().max(1) as f64
        };
        let row = |(name, scores): (&String, Vec<f64>)| GateRow {
            questions: name.clone(),
            asked: scores.len(),
            refused: share(&scores, default),
            threshold,
            refused_at_5: share(&scores, threshold),
        };
        Ok(scored.into_iter().map(row).collect())
    }

    fn gate_score(&self, question: &str) -> Result<f64, EvalError> {
        let results = self.search(question)?;
        Ok(f64::from(GateScale::MEANING.score(results.best_cosine, results.idf_coverage)))
    }

    /// Of questions that the documents do not answer, those that the gate lets through; at most `most`, spread over them.
    ///
    /// # Errors
    /// The passages could not be searched.
    pub fn let_through(&self, questions: &[String], most: usize) -> Result<Vec<JudgedQuestion>, EvalError> {
        let mut passed = Vec::new();
        for question in questions {
            if self.gate_score(question)? >= f64::from(AskOptions::default().gate) {
                passed.push(JudgedQuestion::unanswered(question));
            }
        }
        Ok(spread(passed, most))
    }

    /// Asks `generator` every question of the set; see [`Self::answers_to`].
    ///
    /// # Errors
    /// The passages could not be searched, or `cancel` was set.
    pub fn answers(
        &self,
        generator: Option<&mut dyn Generator>,
        on_answer: &mut dyn FnMut(Result<AnswerRecord, EvalError>),
    ) -> Result<AnswersRow, EvalError> {
        self.answers_to(ANSWERABLE, &self.set.questions, generator, on_answer)
    }

    /// Asks `generator` questions of one kind; the extractive answer needs none. `on_answer` gets each answer, or why
    /// there is none: a question at which the model fails is counted and passed over. At [`MOST_FAILURES`] in a row it
    /// ends, with the figures so far.
    ///
    /// # Errors
    /// The passages could not be searched, or `cancel` was set.
    pub fn answers_to(
        &self,
        kind: &str,
        questions: &[JudgedQuestion],
        mut generator: Option<&mut dyn Generator>,
        on_answer: &mut dyn FnMut(Result<AnswerRecord, EvalError>),
    ) -> Result<AnswersRow, EvalError> {
        // A refused answer names no model, so the generator's own name counts.
        let name = generator.as_ref().map_or(answer::EXTRACTIVE, |generator| generator.name()).to_owned();
        let outcomes = questions.iter().map(|question| {
            let results = self.search(&question.text)?;
            let Some(generator) = &mut generator else {
                return ask(kind, question, &results, None, &AskOptions::default(), self.cancel);
            };
            let mut recording = Recording::new(&mut **generator);
            let asked = ask(kind, question, &results, Some(&mut recording), &AskOptions::default(), self.cancel);
            asked.map(|record| AnswerRecord { written: recording.into_written(), ..record })
        });
        let row = AnswersRow { questions: kind.to_owned(), model: name, ..AnswersRow::default() };
        summed_up(row, outcomes, on_answer, self.cancel)
    }

    fn search(&self, question: &str) -> Result<SearchResults, EvalError> {
        let vector = self.embedder.embed(&[question], TextRole::Query, self.cancel, &mut |_| {})?;
        let options = AskOptions::default().search;
        let asked = Asked { text: question, vector: Some(&vector) };
        let ranking = rank(&self.collection, asked, &options).map_err(|err| EvalError::Search(err.to_string()))?;
        let hits = ranking.passages.iter().zip(1..).map(|(found, rank)| hit(self.set, found, rank)).collect();
        Ok(SearchResults {
            idf_coverage: ranking.idf_coverage as f32,
            best_cosine: ranking.best_cosine.map(|cosine| cosine as f32),
            ..results(self.set, question, hits)
        })
    }
}

/// Checks again what models wrote, against the passages that they were given; neither a model nor an embedder is asked.
/// Questions at which no model was asked are left out. A row for each kind of questions, as they come in the record.
///
/// # Errors
/// A record names a question or a document that the set does not have, or `cancel` was set.
pub fn replay(
    set: &JudgedSet,
    records: &[Recorded],
    on_answer: &mut dyn FnMut(Result<AnswerRecord, EvalError>),
    cancel: &CancelToken,
) -> Result<Vec<AnswersRow>, EvalError> {
    let options = AskOptions { gate: 0.0, ..AskOptions::default() };
    let written: Vec<(&Recorded, &str)> =
        records.iter().filter_map(|record| Some((record, record.written()?))).collect();
    let of_kind = |records: &[(&Recorded, &str)]| {
        let first = records[0].0;
        let outcomes = records.iter().map(|(record, written)| {
            let question = record.question_of(set)?;
            let hits = record.hits(set)?;
            let results = results(set, &question.text, hits);
            let mut replayed = Replayed::new(record.model(), written);
            let asked = ask(record.kind(), &question, &results, Some(&mut replayed), &options, cancel)?;
            Ok(AnswerRecord { written: Some((*written).to_owned()), ..asked })
        });
        let (questions, model) = (first.kind().to_owned(), first.model().to_owned());
        summed_up(AnswersRow { questions, model, ..AnswersRow::default() }, outcomes, on_answer, cancel)
    };
    written.chunk_by(|one, next| one.0.kind() == next.0.kind()).map(of_kind).collect()
}

/// The figures of answers as they come in.
fn summed_up(
    mut row: AnswersRow,
    outcomes: impl Iterator<Item = Result<AnswerRecord, EvalError>>,
    on_answer: &mut dyn FnMut(Result<AnswerRecord, EvalError>),
    cancel: &CancelToken,
) -> Result<AnswersRow, EvalError> {
    let mut secs = Vec::new();
    let mut failed_in_a_row = 0;
    for outcome in outcomes {
        match &outcome {
            Ok(record) => {
                failed_in_a_row = 0;
                row.add(record);
                secs.push(record.answer.took_ms.total / 1e3);
            }
            Err(err @ EvalError::Answer(_)) if !cancel.is_cancelled() => {
                failed_in_a_row += 1;
                row.asked += 1;
                row.failed += 1;
                row.broken_off = (failed_in_a_row == MOST_FAILURES).then(|| err.to_string());
            }
            Err(err) => return Err(err.clone()),
        }
        on_answer(outcome);
        if cancel.is_cancelled() {
            return Err(EvalError::Search("stopped".to_owned()));
        }
        if row.broken_off.is_some() {
            break;
        }
    }
    row.secs = mean(&secs);
    Ok(row)
}

fn ask(
    kind: &str,
    question: &JudgedQuestion,
    results: &SearchResults,
    generator: Option<&mut dyn Generator>,
    options: &AskOptions,
    cancel: &CancelToken,
) -> Result<AnswerRecord, EvalError> {
    let asked = Question {
        asked: &question.text,
        text: &question.text,
        task: Task::Answer,
        options,
        results,
        scale: GateScale::MEANING,
        widened: &|_, _| None,
        similarity: &|_| None,
        asked_at: Instant::now(),
    };
    let answer =
        answer::answer(&asked, generator, &mut |_| (), cancel).map_err(|err| EvalError::Answer(err.to_string()))?;
    let is_right = !answer.refused && holds_any(&answer.answer, &question.answers);
    let given = &results.hits[..answer.passages_used.min(results.hits.len())];
    let passages = given.iter().map(|hit| hit.path.to_string_lossy().into_owned()).collect();
    let (questions, expected) = (kind.to_owned(), question.answers.clone());
    Ok(AnswerRecord { questions, expected, is_right, written: None, passages, answer })
}

/// Results with these passages.
fn results(set: &JudgedSet, question: &str, hits: Vec<SearchHit>) -> SearchResults {
    SearchResults {
        query: question.to_owned(),
        mode: AskOptions::default().search.mode,
        took_ms: 0.0,
        backend: "cpu".to_owned(),
        hits,
        considered: Vec::new(),
        outcomes: Outcomes::default(),
        searched: set.documents.len(),
        without_vectors: 0,
        idf_coverage: 0.0,
        best_cosine: None,
        reranked_by: None,
        notes: Vec::new(),
    }
}

/// A document of the set as a passage.
pub(super) fn hit(set: &JudgedSet, found: &Ranked, rank: usize) -> SearchHit {
    let document = &set.documents[found.id as usize];
    SearchHit {
        rank,
        score: found.score as f32,
        scores: found.scores,
        found_by: found.found_by,
        path: document.id.clone().into(),
        title: document.title.clone(),
        chunk: ChunkRecord {
            id: ChunkId(found.id),
            document: DocumentId(found.id),
            index: 0,
            start: 0,
            end: document.text.len(),
            text: document.text.clone(),
            place: Place { lines: (1, 1), ..Place::default() },
            tokens: 0,
            left_similarity: None,
            right_similarity: None,
        },
        also: 0,
    }
}

/// The highest value that at most `share` of `scores` lie under.
fn quantile(scores: &[f64], share: f64) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get((share * sorted.len() as f64).floor() as usize).copied().unwrap_or(0.0)
}

/// Whether `text` holds one of `expected`, letters and digits compared alone. What is quoted from the nearest passage
/// under a doubtful answer is not the model's.
fn holds_any(text: &str, expected: &[String]) -> bool {
    let bare = |text: &str| -> String {
        let kept = text.chars().map(|letter| if letter.is_alphanumeric() { letter } else { ' ' });
        let words: Vec<String> = kept.collect::<String>().split_whitespace().map(str::to_lowercase).collect();
        format!(" {} ", words.join(" "))
    };
    let own = text.split("\n\nThe nearest words of the documents: ").next().unwrap_or(text);
    let text = bare(own);
    expected.iter().map(|answer| bare(answer)).any(|answer| answer.len() > 2 && text.contains(&answer))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use std::collections::BTreeMap;

    use super::*;
    use crate::answer::FakeGenerator;
    use crate::embed::HashEmbedder;

    #[test]
    fn the_threshold_refuses_no_more_than_its_share() {
        let scores: Vec<f64> = (0..100).map(f64::from).collect();
        let threshold = quantile(&scores, 0.05);
        assert_eq!(scores.iter().filter(|score| **score < threshold).count(), 5);
        assert!(quantile(&[], 0.05).abs() < 1e-12);
    }

    #[test]
    fn a_question_at_which_the_model_fails_is_passed_over_and_three_in_a_row_end_the_run() {
        let document = JudgedDocument { id: "a".into(), title: String::new(), text: "The pump costs 12 euros.".into() };
        let question = |number: usize| JudgedQuestion {
            id: number.to_string(),
            text: "What does the pump cost?".to_owned(),
            answers: vec!["12 euros".to_owned()],
            gains: BTreeMap::from([(0, 1.0)]),
        };
        let set = JudgedSet { documents: vec![document], questions: (0..4).map(question).collect() };
        let cancel = CancelToken::new();
        let run = AnswersRun::new(&set, &HashEmbedder, &cancel, &mut |_, _| ()).unwrap();
        let ask = |failures: std::ops::Range<usize>| {
            let mut model = FakeGenerator::saying("The pump costs 12 euros. [1]").failing_at(failures);
            let mut told = Vec::new();
            let row = run.answers(Some(&mut model), &mut |outcome| told.push(outcome.is_ok()));
            (row, told)
        };
        let (row, told) = ask(0..2);
        let row = row.unwrap();
        assert_eq!((row.asked, row.failed, row.right, told), (4, 2, 2, vec![false, false, true, true]));
        let (row, told) = ask(1..4);
        let row = row.unwrap();
        assert_eq!((row.asked, row.failed, row.right, told), (4, 3, 1, vec![true, false, false, false]));
        assert!(row.broken_off.is_some());
    }

    #[test]
    fn an_answer_is_right_when_it_holds_a_reference_whole() {
        let expected = ["nearly $12".to_owned(), "$12".to_owned()];
        assert!(holds_any("It cost **12** dollars.", &expected));
        assert!(!holds_any("It cost 120 dollars.", &expected));
        assert!(!holds_any("It cost 7. [?]\n\nThe nearest words of the documents: nearly $12 [1]", &expected));
    }
}
