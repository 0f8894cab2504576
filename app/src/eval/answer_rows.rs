//! The figures of gate and answers, and the answers one by one, for records.

use serde::{Deserialize, Serialize};

use super::report::Table;
use crate::answer::Answer;

/// The kind of questions that the documents answer.
pub const ANSWERABLE: &str = "answerable";

/// What the gate did with one kind of question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateRow {
    /// What kind of question.
    pub questions: String,
    /// How many.
    pub asked: usize,
    /// Share refused at the product's threshold.
    pub refused: f64,
    /// The threshold that refuses 5 % of the answerable questions.
    pub threshold: f64,
    /// Share refused at that threshold.
    pub refused_at_5: f64,
}

/// What a generator wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswersRow {
    /// What kind of questions.
    pub questions: String,
    /// The generator.
    pub model: String,
    /// Questions asked.
    pub asked: usize,
    /// Questions at which the model failed, which are in no other figure but `asked`.
    pub failed: usize,
    /// Refused by the gate.
    pub refused_by_gate: usize,
    /// Refused by the model.
    pub refused_by_model: usize,
    /// Sentences checked.
    pub sentences: usize,
    /// Sentences that a passage supports.
    pub supported: usize,
    /// Answers that hold a reference answer word for word.
    pub right: usize,
    /// Answers whose every sentence is supported.
    pub wholly_supported: usize,
    /// Of those, the ones that hold a reference answer.
    pub supported_and_right: usize,
    /// Answers with an unsupported sentence that hold a reference answer nevertheless.
    pub doubted_but_right: usize,
    /// Markers that named no passage, or one that does not say it.
    pub markers_dropped: usize,
    /// Mean seconds of an answer.
    pub secs: f64,
    /// Why not all questions were asked, if they were not.
    pub broken_off: Option<String>,
}

/// An answer in full, for a record.
#[derive(Clone, Debug, Serialize)]
pub struct AnswerRecord {
    /// What kind of question.
    pub questions: String,
    /// The reference answers.
    pub expected: Vec<String>,
    /// Whether the answer holds one of them.
    pub is_right: bool,
    /// What the model wrote, before it was checked; nothing where no model was asked.
    pub written: Option<String>,
    /// Ids of the documents that it was given.
    pub passages: Vec<String>,
    /// The answer.
    pub answer: Answer,
}

impl AnswersRow {
    /// Counts an answer.
    pub(super) fn add(&mut self, record: &AnswerRecord) {
        let AnswerRecord { answer, is_right, .. } = record;
        self.asked += 1;
        if answer.refused {
            // Not every server tells how many tokens a prompt has.
            let was_asked = record.written.is_some();
            self.refused_by_model += usize::from(was_asked);
            self.refused_by_gate += usize::from(!was_asked);
            return;
        }
        let is_supported = answer.unsupported.is_empty();
        self.sentences += answer.sentences_checked;
        self.supported += answer.sentences_checked - answer.unsupported.len().min(answer.sentences_checked);
        self.right += usize::from(*is_right);
        self.wholly_supported += usize::from(is_supported);
        self.supported_and_right += usize::from(is_supported && *is_right);
        self.doubted_but_right += usize::from(!is_supported && *is_right);
        self.markers_dropped += answer.markers_dropped;
    }
}

impl Table for GateRow {
    const HEAD: &'static [&'static str] = &["questions", "asked", "refused", "at 5 % false refusals", "threshold"];

    fn cells(&self) -> Vec<String> {
        let share = |value: f64| format!("{value:.3}");
        vec![
            self.questions.clone(),
            self.asked.to_string(),
            share(self.refused),
            share(self.refused_at_5),
            share(self.threshold),
        ]
    }
}

impl Table for AnswersRow {
    const HEAD: &'static [&'static str] = &[
        "questions",
        "model",
        "asked",
        "failed",
        "gate",
        "not found",
        "sentences",
        "supported",
        "no mark",
        "right",
        "supported & right",
        "doubted but right",
        "s",
    ];

    fn cells(&self) -> Vec<String> {
        let of = |part: usize, whole: usize| format!("{part} ({:.0} %)", 100.0 * part as f64 / whole.max(1) as f64);
        vec![
            self.questions.clone(),
            self.model.clone(),
            self.asked.to_string(),
            self.failed.to_string(),
            self.refused_by_gate.to_string(),
            self.refused_by_model.to_string(),
            self.sentences.to_string(),
            of(self.supported, self.sentences),
            self.wholly_supported.to_string(),
            of(self.right, self.asked),
            of(self.supported_and_right, self.wholly_supported),
            self.doubted_but_right.to_string(),
            format!("{:.1}", self.secs),
        ]
    }
}
