//! Measuring: split, embed, index in memory, ask every question, score.

use std::ops::Range;

use super::EvalError;
use super::chunking::{ChunkScores, precision_omega, score};
use super::excerpts::ExcerptSet;
use super::published::{Recursive, found_again};
use super::ranges::CodePoints;
use super::report::{ChunkingLabel, ChunkingRow};
use crate::chunk::best_runs;
use crate::chunk::{CharMeasure, ChunkInput, ChunkerConfig, Measure, Unit, VectorSource, WordMeasure, build};
use crate::embed::{Embedder, TextRole};
use crate::progress::CancelToken;
use crate::retrieve::{MemoryCollection, Question, SearchMode, SearchOptions, rank};

/// Chunks that are retrieved for a question, as in the published comparison.
const RETRIEVED_CHUNKS: usize = 5;
/// Special tokens that the published comparison counts around every piece.
const SPECIAL_TOKENS: usize = 2;

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Splitter {
    /// One of our chunkers.
    Configured(ChunkerConfig),
    /// The published recursive splitter, in tokens of the embedder with its two special tokens.
    PublishedRecursive {
        /// Largest sum of piece lengths.
        size: usize,
        /// Most that is repeated.
        overlap: usize,
    },
    /// The published cluster-semantic splitter over recursive pieces of 50 tokens.
    PublishedCluster {
        /// Largest chunk, as a multiple of the pieces.
        size: usize,
    },
}

/// Size of the pieces that the published cluster-semantic splitter puts together.
const CLUSTER_PIECE: usize = 50;

impl Splitter {
    /// The name in tables.
    pub fn name(&self) -> String {
        match self {
            Self::Configured(config) => format!("{:?}", config.kind).to_lowercase(),
            Self::PublishedRecursive { .. } => "published-recursive".to_owned(),
            Self::PublishedCluster { .. } => "published-cluster".to_owned(),
        }
    }

    fn size_and_overlap(&self) -> (usize, usize) {
        match self {
            Self::Configured(config) => (config.size, config.overlap),
            Self::PublishedRecursive { size, overlap } => (*size, *overlap),
            Self::PublishedCluster { size } => (*size, 0),
        }
    }

    /// Byte ranges of the chunks of `text`.
    ///
    /// # Errors
    /// The configuration is out of range, or embedding failed.
    pub fn split(
        &self,
        text: &str,
        embedder: &dyn Embedder,
        cancel: &CancelToken,
    ) -> Result<Vec<Range<usize>>, EvalError> {
        match self {
            Self::Configured(config) => split_configured(config, text, embedder, cancel),
            Self::PublishedRecursive { size, overlap } => {
                let pieces = published_pieces(text, embedder, *size, *overlap);
                Ok(found_again(text, &pieces))
            }
            Self::PublishedCluster { size } => {
                let pieces = published_pieces(text, embedder, CLUSTER_PIECE, 0);
                let texts: Vec<&str> = pieces.iter().map(|piece| &text[piece.clone()]).collect();
                let vectors = embedder.embed(&texts, TextRole::Passage, cancel, &mut |_| {})?;
                let longest = (size / CLUSTER_PIECE).max(1);
                let runs = best_runs(&vectors, embedder.dims(), &|run| run.len() <= longest);
                let chunks: Vec<Range<usize>> =
                    runs.into_iter().map(|run| pieces[run.start].start..pieces[run.end - 1].end).collect();
                Ok(found_again(text, &chunks))
            }
        }
    }

    /// Checks the configuration before any work.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub fn validate(&self) -> Result<(), EvalError> {
        let (size, overlap) = self.size_and_overlap();
        let config = match self {
            Self::Configured(config) => config.clone(),
            _ => ChunkerConfig { size, overlap, ..ChunkerConfig::default() },
        };
        Ok(config.validate()?)
    }
}

fn published_pieces(text: &str, embedder: &dyn Embedder, size: usize, overlap: usize) -> Vec<Range<usize>> {
    let length = |piece: &str| embedder.count_tokens(piece) + SPECIAL_TOKENS;
    Recursive { size, overlap, length: &length }.split(text)
}

