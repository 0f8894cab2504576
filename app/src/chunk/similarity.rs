//! Cosines of neighbouring segments, and what they say about chunks.

use std::ops::Range;

use super::{Boundary, Chunk, ChunkError, ChunkInput, Chunking, segments};

/// Cosine of each row with the next one: one fewer than rows. Rows without direction (zero, not finite) are
/// similar to nothing (0).
pub fn similarities(vectors: &[f32], dims: usize) -> Vec<f32> {
    if dims == 0 {
        return Vec::new();
    }
    let rows = vectors.chunks_exact(dims);
    rows.clone().zip(rows.skip(1)).map(|(left, right)| cosine(left, right)).collect()
}

fn cosine(left: &[f32], right: &[f32]) -> f32 {
    let lengths = (dot(left, left) * dot(right, right)).sqrt();
    let cosine = (dot(left, right) / lengths) as f32;
    if cosine.is_finite() { cosine.clamp(-1.0, 1.0) } else { 0.0 }
}

/// Sums side by side: one alone would wait for each addition.
const DOT_LANES: usize = 8;

/// The dot product, in f64 and always in the same order.
pub(super) fn dot(left: &[f32], right: &[f32]) -> f64 {
    let product = |a: f32, b: f32| f64::from(a) * f64::from(b);
    let (mut left, mut right) = (left.chunks_exact(DOT_LANES), right.chunks_exact(DOT_LANES));
    let mut sums = [0.0; DOT_LANES];
    for (left, right) in left.by_ref().zip(right.by_ref()) {
        for ((sum, a), b) in sums.iter_mut().zip(left).zip(right) {
            *sum += product(*a, *b);
        }
    }
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(a, b)| product(*a, *b)).sum();
    sums.iter().sum::<f64>() + rest
}

/// Cosine of the mean of the `window` rows before each boundary with the mean of the `window` rows after it: a
/// smoother curve than [`similarities`], which is this with a window of 1. Fewer rows at the ends.
pub fn smoothed_similarities(vectors: &[f32], dims: usize, window: usize) -> Vec<f32> {
    if window <= 1 || dims == 0 {
        return similarities(vectors, dims);
    }
    let rows: Vec<&[f32]> = vectors.chunks_exact(dims).collect();
    let sum = |rows: &[&[f32]]| {
        let mut sum = vec![0.0_f32; dims];
        for row in rows {
            sum.iter_mut().zip(*row).for_each(|(sum, value)| *sum += value);
        }
        sum
    };
    let compared = |boundary: usize| {
        let left = sum(&rows[boundary.saturating_sub(window)..boundary]);
        let right = sum(&rows[boundary..(boundary + window).min(rows.len())]);
        cosine(&left, &right)
    };
    (1..rows.len()).map(compared).collect()
}

/// The boundary curve of a text, whatever chunker is used: `vectors` has one row for each of [`segments()`].
///
/// # Errors
/// The vectors do not fit the segments.
pub fn boundaries(text: &str, vectors: &[f32]) -> Result<Vec<Boundary>, ChunkError> {
    let segments = segments(text);
    let dims = vector_dims(segments.len(), vectors)?;
    Ok(curve(&segments, &similarities(vectors, dims)))
}

/// Places the similarity of each pair of neighbours where the right one starts.
pub(super) fn curve(segments: &[Range<usize>], similarities: &[f32]) -> Vec<Boundary> {
    let right = segments.iter().skip(1);
    right.zip(similarities).map(|(segment, &similarity)| Boundary { position: segment.start, similarity }).collect()
}

/// Sets the similarities of chunks at their edges: that of the neighbouring segments where an edge lies between
/// two, 1 where it lies inside one, none at the document's ends.
pub fn similarities_at(segments: &[Range<usize>], similarities: &[f32], chunks: &mut [Chunk]) {
    for chunk in chunks {
        chunk.left_similarity = left_similarity(segments, similarities, chunk.start);
        chunk.right_similarity = right_similarity(segments, similarities, chunk.end);
    }
}

fn left_similarity(segments: &[Range<usize>], similarities: &[f32], start: usize) -> Option<f32> {
    let index = segments.partition_point(|segment| segment.start <= start).checked_sub(1)?;
    if segments[index].start < start {
        return Some(1.0);
    }
    similarities.get(index.checked_sub(1)?).copied()
}

