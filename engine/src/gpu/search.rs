//! Chains of rounds until every row was scored, then the canonical ranking.
//!
//! Between chains the lists of the device are empty: the host has taken their candidates in, ranked them canonically
//! where their bounds do not tell them apart, and sends the cuts that this proves. So a list that equal rows fill is
//! emptied to k of them, a round of one row always finds room, and a search ends.

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
use super::buffers::{BatchBuffers, PackedQueries, QueryCutWords};
use super::chain::{Chain, ChainSpec, Found};
use super::device::{GpuDevice, GpuFault};
use super::layout::FoundEntry;
use super::pipeline::{Kernel, Pipelines};
use super::schedule::{self, Schedule};
use super::slab::{BEYOND_SCORES, Slab, SlabCache, SlabRange, codes_of, plan};

/// Queries under L2 with larger values go to the CPU.
const MAX_QUERY_NORM: f64 = 1e12;
/// Queries whose penalty per length is larger go to the CPU.
const MAX_PENALTY_PER_NORM: f64 = 1e17;
/// Bytes of rows that a chain may need beyond those that stay.
const STREAMED_CHAIN_BYTES: u64 = 256 << 20;

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
    /// Times the host waited for the device.
    pub(crate) num_read_backs: u64,
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
        let mut outcome = GpuOutcome {
            ranked: Vec::with_capacity(queries.queries.len()),
            num_zero_rows: 0,
            num_scored: 0,
            num_coded_rows: 0,
            num_read_backs: 0,
        };
        let batch = most_queries(&self.device, queries);
        for start in (0..queries.queries.len()).step_by(batch) {
            let range = start..(start + batch).min(queries.queries.len());
            let kernel = Kernel::for_queries(range.len(), has_codes, &self.device);
            let slabs = plan(&self.device, snapshot, kernel.content())?;
            let mut search = BatchSearch::new(self, (snapshot, queries), &slabs, kernel, range)?;
            search.run()?;
            outcome.num_zero_rows = search.num_zero_rows;
            outcome.num_read_backs += search.num_read_backs;
            outcome.num_coded_rows += if kernel.reads_codes() { snapshot.num_live_rows() } else { 0 };
            let (ranked, num_scored) = search.finish();
            outcome.num_scored += num_scored;
            outcome.ranked.extend(ranked);
        }
        Ok(outcome)
    }
}

