//! The conversation of a searcher under test with `peers/run.py`: one line per search, one line of JSON back.
//!
//! A request is `PRECISION QUERIES K FILTER_STEP OUT`; the ids go to the file OUT as 64-bit integers, K for each
//! query, `u64::MAX` where there is none. A filter step of 5 lets every fifth row through, 1 all.

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

use engine::{Precision, SearchCounts, VectorSource};

/// A search that is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// What the first pass reads.
    pub precision: Precision,
    /// Queries in the batch, from the first.
    pub num_queries: usize,
    /// Hits per query.
    pub k: usize,
    /// Every so many rows may be returned.
    pub filter_step: u64,
}

/// What a search gave.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Ids per query, best first.
    pub ids: Vec<Vec<u64>>,
    /// What it had to look at.
    pub counts: SearchCounts,
    /// What it ran on: `cpu` or `gpu`.
    pub backend: &'static str,
    /// The GPU, if there is one.
    pub adapter: String,
}

/// All vectors of a `.npy` or `.fvecs` file, and their dimensions.
///
/// # Errors
/// If it cannot be read.
pub fn read_vectors(path: &str) -> Result<(Vec<f32>, usize), engine::Error> {
    let mut source = VectorSource::open(path.as_ref())?;
    let num_rows = source.num_rows() as usize;
    Ok((source.read(num_rows)?, source.dims()))
}

/// Answers requests from stdin until it ends. Only the search is timed: ids are written after the clock stopped.
///
/// # Errors
/// If a request makes no sense, a search fails or a pipe breaks.
pub fn serve(mut search: impl FnMut(&Request) -> Result<Answer, Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (request, target) = parse(&line).ok_or_else(|| format!("not a request: {line}"))?;
        let start = Instant::now();
        let answer = search(&request)?;
        let millis = start.elapsed().as_secs_f64() * 1e3;
        std::fs::write(target, ids_as_bytes(&answer.ids, request.k))?;
        let SearchCounts { num_coded_rows, num_rescored, .. } = answer.counts;
        let (backend, adapter) = (answer.backend, answer.adapter);
        writeln!(
            out,
            "{{\"ms\": {millis:.3}, \"coded_rows\": {num_coded_rows}, \"rescored\": {num_rescored}, \
             \"backend\": {backend:?}, \"adapter\": {adapter:?}}}"
        )?;
        out.flush()?;
    }
    Ok(())
}

fn parse(line: &str) -> Option<(Request, &str)> {
    let mut words = line.split(' ');
    let precision = match words.next()? {
        "f32" => Precision::Full,
        "certified" => Precision::Certified,
        _ => return None,
    };
    let num_queries = words.next()?.parse().ok()?;
    let k = words.next()?.parse().ok()?;
    let filter_step = words.next()?.parse().ok().filter(|&step| step > 0)?;
    Some((Request { precision, num_queries, k, filter_step }, words.next()?))
}

fn ids_as_bytes(ids: &[Vec<u64>], k: usize) -> Vec<u8> {
    let padded = ids.iter().flat_map(|ids| ids.iter().copied().chain(std::iter::repeat(u64::MAX)).take(k));
    padded.flat_map(u64::to_le_bytes).collect()
}
