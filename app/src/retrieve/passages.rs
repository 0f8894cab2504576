//! What the later stages of a ranking need beside the legs: the texts, and a reranker.

use super::RetrieveError;

/// A passage as the later stages see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassageText {
    /// Its document.
    pub document: u64,
    /// First byte in the document's text.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// First and last page.
    pub pages: Option<(u32, u32)>,
    /// Its text.
    pub text: String,
}

/// What a reranker gave for some passages, one score for each.
#[derive(Clone, Debug, PartialEq)]
pub enum Rescored {
    /// Scores that count half beside those of the first ranking.
    Mixed(Vec<f64>),
    /// Scores, 0 to 1, that rank by themselves.
    Alone(Vec<f64>),
    /// Nothing: the first ranking stands.
    Nothing,
}

/// The passages of a collection, in full.
pub trait Passages {
    /// A passage.
    ///
    /// # Errors
    /// It cannot be read.
    fn passage(&mut self, id: u64) -> Result<PassageText, RetrieveError>;

    /// A score for each passage, the higher the better.
    ///
    /// # Errors
    /// There is no reranker, it failed, or a passage cannot be read.
    fn rerank(&mut self, question: &str, ids: &[u64]) -> Result<Vec<f64>, RetrieveError>;

    /// The scores that rank passages again, with how they count: those of [`Self::rerank`] unless there is a better
    /// reranker.
    ///
    /// # Errors
    /// See [`Self::rerank`].
    fn rescore(&mut self, question: &str, ids: &[u64]) -> Result<Rescored, RetrieveError> {
        self.rerank(question, ids).map(Rescored::Mixed)
    }
}
