//! The max-min chunker: reads on sentence by sentence; a sentence joins the chunk if its best similarity to a
//! sentence of the chunk keeps up with the worst similarity inside the chunk (Kiss, Nagy & Szilágyi 2025, "Max–Min
//! semantic chunking of documents for RAG application").
//!
//! ```text
//! least = the lowest similarity between two sentences of the chunk
//! joins = best > max(threshold, STRICTNESS · least · sigmoid(len - 1))     with two sentences or more
//! joins = FIRST_BONUS · similarity > threshold                             for the second sentence
//! ```
//!
//! The paper's fixed threshold is the configuration's, so that it can follow the document.

use std::ops::Range;

use super::semantic::{SegmentTable, source_vectors};
use super::similarity::{dot, vector_dims};
use super::threshold::resolved;
use super::{ChunkError, ChunkInput, Chunker, ChunkerConfig, Chunking, Measure, similarities};

/// See [`super::ChunkerKind::MaxMin`].
pub(super) struct MaxMin(pub(super) ChunkerConfig);

/// How much of the worst similarity inside the chunk a new sentence must reach.
const STRICTNESS: f64 = 0.9;
/// The second sentence has one sentence alone to be similar to, and is helped by this.
const FIRST_BONUS: f64 = 1.5;
/// Sentences looked back at, which bounds the work on documents that never change.
const LONGEST_LOOK: usize = 200;

impl Chunker for MaxMin {
    fn config(&self) -> &ChunkerConfig {
        &self.0
    }

    fn chunk(&self, input: &ChunkInput<'_>) -> Result<Chunking, ChunkError> {
        let table = SegmentTable::new(input.text, input.measure);
        let vectors = source_vectors(input.text, table.segments(), &input.vectors)?;
        chunking(&table, input.text, &vectors, &self.0, input.measure)
    }
}

/// The division of a text whose segments have these vectors.
pub(super) fn chunking(
    table: &SegmentTable,
    text: &str,
    vectors: &[f32],
    config: &ChunkerConfig,
    measure: &dyn Measure,
) -> Result<Chunking, ChunkError> {
    let dims = vector_dims(table.segments().len(), vectors)?;
    let similarities = similarities(vectors, dims);
    // The slope of the curve is no similarity to compare with: the document's own mean stands in for it.
    let threshold = resolved(&similarities, config.threshold).unwrap_or_else(|| super::auto_threshold(&similarities));
    let runs = table.fitting(text, measure, config.size, |fits| runs(vectors, dims, f64::from(threshold), fits));
    let chunking = table.assemble(text, &runs, &similarities, config, measure);
    Ok(Chunking { threshold: Some(threshold), ..chunking })
}

/// Divides the rows into runs that fit.
fn runs(vectors: &[f32], dims: usize, threshold: f64, fits: &dyn Fn(&Range<usize>) -> bool) -> Vec<Range<usize>> {
    if dims == 0 {
        return Vec::new();
    }
    let rows: Vec<&[f32]> = vectors.chunks_exact(dims).collect();
    let mut runs = Vec::new();
    let (mut start, mut least) = (0, f64::INFINITY);
    for next in 1..rows.len() {
        let looked_at = &rows[start.max(next.saturating_sub(LONGEST_LOOK))..next];
        let (lowest, highest) = range_of_similarities(looked_at, rows[next]);
        let joins = match next - start {
            1 => FIRST_BONUS * highest > threshold,
            len => highest > threshold.max(STRICTNESS * least * sigmoid((len - 1) as f64)),
        };
        if joins && fits(&(start..next + 1)) {
            least = least.min(lowest);
        } else {
            runs.push(start..next);
            (start, least) = (next, f64::INFINITY);
        }
    }
    if start < rows.len() {
        runs.push(start..rows.len());
    }
    runs
}

fn range_of_similarities(rows: &[&[f32]], row: &[f32]) -> (f64, f64) {
    let similarity = |other: &&[f32]| {
        let product = dot(other, row);
        if product.is_finite() { product } else { 0.0 }
    };
    rows.iter()
        .map(similarity)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

fn sigmoid(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(angles: &[f32]) -> Vec<f32> {
        angles.iter().flat_map(|angle| [angle.cos(), angle.sin()]).collect()
    }

    #[test]
    fn a_run_ends_where_a_row_is_far_from_all_of_it() {
        let vectors = at(&[0.0, 0.1, 0.2, 1.4, 1.5, 1.45]);
        assert_eq!(runs(&vectors, 2, 0.6, &|_| true), [0..3, 3..6]);
        assert_eq!(runs(&vectors, 2, 0.6, &|run| run.len() <= 2), [0..2, 2..3, 3..5, 5..6]);
    }

    #[test]
    fn slow_drift_stays_together_longer_than_a_jump() {
        let drift: Vec<f32> = (0..8).map(|step| 0.15 * step as f32).collect();
        assert_eq!(runs(&at(&drift), 2, 0.5, &|_| true), vec![0..8; 1]);
    }

    #[test]
    fn no_rows_and_one_row_are_no_trouble() {
        assert!(runs(&[], 0, 0.5, &|_| true).is_empty());
        assert!(runs(&[], 2, 0.5, &|_| true).is_empty());
        assert_eq!(runs(&[1.0, 0.0], 2, 0.5, &|_| true), vec![0..1; 1]);
    }
}
