//! A file larger than memory: rows are generated, appended and searched without ever being held together.
//!
//! Appending holds one batch. Searching maps the file: the system brings in what is read and takes it back when
//! memory is short, so the number of rows is bounded by the disk alone.
//!
//! `cargo run -p engine --example stream_large_file -- 200000` (rows of 1.5 KB; 20 000 if not given)
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Instant;

use engine::{FileSpec, Metric, Query, Searcher, SearcherOptions, VectorFile};

const DIMS: usize = 384;
const BATCH_ROWS: u64 = 5_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let num_rows: u64 = std::env::args().nth(1).map_or(Ok(20_000), |rows| rows.parse())?;
    let folder = tempfile::tempdir()?;
    let spec = FileSpec { metric: Metric::Dot, is_normalised: true, ..FileSpec::new(DIMS as u32) };
    let mut file = VectorFile::create(&folder.path().join("large.vec"), &spec)?;

    let start = Instant::now();
    for first in (0..num_rows).step_by(BATCH_ROWS as usize) {
        let ids: Vec<u64> = (first..(first + BATCH_ROWS).min(num_rows)).collect();
        let rows: Vec<f32> = ids.iter().flat_map(|&id| row(id)).collect();
        file.append(&ids, &rows)?; // on the disk when it returns
    }
    let megabytes = num_rows as f64 * (DIMS * 4) as f64 / 1e6;
    println!("{num_rows} rows, {megabytes:.0} MB, written in {:.1?}", start.elapsed());

    let searcher = Searcher::new(&SearcherOptions::default())?;
    let query: Vec<f32> = row(num_rows / 2).collect();
    for pass in ["first", "second"] {
        // The first search also checks the checksum of every row.
        let start = Instant::now();
        let outcome = searcher.search(&file.snapshot(), &Query { k: 3, ..Query::new(&query) })?;
        let ids: Vec<u64> = outcome.hits[0].iter().map(|hit| hit.id).collect();
        println!("{pass} search: {ids:?} in {:.1?}", start.elapsed());
    }
    Ok(())
}

/// Some values that depend on the id alone.
fn row(id: u64) -> impl Iterator<Item = f32> {
    let mut state = id.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..DIMS).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    })
}
