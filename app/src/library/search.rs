//! [`Library::search`].

use super::{Error, Library};
use crate::progress::CancelToken;
use crate::retrieve::{self, SearchOptions, SearchResults, Searching};

impl Library {
    /// Finds passages. Any query text is valid; an empty one finds nothing.
    ///
    /// # Errors
    /// An option is out of range, or the library cannot be read.
    pub fn search(&self, query: &str, options: &SearchOptions) -> Result<SearchResults, Error> {
        self.search_until(query, options, &CancelToken::new())
    }

    /// [`Self::search`] that can be stopped, which matters where passages are ranked again.
    ///
    /// # Errors
    /// See [`Self::search`]; or `cancel` was set.
    pub fn search_until(
        &self,
        query: &str,
        options: &SearchOptions,
        cancel: &CancelToken,
    ) -> Result<SearchResults, Error> {
        let searching = Searching {
            store: &self.store,
            embedder: self.embedder.as_ref(),
            late: &self.late,
            rerankers: &self.rerankers,
            cancel,
        };
        Ok(retrieve::search(searching, query, options)?)
    }
}
