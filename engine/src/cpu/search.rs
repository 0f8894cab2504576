//! Handing out rows to the threads and putting their candidates together.

use std::sync::Mutex;

use rayon::ThreadPool;

use crate::error::Error;
use crate::file::Snapshot;
use crate::hit::RankedRow;
use crate::query::PreparedQueries;

use super::candidates::{CandidateList, Scorer, finish};
use super::kernel::Kernels;
use super::plan::Plan;
use super::worker::Worker;

/// What a CPU search gave.
pub(crate) struct CpuOutcome {
    pub(crate) ranked: Vec<Vec<RankedRow>>,
    pub(crate) num_zero_rows: u64,
}

/// The best `k` rows of every query, on all threads of the pool.
pub(crate) fn search(
    pool: &ThreadPool,
    kernels: Kernels,
    snapshot: &Snapshot,
    queries: &PreparedQueries<'_>,
) -> Result<CpuOutcome, Error> {
    let plan = Plan::new(pool.current_num_threads(), kernels, snapshot, queries);
    let results = Mutex::new(Vec::new());
    pool.broadcast(|_| {
        let mut worker = Worker::new(&plan);
        let outcome = worker.run().map(|()| (worker.lists, worker.num_zero_rows));
        if let Ok(mut results) = results.lock() {
            results.push(outcome);
        }
    });
    let mut lists: Vec<Vec<CandidateList>> = queries.queries.iter().map(|_| Vec::new()).collect();
    let mut num_zero_rows = 0;
    for result in results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        let (worker_lists, worker_zero_rows) = result?;
        num_zero_rows += worker_zero_rows;
        lists.iter_mut().zip(worker_lists).for_each(|(all, list)| all.push(list));
    }
    Ok(CpuOutcome { ranked: finish_all(pool, lists, snapshot, queries), num_zero_rows })
}

fn finish_all(
    pool: &ThreadPool,
    lists: Vec<Vec<CandidateList>>,
    snapshot: &Snapshot,
    queries: &PreparedQueries<'_>,
) -> Vec<Vec<RankedRow>> {
    use rayon::prelude::*;
    let finish_one = |lists| finish(lists, &mut Scorer::new(snapshot, queries));
    pool.install(|| lists.into_par_iter().map(finish_one).collect())
}
