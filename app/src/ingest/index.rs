//! From a text to searchable chunks: chunk, embed through the cache, store.

use std::path::Path;

use super::embedding::{EmbedFailure, embed_cached};
use super::meter::Meter;
use super::passage;
use super::prepare::Text;
use super::run::Ingestion;
use super::scan::ScannedFile;
use crate::chunk::{
    CharMeasure, Chunk, ChunkError, ChunkInput, Chunker, ChunkerConfig, Measure, Unit, VectorSource, WordMeasure,
};
use crate::embed::EmbedError;
use crate::extract::{Extraction, PlaceIndex, ReadOptions};
use crate::store::{DocumentId, NewChunk, ReadyDocument, StoreError};

/// Why a text did not become searchable.
#[derive(Debug, thiserror::Error)]
pub(super) enum IndexFailure {
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    #[error(transparent)]
    Embed(#[from] EmbedFailure),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the text gave no passages")]
    NoChunks,
}

/// A text cut into passages that wait for their vectors.
pub(super) struct Passages {
    config: ChunkerConfig,
    chunks: Vec<NewChunk>,
}

impl Passages {
    /// Cuts a text.
    pub(super) fn of(
        ingestion: Ingestion<'_>,
        config: &ChunkerConfig,
        file: &ScannedFile,
        text: &Text,
    ) -> Result<Self, IndexFailure> {
        let chunker = crate::chunk::build(config)?;
        let chunks = split(ingestion, chunker.as_ref(), &text.extraction, &file.path)?;
        Ok(Self { config: config.clone(), chunks: describe(ingestion, &text.extraction, file, chunks) })
    }

    /// What is to be embedded.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.chunks.iter().map(|chunk| chunk.passage.as_str())
    }

    pub(super) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Makes the document searchable; false when it was removed meanwhile.
    pub(super) fn store(
        self,
        ingestion: Ingestion<'_>,
        id: DocumentId,
        file: &ScannedFile,
        text: &Text,
        read: &ReadOptions,
        vectors: &[f32],
    ) -> Result<bool, StoreError> {
        ingestion.store.make_ready(ReadyDocument {
            id,
            bytes: text.bytes,
            hash: text.hash,
            extraction: &text.extraction,
            read: &read.concerning(text.extraction.kind),
            title: passage::title(&text.extraction, &file.path),
            key: ingestion.chunking_key(&self.config),
            embedder: ingestion.embedder.name(),
            dims: ingestion.embedder.dims(),
            chunks: self.chunks,
            vectors,
        })
    }
}

/// Vectors of the passages of several texts, through the cache.
pub(super) fn embed_all(
    ingestion: Ingestion<'_>,
    passages: &[&Passages],
    meter: &Meter<'_>,
) -> Result<Vec<f32>, EmbedFailure> {
    let texts: Vec<&str> = passages.iter().flat_map(|passages| passages.texts()).collect();
    let total = texts.len();
    let Ingestion { store, embedder, cancel, .. } = ingestion;
    let vectors = embed_cached(store, embedder, &texts, cancel, &mut |done| meter.embedded(done, total))?;
    if cancel.is_cancelled() { Err(EmbedError::Cancelled.into()) } else { Ok(vectors) }
}

fn split(
    ingestion: Ingestion<'_>,
    chunker: &dyn Chunker,
    extraction: &Extraction,
    path: &Path,
) -> Result<Vec<Chunk>, IndexFailure> {
    let embed = |texts: &[&str]| {
        let Ingestion { store, embedder, cancel, .. } = ingestion;
        embed_cached(store, embedder, texts, cancel, &mut |_| {}).map_err(|err| err.to_string())
    };
    let tokens = WordMeasure::new(|word: &str| ingestion.embedder.count_tokens(word));
    let measure: &dyn Measure = match chunker.config().unit {
        Unit::Chars => &CharMeasure,
        Unit::Tokens => &tokens,
    };
    let chunking = chunker.chunk(&ChunkInput {
        text: &extraction.text,
        spans: &extraction.spans,
        name: path.file_name().and_then(|name| name.to_str()),
        measure,
        vectors: VectorSource { embed: Some(&embed), vectors: None },
    })?;
    if chunking.chunks.is_empty() {
        return Err(IndexFailure::NoChunks);
    }
    Ok(chunking.chunks)
}

fn describe(
    ingestion: Ingestion<'_>,
    extraction: &Extraction,
    file: &ScannedFile,
    chunks: Vec<Chunk>,
) -> Vec<NewChunk> {
    let context = passage::document_context(extraction, &file.path);
    let places = PlaceIndex::new(extraction);
    let describe = |chunk: Chunk| {
        let text = extraction.text.get(chunk.start..chunk.end).unwrap_or_default();
        let place = places.place(chunk.start..chunk.end);
        let passage =
            if ingestion.options.context { passage::with_context(&context, &place, text) } else { text.to_owned() };
        NewChunk {
            start: chunk.start,
            end: chunk.end,
            tokens: ingestion.embedder.count_tokens(text),
            left_similarity: chunk.left_similarity,
            right_similarity: chunk.right_similarity,
            place,
            passage,
        }
    };
    chunks.into_iter().map(describe).collect()
}
