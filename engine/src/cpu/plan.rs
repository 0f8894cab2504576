//! What the threads of a search share: the queries in the shapes the kernels take, the rows that
//! are left to do, the thresholds proven so far.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::bound::{Bounds, Rounding};
use crate::error::Error;
use crate::file::{BlockView, CodesView, Snapshot};
use crate::query::{KernelKind, Precision, PreparedQueries, PreparedQuery};

use super::certified::CodedQueries;
use super::kernel::{Kernels, PANEL_QUERIES, Panel, PanelLanes};
use super::tile::RowMask;

/// Up to this many queries are scored one by one; more share a panel.
const MAX_SCAN_QUERIES: usize = 2;
/// A file of fewer blocks per thread than this is handed out in smaller pieces.
const MIN_BLOCKS_PER_THREAD: usize = 4;

/// A block with one wanted row in more than this is not read whole.
const ROWS_PER_WANTED: u64 = 16;

/// What the threads share.
pub(crate) struct Plan<'a> {
    pub(crate) kernels: Kernels,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) queries: &'a PreparedQueries<'a>,
    pub(crate) mask: RowMask<'a>,
    pub(crate) bounds: Vec<Bounds>,
    /// Empty where the queries are scored one by one.
    pub(crate) panels: Vec<Panel<PanelLanes>>,
    /// The queries as codes, if the first pass goes over codes.
    pub(crate) coded: Option<CodedQueries>,
    /// Per query the bits of the highest threshold proven so far.
    thresholds: Vec<AtomicU64>,
    rows_per_chunk: usize,
    chunks_per_block: usize,
    next_chunk: AtomicUsize,
    has_failed: AtomicBool,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(
        num_threads: usize,
        kernels: Kernels,
        snapshot: &'a Snapshot,
        queries: &'a PreparedQueries<'a>,
    ) -> Self {
        let num_queries = queries.queries.len();
        let rows_per_block = snapshot.geometry().rows_per_block;
        let splits = (num_threads * MIN_BLOCKS_PER_THREAD).div_ceil(snapshot.num_blocks().max(1));
        let rows_per_chunk = rows_per_block.div_ceil(splits).next_multiple_of(64).min(rows_per_block);
        let panels = match num_queries {
            ..=MAX_SCAN_QUERIES => Vec::new(),
            _ => pack_panels(queries),
        };
        Self {
            kernels,
            snapshot,
            queries,
            mask: RowMask::new(snapshot, queries),
            bounds: (0..num_queries).map(|query| Bounds::new(queries, query, Rounding::Nearest)).collect(),
            panels,
            coded: code_queries(snapshot, queries),
            thresholds: (0..num_queries).map(|_| AtomicU64::new(f64::NEG_INFINITY.to_bits())).collect(),
            rows_per_chunk,
            chunks_per_block: rows_per_block.div_ceil(rows_per_chunk),
            next_chunk: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
        }
    }

    /// The next piece of work: a block and the rows of the file to look at in it.
    pub(crate) fn next(&self) -> Option<Result<(BlockView<'a>, u64, u64), Error>> {
        loop {
            let chunk = self.next_chunk.fetch_add(1, Ordering::Relaxed);
            let (block, part) = (chunk / self.chunks_per_block, chunk % self.chunks_per_block);
            if block >= self.snapshot.num_blocks() || self.has_failed.load(Ordering::Relaxed) {
                return None;
            }
            if part == 0 && self.wants_much_of(block) {
                self.will_need(block);
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
                return Some(Ok((view, view.first_row + start as u64, view.first_row + end as u64)));
            }
        }
    }

    /// The queries and a block as codes, if the first pass goes over codes and all rows of the block have them.
    pub(crate) fn codes_of(&self, block: &BlockView<'a>) -> Option<(&CodedQueries, CodesView<'a>)> {
        let coded = self.coded.as_ref()?;
        let index = (block.first_row / block.geometry.rows_per_block as u64) as usize;
        Some((coded, self.snapshot.codes()?.block(index, block.num_rows)?))
    }

    /// Whether a block is to be read whole: of few rows their own pages are quicker.
    fn wants_much_of(&self, block: usize) -> bool {
        let rows_per_block = self.snapshot.geometry().rows_per_block as u64;
        let start = block as u64 * rows_per_block;
        self.mask.is_full() || self.mask.count(start, start + rows_per_block) * ROWS_PER_WANTED >= rows_per_block
    }

    fn will_need(&self, block: usize) {
        match self.snapshot.codes() {
            Some(codes) if self.coded.is_some() => codes.will_need(block),
            _ => self.snapshot.will_need(block),
        }
    }

    pub(crate) fn shared_threshold(&self, query: usize) -> f64 {
        f64::from_bits(self.thresholds[query].load(Ordering::Relaxed))
    }

    pub(crate) fn publish_threshold(&self, query: usize, threshold: f64) {
        let raise = |bits| (f64::from_bits(bits) < threshold).then_some(threshold.to_bits());
        let _ = self.thresholds[query].fetch_update(Ordering::Relaxed, Ordering::Relaxed, raise);
    }
}

/// The queries as codes, where a first pass over codes is wanted, possible and worth it.
fn code_queries(snapshot: &Snapshot, queries: &PreparedQueries<'_>) -> Option<CodedQueries> {
    let is_wanted = queries.precision == Precision::Certified && queries.kind == KernelKind::Dot;
    (is_wanted && snapshot.codes().is_some() && pays(snapshot.num_live_rows(), queries))
        .then(|| CodedQueries::new(queries))
}

/// Whether a batch is quicker over codes. Several rows are scored twice for each hit, at random places of the file: that
/// is nothing beside a pass of many rows for ten hits, and more than the pass saves for a thousand hits out of few.
fn pays(num_rows: u64, queries: &PreparedQueries<'_>) -> bool {
    const MANY_HITS: usize = 256;
    const MIN_ROWS_PER_HIT: u64 = 1024;
    queries.queries.len() <= MAX_SCAN_QUERIES
        || queries.k <= MANY_HITS
        || num_rows >= MIN_ROWS_PER_HIT.saturating_mul(queries.k as u64)
}

fn pack_panels(queries: &PreparedQueries<'_>) -> Vec<Panel<PanelLanes>> {
    let pack = |(index, group): (usize, &[PreparedQuery<'_>])| {
        let mut lanes = vec![[0.0; PANEL_QUERIES]; queries.dims];
        for (lane, query) in group.iter().enumerate() {
            lanes.iter_mut().zip(&query.for_kernel).for_each(|(dim, &value)| dim[lane] = value);
        }
        Panel { first_query: index * PANEL_QUERIES, num_queries: group.len(), lanes }
    };
    queries.queries.chunks(PANEL_QUERIES).enumerate().map(pack).collect()
}
