//! Rounds until every row was scored, then the canonical ranking.

use std::ops::Range;

use crate::bound::{Bounds, Rounding};
use crate::cpu::candidates::{Candidate, CandidateList, Scorer, finish};
use crate::cpu::certified::{CodedQuery, code_error};
use crate::cpu::tile::RowMask;
use crate::error::Error;
use crate::file::Snapshot;
use crate::hit::RankedRow;
use crate::metric::Metric;
use crate::query::{KernelKind, Precision, PreparedQueries};

use super::GpuTuning;
use super::device::{GpuDevice, GpuFault};
use super::layout::FoundEntry;
use super::pipeline::{Kernel, Pipelines};
use super::round::{Found, PackedQueries, QueryCutWords, Round, RoundBuffers};
use super::slab::{BEYOND_SCORES, Slab, SlabCache, SlabContent, SlabRange, codes_of, plan};

/// Rows of the first round, in which everything passes.
const FIRST_ROUND_ROWS: u64 = 4096;
/// A round has at most so many times the rows of all rounds before it.
const GROWTH: u64 = 7;
/// Queries that are sent together.
const MAX_BATCH_QUERIES: usize = 1024;
/// Queries under L2 with larger values go to the CPU.
const MAX_QUERY_NORM: f64 = 1e12;
/// Bytes of rows that a round may need beyond those that stay.
const STREAMED_ROUND_BYTES: u64 = 256 << 20;

/// Why a search on the GPU gave no answer.
#[derive(Debug)]
pub(crate) enum SearchFault {
    /// The file is at fault; the CPU would not do better.
    File(Error),
    /// The GPU is at fault.
    Gpu(GpuFault),
}

impl From<GpuFault> for SearchFault {
    fn from(fault: GpuFault) -> Self {
        Self::Gpu(fault)
    }
}

/// What a GPU search gave.
pub(crate) struct GpuOutcome {
    pub(crate) ranked: Vec<Vec<RankedRow>>,
    pub(crate) num_zero_rows: u64,
    /// Canonical scores computed.
    pub(crate) num_scored: u64,
    /// Rows whose codes were read in place of their values.
    pub(crate) num_coded_rows: u64,
}

/// A device with its kernels and the rows on it.
pub(crate) struct Gpu {
    pub(crate) device: GpuDevice,
    pipelines: Pipelines,
    cache: SlabCache,
    nonce: u32,
    rounds_before_loss: Option<u32>,
}

impl Gpu {
    /// Opens a device and compiles the kernels.
    pub(crate) fn open(is_software: bool, tuning: GpuTuning) -> Result<Self, GpuFault> {
        let device = GpuDevice::open(is_software, tuning)?;
        let pipelines = Pipelines::new(&device)?;
        let rounds_before_loss = tuning.lose_device_after_rounds;
        Ok(Self { device, pipelines, cache: SlabCache::default(), nonce: 0, rounds_before_loss })
    }

    /// The best `k` rows of every query.
    pub(crate) fn search(
        &mut self,
        snapshot: &Snapshot,
        queries: &PreparedQueries<'_>,
    ) -> Result<GpuOutcome, SearchFault> {
        self.device.check()?;
        check_ranges(snapshot, queries)?;
        self.cache.turn_to(snapshot);
        let has_codes = has_codes(snapshot, queries);
        let ranked = Vec::with_capacity(queries.queries.len());
        let mut outcome = GpuOutcome { ranked, num_zero_rows: 0, num_scored: 0, num_coded_rows: 0 };
        let quads_bytes = queries.dims.div_ceil(4) as u64 * 16;
        let batch = (self.device.max_binding_bytes / quads_bytes).clamp(1, MAX_BATCH_QUERIES as u64) as usize;
        for start in (0..queries.queries.len()).step_by(batch) {
            let range = start..(start + batch).min(queries.queries.len());
            let kernel = Kernel::for_queries(range.len(), has_codes, &self.device);
            let content = if kernel.reads_codes() { SlabContent::Codes } else { SlabContent::Values };
            let slabs = plan(&self.device, snapshot, content)?;
            let mut search = BatchSearch::new(self, (snapshot, queries), &slabs, kernel, range)?;
            search.run()?;
            outcome.num_zero_rows = search.num_zero_rows;
            outcome.num_coded_rows += if kernel.reads_codes() { snapshot.num_live_rows() } else { 0 };
            let (ranked, num_scored) = search.finish();
            outcome.num_scored += num_scored;
            outcome.ranked.extend(ranked);
        }
        Ok(outcome)
    }
}

/// Whether codes are wanted, and every row has sound ones.
fn has_codes(snapshot: &Snapshot, queries: &PreparedQueries<'_>) -> bool {
    let is_wanted = queries.precision == Precision::Certified && queries.kind == KernelKind::Dot;
    is_wanted
        && snapshot.num_coded_rows() >= snapshot.num_rows()
        && (0..snapshot.num_blocks()).all(|block| codes_of(snapshot, block).is_ok())
}

