//! Chunking a file without a library: its text, its chunks and its boundary curve.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use super::{Error, LibraryOptions, extract_pool, home_folder};
use crate::chunk::stats::{self, ChunkStats};
use crate::chunk::svg::BoundaryPlot;
use crate::chunk::{self, CharMeasure, ChunkInput, ChunkerConfig, Chunking, Measure, Unit, VectorSource, WordMeasure};
use crate::embed::{self, Embedder, TextRole};
use crate::extract::{Extraction, PlaceIndex, ReadOptions};
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
        let sizes = self.sizes();
        BoundaryPlot { title, text, chunking: &self.chunking, sizes: &sizes, unit: self.unit }.to_svg()
    }
}

impl ChunkPreview {
    /// The size of each chunk, in the configured unit.
    pub fn sizes(&self) -> Vec<usize> {
        match self.unit {
            Unit::Chars => stats::sizes(&self.extraction.text, &self.chunking.chunks, &CharMeasure),
            Unit::Tokens => self.chunks.iter().map(|chunk| chunk.tokens).collect(),
        }
    }

    /// The chunks as CSV, one line each.
    pub fn to_csv(&self) -> String {
        let number = |value: Option<f32>| value.map(|value| format!("{value:.4}")).unwrap_or_default();
        let mut csv = "index,start,end,characters,tokens,left_similarity,right_similarity,heading\n".to_owned();
        for chunk in &self.chunks {
            let heading = chunk.place.heading.join(" > ").replace('"', "\"\"");
            csv.push_str(&format!(
                "{},{},{},{},{},{},{},\"{heading}\"\n",
                chunk.index,
                chunk.start,
                chunk.end,
                chunk.text.chars().count(),
                chunk.tokens,
                number(chunk.left_similarity),
                number(chunk.right_similarity),
            ));
        }
        csv
    }
}

/// A file that is cut again and again without a library: its text is read once, and its segments are embedded once.
pub struct Previewer {
    extraction: Extraction,
    embedder: Arc<dyn Embedder>,
    embedder_note: Option<String>,
    name: Option<String>,
    vectors: OnceCell<Vec<f32>>,
    cancel: CancelToken,
}

impl Previewer {
    /// Extracts `file` as `read` says.
    ///
    /// # Errors
    /// The file gives no text, no worker can be started, or an option does not exist.
    pub fn open(
        options: &LibraryOptions,
        file: &Path,
        read: &ReadOptions,
        cancel: &CancelToken,
    ) -> Result<Self, Error> {
        read.check()?;
        let home = home_folder(options.home.clone())?;
        let models = models::folder(options.models.as_deref(), &home);
        let extractor = match &options.extractor {
            Some(extractor) => extractor.clone(),
            None => extract_pool(options.worker_binary.clone(), &models)?,
        };
        let extraction =
            extractor.extract_as(file, read, cancel).map_err(|err| Error::new("No text", err.to_string()))?;
        let (embedder, embedder_note) = match &options.embedder {
            Some(embedder) => (embedder.clone(), None),
            None => embed::open_installed(&models),
        };
        Ok(Self {
            extraction,
            embedder,
            embedder_note,
            name: file.file_name().map(|name| name.to_string_lossy().into_owned()),
            vectors: OnceCell::new(),
            cancel: cancel.clone(),
        })
    }

    /// Cuts the text. With `curve` the boundary curve is computed for chunkers that do not need it themselves.
    ///
    /// # Errors
    /// The configuration is out of range, embedding failed, or it was cancelled.
    pub fn cut(&self, config: &ChunkerConfig, curve: bool) -> Result<ChunkPreview, Error> {
        let chunker = chunk::build(config)?;
        let extraction = &self.extraction;
        let embedder = self.embedder.as_ref();
        let vectors = if curve || config.kind.needs_vectors() { Some(self.segment_vectors()?) } else { None };
        let tokens = WordMeasure::new(|word: &str| embedder.count_tokens(word));
        let measure: &dyn Measure = if config.unit == Unit::Tokens { &tokens } else { &CharMeasure };
        let chunking = chunker.chunk(&ChunkInput {
            text: &extraction.text,
            spans: &extraction.spans,
            name: self.name.as_deref(),
            measure,
            vectors: VectorSource { embed: None, vectors },
        })?;
        Ok(ChunkPreview {
            chunks: records(extraction, &chunking, embedder),
            stats: ChunkStats::new(&stats::sizes(&extraction.text, &chunking.chunks, measure)),
            chunking,
            extraction: extraction.clone(),
            unit: config.unit,
            embedder_note: self.embedder_note.clone(),
        })
    }

    /// Vectors of `texts`, row by row, and how many numbers a row has.
    ///
    /// # Errors
    /// Embedding failed, or it was cancelled.
    pub fn embed(&self, texts: &[&str]) -> Result<(Vec<f32>, usize), Error> {
        let vectors = self.embedder.embed(texts, TextRole::Passage, &self.cancel, &mut |_| {})?;
        Ok((vectors, self.embedder.dims()))
    }

    fn segment_vectors(&self) -> Result<&[f32], Error> {
        if let Some(vectors) = self.vectors.get() {
            return Ok(vectors);
        }
        let text = &self.extraction.text;
        let segments = chunk::segments(text);
        let texts: Vec<&str> = segments.iter().filter_map(|range| text.get(range.clone())).collect();
        let (vectors, _) = self.embed(&texts)?;
        Ok(self.vectors.get_or_init(|| vectors))
    }
}

/// Extracts and chunks one file; touches no library. With `curve` the boundary curve is computed for chunkers that do
/// not need it themselves.
///
/// # Errors
/// The file gives no text, the configuration or an option is out of range, embedding failed, or `cancel` was set.
pub fn preview_chunks(
    options: &LibraryOptions,
    file: &Path,
    read: &ReadOptions,
    config: &ChunkerConfig,
    curve: bool,
    cancel: &CancelToken,
) -> Result<ChunkPreview, Error> {
    config.validate()?;
    Previewer::open(options, file, read, cancel)?.cut(config, curve)
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
