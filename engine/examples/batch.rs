//! Many queries at once: the rows are read once for the whole batch.
//!
//! `cargo run -p engine --example batch`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Instant;

use engine::{FileSpec, Metric, Query, Searcher, SearcherOptions, VectorFile};

const DIMS: usize = 128;
const NUM_ROWS: u64 = 20_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let mut file = VectorFile::create(&folder.path().join("waves.vec"), &FileSpec::new(DIMS as u32))?;
    let ids: Vec<u64> = (0..NUM_ROWS).collect();
    let rows: Vec<f32> = ids.iter().flat_map(|&id| wave(id as f32)).collect();
    file.append(&ids, &rows)?;

    let searcher = Searcher::new(&SearcherOptions::default())?;
    let snapshot = file.snapshot();
    for num_queries in [1, 16, 256] {
        let queries: Vec<f32> = (0..num_queries).flat_map(|query| wave(query as f32 * 7.3)).collect();
        let start = Instant::now();
        // The metric of one search may differ from the file's own.
        let query = Query { k: 10, metric: Some(Metric::L2), ..Query::new(&queries) };
        let outcome = searcher.search(&snapshot, &query)?;
        let micros = start.elapsed().as_micros();
        println!("{num_queries} queries in {micros} µs; the first one's best id is {}", outcome.hits[0][0].id);
    }
    Ok(())
}

fn wave(phase: f32) -> impl Iterator<Item = f32> {
    (0..DIMS).map(move |dim| (phase * 0.01 * (dim + 1) as f32).sin())
}
