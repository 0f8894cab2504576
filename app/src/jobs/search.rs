//! Searches, the latest one only.

use std::sync::Arc;

use super::latest::Latest;
use super::{Event, Outbox, Worker, guarded};
use crate::library::Library;
use crate::progress::CancelToken;
use crate::retrieve::{SearchOptions, SearchResults};

/// A search to do.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// Its number, which comes back with the hits.
    pub number: u64,
    /// The query.
    pub query: String,
    /// How to search.
    pub options: SearchOptions,
}

/// The window's side.
pub(super) struct Handle {
    mailbox: Arc<Latest<(SearchRequest, CancelToken)>>,
    running: CancelToken,
    worker: Worker,
}

impl Handle {
    pub(super) fn start(library: Arc<Library>, outbox: Outbox) -> Self {
        let mailbox: Arc<Latest<(SearchRequest, CancelToken)>> = Arc::default();
        let requests = Arc::clone(&mailbox);
        let worker = Worker::start("search", move || {
            while let Some((SearchRequest { number, query, options }, cancel)) = requests.take() {
                let first = options.rerank.then(|| first_ranking(&library, &query, &options, &cancel)).flatten();
                if let Some(first) = first {
                    outbox.send(Event::FirstRanked { number, results: Box::new(first) });
                }
                let outcome = guarded(|| library.search_until(&query, &options, &cancel));
                outbox.send(Event::Searched { number, outcome });
            }
        });
        Self { mailbox, running: CancelToken::new(), worker }
    }

    /// Replaces the search that waits, and stops the one under way.
    pub(super) fn put(&mut self, request: SearchRequest) {
        self.running.cancel();
        self.running = CancelToken::new();
        self.mailbox.put((request, self.running.clone()));
    }
}

/// What there is to see before passages are ranked again, which takes longer.
fn first_ranking(
    library: &Library,
    query: &str,
    options: &SearchOptions,
    cancel: &CancelToken,
) -> Option<SearchResults> {
    // The threshold is on the reranker's score.
    let options = SearchOptions { rerank: false, min_score: None, ..options.clone() };
    // Whatever is wrong the whole search reports.
    guarded(|| library.search_until(query, &options, cancel)).ok()
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.running.cancel();
        self.mailbox.clear();
        self.mailbox.close();
        self.worker.join();
    }
}
