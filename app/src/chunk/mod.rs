//! Chunkers: pure functions from text (and sentence vectors) to byte ranges.
//!
//! Invariants, property-tested for every chunker: each chunk is a byte range of the text; starts and ends
//! strictly increase; ranges lie on grapheme boundaries; their union covers all non-blank text; no chunk is
//! blank; no chunk is larger than the hard cap.
//!
//! Must not know: libraries, models' files, windows.

use serde::{Deserialize, Serialize};

use crate::extract::Span;

/// One chunk: a byte range of the document's text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// Cosine between the sentences on both sides of the start; `None` at the document's start and for chunkers
    /// that look at no vectors.
    pub left_similarity: Option<f32>,
    /// The same at the end.
    pub right_similarity: Option<f32>,
}

/// Which chunker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChunkerKind {
    /// Separators from coarse to fine, filled up to the size.
    #[default]
    Recursive,
    /// Headings first, then recursive; code fences and tables kept whole up to the cap.
    Markdown,
    /// Whole sentences, filled up to the size.
    Sentence,
    /// Cuts where the similarity of neighbouring segments falls below a threshold.
    Semantic,
}

/// What sizes are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Unicode code points.
    #[default]
    Chars,
    /// Tokens of the embedder.
    Tokens,
}

/// Where the semantic chunker cuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Threshold {
    /// Mean minus one standard deviation of the document's own similarities.
    #[default]
    Auto,
    /// A cosine: 0 cuts (nearly) nowhere, 1 nearly everywhere.
    Fixed(f32),
}

/// A configured chunker, as a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChunkerConfig {
    /// Which chunker.
    pub kind: ChunkerKind,
    /// Hard cap on a chunk, in `unit`; at least 1.
    pub size: usize,
    /// Repeated from the end of the previous chunk, in `unit`; less than `size`.
    pub overlap: usize,
    /// Chunks smaller than this are merged with a neighbour where the cap allows it, in `unit`; at most `size`.
    pub min_size: usize,
    /// Semantic chunker only.
    pub threshold: Threshold,
    /// What `size`, `overlap` and `min_size` are counted in.
    pub unit: Unit,
    /// Separators of the recursive splitter, coarse to fine; empty means the default list.
    pub separators: Vec<String>,
}

impl Default for ChunkerConfig {
    fn default() -> Self {
        Self {
            kind: ChunkerKind::Recursive,
            size: 1000,
            overlap: 100,
            min_size: 0,
            threshold: Threshold::Auto,
            unit: Unit::Chars,
            separators: Vec::new(),
        }
    }
}

/// Counts the size of a piece of text in the chunker's unit.
pub trait Measure: Sync {
    /// The size of `text`. Need not be additive.
    fn size(&self, text: &str) -> usize;
}

/// Counts Unicode code points.
#[derive(Clone, Copy, Debug, Default)]
pub struct CharMeasure;

impl Measure for CharMeasure {
    fn size(&self, text: &str) -> usize {
        text.chars().count()
    }
}

/// Computes unit-length vectors for the semantic chunker: `texts.len() * dims` floats, row by row.
pub type EmbedFn<'a> = dyn Fn(&[&str]) -> Result<Vec<f32>, String> + 'a;

/// Where the semantic chunker gets the vectors of its segments. Exactly one of the two must be given.
#[derive(Clone, Copy, Default)]
pub struct VectorSource<'a> {
    /// Called once with every segment.
    pub embed: Option<&'a EmbedFn<'a>>,
    /// One unit-length vector for each of [`segments`], row by row.
    pub vectors: Option<&'a [f32]>,
}

/// What a chunker gets.
#[derive(Clone, Copy)]
pub struct ChunkInput<'a> {
    /// The document's text.
    pub text: &'a str,
    /// Its places (sections guide the markdown chunker).
    pub spans: &'a [Span],
    /// Sizes in the configured unit.
    pub measure: &'a dyn Measure,
    /// Needed by the semantic chunker only.
    pub vectors: VectorSource<'a>,
}

/// The similarity of two neighbouring segments, at the byte where one ends and the next starts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Boundary {
    /// Byte position: the start of the right segment.
    pub position: usize,
    /// Cosine of the two segments' vectors.
    pub similarity: f32,
}

/// A chunker's result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Chunking {
    /// Chunks in document order.
    pub chunks: Vec<Chunk>,
    /// The boundary curve (empty for chunkers that look at no vectors).
    pub boundaries: Vec<Boundary>,
    /// The threshold used, once resolved.
    pub threshold: Option<f32>,
}

/// Why a text could not be chunked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChunkError {
    /// A parameter is out of range.
    #[error("{0}")]
    Config(String),
    /// Both an embedder and vectors were given, or neither.
    #[error("the semantic chunker needs either an embedder or vectors: found {0}")]
    VectorSource(&'static str),
    /// Vectors do not fit the segments.
    #[error("{0}")]
    Vectors(String),
    /// The embedder failed.
    #[error("embedding the segments failed: {0}")]
    Embed(String),
}

/// A chunking strategy.
pub trait Chunker: Send + Sync {
    /// The configuration it was built from.
    fn config(&self) -> &ChunkerConfig;

    /// Splits one document.
    ///
    /// # Errors
    /// The vector source is missing, double or does not fit, or embedding failed.
    fn chunk(&self, input: &ChunkInput<'_>) -> Result<Chunking, ChunkError>;
}

/// Builds the chunker that `config` describes.
///
/// # Errors
/// A parameter is out of range; the message says which and what is allowed.
pub fn build(config: &ChunkerConfig) -> Result<Box<dyn Chunker>, ChunkError> {
    Err(ChunkError::Config(format!(
        "{:?} is not built",
        config.kind
    )))
}
