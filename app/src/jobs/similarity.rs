//! Comparing: chunks with each other, a query with chunks, the passages of a library on a map. The latest request
//! wins and stops the one before it.

use std::sync::Arc;
use std::time::Instant;

use super::latest::Latest;
use super::{Event, Outbox, Worker, guarded};
use crate::embed::TextRole;
use crate::extract::Extraction;
use crate::library::{Error, Library, LibraryMap};
use crate::progress::CancelToken;
use crate::similarity::{HeatMap, MapLayout, cosine};
use crate::state::{HeatResult, LabResult, MapResult, QueryAnswer};
use crate::store::DocumentId;

/// What to compare.
#[derive(Clone)]
pub enum SimilarityTask {
    /// The chunks of a document with each other.
    Heat {
        /// Which document.
        document: DocumentId,
        /// Its text.
        extraction: Arc<Extraction>,
        /// Its chunks.
        chunks: Arc<LabResult>,
    },
    /// The passages of the library.
    Map {
        /// The library's version.
        library_version: u64,
        /// How they are laid out.
        layout: MapLayout,
    },
    /// A query with what was compared before.
    Query {
        /// The query.
        query: String,
        /// The chunks.
        heat: Option<Arc<HeatResult>>,
        /// The map.
        map: Option<Arc<MapResult>>,
    },
}

/// Hits that are marked on the map.
const MARKED_HITS: usize = 8;

/// The window's side.
pub(super) struct Handle {
    mailbox: Arc<Latest<(u64, SimilarityTask, CancelToken)>>,
    running: CancelToken,
    worker: Worker,
}

impl Handle {
    pub(super) fn start(library: Arc<Library>, outbox: Outbox) -> Self {
        let mailbox: Arc<Latest<(u64, SimilarityTask, CancelToken)>> = Arc::default();
        let requests = Arc::clone(&mailbox);
        let worker = Worker::start("similarity", move || {
            while let Some((number, task, cancel)) = requests.take() {
                let desk = Desk { library: &library, outbox: &outbox, number, cancel: &cancel };
                desk.work(task);
            }
        });
        Self { mailbox, running: CancelToken::new(), worker }
    }

    /// Replaces what is under way.
    pub(super) fn put(&mut self, number: u64, task: SimilarityTask) {
        self.cancel();
        self.mailbox.put((number, task, self.running.clone()));
    }

    pub(super) fn cancel(&mut self) {
        self.running.cancel();
        self.running = CancelToken::new();
        self.mailbox.clear();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.running.cancel();
        self.mailbox.clear();
        self.mailbox.close();
        self.worker.join();
    }
}

struct Desk<'a> {
    library: &'a Library,
    outbox: &'a Outbox,
    number: u64,
    cancel: &'a CancelToken,
}

impl Desk<'_> {
    fn work(&self, task: SimilarityTask) {
        let number = self.number;
        let event = match task {
            SimilarityTask::Heat { document, extraction, chunks } => {
                let outcome = guarded(|| self.heat(document, extraction, chunks).map(Arc::new));
                Event::HeatCompared { number, outcome }
            }
            SimilarityTask::Map { library_version, layout } => {
                let outcome = guarded(|| self.map(library_version, layout).map(Arc::new));
                Event::Mapped { number, outcome }
            }
            SimilarityTask::Query { query, heat, map } => {
                let outcome = guarded(|| self.query(query, heat.as_deref(), map.as_deref()).map(Arc::new));
                Event::QueryCompared { number, outcome }
            }
        };
        if !self.cancel.is_cancelled() {
            self.outbox.send(event);
        }
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<f32>, Error> {
        let total = texts.len();
        self.library.embed_cached(texts, self.cancel, &mut |done| self.tell(done, total))
    }

    fn tell(&self, done: usize, total: usize) {
        self.outbox.send_growth(Event::SimilarityProgressed { number: self.number, done, total });
    }

    fn heat(
        &self,
        document: DocumentId,
        extraction: Arc<Extraction>,
        chunks: Arc<LabResult>,
    ) -> Result<HeatResult, Error> {
        let texts: Vec<&str> =
            chunks.chunks.iter().map(|chunk| extraction.text.get(chunk.start..chunk.end).unwrap_or_default()).collect();
        let vectors = self.embed(&texts)?;
        let (dims, total) = (self.library.embedder().dims(), texts.len());
        let started = Instant::now();
        let map = HeatMap::compute(&vectors, dims, self.cancel, &|done| self.tell(done, total));
        let map = map.ok_or_else(|| Error::new("Comparing was stopped", "another comparison took its place"))?;
        let (pixels, compare_ms) = (map.pixels(), started.elapsed().as_secs_f64() * 1e3);
        Ok(HeatResult { document, extraction, chunks, map: Arc::new(map), pixels, vectors, dims, compare_ms })
    }

    fn map(&self, library_version: u64, layout: MapLayout) -> Result<MapResult, Error> {
        let map = self.library.map(layout, self.cancel, &|done, total| self.tell(done, total))?;
        let LibraryMap { projection, passages, vectors, dims, left_out } = map;
        Ok(MapResult { projection: Arc::new(projection), passages, vectors, dims, left_out, library_version })
    }

    fn query(&self, query: String, heat: Option<&HeatResult>, map: Option<&MapResult>) -> Result<QueryAnswer, Error> {
        let embedder = self.library.embedder();
        let vector = embedder
            .embed(&[query.as_str()], TextRole::Query, self.cancel, &mut |_| {})
            .map_err(|err| Error::new("The query could not be compared", err.to_string()))?;
        let cosines = |vectors: &[f32], dims: usize| -> Vec<f32> {
            vectors.chunks_exact(dims.max(1)).map(|row| cosine(row, &vector)).collect()
        };
        let near = map.map(|map| cosines(&map.vectors, map.dims)).unwrap_or_default();
        let mut hits: Vec<usize> = (0..near.len()).collect();
        hits.sort_by(|&a, &b| near[b].total_cmp(&near[a]).then(a.cmp(&b)));
        hits.truncate(MARKED_HITS);
        Ok(QueryAnswer {
            query,
            cosines: heat.map(|heat| cosines(&heat.vectors, heat.dims)).unwrap_or_default(),
            place: map.map(|map| map.projection.place(&vector, &near)),
            hits,
        })
    }
}
