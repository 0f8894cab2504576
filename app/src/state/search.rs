//! The query and its hits.

use super::Loadable;
use crate::retrieve::{SearchOptions, SearchResults};

/// The search space.
#[derive(Clone, Debug)]
pub struct SearchState {
    /// The query as typed.
    pub query: String,
    /// How to search.
    pub options: SearchOptions,
    /// The newest hits.
    pub results: Loadable<SearchResults>,
    /// Number of the newest search asked for.
    pub asked: u64,
    /// Position of the selected hit.
    pub selected: Option<usize>,
}

impl Default for SearchState {
    fn default() -> Self {
        Self {
            query: String::new(),
            options: SearchOptions { k: 20, ..SearchOptions::default() },
            results: Loadable::Idle,
            asked: 0,
            selected: None,
        }
    }
}
