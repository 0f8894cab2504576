//! Handing out rows to the threads and putting their candidates together.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rayon::ThreadPool;

use crate::bound::{Bounds, Rounding, RowCut};
use crate::error::Error;
use crate::file::{BlockView, Snapshot};
use crate::hit::RankedRow;
use crate::query::PreparedQueries;

use super::candidates::{Candidate, CandidateList, Scorer, finish};
use super::kernel::{Kernels, PANEL_QUERIES, PANEL_ROWS, Panel, PanelCut};
use super::tile::{RowMask, RowTile};

/// Up to this many queries are scored one by one; more share a panel.
const MAX_SCAN_QUERIES: usize = 2;
/// Bytes of rows that a panel pass keeps in the second-level cache.
const TILE_BYTES: usize = 128 << 10;
/// A file of fewer blocks per thread than this is handed out in smaller pieces.
const MIN_BLOCKS_PER_THREAD: usize = 4;

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
    for result in results
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
    {
        let (worker_lists, worker_zero_rows) = result?;
        num_zero_rows += worker_zero_rows;
        lists
            .iter_mut()
            .zip(worker_lists)
            .for_each(|(all, list)| all.push(list));
    }
    Ok(CpuOutcome {
        ranked: finish_all(pool, lists, snapshot, queries),
        num_zero_rows,
    })
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

/// What the threads share.
struct Plan<'a> {
    kernels: Kernels,
    snapshot: &'a Snapshot,
    queries: &'a PreparedQueries<'a>,
    mask: RowMask<'a>,
    bounds: Vec<Bounds>,
    panels: Vec<Panel>,
    /// Per query the bits of the highest threshold proven so far.
    thresholds: Vec<AtomicU64>,
    rows_per_chunk: usize,
    chunks_per_block: usize,
    next_chunk: AtomicUsize,
    has_failed: std::sync::atomic::AtomicBool,
    num_threads: usize,
}

impl<'a> Plan<'a> {
    fn new(
        num_threads: usize,
        kernels: Kernels,
        snapshot: &'a Snapshot,
        queries: &'a PreparedQueries<'a>,
    ) -> Self {
        let num_queries = queries.queries.len();
        let rows_per_block = snapshot.geometry().rows_per_block;
        let splits = (num_threads * MIN_BLOCKS_PER_THREAD).div_ceil(snapshot.num_blocks().max(1));
        let rows_per_chunk = rows_per_block
            .div_ceil(splits)
            .next_multiple_of(64)
            .min(rows_per_block);
        let panels = if num_queries <= MAX_SCAN_QUERIES {
            Vec::new()
        } else {
            pack_panels(queries)
        };
        Self {
            kernels,
            snapshot,
            queries,
            mask: RowMask::new(snapshot, queries),
            bounds: (0..num_queries)
                .map(|query| Bounds::new(queries, query, Rounding::Nearest))
                .collect(),
            panels,
            thresholds: (0..num_queries)
                .map(|_| AtomicU64::new(f64::NEG_INFINITY.to_bits()))
                .collect(),
            rows_per_chunk,
            chunks_per_block: rows_per_block.div_ceil(rows_per_chunk),
            next_chunk: AtomicUsize::new(0),
            has_failed: std::sync::atomic::AtomicBool::new(false),
            num_threads,
        }
    }

    /// The next piece of work: a block and the rows of the file to look at in it.
    fn next(&self) -> Option<Result<(BlockView<'a>, u64, u64), Error>> {
        loop {
            let chunk = self.next_chunk.fetch_add(1, Ordering::Relaxed);
            let (block, part) = (chunk / self.chunks_per_block, chunk % self.chunks_per_block);
            if block >= self.snapshot.num_blocks() || self.has_failed.load(Ordering::Relaxed) {
                return None;
            }
            if part == 0 {
                self.snapshot.will_need(block + self.num_threads);
            }
            let view = match self.snapshot.check_block(block) {
                Ok(view) => view,
                Err(err) => {
                    self.has_failed.store(true, Ordering::Relaxed);
                    return Some(Err(err));
                }
            };
            let start = part * self.rows_per_chunk;
            let end = (start + self.rows_per_chunk).min(view.num_rows);
            if start < end {
                return Some(Ok((
                    view,
                    view.first_row + start as u64,
                    view.first_row + end as u64,
                )));
            }
        }
    }

    fn shared_threshold(&self, query: usize) -> f64 {
        f64::from_bits(self.thresholds[query].load(Ordering::Relaxed))
    }

    fn publish_threshold(&self, query: usize, threshold: f64) {
        let raise = |bits| (f64::from_bits(bits) < threshold).then_some(threshold.to_bits());
        let _ = self.thresholds[query].fetch_update(Ordering::Relaxed, Ordering::Relaxed, raise);
    }
}

