//! The chunk lab: cuts one document again and again, as fast as a threshold is dragged.
//!
//! Text and segment vectors stay here between requests, so that another chunker or threshold needs no new
//! embedding. Requests are latest-wins; opening another document cancels the embedding of the one before.

mod compare;
mod document;
mod questions;
mod tables;
mod vectors;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use super::latest::Latest;
use super::{Event, Outbox, Worker, guarded};
use crate::chunk::{self, Boundary, ChunkInput, ChunkerConfig, ChunkerKind, Chunking, Threshold, Unit, VectorSource};
use crate::extract::Extraction;
use crate::library::{Error, Library};
use crate::progress::CancelToken;
use crate::state::{LabResult, LabelledQuestion, RowMetrics, SizeStats, TextRows};
use crate::store::DocumentId;
use document::OpenDocument;
use tables::Measures;

/// A document to cut.
#[derive(Clone, Debug)]
pub struct LabRequest {
    /// Its number, which comes back with the chunking.
    pub number: u64,
    /// The document.
    pub document: DocumentId,
    /// The name of its file.
    pub file_name: Option<String>,
    /// The chunker.
    pub config: ChunkerConfig,
    /// Chunkers to compare it with.
    pub others: Vec<ChunkerConfig>,
    /// Questions to ask of all that are compared.
    pub questions: Vec<LabelledQuestion>,
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
        let measures = Measures::new(Arc::clone(library.embedder()));
        let mut bench = Bench { library, outbox, metrics, measures, open: None };
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

    /// Gives up what is under way and what waits.
    pub(super) fn stop(&mut self) {
        self.running.1.cancel();
        self.running.1 = CancelToken::new();
        self.mailbox.clear();
    }
}

/// Keeps the questions of a document, on a thread of its own.
pub(super) fn keep_questions(
    library: Arc<Library>,
    outbox: Outbox,
    document: DocumentId,
    text: Arc<Extraction>,
    kept: Vec<LabelledQuestion>,
) {
    super::spawn("keep-questions", move || {
        let folder = questions::folder(&library, document);
        if let Err(error) = guarded(|| questions::save(&folder, &text.text, &kept)) {
            outbox.send(Event::Failed(error));
        }
    });
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
    measures: Measures,
    open: Option<OpenDocument>,
}

impl Bench {
    fn work(&mut self, request: &LabRequest, cancel: &CancelToken) {
        let (document, number) = (request.document, request.number);
        let outcome = guarded(|| self.cut(request, cancel).map(Arc::new));
        if cancel.is_cancelled() {
            return;
        }
        let first = outcome.clone();
        self.outbox.send(Event::Cut { document, number, outcome });
        if request.others.is_empty() {
            return;
        }
        if let (Ok(first), Some(mut open)) = (first, self.open.take()) {
            let outcome = guarded(|| self.compare(&mut open, request, &first, cancel).map(Arc::new));
            self.open = Some(open);
            self.outbox.send(Event::Compared { document, number, outcome });
        }
    }

    fn row_metrics(&self) -> Arc<RowMetrics> {
        Arc::clone(&self.metrics.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The size of each chunk.
    fn sizes(&self, open: &mut OpenDocument, text: &str, unit: Unit, chunks: &[chunk::Chunk]) -> Vec<usize> {
        let measure = self.measures.of(unit);
        let table = open.tables.table(text, unit, measure);
        chunks.iter().map(|chunk| table.size(text, chunk.start..chunk.end, measure)).collect()
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
        if let Ok(extraction) = &loaded {
            let questions = questions::load(&questions::folder(&self.library, document), &extraction.text);
            self.outbox.send(Event::QuestionsLoaded { document, questions });
        }
        Ok(OpenDocument::new(request, loaded?))
    }

    fn cut_open(
        &self,
        open: &mut OpenDocument,
        request: &LabRequest,
        cancel: &CancelToken,
    ) -> Result<LabResult, Error> {
        self.embed_segments(open, request, cancel)?;
        let started = Instant::now();
        let chunking = self.chunking(open, request, &request.config)?;
        let mut result = self.describe(open, &request.config, chunking);
        result.cut_ms = started.elapsed().as_secs_f64() * 1e3;
        Ok(result)
    }

    /// Cuts with what is kept of the document where the chunker can use it.
    fn chunking(
        &self,
        open: &mut OpenDocument,
        request: &LabRequest,
        config: &ChunkerConfig,
    ) -> Result<Chunking, Error> {
        let chunker = chunk::build(config).map_err(|err| failure("This chunker does not work", &err))?;
        let measure = self.measures.of(config.unit);
        let extraction = Arc::clone(&open.extraction);
        let text = &extraction.text;
        let cannot = |err| failure("The document could not be cut", &err);
        if let Some(vectors) = open.vectors.floats().filter(|_| config.kind.needs_vectors()) {
            let table = open.tables.table(text, config.unit, measure);
            if config.kind == ChunkerKind::Semantic {
                let dims = vectors.len().checked_div(open.vectors.num_segments()).unwrap_or(0);
                let curve = open.tables.curve(vectors, dims, config.window);
                return Ok(table.cut(text, &curve, config, measure));
            }
            if let Some(chunking) = table.group(text, vectors, config, measure) {
                return chunking.map_err(cannot);
            }
        }
        let input = ChunkInput {
            text,
            spans: &extraction.spans,
            name: request.file_name.as_deref(),
            measure,
            vectors: VectorSource { embed: None, vectors: open.vectors.floats() },
        };
        chunker.chunk(&input).map_err(cannot)
    }

    /// Makes sure that the vectors which `request` needs are there.
    fn embed_segments(&self, open: &mut OpenDocument, request: &LabRequest, cancel: &CancelToken) -> Result<(), Error> {
        let total = open.vectors.num_segments();
        let wanted = request.others.iter().chain([&request.config]);
        let needs_vectors = wanted.into_iter().any(|config| config.kind.needs_vectors());
        if !(needs_vectors || request.curve_wanted || total <= FREE_SEGMENTS) {
            return Ok(());
        }
        let document = open.id;
        open.vectors.fill(&open.extraction.text, |texts| {
            self.library.embed_cached(texts, cancel, &mut |done| {
                self.outbox.send_growth(Event::SegmentsEmbedded { document, done, total });
            })
        })
    }

    fn describe(&self, open: &mut OpenDocument, config: &ChunkerConfig, chunking: Chunking) -> LabResult {
        let extraction = Arc::clone(&open.extraction);
        let text = &extraction.text;
        let sizes = self.sizes(open, text, config.unit, &chunking.chunks);
        LabResult {
            config: config.clone(),
            places: chunking.chunks.iter().map(|chunk| open.places.label(chunk.start..chunk.end)).collect(),
            cut_range: cut_range(&chunking.chunks),
            stats: SizeStats::of(&sizes),
            sizes,
            rows: TextRows::build(text, &chunking.chunks, &self.row_metrics()),
            num_segments: open.vectors.num_segments(),
            segments: open.vectors.starts(),
            alternatives: alternatives(&chunking.boundaries),
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

/// Thresholds to try, where the curve is known.
fn alternatives(curve: &[Boundary]) -> Vec<(Threshold, f32)> {
    let similarities: Vec<f32> = curve.iter().map(|boundary| boundary.similarity).collect();
    if similarities.is_empty() { Vec::new() } else { chunk::alternatives(&similarities) }
}

fn failure(title: &str, err: &dyn std::fmt::Display) -> Error {
    Error { title: title.to_owned(), detail: err.to_string(), hint: None }
}
