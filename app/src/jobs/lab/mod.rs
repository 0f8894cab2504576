//! The chunk lab: cuts one document again and again, as fast as a threshold is dragged.
//!
//! Text and segment vectors stay here between requests, so that another chunker or threshold needs no new
//! embedding. Requests are latest-wins; opening another document cancels the embedding of the one before.

mod document;
mod measure;
mod vectors;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use super::latest::Latest;
use super::{Event, Outbox, Worker, guarded};
use crate::chunk::{self, Boundary, ChunkInput, ChunkerConfig, Chunking, VectorSource};
use crate::library::{Error, Library};
use crate::progress::CancelToken;
use crate::state::{LabResult, RowMetrics, SizeStats, TextRows};
use crate::store::DocumentId;
use document::OpenDocument;
use measure::UnitMeasure;

/// A document to cut.
#[derive(Clone, Debug)]
pub struct LabRequest {
    /// Its number, which comes back with the chunking.
    pub number: u64,
    /// The document.
    pub document: DocumentId,
    /// The chunker.
    pub config: ChunkerConfig,
    /// Counts up when the library changed: the text is read again.
    pub library_version: u64,
    /// Compute the boundary curve even if the chunker does not need it.
    pub curve_wanted: bool,
}

/// The curve of shorter documents is computed without being asked for.
const FREE_SEGMENTS: usize = 600;

/// The window's side.
pub(super) struct Handle {
    mailbox: Arc<Latest<(LabRequest, CancelToken)>>,
    running: (Option<DocumentId>, CancelToken),
    worker: Worker,
}

impl Handle {
    pub(super) fn start(library: Arc<Library>, outbox: Outbox, metrics: Arc<RwLock<Arc<RowMetrics>>>) -> Self {
        let mailbox: Arc<Latest<(LabRequest, CancelToken)>> = Arc::default();
        let requests = Arc::clone(&mailbox);
        let mut bench = Bench { library, outbox, metrics, open: None };
        let worker = Worker::start("chunk-lab", move || {
            while let Some((request, cancel)) = requests.take() {
                bench.work(&request, &cancel);
            }
        });
        Self { mailbox, running: (None, CancelToken::new()), worker }
    }

    pub(super) fn put(&mut self, request: LabRequest) {
        if self.running.0 != Some(request.document) {
            self.running.1.cancel();
            self.running = (Some(request.document), CancelToken::new());
        }
        self.mailbox.put((request, self.running.1.clone()));
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.running.1.cancel();
        self.mailbox.clear();
        self.mailbox.close();
        self.worker.join();
    }
}

struct Bench {
    library: Arc<Library>,
    outbox: Outbox,
    metrics: Arc<RwLock<Arc<RowMetrics>>>,
    open: Option<OpenDocument>,
}

impl Bench {
    fn work(&mut self, request: &LabRequest, cancel: &CancelToken) {
        let outcome = guarded(|| self.cut(request, cancel));
        if !cancel.is_cancelled() {
            let (document, number) = (request.document, request.number);
            self.outbox.send(Event::Cut { document, number, outcome: outcome.map(Arc::new) });
        }
    }

    fn cut(&mut self, request: &LabRequest, cancel: &CancelToken) -> Result<LabResult, Error> {
        let mut open = match self.open.take() {
            Some(open) if open.is(request) => open,
            _ => self.load(request)?,
        };
        let outcome = self.cut_open(&mut open, request, cancel);
        self.open = Some(open);
        outcome
    }

    fn load(&self, request: &LabRequest) -> Result<OpenDocument, Error> {
        let document = request.document;
        let loaded = self.library.extraction(document).map(Arc::new);
        self.outbox.send(Event::TextLoaded { document, outcome: loaded.clone() });
        Ok(OpenDocument::new(request, loaded?))
    }

    fn cut_open(
        &self,
        open: &mut OpenDocument,
        request: &LabRequest,
        cancel: &CancelToken,
    ) -> Result<LabResult, Error> {
        let config = &request.config;
        let chunker = chunk::build(config).map_err(|err| failure("This chunker does not work", &err))?;
        let measure = UnitMeasure::new(config.unit, self.library.embedder().as_ref());
        self.embed_segments(open, request, cancel)?;
        let started = Instant::now();
        let input = ChunkInput {
            text: &open.extraction.text,
            spans: &open.extraction.spans,
            measure: &measure,
            vectors: VectorSource { embed: None, vectors: open.vectors.floats() },
        };
        let chunking = chunker.chunk(&input).map_err(|err| failure("The document could not be cut", &err))?;
        let mut result = self.describe(open, config, &measure, chunking);
        result.cut_ms = started.elapsed().as_secs_f64() * 1e3;
        Ok(result)
    }

    /// Makes sure that the vectors which `request` needs are there.
    fn embed_segments(&self, open: &mut OpenDocument, request: &LabRequest, cancel: &CancelToken) -> Result<(), Error> {
        let total = open.vectors.num_segments();
        let needs_vectors = request.config.kind.needs_vectors();
        if !(needs_vectors || request.curve_wanted || total <= FREE_SEGMENTS) {
            return Ok(());
        }
        let document = open.id;
        open.vectors.fill(&open.extraction.text, |texts| {
            self.library.embed_cached(texts, cancel, &mut |done| {
                self.outbox.send(Event::SegmentsEmbedded { document, done, total });
            })
        })
    }

    fn describe(
        &self,
        open: &OpenDocument,
        config: &ChunkerConfig,
        measure: &UnitMeasure<'_>,
        chunking: Chunking,
    ) -> LabResult {
        let text = &open.extraction.text;
        let size = |chunk: &chunk::Chunk| {
            text.get(chunk.start..chunk.end).map_or(0, |text| chunk::Measure::size(measure, text))
        };
        let sizes: Vec<usize> = chunking.chunks.iter().map(size).collect();
        let metrics = Arc::clone(&self.metrics.read().unwrap_or_else(PoisonError::into_inner));
        LabResult {
            config: config.clone(),
            places: chunking.chunks.iter().map(|chunk| open.places.label(chunk.start..chunk.end)).collect(),
            cut_range: cut_range(&chunking.chunks),
            stats: SizeStats::of(&sizes),
            sizes,
            rows: TextRows::build(text, &chunking.chunks, &metrics),
            num_segments: open.vectors.num_segments(),
            auto_threshold: auto_threshold(&chunking.boundaries),
            threshold: chunking.threshold,
            curve: chunking.boundaries,
            chunks: chunking.chunks,
            cut_ms: 0.0,
        }
    }
}

/// Lowest and highest similarity at a cut.
fn cut_range(chunks: &[chunk::Chunk]) -> (f32, f32) {
    let cuts = chunks.iter().filter_map(|chunk| chunk.left_similarity);
    cuts.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), cut| (low.min(cut), high.max(cut)))
}

/// The document's own threshold, where its curve is known.
fn auto_threshold(curve: &[Boundary]) -> Option<f32> {
    let similarities: Vec<f32> = curve.iter().map(|boundary| boundary.similarity).collect();
    (!similarities.is_empty()).then(|| chunk::auto_threshold(&similarities))
}

fn failure(title: &str, err: &dyn std::fmt::Display) -> Error {
    Error { title: title.to_owned(), detail: err.to_string(), hint: None }
}
