//! The cluster chunker: of all ways to divide the segments into runs, the one whose runs hold together best.
//!
//! Dynamic programming over the segments maximises the sum, over all runs, of the pairwise similarities inside a
//! run minus the document's mean similarity (Smith & Troynikov 2024, the cluster-semantic chunker). A run is as large
//! as the cap at most.

use std::ops::Range;

use super::semantic::{SegmentTable, source_vectors};
use super::similarity::{dot, vector_dims};
use super::{ChunkError, ChunkInput, Chunker, ChunkerConfig, Chunking, Measure, similarities};

/// See [`super::ChunkerKind::Cluster`].
pub(super) struct Cluster(pub(super) ChunkerConfig);

/// Longest run looked at, which bounds the work on documents of very short segments.
const LONGEST_RUN: usize = 200;

impl Chunker for Cluster {
    fn config(&self) -> &ChunkerConfig {
        &self.0
    }

    fn chunk(&self, input: &ChunkInput<'_>) -> Result<Chunking, ChunkError> {
        let table = SegmentTable::new(input.text, input.measure);
        let vectors = source_vectors(input.text, table.segments(), &input.vectors)?;
        chunking(&table, input.text, &vectors, &self.0, input.measure)
    }
}

/// The best division of a text whose segments have these vectors.
pub(super) fn chunking(
    table: &SegmentTable,
    text: &str,
    vectors: &[f32],
    config: &ChunkerConfig,
    measure: &dyn Measure,
) -> Result<Chunking, ChunkError> {
    let dims = vector_dims(table.segments().len(), vectors)?;
    let runs = table.fitting(text, measure, config.size, |fits| best_runs(vectors, dims, fits));
    Ok(table.assemble(text, &runs, &similarities(vectors, dims), config, measure))
}

/// The best division of the rows into runs that fit (a single row always does), as ranges of row numbers.
pub(crate) fn best_runs(vectors: &[f32], dims: usize, fits: &dyn Fn(&Range<usize>) -> bool) -> Vec<Range<usize>> {
    if dims == 0 {
        return Vec::new();
    }
    let rows: Vec<&[f32]> = vectors.chunks_exact(dims).collect();
    let mean = mean_similarity(&rows);
    // best[i] is the best sum for the first i rows, whose last run starts at starts[i].
    let (mut best, mut starts) = (vec![0.0_f64], vec![0_usize]);
    // sums[r] is the sum of similarity over mean between row r and all later rows up to the current one.
    let mut sums: Vec<f64> = Vec::with_capacity(rows.len());
    for (last, row) in rows.iter().enumerate() {
        sums.push(0.0);
        let (mut found, mut block) = ((f64::NEG_INFINITY, last), 0.0);
        let longest = (last + 1).saturating_sub(LONGEST_RUN);
        for first in (longest..=last).rev() {
            if first < last {
                sums[first] += product(rows[first], row) - mean;
                block += 2.0 * sums[first];
            }
            if first < last && !fits(&(first..last + 1)) {
                break;
            }
            if best[first] + block > found.0 {
                found = (best[first] + block, first);
            }
        }
        best.push(found.0);
        starts.push(found.1);
    }
    runs_of(&starts)
}

/// Follows the starts back from the last row.
fn runs_of(starts: &[usize]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut end = starts.len() - 1;
    while end > 0 {
        runs.push(starts[end]..end);
        end = starts[end];
    }
    runs.reverse();
    runs
}

/// Mean of all pairs of different rows, from the length of their sum.
fn mean_similarity(rows: &[&[f32]]) -> f64 {
    let Some(first) = rows.first().filter(|_| rows.len() > 1) else {
        return 0.0;
    };
    let mut sum = vec![0.0_f64; first.len()];
    let mut own = 0.0;
    for row in rows {
        sum.iter_mut().zip(*row).for_each(|(sum, value)| *sum += f64::from(*value));
        own += product(row, row);
    }
    let all: f64 = sum.iter().map(|value| value * value).sum();
    let num_pairs = rows.len() as f64 * (rows.len() - 1) as f64;
    (all - own) / num_pairs
}

/// The dot product; rows that are not finite are similar to nothing.
fn product(left: &[f32], right: &[f32]) -> f64 {
    let product = dot(left, right);
    if product.is_finite() { product } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All divisions of `num_rows` rows into runs of at most `longest`.
    fn divisions(num_rows: usize, longest: usize) -> Vec<Vec<Range<usize>>> {
        if num_rows == 0 {
            return vec![Vec::new()];
        }
        let lasts = 1..=longest.min(num_rows);
        lasts
            .flat_map(|last| {
                let rest = divisions(num_rows - last, longest);
                rest.into_iter().map(move |mut runs| {
                    runs.push(num_rows - last..num_rows);
                    runs
                })
            })
            .collect()
    }

    fn reward(rows: &[&[f32]], runs: &[Range<usize>], mean: f64) -> f64 {
        let pairs = runs.iter().flat_map(|run| run.clone().flat_map(move |a| run.clone().map(move |b| (a, b))));
        pairs.filter(|(a, b)| a != b).map(|(a, b)| product(rows[a], rows[b]) - mean).sum()
    }

    #[test]
    fn the_best_division_is_found() {
        let angles = [0.1_f32, 0.3, 2.0, 2.2, 2.1, 0.2, 1.0, 1.1, 3.0, 0.4];
        let vectors: Vec<f32> = angles.iter().flat_map(|angle| [angle.cos(), angle.sin()]).collect();
        let rows: Vec<&[f32]> = vectors.chunks_exact(2).collect();
        let mean = mean_similarity(&rows);
        let runs = best_runs(&vectors, 2, &|run| run.len() <= 4);
        let best = divisions(rows.len(), 4).iter().map(|runs| reward(&rows, runs, mean)).fold(f64::MIN, f64::max);
        assert!((reward(&rows, &runs, mean) - best).abs() < 1e-9);
        assert_eq!(runs.first().map(|run| run.start), Some(0));
        assert_eq!(runs.last().map(|run| run.end), Some(10));
    }

    #[test]
    fn no_rows_and_one_row_are_no_trouble() {
        assert!(best_runs(&[], 0, &|_| true).is_empty());
        assert!(best_runs(&[], 2, &|_| true).is_empty());
        assert_eq!(best_runs(&[1.0, 0.0], 2, &|_| true), vec![0..1; 1]);
    }
}