/// Queries that are sent together at most.
fn most_queries(gpu: &GpuDevice, queries: &PreparedQueries<'_>) -> usize {
    let quads_bytes = queries.dims.div_ceil(4) as u64 * 16;
    let most = (gpu.max_binding_bytes / quads_bytes).min(u64::from(gpu.found_capacity));
    schedule::most_queries(gpu.found_capacity, queries.k).min(most).max(1) as usize
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
    let is_too_short = |norm: f64| match queries.metric {
        Metric::DotPenalized { penalty } => penalty.abs() / norm > MAX_PENALTY_PER_NORM,
        Metric::Cosine | Metric::Dot | Metric::L2 => false,
    };
    if queries.queries.iter().any(|query| is_too_short(query.norm)) {
        return Err(GpuFault("a query is too short for its penalty in f32".to_owned()));
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
    buffers: BatchBuffers,
    num_zero_rows: u64,
    num_scored: u64,
    num_read_backs: u64,
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
        let capacity = schedule::list_capacity(gpu.device.found_capacity, batch.len(), queries.k);
        let buffers = BatchBuffers::new(&gpu.device, &packed, capacity)?;
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
            num_read_backs: 0,
        })
    }

    fn run(&mut self) -> Result<(), SearchFault> {
        let schedule = Schedule {
            num_rows: self.snapshot.num_rows(),
            k: self.queries.k as u64,
            capacity: u64::from(self.buffers.capacity),
            most_rows: self.most_rows_per_chain(),
        };
        let (mut start, mut limit) = (0, u64::MAX);
        while start < schedule.num_rows {
            let rounds = schedule.rounds(start, limit);
            let num_done = self.chain(&rounds)?;
            start = rounds[..num_done].last().map_or(start, |round| round.end);
            limit = match rounds.get(num_done).map(|round| round.end - round.start) {
                None => limit.saturating_mul(4),
                Some(..=1) if num_done == 0 => return Err(GpuFault("one row overflows a list".to_owned()).into()),
                Some(num_rows) => num_rows.div_ceil(4),
            };
        }
        Ok(())
    }

    /// Keeps what a chain streams within its share of memory.
    fn most_rows_per_chain(&self) -> u64 {
        let row_bytes = self.snapshot.geometry().stride_bytes as u64 + 16;
        let total_bytes = row_bytes * self.snapshot.num_rows();
        if total_bytes <= self.gpu.device.resident_bytes { u64::MAX } else { (STREAMED_CHAIN_BYTES / row_bytes).max(1) }
    }

    /// Scores the rows of some rounds and takes in what they found; returns how many of them did not overflow.
    fn chain(&mut self, rounds: &[Range<u64>]) -> Result<usize, SearchFault> {
        self.send_cuts();
        let gpu = &mut *self.gpu;
        gpu.nonce = gpu.nonce.wrapping_add(1).max(1);
        let spec = ChainSpec {
            kernel: self.kernel,
            kind: self.queries.kind,
            dtype: self.snapshot.dtype(),
            k: self.queries.k,
            proof: self.bounds[0].score_proof(),
            nonce: gpu.nonce,
        };
        let mut chain = Chain::new(&gpu.device, &gpu.pipelines, &self.buffers, spec);
        let mut zero_rows = Vec::with_capacity(rounds.len());
        for round in rounds {
            lose_device_if_ordered(&mut gpu.rounds_before_loss, &gpu.device);
            let rows = (self.slabs, round);
            zero_rows.push(score(
                &mut gpu.cache,
                &gpu.device,
                &mut chain,
                rows,
                (self.snapshot, self.queries),
                &self.bounds[0],
            )?);
            chain.raise_cuts()?;
        }
        let Found { lists, num_rounds, num_read_backs } = chain.finish()?;
        self.num_read_backs += num_read_backs;
        self.num_zero_rows += zero_rows[..num_rounds].iter().sum::<u64>();
        self.take_in(&lists)?;
        Ok(num_rounds)
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

    fn take_in(&mut self, found: &[Vec<FoundEntry>]) -> Result<(), GpuFault> {
        let mut scorer = Scorer::new(self.snapshot, self.queries);
        for (query, (list, entries)) in self.lists.iter_mut().zip(found).enumerate() {
            for entry in entries {
                let row = u64::from(entry.row);
                if row >= self.snapshot.num_rows() {
                    return Err(GpuFault(format!("row {row} of {} was found", self.snapshot.num_rows())));
                }
                let (block, row_in_block) = self.snapshot.locate(row);
                let norm = block.norms()[row_in_block];
                let error = match self.coded.get(query) {
                    Some(query) => {
                        let (block_index, _) = self.snapshot.block_index(row);
                        let codes = codes_of(self.snapshot, block_index)?;
                        f64::from(code_error(codes.residuals[row_in_block], query.residual, norm))
                    }
                    None => 0.0,
                };
                let interval = self.bounds[query].interval(entry.score, norm, error);
                list.push(Candidate { row, interval }, &mut scorer);
            }
            list.tighten(&mut scorer);
        }
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
}

/// Adds a round's rows to a chain; returns how many of them are zero and have no score for it.
fn score(
    cache: &mut SlabCache,
    gpu: &GpuDevice,
    chain: &mut Chain<'_>,
    (slabs, round): (&[SlabRange], &Range<u64>),
    (snapshot, queries): (&Snapshot, &PreparedQueries<'_>),
    bounds: &Bounds,
) -> Result<u64, SearchFault> {
    let mask = RowMask::new(snapshot, queries);
    let content = chain.content();
    let mut num_zero_rows = 0;
    for &slab_range in slabs_within(slabs, round.start, round.end) {
        let slab_end = slab_range.first_row + slab_range.num_rows as u64;
        let part = round.start.max(slab_range.first_row)..round.end.min(slab_end);
        let score_part = |slab: &Slab| {
            let bits = (!mask.is_full()).then(|| mask_bits(&mask, slab_range));
            let at = |row: u64| (row - slab_range.first_row) as u32;
            chain.score(slab, at(part.start), at(part.end), bits.as_deref())?;
            Ok(count_zero_rows(slab, &part, &mask))
        };
        let wanted = (content, slab_range);
        num_zero_rows += cache.with_slab(gpu, snapshot, wanted, bounds, queries.metric, score_part)?;
    }
    Ok(if queries.metric == Metric::Cosine { num_zero_rows } else { 0 })
}

fn lose_device_if_ordered(rounds_left: &mut Option<u32>, gpu: &GpuDevice) {
    if let Some(left) = rounds_left {
        if *left == 0 {
            gpu.device.destroy();
        }
        *left = left.saturating_sub(1);
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