fn split_configured(
    config: &ChunkerConfig,
    text: &str,
    embedder: &dyn Embedder,
    cancel: &CancelToken,
) -> Result<Vec<Range<usize>>, EvalError> {
    let embed =
        |texts: &[&str]| embedder.embed(texts, TextRole::Passage, cancel, &mut |_| {}).map_err(|err| err.to_string());
    let tokens = WordMeasure::new(|word: &str| embedder.count_tokens(word));
    let measure: &dyn Measure = if config.unit == Unit::Tokens { &tokens } else { &CharMeasure };
    let vectors = VectorSource { embed: Some(&embed), vectors: None };
    let chunking = build(config)?.chunk(&ChunkInput { text, spans: &[], measure, vectors })?;
    Ok(chunking.chunks.into_iter().map(|chunk| chunk.start..chunk.end).collect())
}

/// Measures chunkers on one set; the questions are embedded once.
pub struct ChunkingRun<'a> {
    set: &'a ExcerptSet,
    embedder: &'a dyn Embedder,
    cancel: &'a CancelToken,
    points: Vec<CodePoints>,
    questions: Vec<f32>,
}

/// The chunks of all corpora of a set.
struct Chunked<'a> {
    texts: Vec<&'a str>,
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
        splitter: &Splitter,
        modes: &[SearchOptions],
        on_done: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<ChunkingRow>, EvalError> {
        let chunked = self.split(splitter)?;
        let total = chunked.texts.len();
        let vectors = self.embedder.embed(&chunked.texts, TextRole::Passage, self.cancel, &mut |done| {
            on_done(done, total);
        })?;
        let collection = collection(&chunked.texts, &vectors, self.embedder)?;
        let row = |options: &SearchOptions| {
            let scores = self.scores(&chunked, &collection, options)?;
            Ok(ChunkingRow::new(label(splitter, options, total), &scores))
        };
        modes.iter().map(row).collect()
    }

    fn split(&self, splitter: &Splitter) -> Result<Chunked<'a>, EvalError> {
        let mut chunked = Chunked { texts: Vec::new(), ranges: Vec::new(), corpora: Vec::new(), offsets: Vec::new() };
        let mut offset = 0;
        for (corpus, points) in self.set.corpora.iter().zip(&self.points) {
            let first = chunked.texts.len();
            for bytes in splitter.split(&corpus.text, self.embedder, self.cancel)? {
                let range = points.range(&bytes);
                chunked.texts.push(&corpus.text[bytes]);
                chunked.ranges.push(range.start + offset..range.end + offset);
            }
            chunked.corpora.push(first..chunked.texts.len());
            chunked.offsets.push(offset);
            offset += points.at(corpus.text.len()) + 2;
        }
        Ok(chunked)
    }

    fn scores(
        &self,
        chunked: &Chunked<'_>,
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

fn label(splitter: &Splitter, options: &SearchOptions, chunks: usize) -> ChunkingLabel {
    let (size, overlap) = splitter.size_and_overlap();
    ChunkingLabel { chunker: splitter.name(), mode: mode_name(options), size, overlap, chunks }
}

/// The name of a way of retrieval in tables.
pub(super) fn mode_name(options: &SearchOptions) -> String {
    match options.mode {
        SearchMode::Vector => "vector".to_owned(),
        SearchMode::Keyword => "keyword".to_owned(),
        SearchMode::Hybrid => match options.fusion {
            crate::retrieve::Fusion::Rrf => "hybrid rrf".to_owned(),
            crate::retrieve::Fusion::Weighted => format!("hybrid {:.1}", options.alpha),
        },
    }
}

/// An index in memory over texts and their vectors.
pub(super) fn collection(
    texts: &[&str],
    vectors: &[f32],
    embedder: &dyn Embedder,
) -> Result<MemoryCollection, EvalError> {
    MemoryCollection::new(texts, vectors, embedder.dims()).map_err(|err| EvalError::Search(err.to_string()))
}
