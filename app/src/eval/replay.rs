//! Keeping what a model wrote, and giving it back without the model, so that a change of the checks can be measured on
//! answers that took an hour to write.

use std::path::Path;

use serde::Deserialize;

use super::EvalError;
use super::answer_rows::ANSWERABLE;
use super::answers::hit;
use super::judgements::{JudgedQuestion, JudgedSet, read_lines};
use crate::answer::{ChatPrompt, GenerateError, GenerateEvent, Generation, Generator};
use crate::progress::CancelToken;
use crate::retrieve::{HitScores, MatchKind, Ranked, SearchHit};

/// A generator, and what it wrote last.
pub(super) struct Recording<'g> {
    generator: &'g mut dyn Generator,
    written: Option<String>,
}

impl<'g> Recording<'g> {
    pub(super) fn new(generator: &'g mut dyn Generator) -> Self {
        Self { generator, written: None }
    }

    /// What it wrote; nothing if it was not asked.
    pub(super) fn into_written(self) -> Option<String> {
        self.written
    }
}

impl Generator for Recording<'_> {
    fn name(&self) -> &str {
        self.generator.name()
    }

    fn context_tokens(&self) -> usize {
        self.generator.context_tokens()
    }

    fn is_loaded(&mut self) -> bool {
        self.generator.is_loaded()
    }

    fn load(&mut self, cancel: &CancelToken) -> Result<(), GenerateError> {
        self.generator.load(cancel)
    }

    fn notes(&self) -> &[String] {
        self.generator.notes()
    }

    fn count_tokens(&mut self, text: &str) -> Result<usize, GenerateError> {
        self.generator.count_tokens(text)
    }

    fn generate(
        &mut self,
        prompt: &ChatPrompt,
        max_tokens: usize,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
        cancel: &CancelToken,
    ) -> Result<Generation, GenerateError> {
        let written = self.written.insert(String::new());
        let mut hear = |event: GenerateEvent<'_>| {
            written.push_str(event.text());
            on_event(event);
        };
        self.generator.generate(prompt, max_tokens, &mut hear, cancel)
    }
}

/// Writes what a model once wrote. Words are its tokens, and everything fits.
pub(super) struct Replayed<'r> {
    model: &'r str,
    written: &'r str,
}

impl<'r> Replayed<'r> {
    pub(super) fn new(model: &'r str, written: &'r str) -> Self {
        Self { model, written }
    }
}

impl Generator for Replayed<'_> {
    fn name(&self) -> &str {
        self.model
    }

    fn context_tokens(&self) -> usize {
        usize::MAX / 2
    }

    fn count_tokens(&mut self, text: &str) -> Result<usize, GenerateError> {
        Ok(text.split_whitespace().count())
    }

    fn generate(
        &mut self,
        prompt: &ChatPrompt,
        _max_tokens: usize,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
        _cancel: &CancelToken,
    ) -> Result<Generation, GenerateError> {
        on_event(GenerateEvent::Piece(self.written));
        Ok(Generation {
            text: self.written.to_owned(),
            prompt_tokens: self.count_tokens(&prompt.user)?,
            answer_tokens: self.count_tokens(self.written)?,
            stopped: None,
        })
    }
}

/// A line of a record: what was asked, what the model was given, and what it wrote.
#[derive(Clone, Debug, Deserialize)]
pub struct Recorded {
    // A record of before there was one has no such field.
    #[serde(deserialize_with = "Option::deserialize")]
    written: Option<String>,
    // Older records hold nothing but answerable questions.
    #[serde(default = "answerable")]
    questions: String,
    passages: Vec<String>,
    answer: Asked,
}

#[derive(Clone, Debug, Deserialize)]
struct Asked {
    question: String,
    model: String,
}

fn answerable() -> String {
    ANSWERABLE.to_owned()
}

impl Recorded {
    /// The lines of a file that `eval answers --records` wrote.
    ///
    /// # Errors
    /// The file is missing or damaged, does not keep what models wrote, or no model was asked.
    pub fn load(path: &Path) -> Result<Vec<Self>, EvalError> {
        let records: Vec<Self> = read_lines(path)?;
        if records.iter().all(|record| record.written.is_none()) {
            return Err(EvalError::data(path, "no answer in it was written by a model"));
        }
        Ok(records)
    }

    /// Name of the model.
    pub(super) fn model(&self) -> &str {
        &self.answer.model
    }

    /// What the model wrote, if one was asked.
    pub(super) fn written(&self) -> Option<&str> {
        self.written.as_deref()
    }

    /// What kind of question it is.
    pub(super) fn kind(&self) -> &str {
        &self.questions
    }

    /// Its question.
    pub(super) fn question_of(&self, set: &JudgedSet) -> Result<JudgedQuestion, EvalError> {
        let asked = &self.answer.question;
        if self.questions != ANSWERABLE {
            return Ok(JudgedQuestion::unanswered(asked));
        }
        let found = set.questions.iter().find(|question| question.text == *asked);
        found.cloned().ok_or_else(|| EvalError::Search(format!("the record's question {asked:?} is not in the set")))
    }

