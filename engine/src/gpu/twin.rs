//! The kernels' CPU twins, run side by side on the same rows, queries, cuts and mask.
//!
//! The twins of the score kernels are the plain Rust kernels of `cpu/kernel/scalar.rs`: one row against one query for
//! `score_rows`, a panel of queries for `score_tile`, codes against codes for `score_codes`. A row passes on both sides
//! or its score lies within rounding of the cut, and what its keys prove is true of its canonical score. The twin of
//! `merge_candidates` and `select_candidates` is [`merge_twin`], key for key.

use crate::bound::{Bounds, QueryCut, Rounding, ScoreProof};
use crate::cpu::certified::CodedQuery;
use crate::cpu::kernel::Kernels;
use crate::file::{FileSpec, VectorFile};
use crate::metric::{Dtype, Metric};
use crate::query::{KernelKind, PreparedQueries, Query};

use super::GpuTuning;
use super::buffers::{BatchBuffers, PackedQueries};
use super::chain::{Chain, ChainSpec};
use super::device::GpuDevice;
use super::layout::{FoundEntry, ListLength};
use super::pipeline::{Kernel, Pipelines};
use super::slab::{SlabCache, SlabContent, codes_of, plan};

const DIMS: usize = 75;
const NUM_ROWS: usize = 190;
const MASK: [u32; 6] = [0xFFFF_FFFF, 0xF0F0_F0F1, 0, 0x8000_0001, 0xFFFF_0000, 0x3FFF_FFFF];

struct Twins {
    gpu: GpuDevice,
    pipelines: Pipelines,
}

/// `None` where no adapter is expected.
fn twins_with(tuning: GpuTuning) -> Option<Twins> {
    match GpuDevice::open(true, tuning) {
        Ok(gpu) => {
            let pipelines = Pipelines::new(&gpu).expect("the kernels compile");
            Some(Twins { gpu, pipelines })
        }
        Err(_) if std::env::var_os("OUTCROP_ALLOW_NO_GPU").is_some_and(|value| value == "1") => None,
        Err(fault) => panic!("the GPU tests need an adapter (lavapipe will do): {fault:?}"),
    }
}

