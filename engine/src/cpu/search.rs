//! Handing out rows to the threads and putting their candidates together.

use std::sync::Mutex;

use rayon::ThreadPool;

use crate::error::Error;
use crate::file::Snapshot;
use crate::hit::RankedRow;
use crate::query::PreparedQueries;
use crate::search::SearchCounts;

use super::candidates::{CandidateList, Scorer, finish};
use super::kernel::Kernels;
use super::plan::Plan;
use super::worker::{Worker, WorkerOutcome};

/// What a CPU search gave.
pub(crate) struct CpuOutcome {
    pub(crate) ranked: Vec<Vec<RankedRow>>,
    pub(crate) num_zero_rows: u64,
    pub(crate) counts: SearchCounts,
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
        let outcome = Worker::new(&plan).run();
        if let Ok(mut results) = results.lock() {
            results.push(outcome);
        }
    });
    let mut lists: Vec<Vec<CandidateList>> = queries.queries.iter().map(|_| Vec::new()).collect();
    let mut num_zero_rows = 0;
    let mut counts = SearchCounts::default();
    for result in results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        let outcome: WorkerOutcome = result?;
        num_zero_rows += outcome.num_zero_rows;
        counts.num_coded_rows += outcome.num_coded_rows;
        counts.num_rescored += outcome.num_scored;
        lists.iter_mut().zip(outcome.lists).for_each(|(all, list)| all.push(list));
    }
    let (ranked, scored): (Vec<_>, Vec<_>) = finish_all(pool, lists, snapshot, queries).into_iter().unzip();
    counts.num_rescored += scored.iter().sum::<u64>();
    Ok(CpuOutcome { ranked, num_zero_rows, counts })
}

/// Per query its answer and how many rows were scored canonically for it.
fn finish_all(
    pool: &ThreadPool,
    lists: Vec<Vec<CandidateList>>,
    snapshot: &Snapshot,
    queries: &PreparedQueries<'_>,
) -> Vec<(Vec<RankedRow>, u64)> {
    use rayon::prelude::*;
    let finish_one = |lists| {
        let mut scorer = Scorer::new(snapshot, queries);
        (finish(lists, &mut scorer), scorer.num_scored)
    };
    pool.install(|| lists.into_par_iter().map(finish_one).collect())
}
