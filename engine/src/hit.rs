//! A search's answer, and the one order that answers have.

use std::cmp::Ordering;

/// A row found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The row's id.
    pub id: u64,
    /// The canonical score; higher is better. Cosines are clamped to -1 … 1 after ranking.
    pub score: f64,
}

/// A row with its canonical score. Rows are in id order, so ties go to the lower row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RankedRow {
    pub(crate) row: u64,
    pub(crate) score: f64,
}

impl RankedRow {
    /// Better rows first: score descending, then row ascending.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.row.cmp(&other.row))
    }
}

/// Sorts, best first, and keeps the first `k`.
pub(crate) fn keep_best(rows: &mut Vec<RankedRow>, k: usize) {
    if k == 0 {
        rows.clear();
    } else if rows.len() > k {
        rows.select_nth_unstable_by(k - 1, RankedRow::compare);
        rows.truncate(k);
    }
    rows.sort_unstable_by(RankedRow::compare);
}
