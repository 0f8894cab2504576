//! From a text to searchable chunks: chunk, embed through the cache, store.

use std::path::Path;

use super::embedding::{EmbedFailure, embed_cached};
use super::meter::Meter;
use super::passage;
use super::prepare::Text;
use super::run::Ingestion;
use super::scan::ScannedFile;
use crate::chunk::{CharMeasure, Chunk, ChunkError, ChunkInput, Chunker, Measure, Unit, VectorSource, WordMeasure};
use crate::embed::EmbedError;
use crate::extract::{Extraction, PlaceIndex};
use crate::progress::IngestPhase;
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

/// Chunks, embeds and stores a text; gives the number of chunks, or `None` when the document was removed meanwhile.
pub(super) fn index(
    ingestion: Ingestion<'_>,
    chunker: &dyn Chunker,
    id: DocumentId,
    file: &ScannedFile,
    text: &Text,
    meter: &Meter<'_>,
) -> Result<Option<usize>, IndexFailure> {
    meter.phase(IngestPhase::Chunking);
    let extraction = &text.extraction;
    let chunks = split(ingestion, chunker, extraction, &file.path)?;
    let chunks = describe(ingestion, extraction, file, chunks);
    let passages: Vec<&str> = chunks.iter().map(|chunk| chunk.passage.as_str()).collect();
    let total = passages.len();
    let vectors = embed_cached(ingestion.store, ingestion.embedder, &passages, ingestion.cancel, &mut |done| {
        meter.embedded(done, total);
    })?;
    if ingestion.cancel.is_cancelled() {
        return Err(EmbedFailure::from(EmbedError::Cancelled).into());
    }
    meter.phase(IngestPhase::Storing);
    let is_stored = ingestion.store.make_ready(ReadyDocument {
        id,
        bytes: text.bytes,
        hash: text.hash,
        extraction,
        title: passage::title(extraction, &file.path),
        key: ingestion.chunking_key(),
        embedder: ingestion.embedder.name(),
        dims: ingestion.embedder.dims(),
        chunks,
        vectors: &vectors,
    })?;
    Ok(is_stored.then_some(total))
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
