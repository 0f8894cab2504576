//! The nearest neighbours of every row, exactly.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::progress::CancelToken;

/// Rows that are compared with all others at a time.
const STRIPE_ROWS: usize = 128;

/// For each row the same number of other rows, nearest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Neighbours {
    /// Neighbours of a row.
    pub(super) per_row: usize,
    /// Their numbers, row by row.
    pub(super) rows: Vec<u32>,
    /// How far they are: 1 - cosine, from 0 to 2, row by row.
    pub(super) distances: Vec<f32>,
}

impl Neighbours {
    /// Compares unit-length rows of `dims` numbers, each with all others; `wanted` neighbours, or as many as there are
    /// other rows. Equal distances go to the lower row. `on_done` gets the rows done so far, from any thread. `None`
    /// when it was cancelled.
    pub(super) fn find(
        vectors: &[f32],
        dims: usize,
        wanted: usize,
        cancel: &CancelToken,
        on_done: &(dyn Fn(usize) + Sync),
    ) -> Option<Self> {
        let num_rows = vectors.len() / dims.max(1);
        let per_row = wanted.min(num_rows.saturating_sub(1));
        if per_row == 0 {
            return Some(Self::default());
        }
        let done = AtomicUsize::new(0);
        let stripes: Vec<Vec<(u32, f32)>> = vectors
            .par_chunks(STRIPE_ROWS * dims)
            .enumerate()
            .map(|(stripe, rows)| {
                if cancel.is_cancelled() {
                    return Vec::new();
                }
                let found = nearest(vectors, rows, dims, stripe * STRIPE_ROWS, per_row);
                let count = rows.len() / dims;
                on_done(done.fetch_add(count, Ordering::Relaxed) + count);
                found
            })
            .collect();
        let (rows, distances) = stripes.into_iter().flatten().unzip();
        (!cancel.is_cancelled()).then_some(Self { per_row, rows, distances })
    }

    /// The neighbours of a row with their distances.
    pub(super) fn of(&self, row: usize) -> impl Iterator<Item = (usize, f32)> {
        let range = row * self.per_row..(row + 1) * self.per_row;
        self.rows[range.clone()].iter().map(|row| *row as usize).zip(self.distances[range].iter().copied())
    }
}

/// The nearest of all rows to each of `some`, the first of which is row number `first`.
fn nearest(all: &[f32], some: &[f32], dims: usize, first: usize, per_row: usize) -> Vec<(u32, f32)> {
    let num_rows = all.len() / dims;
    let mut cosines = vec![0.0; some.len() / dims * num_rows];
    engine::dot_tile(some, all, dims, &mut cosines);
    let mut found = Vec::with_capacity(some.len() / dims * per_row);
    let mut ranked: Vec<(u32, f32)> = Vec::with_capacity(num_rows);
    for (row, cosines) in cosines.chunks_exact(num_rows).enumerate() {
        let distance = |cosine: f32| if cosine.is_finite() { (1.0 - cosine).clamp(0.0, 2.0) } else { 1.0 };
        ranked.clear();
        ranked.extend((0..).zip(cosines.iter().map(|cosine| distance(*cosine))));
        ranked.swap_remove(first + row);
        let nearer = |one: &(u32, f32), other: &(u32, f32)| one.1.total_cmp(&other.1).then(one.0.cmp(&other.0));
        if per_row < ranked.len() {
            ranked.select_nth_unstable_by(per_row, nearer);
        }
        let nearest = &mut ranked[..per_row];
        nearest.sort_unstable_by(nearer);
        found.extend_from_slice(nearest);
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;
    use crate::similarity::cosine;

    fn find(vectors: &[f32], dims: usize, wanted: usize) -> Neighbours {
        Neighbours::find(vectors, dims, wanted, &CancelToken::new(), &|_| {}).unwrap()
    }

    #[test]
    fn the_neighbours_are_those_of_comparing_every_pair() {
        let vectors: Vec<f32> = (0..300).flat_map(|row| [(row as f32 * 2.4).cos(), (row as f32 * 2.4).sin()]).collect();
        let found = find(&vectors, 2, 5);
        for row in [0, 127, 128, 299] {
            let of = |row: usize| &vectors[row * 2..][..2];
            let mut expected: Vec<(usize, f32)> =
                (0..300).filter(|other| *other != row).map(|other| (other, 1.0 - cosine(of(row), of(other)))).collect();
            expected.sort_by(|one, other| one.1.total_cmp(&other.1));
            for ((_, distance), (_, expected)) in found.of(row).zip(&expected) {
                assert!((distance - expected).abs() < 1e-5, "row {row}: {distance} for {expected}");
            }
            assert!(found.of(row).all(|(other, _)| other != row) && found.of(row).count() == 5);
        }
    }

    #[test]
    fn few_rows_have_few_neighbours_and_twins_are_in_order() {
        assert_eq!(find(&[], 2, 5).per_row, 0);
        assert_eq!(find(&[1.0, 0.0], 2, 5).per_row, 0);
        let twins = find(&[1.0, 0.0, 1.0, 0.0, 1.0, 0.0], 2, 5);
        assert_eq!(twins.rows, [1, 2, 0, 2, 0, 1]);
        assert!(find(&[f32::NAN, 0.0, 1.0, 0.0], 2, 1).distances.iter().all(|distance| distance.is_finite()));
    }

    #[test]
    fn cancelled_work_gives_nothing() {
        let cancel = CancelToken::new();
        cancel.cancel();
        assert!(Neighbours::find(&[1.0, 0.0, 0.0, 1.0], 2, 1, &cancel, &|_| {}).is_none());
    }
}