    /// The passages that the model was given.
    pub(super) fn hits(&self, set: &JudgedSet) -> Result<Vec<SearchHit>, EvalError> {
        let hit_of = |(id, rank): (&String, usize)| {
            let index = set.documents.iter().position(|document| document.id == *id);
            let index =
                index.ok_or_else(|| EvalError::Search(format!("the record's document {id:?} is not in the set")))?;
            let found = Ranked {
                id: index as u64,
                score: 0.0,
                scores: HitScores::default(),
                found_by: MatchKind::Hybrid,
                also: Vec::new(),
            };
            Ok(hit(set, &found, rank))
        };
        self.passages.iter().zip(1..).map(hit_of).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;
    use crate::answer::FakeGenerator;
    use crate::embed::HashEmbedder;
    use crate::eval::AnswersRun;
    use crate::eval::answer_rows::{AnswerRecord, AnswersRow};
    use crate::eval::answers::replay;
    use crate::eval::judgements::JudgedDocument;

    fn set() -> JudgedSet {
        let document = |id: &str, text: &str| JudgedDocument { id: id.into(), title: String::new(), text: text.into() };
        let question = |text: &str| JudgedQuestion {
            id: text.to_owned(),
            text: text.to_owned(),
            answers: vec!["12 euros".to_owned()],
            gains: [(0, 1.0)].into(),
        };
        JudgedSet {
            documents: vec![document("a", "The pump costs 12 euros."), document("b", "The pump is red.")],
            questions: vec![question("What does the pump cost?"), question("Who are the seals?")],
        }
    }

    /// The figures and the records of what a model that says `text` answers.
    fn recorded(text: &str) -> (AnswersRow, Vec<String>) {
        let (set, cancel) = (set(), CancelToken::new());
        let run = AnswersRun::new(&set, &HashEmbedder, &cancel, &mut |_, _| ()).unwrap();
        let mut lines = Vec::new();
        let mut keep = |outcome: Result<_, EvalError>| lines.push(serde_json::to_string(&outcome.unwrap()).unwrap());
        let row = run.answers(Some(&mut FakeGenerator::saying(text)), &mut keep).unwrap();
        (row, lines)
    }

    fn load(lines: &[String]) -> Result<Vec<Recorded>, EvalError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        std::fs::write(&path, lines.join("\n")).unwrap();
        Recorded::load(&path)
    }

    #[test]
    fn what_was_recorded_is_judged_again_without_the_model() {
        let text = "The pump costs 12 euros [2]. Whales sing.";
        let (row, lines) = recorded(text);
        assert_eq!((row.asked, row.refused_by_gate), (2, 1));
        let records = load(&lines).unwrap();
        assert_eq!((records[0].written(), records[1].written()), (Some(text), None));
        let mut answers = Vec::new();
        let mut keep = |outcome: Result<AnswerRecord, EvalError>| answers.push(outcome.unwrap());
        let again = replay(&set(), &records, &mut keep, &CancelToken::new()).unwrap().remove(0);
        assert_eq!(again.model, "fake");
        assert_eq!((again.asked, again.right, again.markers_dropped), (1, row.right, row.markers_dropped));
        assert_eq!((again.sentences, again.supported), (row.sentences, row.supported));
        assert_eq!(answers[0].written.as_deref(), Some(text));
        let first: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(first["answer"]["answer"], answers[0].answer.answer);
        assert_eq!(first["answer"]["question"], "What does the pump cost?");
    }

    #[test]
    fn questions_that_the_set_does_not_answer_are_kept_and_judged_as_a_kind_of_their_own() {
        let (set, cancel) = (set(), CancelToken::new());
        let run = AnswersRun::new(&set, &HashEmbedder, &cancel, &mut |_, _| ()).unwrap();
        let asked = ["Who are the seals?".to_owned(), "What does the red pump cost?".to_owned()];
        let passed = run.let_through(&asked, 5).unwrap();
        assert_eq!(passed.iter().map(|question| question.text.as_str()).collect::<Vec<_>>(), [&asked[1]]);
        let mut lines = Vec::new();
        let mut keep = |outcome: Result<_, EvalError>| lines.push(serde_json::to_string(&outcome.unwrap()).unwrap());
        run.answers(Some(&mut FakeGenerator::saying("It costs 12 euros.")), &mut keep).unwrap();
        let row = run.answers_to("outside", &passed, Some(&mut FakeGenerator::saying("NOT FOUND")), &mut keep).unwrap();
        assert_eq!((row.questions.as_str(), row.asked, row.refused_by_model), ("outside", 1, 1));
        let again = replay(&set, &load(&lines).unwrap(), &mut |_| (), &cancel).unwrap();
        let kinds: Vec<_> = again.iter().map(|row| (row.questions.as_str(), row.asked, row.refused_by_model)).collect();
        assert_eq!(kinds, [("answerable", 1, 0), ("outside", 1, 1)]);
    }

    #[test]
    fn a_record_without_the_models_words_or_of_another_set_is_an_error() {
        let (_, lines) = recorded("The pump costs 12 euros.");
        let old: Vec<String> = lines.iter().map(|line| line.replace("\"written\"", "\"wrote\"")).collect();
        assert!(load(&old).unwrap_err().to_string().contains("written"));
        assert!(load(&lines[1..]).is_err(), "no model was asked");
        let mut other = set();
        other.documents.truncate(0);
        let replayed = replay(&other, &load(&lines).unwrap(), &mut |_| (), &CancelToken::new());
        assert!(replayed.unwrap_err().to_string().contains("is not in the set"));
    }
}
