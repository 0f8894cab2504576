//! The kernels' CPU twins, run side by side on the same rows, queries, cuts and mask.
//!
//! The twins are the plain Rust kernels of `cpu/kernel/scalar.rs`: one row against one query for
//! `score_rows`, a panel of queries for `score_tile`, codes against codes for `score_codes`. A row passes on both sides or its score lies
//! within rounding of the cut.

use crate::bound::{Bounds, QueryCut, Rounding};
use crate::cpu::certified::CodedQuery;
use crate::cpu::kernel::Kernels;
use crate::file::{FileSpec, VectorFile};
use crate::metric::{Dtype, Metric};
use crate::query::{KernelKind, PreparedQueries, Query};

use super::GpuTuning;
use super::device::GpuDevice;
use super::layout::FoundEntry;
use super::pipeline::{Kernel, Pipelines};
use super::round::{Found, PackedQueries, Round, RoundBuffers};
use super::slab::{SlabCache, SlabContent, codes_of, plan};

const DIMS: usize = 75;
const NUM_ROWS: usize = 190;
const MASK: [u32; 6] = [0xFFFF_FFFF, 0xF0F0_F0F1, 0, 0x8000_0001, 0xFFFF_0000, 0x3FFF_FFFF];

struct Twins {
    gpu: GpuDevice,
    pipelines: Pipelines,
}

/// `None` where no adapter is expected.
fn twins() -> Option<Twins> {
    match GpuDevice::open(true, GpuTuning::default()) {
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
    let Some(twins) = twins() else { return };
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
    let buffers = RoundBuffers::new(&twins.gpu, &packed).expect("buffers");
    let words = |(index, cut): (usize, &QueryCut)| {
        let (scale, spread) = coded.get(index).map_or((0.0, 0.0), |query| (query.scale, query.spread()));
        [cut.t, cut.b, scale, spread]
    };
    buffers.set_cuts(&twins.gpu, &cuts.iter().enumerate().map(words).collect::<Vec<_>>());
    let mut round = Round::new(&twins.gpu, &twins.pipelines, &buffers, (kernel, queries.kind, dtype), 77);
    let slab = plan(&twins.gpu, &snapshot, content).expect("one slab")[0];
    let score = |slab: &super::slab::Slab| Ok(round.score(slab, 5, NUM_ROWS as u32 - 3, Some(&MASK))?);
    SlabCache::default().with_slab(&twins.gpu, &snapshot, (content, slab), &bounds[0], metric, score).expect("a round");
    let Ok(Found::Entries(entries)) = round.finish() else { panic!("the list holds all") };

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
            let found = entries.iter().find(|entry| (entry.query as usize, entry.row as usize) == (query, row));
            check(passes, is_masked, expected, found, cuts[query], row_cut);
            num_passed += usize::from(found.is_some());
        }
    }
    assert_eq!(num_passed, entries.len(), "every entry belongs to a row and a query");
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
