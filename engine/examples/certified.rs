//! The same answer from a quarter of the bytes: int8 codes first, stored values where they decide.
//!
//! `cargo run -p engine --example certified`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Instant;

use engine::{FileSpec, Precision, Query, Searcher, SearcherOptions, VectorFile};

const DIMS: usize = 384;
const NUM_ROWS: u64 = 50_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let mut file = VectorFile::create(&folder.path().join("noise.vec"), &FileSpec::new(DIMS as u32))?;
    let mut state = 1_u64;
    let mut noise = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let ids: Vec<u64> = (0..NUM_ROWS).collect();
    let rows: Vec<f32> = (0..NUM_ROWS as usize * DIMS).map(|_| noise()).collect();
    file.append(&ids, &rows)?;

    // Codes are a file of their own beside the rows; they can be made again at any time.
    file.write_codes()?;

    let searcher = Searcher::new(&SearcherOptions::default())?;
    let snapshot = file.snapshot();
    let query: Vec<f32> = (0..DIMS).map(|_| noise()).collect();
    for precision in [Precision::Full, Precision::Certified] {
        let query = Query { precision, ..Query::new(&query) };
        searcher.search(&snapshot, &query)?; // warms up
        let start = Instant::now();
        let hits = searcher.search(&snapshot, &query)?.hits;
        let ids: Vec<u64> = hits[0].iter().map(|hit| hit.id).collect();
        println!("{precision:?}: {ids:?} in {:?}", start.elapsed());
    }
    Ok(())
}
