//! Every row against every row: tiles of a similarity matrix.

use crate::cpu::kernel::Kernels;
use crate::query::KernelKind;

/// Dot products of every row of `left` with every row of `right`, row by row into `scores`, by the CPU's fastest
/// kernel. With rows of unit length these are cosines.
///
/// Meant to be called on tiles of a few hundred rows a side, which stay in the caches and between which the caller
/// can report progress and stop.
///
/// # Panics
/// `scores` has not one place for each pair of whole rows.
///
/// ```
/// let rows = [1.0, 0.0, 0.6, 0.8];
/// let mut scores = [0.0; 4];
/// engine::dot_tile(&rows, &rows, 2, &mut scores);
/// assert!((scores[1] - 0.6).abs() < 1e-6 && (scores[3] - 1.0).abs() < 1e-6);
/// ```
pub fn dot_tile(left: &[f32], right: &[f32], dims: usize, scores: &mut [f32]) {
    let dims = dims.max(1);
    let (rows, columns) = (left.len() / dims, right.len() / dims);
    assert_eq!(scores.len(), rows * columns, "scores must hold {rows} × {columns} values");
    let dot = Kernels::best().row(KernelKind::Dot);
    for (row, scores) in left.chunks_exact(dims).zip(scores.chunks_exact_mut(columns.max(1))) {
        for (score, column) in scores.iter_mut().zip(right.chunks_exact(dims)) {
            *score = dot(row, column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_its_place() {
        let left: Vec<f32> = (0..3 * 37).map(|index| (index % 7) as f32 - 3.0).collect();
        let right: Vec<f32> = (0..5 * 37).map(|index| (index % 5) as f32 - 2.0).collect();
        let mut scores = vec![0.0; 15];
        dot_tile(&left, &right, 37, &mut scores);
        for (index, score) in scores.iter().enumerate() {
            let (row, column) = (&left[index / 5 * 37..][..37], &right[index % 5 * 37..][..37]);
            let expected: f32 = row.iter().zip(column).map(|(a, b)| a * b).sum();
            assert!((score - expected).abs() < 1e-3);
        }
        dot_tile(&[], &right, 37, &mut []);
    }
}
