//! What a ranking needs to know of the passages it ranks.

use std::sync::Arc;

use crate::store::StoreError;

/// Passages by id: their words, and the distances of their vectors.
pub trait Collection {
    /// Number of passages, those outside the source filter included: word weights do not depend on the filter.
    fn num_passages(&self) -> usize;

    /// Mean length of a passage in tokens.
    fn mean_tokens(&self) -> f64;

    /// Length of a passage in tokens; `None` when the filter leaves it out.
    fn tokens(&self, id: u64) -> Option<u32>;

    /// Passages that hold `token`, by id, with how often; those outside the filter may be among them.
    ///
    /// # Errors
    /// The index cannot be read.
    fn postings(&self, token: &str) -> Result<Vec<(u64, u32)>, StoreError>;

    /// Passages that the filter lets through and that have a vector, by id.
    fn with_vectors(&self) -> Arc<Vec<u64>>;

    /// The `k` passages among `allowed` (increasing) of highest cosine with `query`, best first.
    ///
    /// # Errors
    /// The vectors cannot be read.
    fn nearest(&self, query: &[f32], k: usize, allowed: &Arc<Vec<u64>>) -> Result<Nearest, StoreError>;
}

/// What the vector leg found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nearest {
    /// Id and cosine, best first.
    pub hits: Vec<(u64, f64)>,
    /// `cpu` or `gpu`; empty when there was nothing to search.
    pub backend: &'static str,
}
