//! Measuring: split, embed, index in memory, ask every question, score.

use std::ops::Range;
use std::time::Instant;

use super::chunking::{ChunkScores, precision_omega, score};
use super::excerpts::ExcerptSet;
use super::judgements::{JudgedDocument, JudgedSet};
use super::ranges::CodePoints;
use super::report::{ChunkingLabel, ChunkingRow, RetrievalRow};
use super::subject::Subject;
use super::{EvalError, retrieval};
use crate::embed::{Embedder, TextRole};
use crate::progress::CancelToken;
use crate::retrieve::{MemoryCollection, Question, SearchMode, SearchOptions, rank};

/// Chunks that are retrieved for a question, as in the published comparison.
const RETRIEVED_CHUNKS: usize = 5;
/// Documents that a ranking is scored on.
const SCORED_DOCUMENTS: usize = 10;

/// Measures chunkers on one set; the questions are embedded once.
pub struct ChunkingRun<'a> {
    set: &'a ExcerptSet,
    embedder: &'a dyn Embedder,
    cancel: &'a CancelToken,
    points: Vec<CodePoints>,
    questions: Vec<f32>,
}

/// The chunks of all corpora of a set.
struct Chunked {
    passages: Vec<String>,
    /// Code points, corpora laid end to end with a gap between them.
    ranges: Vec<Range<usize>>,
    /// Chunks of each corpus, as a range of indices.
    corpora: Vec<Range<usize>>,
    /// Where each corpus starts.
    offsets: Vec<usize>,
}

impl<'a> ChunkingRun<'a> {
    /// Embeds the questions.
    ///
    /// # Errors
    /// Embedding failed, or `cancel` was set.
    pub fn new(set: &'a ExcerptSet, embedder: &'a dyn Embedder, cancel: &'a CancelToken) -> Result<Self, EvalError> {
        let texts: Vec<&str> = set.questions.iter().map(|question| question.text.as_str()).collect();
        let questions = embedder.embed(&texts, TextRole::Query, cancel, &mut |_| {})?;
        let points = set.corpora.iter().map(|corpus| CodePoints::new(&corpus.text)).collect();
        Ok(Self { set, embedder, cancel, points, questions })
    }