fn pack_panels(queries: &PreparedQueries<'_>) -> Vec<Panel> {
    let pack = |(index, group): (usize, &[crate::query::PreparedQuery<'_>])| {
        let mut values = vec![[0.0; PANEL_QUERIES]; queries.dims];
        for (lane, query) in group.iter().enumerate() {
            values
                .iter_mut()
                .zip(&query.for_kernel)
                .for_each(|(dim, &value)| dim[lane] = value);
        }
        Panel {
            first_query: index * PANEL_QUERIES,
            num_queries: group.len(),
            values,
        }
    };
    queries
        .queries
        .chunks(PANEL_QUERIES)
        .enumerate()
        .map(pack)
        .collect()
}

/// One thread's part.
struct Worker<'a> {
    plan: &'a Plan<'a>,
    tile: RowTile<'a>,
    lists: Vec<CandidateList>,
    scorer: Scorer<'a>,
    num_zero_rows: u64,
}

impl<'a> Worker<'a> {
    fn new(plan: &'a Plan<'a>) -> Self {
        let queries = plan.queries;
        Self {
            plan,
            tile: RowTile::new(queries.dims),
            lists: (0..queries.queries.len())
                .map(|query| CandidateList::new(queries.k, query))
                .collect(),
            scorer: Scorer::new(plan.snapshot, queries),
            num_zero_rows: 0,
        }
    }

    fn run(&mut self) -> Result<(), Error> {
        let mut rows = Vec::new();
        let rows_per_tile = (TILE_BYTES / (self.plan.queries.dims * 4))
            .clamp(PANEL_ROWS, 512)
            .next_multiple_of(PANEL_ROWS);
        while let Some(chunk) = self.plan.next() {
            let (block, start, end) = chunk?;
            rows.clear();
            self.plan.mask.collect(start, end, &mut rows);
            for tile_rows in rows.chunks(rows_per_tile) {
                let metric = self.plan.queries.metric;
                self.num_zero_rows += self
                    .tile
                    .fill(block, tile_rows, &self.plan.bounds[0], metric)
                    as u64;
                self.score_tile();
            }
        }
        Ok(())
    }

    fn score_tile(&mut self) {
        if self.plan.panels.is_empty() {
            (0..self.lists.len()).for_each(|query| self.scan(query));
        } else {
            self.plan
                .panels
                .iter()
                .for_each(|panel| self.score_panel(panel));
        }
    }

    /// One query against the rows of the tile.
    fn scan(&mut self, query: usize) {
        let plan = self.plan;
        let kernel = plan.kernels.row(plan.queries.kind);
        let vector = &plan.queries.queries[query].for_kernel;
        let mut cut = self.current_cut(query);
        for index in 0..self.tile.len() {
            let score = kernel(vector, self.tile.values(index));
            if cut.passes(self.tile.cuts[index], score) && self.offer(query, index, score) {
                cut = self.current_cut(query);
            }
        }
    }

    /// A panel of queries against the rows of the tile.
    fn score_panel(&mut self, panel: &Panel) {
        let plan = self.plan;
        let kernel = plan.kernels.panel(plan.queries.kind);
        let mut cut = PanelCut::CLOSED;
        for lane in 0..panel.num_queries {
            cut.set(lane, self.current_cut(panel.first_query + lane));
        }
        let mut scores = [[0.0; PANEL_QUERIES]; PANEL_ROWS];
        for first in (0..self.tile.len()).step_by(PANEL_ROWS) {
            let last = self.tile.len() - 1;
            let at = |offset: usize| (first + offset).min(last);
            let values = std::array::from_fn(|offset| self.tile.values(at(offset)));
            let row_cuts: [RowCut; PANEL_ROWS] =
                std::array::from_fn(|offset| self.tile.cuts[at(offset)]);
            let masks = kernel(&panel.values, values, &cut, row_cuts, &mut scores);
            for (offset, &mask) in masks.iter().enumerate().take(self.tile.len() - first) {
                self.offer_lanes(panel, first + offset, mask, &scores[offset], &mut cut);
            }
        }
    }

    fn offer_lanes(
        &mut self,
        panel: &Panel,
        index: usize,
        mask: u16,
        scores: &[f32; PANEL_QUERIES],
        cut: &mut PanelCut,
    ) {
        let mut lanes = mask;
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            if lane < panel.num_queries && self.offer(panel.first_query + lane, index, scores[lane])
            {
                cut.set(lane, self.current_cut(panel.first_query + lane));
            }
        }
    }

    /// Offers a row of the tile to a query's list; true if the threshold rose.
    fn offer(&mut self, query: usize, index: usize, score: f32) -> bool {
        let interval = self.plan.bounds[query].interval(score, self.tile.norms[index]);
        let candidate = Candidate {
            row: self.tile.rows[index],
            interval,
        };
        let has_risen = self.lists[query].push(candidate, &mut self.scorer);
        if has_risen {
            self.plan
                .publish_threshold(query, self.lists[query].threshold());
        }
        has_risen
    }

    fn current_cut(&mut self, query: usize) -> crate::bound::QueryCut {
        self.lists[query].raise_threshold(self.plan.shared_threshold(query));
        self.plan.bounds[query].query_cut(self.lists[query].threshold())
    }
}
