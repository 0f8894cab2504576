//! Searches, the latest one only.

use std::sync::Arc;

use super::latest::Latest;
use super::{Event, Outbox, Worker, guarded};
use crate::library::Library;
use crate::retrieve::SearchOptions;

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
    mailbox: Arc<Latest<SearchRequest>>,
    worker: Worker,
}

impl Handle {
    pub(super) fn start(library: Arc<Library>, outbox: Outbox) -> Self {
        let mailbox: Arc<Latest<SearchRequest>> = Arc::default();
        let requests = Arc::clone(&mailbox);
        let worker = Worker::start("search", move || {
            while let Some(SearchRequest { number, query, options }) = requests.take() {
                let outcome = guarded(|| library.search(&query, &options));
                outbox.send(Event::Searched { number, outcome });
            }
        });
        Self { mailbox, worker }
    }

    pub(super) fn put(&self, request: SearchRequest) {
        self.mailbox.put(request);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.mailbox.clear();
        self.mailbox.close();
        self.worker.join();
    }
}
