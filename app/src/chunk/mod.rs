//! Chunkers: pure functions from text (and sentence vectors) to byte ranges.
//!
//! Every chunker only says where a text may be cut well (`recursive`, `markdown`, `sentence`, `semantic`);
//! one packer turns that into ranges and keeps the invariants. Start reading at [`build`], then `pack.rs`.
//!
//! Invariants, property-tested for every chunker: each chunk is a byte range of the text; starts and ends
//! strictly increase; ranges lie on grapheme boundaries; their union covers all non-blank text; no chunk is
//! blank; no chunk is larger than the hard cap. One exception to the last: a single grapheme that is larger than
//! the cap by itself (a family emoji under a cap of 2 characters) is a chunk of its own, because a grapheme is
//! never split.
//!
//! Must not know: libraries, models' files, windows.

mod breaks;
mod cluster;
mod code;
pub mod compare;
mod config;
pub mod context;
mod fixed;
mod graphemes;
mod manual;
mod markdown;
mod max_min;
mod measure;
mod merge;
mod outline;
mod pack;
mod paragraph;
mod recursive;
mod ruler;
mod segments;
mod semantic;
mod sentence;
mod sentences;
mod similarity;
mod spec;
pub mod stats;
mod structure;
pub mod svg;
mod threshold;

use serde::{Deserialize, Serialize};

use crate::extract::Span;

pub(crate) use cluster::best_runs;
pub use config::{ChunkerConfig, ChunkerKind, Threshold, Unit};
pub use measure::{CharMeasure, Measure, WordMeasure};
pub use segments::segments;
pub use semantic::{SegmentTable, cut};
pub use similarity::{boundaries, similarities, similarities_at, smoothed_similarities};
pub use spec::SpecError;
pub use threshold::{alternatives, auto_threshold};

/// One chunk: a byte range of the document's text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// Cosine between the segments on both sides of the start; `None` at the document's start and where no
    /// vectors were given. A start inside one segment counts as 1.
    pub left_similarity: Option<f32>,
    /// The same at the end.
    pub right_similarity: Option<f32>,
}

/// Computes unit-length vectors for the semantic chunker: `texts.len() * dims` floats, row by row.
pub type EmbedFn<'a> = dyn Fn(&[&str]) -> Result<Vec<f32>, String> + 'a;

/// Where the semantic chunker gets the vectors of its segments. Exactly one of the two must be given.
///
/// Chunkers that need no vectors never call `embed`; given `vectors`, they add the boundary curve and the
/// similarities at their cuts to the result.
#[derive(Clone, Copy, Default)]
pub struct VectorSource<'a> {
    /// Called once with every segment.
    pub embed: Option<&'a EmbedFn<'a>>,
    /// One unit-length vector for each of [`segments()`], row by row.
    pub vectors: Option<&'a [f32]>,
}

/// What a chunker gets.
#[derive(Clone, Copy)]
pub struct ChunkInput<'a> {
    /// The document's text.
    pub text: &'a str,
    /// Its places (sections guide the markdown chunker).
    pub spans: &'a [Span],
    /// The name of its file, which tells the code chunker the language; without one it looks at the text.
    pub name: Option<&'a str>,
    /// Sizes in the configured unit.
    pub measure: &'a dyn Measure,
    /// Needed by the semantic chunker only.
    pub vectors: VectorSource<'a>,
}

/// The similarity of two neighbouring segments, at the byte where the right one starts.
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
    /// The boundary curve (empty where no vectors were given).
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
    config.validate()?;
    let config = config.clone();
    Ok(match config.kind {
        ChunkerKind::Recursive => Box::new(recursive::Recursive(config)),
        ChunkerKind::Markdown => Box::new(markdown::Markdown(config)),
        ChunkerKind::Sentence => Box::new(sentence::Sentence(config)),
        ChunkerKind::Semantic => Box::new(semantic::Semantic(config)),
        ChunkerKind::Structure => Box::new(structure::Structure(config)),
        ChunkerKind::Cluster => Box::new(cluster::Cluster(config)),
        ChunkerKind::Fixed => Box::new(fixed::Fixed(config)),
        ChunkerKind::Paragraph => Box::new(paragraph::Paragraph(config)),
        ChunkerKind::MaxMin => Box::new(max_min::MaxMin(config)),
        ChunkerKind::Code => Box::new(code::Code(config)),
        ChunkerKind::Manual => Box::new(manual::Manual(config)),
    })
}
