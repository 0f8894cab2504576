//! Pictures of pages, the latest ones only.

use std::sync::Arc;

use super::latest::Latest;
use super::{Event, Outbox, Worker, guarded};
use crate::extract::{PagePicture, PageRequest};
use crate::library::{Error, Library};
use crate::progress::CancelToken;
use crate::store::DocumentId;

/// Pages to draw.
#[derive(Clone, Debug)]
pub struct PagesRequest {
    /// Its number, which comes back with the pictures.
    pub number: u64,
    /// The document.
    pub document: DocumentId,
    /// First and last page.
    pub pages: (u32, u32),
    /// Width of a picture in pixels.
    pub width: u32,
    /// The words to be marked.
    pub quote: String,
}

/// Most pages that one passage shows.
const MOST_PAGES: u32 = 3;

/// The window's side.
pub(super) struct Handle {
    mailbox: Arc<Latest<PagesRequest>>,
    worker: Worker,
}

impl Handle {
    pub(super) fn start(library: Arc<Library>, outbox: Outbox) -> Self {
        let mailbox: Arc<Latest<PagesRequest>> = Arc::default();
        let requests = Arc::clone(&mailbox);
        let worker = Worker::start("pages", move || {
            while let Some(request) = requests.take() {
                let outcome = guarded(|| draw(&library, &request));
                outbox.send(Event::PagesDrawn { number: request.number, outcome });
            }
        });
        Self { mailbox, worker }
    }

    pub(super) fn put(&self, request: PagesRequest) {
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

/// The pages that can be drawn; none for formats without pictures.
fn draw(library: &Library, request: &PagesRequest) -> Result<Vec<Arc<PagePicture>>, Error> {
    let (first, last) = request.pages;
    let mut pictures = Vec::new();
    for page in first..=last.min(first.saturating_add(MOST_PAGES - 1)) {
        let page = PageRequest { page, width: request.width, quote: request.quote.clone() };
        pictures.extend(library.draw_page(request.document, &page, &CancelToken::new())?.map(Arc::new));
    }
    Ok(pictures)
}