fn right_similarity(segments: &[Range<usize>], similarities: &[f32], end: usize) -> Option<f32> {
    let index = segments.partition_point(|segment| segment.start < end).checked_sub(1)?;
    if end < segments[index].end {
        return Some(1.0);
    }
    similarities.get(index).copied()
}

/// The dimensions of `vectors` for a number of segments.
pub(super) fn vector_dims(num_segments: usize, vectors: &[f32]) -> Result<usize, ChunkError> {
    let dims = vectors.len().checked_div(num_segments).unwrap_or(0);
    if dims * num_segments == vectors.len() && (dims > 0 || num_segments == 0) {
        return Ok(dims);
    }
    Err(ChunkError::Vectors(format!(
        "{} floats do not make one vector for each of the {num_segments} segments",
        vectors.len()
    )))
}

/// Turns ranges into a result, with curve and similarities where vectors were given.
pub(super) fn assemble(input: &ChunkInput<'_>, ranges: &[Range<usize>]) -> Result<Chunking, ChunkError> {
    let mut chunks = chunks(ranges);
    let mut boundaries = Vec::new();
    match (input.vectors.embed, input.vectors.vectors) {
        (Some(_), Some(_)) => return Err(ChunkError::VectorSource("both")),
        (_, None) => {}
        (None, Some(vectors)) => {
            let segments = segments(input.text);
            let similarities = similarities(vectors, vector_dims(segments.len(), vectors)?);
            similarities_at(&segments, &similarities, &mut chunks);
            boundaries = curve(&segments, &similarities);
        }
    }
    Ok(Chunking { chunks, boundaries, threshold: None })
}

/// Chunks without similarities.
pub(super) fn chunks(ranges: &[Range<usize>]) -> Vec<Chunk> {
    let chunk = |range: &Range<usize>| Chunk {
        start: range.start,
        end: range.end,
        left_similarity: None,
        right_similarity: None,
    };
    ranges.iter().map(chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_direction_are_similar_to_nothing() {
        let vectors = [1.0, 0.0, 0.0, 0.0, f32::NAN, 1.0, -1.0, 0.0, 1.0, 0.0];
        assert_eq!(similarities(&vectors, 2), [0.0, 0.0, 0.0, -1.0]);
        assert!(similarities(&[], 0).is_empty());
        assert!(similarities(&[1.0, 2.0], 2).is_empty());
    }

    #[test]
    fn products_of_every_length_are_summed_whole() {
        for len in 0..40_u16 {
            let row: Vec<f32> = (1..=len).map(f32::from).collect();
            let expected: f64 = (1..=len).map(|value| f64::from(value) * f64::from(value)).sum();
            assert!((dot(&row, &row) - expected).abs() < 1e-9, "{len}");
        }
    }

    #[test]
    fn a_window_of_one_is_the_plain_curve_and_more_smooths() {
        let vectors = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0];
        assert_eq!(smoothed_similarities(&vectors, 2, 1), similarities(&vectors, 2));
        let smooth = smoothed_similarities(&vectors, 2, 2);
        assert!(smooth.len() == 3 && smooth[1] > 0.99, "{smooth:?}");
        assert!(smoothed_similarities(&[], 0, 3).is_empty());
        assert!(smoothed_similarities(&[1.0, 0.0], 2, 3).is_empty());
    }

    #[test]
    fn edges_get_the_similarity_of_their_neighbours() {
        let segments = [0..5, 6..10, 12..20];
        let mut chunks = chunks(&[0..5, 6..15, 8..20]);
        similarities_at(&segments, &[0.3, 0.7], &mut chunks);
        let edges: Vec<_> = chunks.iter().map(|chunk| (chunk.left_similarity, chunk.right_similarity)).collect();
        assert_eq!(edges, [(None, Some(0.3)), (Some(0.3), Some(1.0)), (Some(1.0), None)]);
    }

    #[test]
    fn vectors_must_fit_the_segments() {
        assert_eq!(vector_dims(3, &[0.0; 6]), Ok(2));
        assert_eq!(vector_dims(0, &[]), Ok(0));
        assert!(vector_dims(3, &[0.0; 7]).is_err());
        assert!(vector_dims(3, &[]).is_err());
        assert!(vector_dims(0, &[0.0; 2]).is_err());
    }
}
