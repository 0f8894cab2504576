//! What a Rust programmer writes without a library for it: all scores by `ndarray`'s matrix product (its own
//! multi-threaded kernels), then a selection per query. A peer in `run.py`, which it talks to as `benches/serve.rs`
//! says.
//!
//! `peers-ndarray ROWS.npy QUERIES.npy`

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

use ndarray::{Array2, ArrayView1, ArrayView2, s};

/// Rows whose scores are held at a time: the score matrix of a large batch would not fit in memory.
const ROWS_PER_PRODUCT: usize = 16_384;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rows, queries] = &arguments[..] else {
        return Err("expected ROWS.npy QUERIES.npy".into());
    };
    let (rows, queries) = (read(rows)?, read(queries)?);
    println!("{{\"backend\": \"ndarray\"}}");
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let [_, num_queries, k, _, target] = words[..] else {
            return Err(format!("not a request: {line}").into());
        };
        let (num_queries, k): (usize, usize) = (num_queries.parse()?, k.parse()?);
        let start = Instant::now();
        let ids = search(rows.view(), queries.slice(s![..num_queries, ..]), k);
        let millis = start.elapsed().as_secs_f64() * 1e3;
        std::fs::write(target, ids.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>())?;
        println!("{{\"ms\": {millis:.3}}}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// A C-ordered array of `<f4` that `run.py` has written: version 1 of the format, two dimensions.
fn read(path: &str) -> Result<Array2<f32>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[10..start]);
    let shape = header.split(['(', ')']).nth(1).ok_or("no shape in the header")?;
    let sizes: Vec<usize> = shape.split(',').map(|size| size.trim().parse()).collect::<Result<_, _>>()?;
    let values = bytes[start..].as_chunks::<4>().0.iter().map(|&value| f32::from_le_bytes(value)).collect();
    Ok(Array2::from_shape_vec((sizes[0], sizes[1]), values)?)
}

/// The ids of the best `k` rows of every query, one query after the other.
fn search(rows: ArrayView2<'_, f32>, queries: ArrayView2<'_, f32>, k: usize) -> Vec<u64> {
    let mut best: Vec<Vec<(f32, u64)>> = vec![Vec::new(); queries.nrows()];
    for first in (0..rows.nrows()).step_by(ROWS_PER_PRODUCT) {
        let last = (first + ROWS_PER_PRODUCT).min(rows.nrows());
        let scores = queries.dot(&rows.slice(s![first..last, ..]).t());
        best.iter_mut().zip(scores.rows()).for_each(|(best, scores)| keep(best, scores, first as u64, k));
    }
    best.into_iter().flat_map(|best| best.into_iter().map(|(_, row)| row)).collect()
}

fn keep(best: &mut Vec<(f32, u64)>, scores: ArrayView1<'_, f32>, first: u64, k: usize) {
    let floor = if best.len() < k { f32::NEG_INFINITY } else { best[k - 1].0 };
    best.extend(scores.iter().zip(first..).filter(|(score, _)| **score >= floor).map(|(&score, row)| (score, row)));
    best.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    best.truncate(k);
}