    /// Splits, embeds and scores: one row for each way of retrieval. `on_done` gets the number of chunks embedded
    /// so far and of all chunks.
    ///
    /// # Errors
    /// The splitter is out of range, embedding failed, or the run was cancelled.
    pub fn measure(
        &self,
        subject: &Subject,
        modes: &[SearchOptions],
        on_done: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<ChunkingRow>, EvalError> {
        let chunked = self.split(subject)?;
        let passages: Vec<&str> = chunked.passages.iter().map(String::as_str).collect();
        let total = passages.len();
        let needs_vectors = modes.iter().any(|options| options.mode != SearchMode::Keyword);
        let vectors = if needs_vectors {
            self.embedder.embed(&passages, TextRole::Passage, self.cancel, &mut |done| on_done(done, total))?
        } else {
            vec![0.0; total * self.embedder.dims()]
        };
        let collection = collection(&passages, &vectors, self.embedder)?;
        let row = |options: &SearchOptions| {
            let scores = self.scores(&chunked, &collection, options)?;
            Ok(ChunkingRow::new(label(subject, options, &chunked), scores))
        };
        modes.iter().map(row).collect()
    }

    fn split(&self, subject: &Subject) -> Result<Chunked, EvalError> {
        let mut chunked =
            Chunked { passages: Vec::new(), ranges: Vec::new(), corpora: Vec::new(), offsets: Vec::new() };
        let mut offset = 0;
        for (corpus, points) in self.set.corpora.iter().zip(&self.points) {
            let length = points.at(corpus.text.len());
            let first = chunked.ranges.len();
            let chunks = subject.splitter.split(&corpus.text, self.embedder, self.cancel)?;
            chunked.passages.extend(subject.passages(&corpus.text, &chunks));
            let points = chunks.iter().map(|bytes| points.range(bytes));
            chunked.ranges.extend(points.map(|range| range.start + offset..range.end + offset));
            chunked.corpora.push(first..chunked.ranges.len());
            chunked.offsets.push(offset);
            offset += length + 2;
        }
        Ok(chunked)
    }

    fn scores(
        &self,
        chunked: &Chunked,
        collection: &MemoryCollection,
        options: &SearchOptions,
    ) -> Result<Vec<ChunkScores>, EvalError> {
        let dims = self.embedder.dims().max(1);
        let options = SearchOptions { k: RETRIEVED_CHUNKS, ..options.clone() };
        let mut scores = Vec::with_capacity(self.set.questions.len());
        for (question, vector) in self.set.questions.iter().zip(self.questions.chunks(dims)) {
            let asked = Question { text: &question.text, vector: Some(vector) };
            let ranking = rank(collection, asked, &options).map_err(|err| EvalError::Search(err.to_string()))?;
            let retrieved: Vec<Range<usize>> =
                ranking.passages.iter().filter_map(|found| chunked.ranges.get(found.id as usize).cloned()).collect();
            let offset = chunked.offsets[question.corpus];
            let references: Vec<Range<usize>> =
                question.references.iter().map(|range| range.start + offset..range.end + offset).collect();
            let of_corpus = &chunked.ranges[chunked.corpora[question.corpus].clone()];
            scores.push(ChunkScores {
                precision_omega: precision_omega(of_corpus, &references),
                ..score(&retrieved, &references)
            });
        }
        Ok(scores)
    }
}

fn label(subject: &Subject, options: &SearchOptions, chunked: &Chunked) -> ChunkingLabel {
    let (size, overlap) = subject.splitter.size_and_overlap();
    let chunks = chunked.ranges.len();
    let chars: usize = chunked.ranges.iter().map(ExactSizeIterator::len).sum();
    ChunkingLabel {
        chunker: subject.splitter.name(),
        spec: subject.to_string(),
        mode: mode_name(options),
        size,
        overlap,
        chunks,
        mean_chars: chars as f64 / chunks.max(1) as f64,
    }
}

fn mode_name(options: &SearchOptions) -> String {
    match options.mode {
        SearchMode::Vector => "vector".to_owned(),
        SearchMode::Keyword => "keyword".to_owned(),
        SearchMode::Hybrid => match options.fusion {
            crate::retrieve::Fusion::Rrf => "hybrid rrf".to_owned(),
            crate::retrieve::Fusion::Weighted => format!("hybrid {:.1}", options.alpha),
        },
    }
}

fn collection(texts: &[&str], vectors: &[f32], embedder: &dyn Embedder) -> Result<MemoryCollection, EvalError> {
    MemoryCollection::new(texts, vectors, embedder.dims()).map_err(|err| EvalError::Search(err.to_string()))
}

/// Measures retrieval on one set; documents and questions are embedded once.
pub struct RetrievalRun<'a> {
    set: &'a JudgedSet,
    collection: MemoryCollection,
    questions: Vec<f32>,
    dims: usize,
}

impl<'a> RetrievalRun<'a> {
    /// Embeds documents and questions. `on_done` gets the number of documents embedded so far and of all.
    ///
    /// # Errors
    /// Embedding failed, or `cancel` was set.
    pub fn new(
        set: &'a JudgedSet,
        embedder: &dyn Embedder,
        cancel: &CancelToken,
        on_done: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, EvalError> {
        let titled: Vec<String> = set.documents.iter().map(JudgedDocument::titled_text).collect();
        let documents: Vec<&str> = titled.iter().map(String::as_str).collect();
        let total = documents.len();
        let vectors = embedder.embed(&documents, TextRole::Passage, cancel, &mut |done| on_done(done, total))?;
        let texts: Vec<&str> = set.questions.iter().map(|question| question.text.as_str()).collect();
        let questions = embedder.embed(&texts, TextRole::Query, cancel, &mut |_| {})?;
        let collection = collection(&documents, &vectors, embedder)?;
        Ok(Self { set, collection, questions, dims: embedder.dims().max(1) })
    }

    /// Asks every question.
    ///
    /// # Errors
    /// The passages could not be searched.
    pub fn measure(&self, options: &SearchOptions) -> Result<RetrievalRow, EvalError> {
        let options = SearchOptions { k: SCORED_DOCUMENTS, ..options.clone() };
        let clock = Instant::now();
        let mut scores = Vec::with_capacity(self.set.questions.len());
        for (question, vector) in self.set.questions.iter().zip(self.questions.chunks(self.dims)) {
            let asked = Question { text: &question.text, vector: Some(vector) };
            let ranking = rank(&self.collection, asked, &options).map_err(|err| EvalError::Search(err.to_string()))?;
            let ranked: Vec<usize> = ranking.passages.iter().map(|found| found.id as usize).collect();
            scores.push(retrieval::score(&ranked, &question.gains, SCORED_DOCUMENTS));
        }
        let took_ms = clock.elapsed().as_secs_f64() * 1e3;
        Ok(RetrievalRow::new(mode_name(&options), &scores, took_ms))
    }
}
