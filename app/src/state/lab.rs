//! The document under the knife: its text, a chunking of it and what the chunking looks like.

use std::sync::Arc;

use super::{Comparison, Edits, LabelledQuestion, Loadable, Pace, TextRows};
use crate::chunk::{Boundary, Chunk, ChunkerConfig, Threshold};
use crate::extract::Extraction;
use crate::store::DocumentId;

/// The chunks space.
#[derive(Clone, Debug, Default)]
pub struct LabState {
    /// The document shown.
    pub document: Option<DocumentId>,
    /// The chunker in hand; changing it changes the picture, not the library.
    pub config: ChunkerConfig,
    /// The document's text.
    pub extraction: Loadable<Arc<Extraction>>,
    /// The newest chunking.
    pub result: Loadable<Arc<LabResult>>,
    /// Segments embedded and to embed, while that is under way.
    pub embedding: Option<Pace>,
    /// Draw the boundary curve even for chunkers that do not need it.
    pub curve_wanted: bool,
    /// Number of the newest chunking asked for.
    pub asked: u64,
    /// Where the text should be scrolled to.
    pub jump: Option<Jump>,
    /// Edits by hand, to take back.
    pub edits: Edits,
    /// Questions written on the document.
    pub questions: Vec<LabelledQuestion>,
    /// The chunkers compared with the one in hand; none while nothing is compared.
    pub others: Vec<ChunkerConfig>,
    /// The newest comparison.
    pub comparison: Loadable<Arc<Comparison>>,
}

impl LabState {
    /// Most chunkers side by side.
    pub const MOST_COMPARED: usize = 4;

    /// Whether chunkers are compared.
    pub fn is_comparing(&self) -> bool {
        !self.others.is_empty()
    }
}

/// A place to scroll to; the number tells a new wish from one that was already granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Counts up.
    pub number: u64,
    /// Byte in the document's text.
    pub byte: usize,
}

/// A chunking with everything that its pictures need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabResult {
    /// The configuration it was made with.
    pub config: ChunkerConfig,
    /// Chunks in document order.
    pub chunks: Vec<Chunk>,
    /// Sizes in the configuration's unit, one for each chunk.
    pub sizes: Vec<usize>,
    /// Where each chunk stands, in words.
    pub places: Vec<String>,
    /// Similarity of neighbouring segments over the whole document; empty when it was not computed.
    pub curve: Vec<Boundary>,
    /// Segments that the curve needs vectors for.
    pub num_segments: usize,
    /// The threshold used, once resolved.
    pub threshold: Option<f32>,
    /// Where each segment (sentence) starts: the places that a cut set by hand goes to.
    pub segments: Arc<Vec<usize>>,
    /// Thresholds to try, each with the cosine that it means here; empty where the curve is not known.
    pub alternatives: Vec<(Threshold, f32)>,
    /// Lowest and highest similarity at a cut.
    pub cut_range: (f32, f32),
    /// Sizes in numbers.
    pub stats: SizeStats,
    /// The text in rows, as it is drawn.
    pub rows: TextRows,
    /// Milliseconds that cutting took, embedding not counted.
    pub cut_ms: f64,
}

impl LabResult {
    /// How strong a cut of this similarity is among those of the document, 0 to 1.
    pub fn cut_strength(&self, similarity: f32) -> f32 {
        let (low, high) = self.cut_range;
        if high - low < 1e-3 { 1.0 } else { ((high - similarity) / (high - low)).clamp(0.0, 1.0) }
    }

    /// The chunk that holds `byte`: the last one that starts at or before it.
    pub fn chunk_at(&self, byte: usize) -> Option<usize> {
        self.chunks.partition_point(|chunk| chunk.start <= byte).checked_sub(1)
    }
}

/// Sizes of chunks in numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeStats {
    /// Number of chunks.
    pub count: usize,
    /// Sum of sizes.
    pub total: usize,
    /// Mean size.
    pub mean: f64,
    /// Smallest.
    pub min: usize,
    /// Largest.
    pub max: usize,
    /// How many chunks fall into each of equal ranges from 0 to `max`.
    pub histogram: Vec<usize>,
}

impl SizeStats {
    /// Bars of the histogram.
    pub const NUM_BINS: usize = 24;

    /// Counts `sizes`.
    pub fn of(sizes: &[usize]) -> Self {
        let (Some(&min), Some(&max)) = (sizes.iter().min(), sizes.iter().max()) else {
            return Self::default();
        };
        let mut histogram = vec![0; Self::NUM_BINS];
        for &size in sizes {
            let bin = size * Self::NUM_BINS / (max + 1);
            histogram[bin.min(Self::NUM_BINS - 1)] += 1;
        }
        let total: usize = sizes.iter().sum();
        let mean = total as f64 / sizes.len() as f64;
        Self { count: sizes.len(), total, mean, min, max, histogram }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_counted() {
        let stats = SizeStats::of(&[10, 20, 30]);
        assert_eq!((stats.count, stats.total, stats.min, stats.max), (3, 60, 10, 30));
        assert!((stats.mean - 20.0).abs() < 1e-9);
        assert_eq!(stats.histogram.iter().sum::<usize>(), 3);
        assert_eq!(SizeStats::of(&[]), SizeStats::default());
    }

    #[test]
    fn a_byte_belongs_to_the_last_chunk_that_started() {
        let chunk = |start, end| Chunk { start, end, left_similarity: None, right_similarity: None };
        let result = LabResult { chunks: vec![chunk(2, 12), chunk(8, 20)], ..LabResult::default() };
        let found: Vec<_> = [0, 2, 7, 8, 30].map(|byte| result.chunk_at(byte)).to_vec();
        assert_eq!(found, [None, Some(0), Some(0), Some(1), Some(1)]);
    }
}
