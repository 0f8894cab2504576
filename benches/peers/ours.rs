//! Our part of the peer comparison, driven by `run.py`.
//!
//! `peers-ours import ROWS.npy FILE.vec` takes in vectors and writes their codes; `peers-ours export FILE.vec
//! ROWS.npy` gives them out (real ones come from `cargo run -p app --example embed_lines`); `peers-ours serve FILE.vec
//! QUERIES.npy` says what it runs on and what the machine can do, then searches as it is told
//! ([`benches::serve`]); `peers-ours prove FILE.vec QUERIES.npy K` compares certified answers with the oracle's.
#![allow(clippy::print_stdout, reason = "the answer goes to the caller's pipe")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use benches::{Answer, Request, fma_gflops, read_gb_per_s, read_vectors, serve};
use engine::{
    FileSpec, GpuMode, Metric, Precision, Query, RowFilter, Searcher, SearcherOptions, Snapshot, VectorFile,
    VectorSource,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["import", rows, file] => import(Path::new(rows), Path::new(file)),
        ["export", file, rows] => Ok(VectorFile::open_read_only(Path::new(file))?.snapshot().write_npy(Path::new(rows))?),
        ["serve", file, queries] => run(Path::new(file), queries),
        ["prove", file, queries, k] => prove(Path::new(file), queries, k.parse()?),
        _ => {
            Err("expected import ROWS.npy FILE.vec, export FILE.vec ROWS.npy, serve FILE.vec QUERIES.npy or prove FILE.vec QUERIES.npy K".into())
        }
    }
}

fn import(rows: &Path, target: &Path) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let mut source = VectorSource::open(rows)?;
    let spec = FileSpec { metric: Metric::Dot, ..FileSpec::new(source.dims() as u32) };
    let mut file = VectorFile::create(target, &spec)?;
    // Ids from 0, as the peers number their rows.
    let num_rows = file.append_from(&mut source, 0)?;
    let appended = start.elapsed().as_secs_f64();
    file.write_codes()?;
    let coded = start.elapsed().as_secs_f64() - appended;
    println!("{{\"rows\": {num_rows}, \"append_s\": {appended:.2}, \"codes_s\": {coded:.2}}}");
    Ok(())
}

/// On the CPU, unless `OUTCROP_GPU` asks for a GPU: `auto` for a real one, `software` for one that is none.
fn searcher() -> Result<Searcher, engine::Error> {
    let threads = std::env::var("OUTCROP_BENCH_THREADS").ok().and_then(|threads| threads.parse().ok());
    let gpu = if std::env::var_os("OUTCROP_GPU").is_some() { GpuMode::Auto } else { GpuMode::Off };
    Searcher::new(&SearcherOptions { gpu, threads })
}

fn run(path: &Path, queries: &str) -> Result<(), Box<dyn Error>> {
    let file = VectorFile::open_read_only(path)?;
    let (queries, dims) = read_vectors(queries)?;
    let (searcher, snapshot) = (searcher()?, file.snapshot());
    let (read, fma) = (read_gb_per_s(path)?, fma_gflops());
    let backend = searcher.backend_name();
    println!("{{\"backend\": {backend:?}, \"read_gb_per_s\": {read:.2}, \"fma_gflops\": {fma:.1}}}");
    let mut filters = BTreeMap::new();
    serve(|request| {
        let Request { precision, num_queries, k, filter_step } = *request;
        let filter = match filter_step {
            1 => None,
            step => {
                Some(filters.entry(step).or_insert_with(|| RowFilter::from_predicate(&snapshot, |id| id % step == 0)))
            }
        };
        let filter = filter.map(|filter| &*filter);
        let query = Query { k, precision, filter, ..Query::new(&queries[..num_queries * dims]) };
        let (outcome, counts) = searcher.search_counted(&snapshot, &query)?;
        let ids = outcome.hits.iter().map(|hits| hits.iter().map(|hit| hit.id).collect()).collect();
        let adapter = searcher.adapter_name().unwrap_or_default().to_owned();
        Ok(Answer { ids, counts, backend: outcome.backend.name(), adapter })
    })
}

/// Compares the certified answers to all queries with the full pass, and some of them with the oracle too.
fn prove(file: &Path, queries: &str, k: usize) -> Result<(), Box<dyn Error>> {
    let file = VectorFile::open_read_only(file)?;
    let (queries, dims) = read_vectors(queries)?;
    let (searcher, snapshot) = (searcher()?, file.snapshot());
    let num_queries = queries.len() / dims;
    let mut totals = Totals::default();
    for batch in [1, 16, num_queries] {
        let part = if batch == num_queries { &queries[..] } else { &queries[..(batch * 16).min(num_queries) * dims] };
        part.chunks(batch * dims).try_for_each(|part| totals.compare(&searcher, &snapshot, part, k))?;
    }
    let oracle = &queries[..num_queries.min(24) * dims];
    let query = Query { k, precision: Precision::Certified, ..Query::new(oracle) };
    let expected = searcher.search_naive(&snapshot, &query)?;
    let found = searcher.search(&snapshot, &query)?.hits;
    let oracle_differences = found.iter().zip(&expected).filter(|(found, expected)| found != expected).count();
    let (rows, coded) = (snapshot.num_live_rows(), snapshot.num_coded_rows());
    let Totals { queries: num_queries, rescored, rescored_in_full, differences } = totals;
    println!(
        "{{\"rows\": {rows}, \"coded_rows\": {coded}, \"k\": {k}, \"queries\": {num_queries}, \
         \"rescored_per_query\": {:.1}, \"rescored_per_query_in_full\": {:.1}, \"differences\": {differences}, \
         \"oracle_queries\": {}, \"oracle_differences\": {oracle_differences}}}",
        rescored as f64 / num_queries as f64,
        rescored_in_full as f64 / num_queries as f64,
        expected.len(),
    );
    if differences + oracle_differences > 0 {
        return Err("a certified answer differs".into());
    }
    Ok(())
}

#[derive(Default)]
struct Totals {
    queries: usize,
    rescored: u64,
    rescored_in_full: u64,
    differences: usize,
}

impl Totals {
    fn compare(
        &mut self,
        searcher: &Searcher,
        snapshot: &Snapshot,
        queries: &[f32],
        k: usize,
    ) -> Result<(), engine::Error> {
        let full = Query { k, ..Query::new(queries) };
        let (expected, in_full) = searcher.search_counted(snapshot, &full)?;
        let certified = Query { precision: Precision::Certified, ..full };
        let (found, counts) = searcher.search_counted(snapshot, &certified)?;
        self.queries += expected.hits.len();
        self.rescored += counts.num_rescored;
        self.rescored_in_full += in_full.num_rescored;
        self.differences += found.hits.iter().zip(&expected.hits).filter(|(found, full)| found != full).count();
        Ok(())
    }
}
