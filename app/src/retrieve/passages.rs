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
}
