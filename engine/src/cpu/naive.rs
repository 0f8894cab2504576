//! The oracle: score every row, sort, keep k. Slow and obviously right.

use crate::file::Snapshot;
use crate::hit::{RankedRow, keep_best};
use crate::query::PreparedQueries;

/// The best `k` rows of every query, best first.
pub(crate) fn search(snapshot: &Snapshot, queries: &PreparedQueries<'_>) -> Vec<Vec<RankedRow>> {
    (0..queries.queries.len()).map(|query| search_one(snapshot, queries, query)).collect()
}

fn search_one(snapshot: &Snapshot, queries: &PreparedQueries<'_>, query: usize) -> Vec<RankedRow> {
    let mut ranked = Vec::new();
    let mut values = vec![0.0; queries.dims];
    for row in 0..snapshot.num_rows() {
        if snapshot.is_deleted(row) || queries.filter.is_some_and(|filter| !filter.contains(row)) {
            continue;
        }
        let (block, row_in_block) = snapshot.locate(row);
        block.read_row(row_in_block, &mut values);
        if let Some(score) = queries.canonical(query, &values, block.norms()[row_in_block]) {
            ranked.push(RankedRow { row, score });
        }
    }
    keep_best(&mut ranked, queries.k);
    ranked
}