fn values(seed: u32, count: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn kernels_agree_with_their_twins() {
    let Some(twins) = twins_with(GpuTuning::default()) else { return };
    for dtype in [Dtype::F32, Dtype::F16] {
        for metric in [Metric::Cosine, Metric::Dot, Metric::DOT_PENALIZED, Metric::L2] {
            for num_queries in [1, 3, 8] {
                compare(&twins, Kernel::Rows, dtype, metric, num_queries);
                if Kernel::RowsSubgroup.runs_on(&twins.gpu) {
                    compare(&twins, Kernel::RowsSubgroup, dtype, metric, num_queries);
                }
            }
            for num_queries in [1, 64, 71] {
                compare(&twins, Kernel::Tile, dtype, metric, num_queries);
            }
            for num_queries in [1, 3, 8].into_iter().filter(|_| metric != Metric::L2) {
                compare(&twins, Kernel::Codes, dtype, metric, num_queries);
            }
        }
    }
}

fn compare(twins: &Twins, kernel: Kernel, dtype: Dtype, metric: Metric, num_queries: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = FileSpec { dtype, metric, ..FileSpec::new(DIMS as u32) };
    let mut file = VectorFile::create(&folder.path().join("rows.vec"), &spec).expect("a file");
    let ids: Vec<u64> = (1..=NUM_ROWS as u64).collect();
    file.append(&ids, &values(1, NUM_ROWS * DIMS)).expect("rows");
    file.write_codes().expect("codes");
    let snapshot = file.snapshot();
    let vectors = values(2, num_queries * DIMS);
    let queries = PreparedQueries::new(&snapshot, &Query::new(&vectors)).expect("queries");
    // A threshold that about half of the rows reach.
    let threshold = if metric == Metric::L2 { -50.0 } else { 0.0 };
    let bounds: Vec<Bounds> = (0..num_queries).map(|query| Bounds::new(&queries, query, Rounding::Either)).collect();
    let cuts: Vec<QueryCut> = bounds.iter().map(|bounds| bounds.query_cut(threshold)).collect();

    let kernel_vectors: Vec<&[f32]> = queries.queries.iter().map(|query| &query.for_kernel[..]).collect();
    let reads_codes = kernel.reads_codes();
    let coded: Vec<CodedQuery> = queries.queries.iter().filter(|_| reads_codes).map(CodedQuery::narrow).collect();
    let packed = if reads_codes { PackedQueries::codes(&coded) } else { PackedQueries::values(&kernel_vectors) };
    let content = if reads_codes { SlabContent::Codes } else { SlabContent::Values };
    let buffers = BatchBuffers::new(&twins.gpu, &packed, NUM_ROWS as u32).expect("buffers");
    let words = |(index, cut): (usize, &QueryCut)| {
        let (scale, spread) = coded.get(index).map_or((0.0, 0.0), |query| (query.scale, query.spread()));
        [cut.t, cut.b, scale, spread]
    };
    buffers.set_cuts(&twins.gpu, &cuts.iter().enumerate().map(words).collect::<Vec<_>>());
    let (kind, proof) = (queries.kind, bounds[0].score_proof());
    let spec = ChainSpec { kernel, kind, dtype, k: queries.k, proof, nonce: 77 };
    let mut round = Chain::new(&twins.gpu, &twins.pipelines, &buffers, spec);
    let slab = plan(&twins.gpu, &snapshot, content).expect("one slab")[0];
    let score = |slab: &super::slab::Slab| Ok(round.score(slab, 5, NUM_ROWS as u32 - 3, Some(&MASK))?);
    SlabCache::default().with_slab(&twins.gpu, &snapshot, (content, slab), &bounds[0], metric, score).expect("a round");
    let lists = round.finish().expect("the lists hold all").lists;

    let mut num_passed = 0;
    let block = snapshot.block(0);
    let mut row_values = vec![0.0; DIMS];
    for row in 5..NUM_ROWS - 3 {
        block.read_row(row, &mut row_values);
        for (query, vector) in kernel_vectors.iter().enumerate() {
            let norm = block.norms()[row];
            let mut row_cut = bounds[query].row_cut(norm);
            let expected = match coded.get(query) {
                None => twin(kernel, queries.kind, vector, &row_values),
                Some(coded) => {
                    let codes = codes_of(&snapshot, 0).expect("codes");
                    row_cut.delta += codes.residuals[row] + coded.spread() * norm as f32;
                    code_twin(coded, codes.codes(row), codes.scales[row])
                }
            };
            let is_masked = MASK[row / 32] >> (row % 32) & 1 == 0;
            let passes = cuts[query].passes(row_cut, expected) && !is_masked;
            let found = lists[query].iter().find(|entry| entry.row as usize == row);
            check(passes, is_masked, expected, found, cuts[query], row_cut);
            if let Some(entry) = found {
                let canonical = queries.canonical(query, &row_values, norm).expect("no row is zero");
                let t = bounds[query].query_cut(canonical).t;
                assert!(
                    entry.sure < key(t.next_up()) && key(t) < entry.reach,
                    "{t} is not within what {entry:?} proves"
                );
            }
            num_passed += usize::from(found.is_some());
        }
    }
    assert_eq!(num_passed, lists.iter().map(Vec::len).sum::<usize>(), "every entry belongs to a row and a query");
    assert!(num_passed > num_queries && num_passed < num_queries * NUM_ROWS, "the cut and the mask matter");
}

/// What the twin of a kernel computes for one row and one query.
fn twin(kernel: Kernel, kind: KernelKind, query: &[f32], row: &[f32]) -> f32 {
    use crate::cpu::kernel::{PANEL_QUERIES, PANEL_ROWS, PanelCut};
    let scalar = Kernels::available().pop().expect("plain Rust runs everywhere");
    match kernel {
        Kernel::Rows | Kernel::RowsSubgroup => scalar.row(kind)(query, row),
        Kernel::Codes => unreachable!("its queries are codes"),
        Kernel::Tile => {
            let panel: Vec<crate::cpu::kernel::PanelLanes> =
                query.iter().map(|&value| [value; PANEL_QUERIES]).collect();
            let mut scores = [[0.0; PANEL_QUERIES]; PANEL_ROWS];
            let open = PanelCut { t: [f32::NEG_INFINITY; PANEL_QUERIES], ..PanelCut::CLOSED };
            let cuts = [crate::bound::RowCut { alpha: 1.0, nu: 0.0, delta: 0.0 }; PANEL_ROWS];
            scalar.panel(kind)(&panel, [row; PANEL_ROWS], &open, &cuts, &mut scores);
            scores[0][0]
        }
    }
}

/// What the twin of the kernel over codes computes.
fn code_twin(query: &CodedQuery, row: &[i8], row_scale: f32) -> f32 {
    let scalar = Kernels::available().pop().expect("plain Rust runs everywhere");
    (scalar.codes)(&query.codes, row) as f32 * (row_scale * query.scale)
}

fn check(
    passes: bool,
    is_masked: bool,
    expected: f32,
    found: Option<&FoundEntry>,
    cut: QueryCut,
    row_cut: crate::bound::RowCut,
) {
    let tolerance = 1e-4;
    match found {
        Some(entry) => {
            assert!(!is_masked, "the mask is obeyed");
            assert!((entry.score - expected).abs() <= tolerance, "{} for {expected}", entry.score);
            assert!(passes || cut.passes(row_cut, expected + tolerance), "{expected} is far below the cut");
        }
        None => assert!(!passes || !cut.passes(row_cut, expected - tolerance), "{expected} is far above the cut"),
    }
}

/// A number as an integer, in the same order.
fn key(value: f32) -> u32 {
    let bits = value.to_bits();
    if value.is_sign_negative() { !bits } else { bits | 1 << 31 }
}

/// What a kernel that raises cuts makes of a list and its t: the key of the new t, and what stays.
fn merge_twin(list: &[FoundEntry], k: usize, t: f32) -> (u32, Vec<FoundEntry>) {
    let mut sure: Vec<u32> = list.iter().map(|entry| entry.sure).collect();
    sure.sort_unstable_by(|a, b| b.cmp(a));
    let cut = sure.get(k - 1).map_or(key(t), |&kth| kth.max(key(t)));
    (cut, list.iter().copied().filter(|entry| entry.reach >= cut).collect())
}

/// Lists of many lengths, with ties, with what proves nothing, and with what always stays.
fn lists(most: usize) -> Vec<Vec<FoundEntry>> {
    let lengths = [0, 1, 2, 9, 10, 11, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 3072, 3073, most];
    let list = |(query, length): (usize, usize)| {
        let entry = |(row, value): (u32, f32)| {
            // Few distinct values in every third list.
            let middle = if query.is_multiple_of(3) { (value * 4.0).round() } else { value };
            let (sure, reach) = (key(middle - 0.25), key(middle + 0.25));
            match row % 13 {
                7 => FoundEntry { row, score: middle, sure: 0, reach: u32::MAX },
                _ => FoundEntry { row, score: middle, sure, reach },
            }
        };
        (0..).zip(values(query as u32 + 3, length)).map(entry).collect()
    };
    lengths.into_iter().map(|length| length.min(most)).enumerate().map(list).collect()
}

#[test]
fn raised_cuts_agree_with_their_twin() {
    let tight = GpuTuning { max_groups_per_dimension: Some(4), ..GpuTuning::default() };
    for tuning in [GpuTuning::default(), tight] {
        let Some(twins) = twins_with(tuning) else { return };
        for k in [1, 2, 10, 256, 1000, 1024, 1025, 3000] {
            compare_cuts(&twins, &lists(5000), k);
        }
    }
}

fn compare_cuts(twins: &Twins, lists: &[Vec<FoundEntry>], k: usize) {
    let vectors = vec![[1.0_f32; 4]; lists.len()];
    let packed = PackedQueries::values(&vectors.iter().map(|vector| &vector[..]).collect::<Vec<_>>());
    let capacity = lists.iter().map(Vec::len).max().unwrap_or(0);
    let buffers = BatchBuffers::new(&twins.gpu, &packed, capacity as u32).expect("buffers");
    // A t that some lists beat.
    let cuts: Vec<[f32; 4]> = (0..lists.len()).map(|query| [-0.9 + query as f32 * 0.08, 5.0, 6.0, 7.0]).collect();
    buffers.set_cuts(&twins.gpu, &cuts);
    let proof = ScoreProof { stretch: 1.0, floor: 0.0 };
    let spec = ChainSpec { kernel: Kernel::Rows, kind: KernelKind::Dot, dtype: Dtype::F32, k, proof, nonce: 5 };
    let mut chain = Chain::new(&twins.gpu, &twins.pipelines, &buffers, spec);
    for (query, list) in lists.iter().enumerate() {
        let length = ListLength { count: list.len() as u32, kept: 0 };
        twins.gpu.queue.write_buffer(&buffers.found, 16 + query as u64 * 8, bytemuck::bytes_of(&length));
        let start = (query * capacity * size_of::<FoundEntry>()) as u64;
        twins.gpu.queue.write_buffer(&buffers.candidates, start, bytemuck::cast_slice(list));
    }
    chain.raise_cuts().expect("a dispatch");
    let found = chain.finish().expect("a chain");
    assert_eq!((found.lists.len(), found.num_rounds), (lists.len(), 1));
    let raised = buffers.read_cuts(&twins.gpu).expect("cuts");
    for (query, (mut kept, list)) in found.lists.into_iter().zip(lists).enumerate() {
        let (cut, expected) = merge_twin(list, k, cuts[query][0]);
        kept.sort_unstable_by_key(|entry| entry.row);
        assert_eq!(kept, expected, "list {query}, k = {k}");
        assert_eq!((key(raised[query][0]), &raised[query][1..]), (cut, &cuts[query][1..]), "list {query}, k = {k}");
    }
}

/// After an overflow every list is what the round before left, and no cut moves.
#[test]
fn an_overflow_takes_back_its_round() {
    let Some(twins) = twins_with(GpuTuning::default()) else { return };
    let lists = lists(300);
    let vectors = vec![[1.0_f32; 4]; lists.len()];
    let packed = PackedQueries::values(&vectors.iter().map(|vector| &vector[..]).collect::<Vec<_>>());
    let buffers = BatchBuffers::new(&twins.gpu, &packed, 300).expect("buffers");
    let cuts = vec![[-1e30_f32, 0.0, 0.0, 0.0]; lists.len()];
    let proof = ScoreProof { stretch: 1.0, floor: 0.0 };
    for k in [10, 1025] {
        buffers.set_cuts(&twins.gpu, &cuts);
        let spec = ChainSpec { kernel: Kernel::Rows, kind: KernelKind::Dot, dtype: Dtype::F32, k, proof, nonce: 6 };
        let mut chain = Chain::new(&twins.gpu, &twins.pipelines, &buffers, spec);
        twins.gpu.queue.write_buffer(&buffers.found, 0, bytemuck::bytes_of(&1_u32));
        for (query, list) in lists.iter().enumerate() {
            let length = ListLength { count: 1000, kept: list.len() as u32 };
            twins.gpu.queue.write_buffer(&buffers.found, 16 + query as u64 * 8, bytemuck::bytes_of(&length));
            let start = (query * 300 * size_of::<FoundEntry>()) as u64;
            twins.gpu.queue.write_buffer(&buffers.candidates, start, bytemuck::cast_slice(list));
        }
        chain.raise_cuts().expect("a dispatch");
        chain.raise_cuts().expect("a dispatch of a round after it");
        let found = chain.finish().expect("a chain");
        assert_eq!(found.num_rounds, 0, "the first round overflowed");
        assert_eq!(found.lists, lists);
        assert_eq!(buffers.read_cuts(&twins.gpu).expect("cuts"), cuts);
    }
}
