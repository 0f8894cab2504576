//! What stands around a passage: its pages as they look, or else the text. The latest one only.

use std::sync::Arc;

use super::latest::Latest;
use super::{Event, Outbox, Worker, guarded};
use crate::extract::{PagePicture, PageRequest};
use crate::library::{Error, Library};
use crate::progress::CancelToken;
use crate::state::Surroundings;
use crate::store::DocumentId;

/// A passage whose surroundings are wanted.
#[derive(Clone, Debug)]
pub struct PagesRequest {
    /// Its number, which comes back with the pictures.
    pub number: u64,
    /// The document.
    pub document: DocumentId,
    /// First and last page, if it has pages.
    pub pages: Option<(u32, u32)>,
    /// Width of a picture in pixels.
    pub width: u32,
    /// Its text, which is to be marked.
    pub quote: String,
    /// Its first byte in the document's text.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
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
                let number = request.number;
                let outcome = guarded(|| draw(&library, &request));
                if outcome.as_ref().map_or(true, Vec::is_empty)
                    && let Ok(around) = guarded(|| read_around(&library, &request))
                {
                    outbox.send(Event::SurroundingsRead { number, around });
                }
                outbox.send(Event::PagesDrawn { number, outcome });
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
    let Some((first, last)) = request.pages else {
        return Ok(Vec::new());
    };
    let mut pictures = Vec::new();
    for page in first..=last.min(first.saturating_add(MOST_PAGES - 1)) {
        let page = PageRequest { page, width: request.width, quote: request.quote.clone() };
        pictures.extend(library.draw_page(request.document, &page, &CancelToken::new())?.map(Arc::new));
    }
    Ok(pictures)
}

fn read_around(library: &Library, request: &PagesRequest) -> Result<Option<Surroundings>, Error> {
    let text = library.extraction(request.document)?.text;
    Ok(Surroundings::of(&text, request.start, request.end, &request.quote))
}
