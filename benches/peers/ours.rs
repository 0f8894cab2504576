//! Our part of the peer comparison: reads vectors that the peers read too, searches, prints JSON.
//!
//! `peers-ours ROWS.f32 QUERIES.f32 DIMS K REPEATS`: raw little-endian f32, row after row.
#![allow(clippy::print_stdout, reason = "the answer goes to the caller's pipe")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use engine::{
    FileSpec, GpuMode, Hit, Metric, Precision, Query, RowFilter, Searcher, SearcherOptions, Snapshot, VectorFile,
};

/// Batch sizes that are timed.
const BATCHES: [usize; 4] = [1, 8, 64, 512];
/// Rows per append.
const APPEND_ROWS: usize = 50_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rows, queries, dims, k, repeats] = &arguments[..] else {
        return Err("expected ROWS.f32 QUERIES.f32 DIMS K REPEATS".into());
    };
    let (dims, k, repeats) = (dims.parse()?, k.parse()?, repeats.parse()?);
    let file = import(Path::new(rows), dims)?;
    let queries = read_values(Path::new(queries))?;
    let searcher = Searcher::new(&SearcherOptions { gpu: GpuMode::Off, threads: None })?;
    let snapshot = file.snapshot();
    println!("{{\"backend\": {:?}, \"read_gb_per_s\": {:.2}}}", searcher.backend_name(), read_gb_per_s());
    for batch in BATCHES.into_iter().filter(|batch| batch * dims <= queries.len()) {
        let query = Query { k, ..Query::new(&queries[..batch * dims]) };
        report(&searcher, &snapshot, &query, 100, repeats)?;
    }
    let certified = Query { k, precision: Precision::Certified, ..Query::new(&queries[..dims]) };
    report(&searcher, &snapshot, &certified, 100, repeats)?;
    let filter = RowFilter::from_predicate(&snapshot, |id| id % 5 == 0);
    for batch in [1, 64] {
        let query = Query { k, filter: Some(&filter), ..Query::new(&queries[..batch * dims]) };
        report(&searcher, &snapshot, &query, 20, repeats)?;
    }
    Ok(())
}

fn read_values(path: &Path) -> Result<Vec<f32>, Box<dyn Error>> {
    let bytes = fs::read(path)?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|&word| f32::from_le_bytes(word)).collect())
}

fn import(rows: &Path, dims: usize) -> Result<VectorFile, Box<dyn Error>> {
    let path = rows.with_extension("vec");
    if path.exists() {
        return Ok(VectorFile::open_read_only(&path)?);
    }
    let spec = FileSpec { metric: Metric::Dot, ..FileSpec::new(dims as u32) };
    let mut file = VectorFile::create(&path, &spec)?;
    for (batch, values) in read_values(rows)?.chunks(APPEND_ROWS * dims).enumerate() {
        let first = (batch * APPEND_ROWS) as u64;
        let ids: Vec<u64> = (first..first + (values.len() / dims) as u64).collect();
        file.append(&ids, values)?;
    }
    file.write_codes()?;
    Ok(file)
}

/// Times a search and prints one line with the median and the ids of the first query.
fn report(
    searcher: &Searcher,
    snapshot: &Snapshot,
    query: &Query<'_>,
    percent: u32,
    repeats: usize,
) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::new();
    let mut hits: Vec<Vec<Hit>> = Vec::new();
    for _ in 0..=repeats {
        let start = Instant::now();
        hits = searcher.search(snapshot, query)?.hits;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    // The first run only warms up.
    times.remove(0);
    times.sort_by(f64::total_cmp);
    let ids: Vec<Vec<u64>> = hits.iter().map(|hits| hits.iter().map(|hit| hit.id).collect()).collect();
    let (median, best) = (times[times.len() / 2], times[0]);
    let (k, batch) = (query.k, query.vectors.len() / snapshot.dims());
    let precision = match query.precision {
        Precision::Full => "f32",
        Precision::Certified => "certified",
    };
    println!(
        "{{\"precision\": {precision:?}, \"queries\": {batch}, \"k\": {k}, \"filter_percent\": {percent}, \
         \"ms\": {median:.3}, \"best_ms\": {best:.3}, \"ids\": {ids:?}}}"
    );
    Ok(())
}

/// The best of five read loops over 256 MiB on all cores.
fn read_gb_per_s() -> f64 {
    let words = vec![1_u64; 32 << 20];
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (0..5).map(|_| benches::read_bandwidth(&words, threads) / 1e9).fold(0.0, f64::max)
}
