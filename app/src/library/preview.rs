//! Chunking a file without a library: extraction, chunks, and the boundary curve.

use std::path::Path;
use std::sync::Arc;

use super::{Error, LibraryOptions};
use crate::chunk::{self, Boundary, ChunkInput, ChunkerConfig, Measure, Unit, VectorSource};
use crate::embed::{Embedder, TextRole};
use crate::extract::{Extract as _, Extraction};
use crate::progress::CancelToken;
use crate::store::{ChunkId, ChunkRecord, DocumentId};

/// How a file splits.
#[derive(Clone, Debug)]
pub struct ChunkPreview {
    /// The document's text and places.
    pub extraction: Extraction,
    /// The chunks, ids counted from 0 since no library holds them.
    pub chunks: Vec<ChunkRecord>,
    /// Similarity of neighbouring segments over the document.
    pub boundaries: Vec<Boundary>,
    /// The semantic chunker's threshold, once resolved.
    pub threshold: Option<f32>,
    /// A sentence for people when the hash embedder stands in for a model.
    pub embedder_note: Option<String>,
    config: ChunkerConfig,
}

/// Sizes in the embedder's tokens.
pub struct TokenMeasure<'a>(pub &'a dyn Embedder);

impl Measure for TokenMeasure<'_> {
    fn size(&self, text: &str) -> usize {
        self.0.count_tokens(text)
    }
}