fn check_ranges(snapshot: &Snapshot, queries: &PreparedQueries<'_>) -> Result<(), GpuFault> {
    if snapshot.num_rows() > u64::from(u32::MAX) {
        return Err(GpuFault(format!("{} rows exceed 32 bits", snapshot.num_rows())));
    }
    if queries.kind == KernelKind::L2 && queries.queries.iter().any(|query| query.norm > MAX_QUERY_NORM) {
        return Err(GpuFault("a query is too long for f32 differences".to_owned()));
    }
    Ok(())
}

/// One batch of queries on its way over all slabs.
struct BatchSearch<'a> {
    gpu: &'a mut Gpu,
    snapshot: &'a Snapshot,
    queries: &'a PreparedQueries<'a>,
    slabs: &'a [SlabRange],
    kernel: Kernel,
    /// The queries as codes, if the kernel reads codes.
    coded: Vec<CodedQuery>,
    first_query: usize,
    bounds: Vec<Bounds>,
    lists: Vec<CandidateList>,
    buffers: RoundBuffers,
    num_zero_rows: u64,
    num_scored: u64,
}

impl<'a> BatchSearch<'a> {
    fn new(
        gpu: &'a mut Gpu,
        (snapshot, queries): (&'a Snapshot, &'a PreparedQueries<'a>),
        slabs: &'a [SlabRange],
        kernel: Kernel,
        range: Range<usize>,
    ) -> Result<Self, GpuFault> {
        let batch = &queries.queries[range.clone()];
        let coded: Vec<CodedQuery> =
            if kernel.reads_codes() { batch.iter().map(CodedQuery::narrow).collect() } else { Vec::new() };
        let packed = if kernel.reads_codes() {
            PackedQueries::codes(&coded)
        } else {
            PackedQueries::values(&batch.iter().map(|query| &query.for_kernel[..]).collect::<Vec<_>>())
        };
        let buffers = RoundBuffers::new(&gpu.device, &packed)?;
        let bounds = range.clone().map(|query| Bounds::new(queries, query, Rounding::Either)).collect();
        let first_query = range.start;
        let lists = range.map(|query| CandidateList::new(queries.k, query)).collect();
        Ok(Self {
            gpu,
            snapshot,
            queries,
            slabs,
            kernel,
            coded,
            first_query,
            bounds,
            lists,
            buffers,
            num_zero_rows: 0,
            num_scored: 0,
        })
    }

    fn run(&mut self) -> Result<(), SearchFault> {
        self.num_zero_rows = 0;
        let num_rows = self.snapshot.num_rows();
        let room = u64::from(self.gpu.device.found_capacity) / self.lists.len() as u64;
        let mut size = FIRST_ROUND_ROWS.min(room).max(1);
        let mut start = 0;
        while start < num_rows {
            let end = (start + size).min(num_rows);
            self.score_range(start, end)?;
            start = end;
            size = (start * GROWTH).min(self.most_rows_per_round());
        }
        Ok(())
    }

    /// Keeps what a round streams within its share of memory.
    fn most_rows_per_round(&self) -> u64 {
        let row_bytes = self.snapshot.geometry().stride_bytes as u64 + 16;
        let total_bytes = row_bytes * self.snapshot.num_rows();
        if total_bytes <= self.gpu.device.resident_bytes { u64::MAX } else { (STREAMED_ROUND_BYTES / row_bytes).max(1) }
    }

    /// Scores a range of rows; where more pass than the list holds, in quarters.
    fn score_range(&mut self, start: u64, end: u64) -> Result<(), SearchFault> {
        let mut waiting = vec![(start, end)];
        while let Some((start, end)) = waiting.pop() {
            match self.round(start, end)? {
                Found::Entries(entries) => self.take_in(&entries)?,
                Found::Overflow if end - start <= 1 => {
                    return Err(GpuFault("one row overflows the list".to_owned()).into());
                }
                Found::Overflow => {
                    let quarter = (end - start).div_ceil(4);
                    let firsts = (0..4).rev().map(|part| start + part * quarter);
                    let parts = firsts.map(|first| (first, (first + quarter).min(end)));
                    waiting.extend(parts.filter(|(first, last)| first < last));
                }
            }
        }
        Ok(())
    }

    fn round(&mut self, start: u64, end: u64) -> Result<Found, SearchFault> {
        self.lose_device_if_ordered();
        self.send_cuts();
        let gpu = &mut *self.gpu;
        gpu.nonce = gpu.nonce.wrapping_add(1).max(1);
        let variant = (self.kernel, self.queries.kind, self.snapshot.dtype());
        let mut round = Round::new(&gpu.device, &gpu.pipelines, &self.buffers, variant, gpu.nonce);
        let mask = RowMask::new(self.snapshot, self.queries);
        let (snapshot, metric) = (self.snapshot, self.queries.metric);
        let content = if self.kernel.reads_codes() { SlabContent::Codes } else { SlabContent::Values };
        for &slab_range in slabs_within(self.slabs, start, end) {
            let slab_end = slab_range.first_row + slab_range.num_rows as u64;
            let part = start.max(slab_range.first_row)..end.min(slab_end);
            let score = |slab: &Slab| {
                let bits = (!mask.is_full()).then(|| mask_bits(&mask, slab_range));
                let at = |row: u64| (row - slab_range.first_row) as u32;
                round.score(slab, at(part.start), at(part.end), bits.as_deref())?;
                Ok(count_zero_rows(slab, &part, &mask))
            };
            let wanted = (content, slab_range);
            let zero_rows = gpu.cache.with_slab(&gpu.device, snapshot, wanted, &self.bounds[0], metric, score)?;
            if metric == Metric::Cosine {
                self.num_zero_rows += zero_rows;
            }
        }
        let found = round.finish()?;
        if matches!(found, Found::Overflow) && metric == Metric::Cosine {
            self.num_zero_rows -= self.zero_rows_of(start, end);
        }
        Ok(found)
    }

    /// Zero rows that a round counted and that its quarters will count again.
    fn zero_rows_of(&self, start: u64, end: u64) -> u64 {
        let mask = RowMask::new(self.snapshot, self.queries);
        let mut rows = Vec::new();
        mask.collect(start, end, &mut rows);
        let is_zero = |row: &&u64| {
            let (block, row_in_block) = self.snapshot.locate(**row);
            block.norms()[row_in_block] == 0.0
        };
        rows.iter().filter(is_zero).count() as u64
    }

    fn send_cuts(&self) {
        let cut = |(index, list): (usize, &CandidateList)| {
            let cut = self.bounds[index].query_cut(list.threshold());
            let (scale, spread) = self.coded.get(index).map_or((0.0, 0.0), |query| (query.scale, query.spread()));
            [cut.t.clamp(-BEYOND_SCORES, BEYOND_SCORES), cut.b, scale, spread]
        };
        let cuts: Vec<QueryCutWords> = self.lists.iter().enumerate().map(cut).collect();
        self.buffers.set_cuts(&self.gpu.device, &cuts);
    }

    fn take_in(&mut self, entries: &[FoundEntry]) -> Result<(), GpuFault> {
        let mut scorer = Scorer::new(self.snapshot, self.queries);
        for entry in entries {
            let Some(list) = self.lists.get_mut(entry.query as usize) else {
                continue;
            };
            let row = u64::from(entry.row);
            let (block, row_in_block) = self.snapshot.locate(row);
            let norm = block.norms()[row_in_block];
            let error = match self.coded.get(entry.query as usize) {
                Some(query) => {
                    let (block_index, _) = self.snapshot.block_index(row);
                    let codes = codes_of(self.snapshot, block_index)?;
                    f64::from(code_error(codes.residuals[row_in_block], query.residual, norm))
                }
                None => 0.0,
            };
            let interval = self.bounds[entry.query as usize].interval(entry.score, norm, error);
            list.push(Candidate { row, interval }, &mut scorer);
        }
        self.lists.iter_mut().for_each(|list| list.tighten(&mut scorer));
        self.num_scored += scorer.num_scored;
        Ok(())
    }

    /// The answers, and how many rows were scored canonically for them.
    fn finish(self) -> (Vec<Vec<RankedRow>>, u64) {
        let mut scorer = Scorer::new(self.snapshot, self.queries);
        debug_assert!(self.first_query + self.lists.len() <= self.queries.queries.len());
        let ranked = self.lists.into_iter().map(|list| finish(vec![list], &mut scorer)).collect();
        (ranked, self.num_scored + scorer.num_scored)
    }

    fn lose_device_if_ordered(&mut self) {
        if let Some(left) = self.gpu.rounds_before_loss.as_mut() {
            if *left == 0 {
                self.gpu.device.device.destroy();
            }
            *left = left.saturating_sub(1);
        }
    }
}

/// The slabs that hold rows of `start..end`.
fn slabs_within(slabs: &[SlabRange], start: u64, end: u64) -> &[SlabRange] {
    let first = slabs.partition_point(|slab| slab.first_row + slab.num_rows as u64 <= start);
    let last = slabs.partition_point(|slab| slab.first_row < end);
    &slabs[first..last]
}

/// A bit per row of the slab.
fn mask_bits(mask: &RowMask<'_>, range: SlabRange) -> Vec<u32> {
    let mut rows = Vec::new();
    mask.collect(range.first_row, range.first_row + range.num_rows as u64, &mut rows);
    let mut bits = vec![0_u32; range.num_rows.div_ceil(32)];
    for row in rows {
        let at = (row - range.first_row) as usize;
        bits[at / 32] |= 1 << (at % 32);
    }
    bits
}

fn count_zero_rows(slab: &Slab, part: &Range<u64>, mask: &RowMask<'_>) -> u64 {
    let may_return = |row: u64| mask.word(row / 64) >> (row % 64) & 1 == 1;
    slab.zero_rows.iter().filter(|&&row| part.contains(&row) && may_return(row)).count() as u64
}
