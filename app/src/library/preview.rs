//! Chunking a file without a library: its text, its chunks and its boundary curve.

use std::path::Path;

use super::{Error, LibraryOptions, extract_pool, home_folder};
use crate::chunk::stats::{self, ChunkStats};
use crate::chunk::svg::BoundaryPlot;
use crate::chunk::{self, CharMeasure, ChunkInput, ChunkerConfig, Chunking, Measure, Unit, VectorSource, WordMeasure};
use crate::embed::{self, Embedder, TextRole};
use crate::extract::{Extraction, PlaceIndex};
use crate::models;
use crate::progress::CancelToken;
use crate::store::{ChunkId, ChunkRecord, DocumentId};

/// How a file splits.
#[derive(Clone, Debug)]
pub struct ChunkPreview {
    /// The document's text and places.
    pub extraction: Extraction,
    /// The chunks; ids count from 0 since no library holds them.
    pub chunks: Vec<ChunkRecord>,
    /// Ranges, boundary curve and threshold as the chunker gave them, the curve filled in for every chunker.
    pub chunking: Chunking,
    /// Sizes in the configured unit.
    pub stats: ChunkStats,
    /// What the sizes are counted in.
    pub unit: Unit,
    /// A sentence for people when the hash embedder stands in for a model.
    pub embedder_note: Option<String>,
}

impl ChunkPreview {
    /// The boundary plot as a self-contained SVG document.
    pub fn to_svg(&self, title: &str) -> String {
        let text = &self.extraction.text;
        let sizes: Vec<usize> = match self.unit {
            Unit::Chars => stats::sizes(text, &self.chunking.chunks, &CharMeasure),
            Unit::Tokens => self.chunks.iter().map(|chunk| chunk.tokens).collect(),
        };
        BoundaryPlot { title, text, chunking: &self.chunking, sizes: &sizes, unit: self.unit }.to_svg()
    }
}

/// Extracts and chunks one file; touches no library. With `curve` the boundary curve is computed for chunkers that do
/// not need it themselves.
///
/// # Errors
/// The file gives no text, the configuration is out of range, embedding failed, or `cancel` was set.
pub fn preview_chunks(
    options: &LibraryOptions,
    file: &Path,
    config: &ChunkerConfig,
    curve: bool,
    cancel: &CancelToken,
) -> Result<ChunkPreview, Error> {
    let home = home_folder(options.home.clone())?;
    let models = models::folder(options.models.as_deref(), &home);
    let chunker = chunk::build(config)?;
    let extractor = match &options.extractor {
        Some(extractor) => extractor.clone(),
        None => extract_pool(options.worker_binary.clone(), &models)?,
    };
    let extraction = extractor.extract(file, cancel).map_err(|err| Error::new("No text", err.to_string()))?;
    let (embedder, embedder_note) = match &options.embedder {
        Some(embedder) => (embedder.clone(), None),
        None => embed::open_installed(&models),
    };
    let embedder = embedder.as_ref();
    let embed =
        |texts: &[&str]| embedder.embed(texts, TextRole::Passage, cancel, &mut |_| {}).map_err(|err| err.to_string());
    let tokens = WordMeasure::new(|word: &str| embedder.count_tokens(word));
    let measure: &dyn Measure = if config.unit == Unit::Tokens { &tokens } else { &CharMeasure };
    let mut chunking = chunker.chunk(&ChunkInput {
        text: &extraction.text,
        spans: &extraction.spans,
        measure,
        vectors: VectorSource { embed: Some(&embed), vectors: None },
    })?;
    if curve && chunking.boundaries.is_empty() {
        add_curve(&extraction.text, &mut chunking, embedder, cancel)?;
    }
    Ok(ChunkPreview {
        chunks: records(&extraction, &chunking, embedder),
        stats: ChunkStats::new(&stats::sizes(&extraction.text, &chunking.chunks, measure)),
        chunking,
        extraction,
        unit: config.unit,
        embedder_note,
    })
}

/// Embeds the segments of a text that was chunked without vectors, for the curve and the similarities at its cuts.
fn add_curve(text: &str, chunking: &mut Chunking, embedder: &dyn Embedder, cancel: &CancelToken) -> Result<(), Error> {
    let segments = chunk::segments(text);
    let texts: Vec<&str> = segments.iter().filter_map(|range| text.get(range.clone())).collect();
    let vectors = embedder.embed(&texts, TextRole::Passage, cancel, &mut |_| {})?;
    chunking.boundaries = chunk::boundaries(text, &vectors)?;
    chunk::similarities_at(&segments, &chunk::similarities(&vectors, embedder.dims()), &mut chunking.chunks);
    Ok(())
}

fn records(extraction: &Extraction, chunking: &Chunking, embedder: &dyn Embedder) -> Vec<ChunkRecord> {
    let places = PlaceIndex::new(extraction);
    let chunks = chunking.chunks.iter().enumerate();
    chunks
        .map(|(index, chunk)| {
            let text = extraction.text.get(chunk.start..chunk.end).unwrap_or_default();
            ChunkRecord {
                id: ChunkId(index as u64),
                document: DocumentId(0),
                index,
                start: chunk.start,
                end: chunk.end,
                text: text.to_owned(),
                place: places.place(chunk.start..chunk.end),
                tokens: embedder.count_tokens(text),
                left_similarity: chunk.left_similarity,
                right_similarity: chunk.right_similarity,
            }
        })
        .collect()
}
