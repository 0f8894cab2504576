//! Questions that a person wrote on a document, each with the passage that answers it.

use crate::eval::bootstrap::Interval;

/// A question with its passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledQuestion {
    /// The question.
    pub text: String,
    /// First byte of the passage.
    pub start: usize,
    /// Byte after its last.
    pub end: usize,
}

/// What a chunker does for the questions of its document: the best five chunks of each against its passage. Parts
/// from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuestionScores {
    /// Part of the passages that was found.
    pub recall: f64,
    /// What was found and what was wanted have in common, over both.
    pub iou: f64,
    /// Recall less that of the first column, question by question.
    pub recall_over_first: Interval,
    /// The same of `IoU`.
    pub iou_over_first: Interval,
}
