//! The lists of candidates on the GPU: read back once, and never short of a row, however full they get.

use engine::gpu::GpuTuning;
use engine::{Backend, FileSpec, Metric, Precision, Query, RowFilter, Searcher, Snapshot};

use super::gpu::gpu_searcher;
use super::samples::{Rng, TempFile, cpu_searcher};

const NUM_ROWS: usize = 5000;
const DIMS: usize = 6;
/// Hits wanted: one, some, the most that are merged, one more, and every row.
const HITS: [usize; 5] = [1, 10, 1024, 1025, NUM_ROWS];

fn make(rows: &[f32], metric: Metric) -> TempFile {
    TempFile::with_rows(&FileSpec { metric, block_bytes: Some(65_536), ..FileSpec::new(DIMS as u32) }, rows)
}

/// Bindings of 1 MiB, four workgroups per dimension, and lists of so many candidates in all.
fn tight_limits(found_capacity: u32) -> GpuTuning {
    GpuTuning {
        max_binding_bytes: Some(1 << 20),
        max_groups_per_dimension: Some(4),
        found_capacity: Some(found_capacity),
        without_subgroups: found_capacity.is_multiple_of(2),
        ..GpuTuning::default()
    }
}

/// Searchers with limits of all sorts; none where no adapter is expected.
fn searchers() -> Vec<Searcher> {
    let tunings = [GpuTuning::default(), tight_limits(20_000), tight_limits(333)];
    tunings.into_iter().filter_map(gpu_searcher).collect()
}

/// The GPU's answer is the oracle's, whatever the limits.
fn check(searchers: &[Searcher], what: &str, snapshot: &Snapshot, query: &Query<'_>) {
    let expected = cpu_searcher(1).search_naive(snapshot, query).unwrap();
    let num_zero_rows = cpu_searcher(1).search(snapshot, query).unwrap().num_zero_rows;
    for (index, searcher) in searchers.iter().enumerate() {
        let found = searcher.search(snapshot, query).unwrap();
        assert_eq!((found.backend, found.gpu_fault), (Backend::Gpu, None), "{what}");
        assert_eq!(found.num_zero_rows, num_zero_rows, "{what}, limits {index}");
        assert!(found.hits == expected, "{what}, k = {}, limits {index}", query.k);
    }
}

#[test]
fn a_search_reads_back_once() {
    let Some(searcher) = gpu_searcher(GpuTuning::default()) else { return };
    let mut rng = Rng(21);
    let made = make(&rng.values(DIMS * 4 * NUM_ROWS), Metric::Cosine);
    let snapshot = made.file.snapshot();
    for (num_queries, k) in [(1, 1), (8, 10), (9, 10), (70, 100), (5, 1024), (3, 1025), (2, NUM_ROWS)] {
        let queries = rng.values(DIMS * num_queries);
        let query = Query { k, ..Query::new(&queries) };
        let (found, counts) = searcher.search_counted(&snapshot, &query).unwrap();
        assert_eq!((found.backend, counts.num_read_backs), (Backend::Gpu, 1), "{num_queries} queries, k = {k}");
        assert!(found.hits == searcher.search_naive(&snapshot, &query).unwrap(), "{num_queries} queries, k = {k}");
        assert!(counts.num_rescored <= 2 * (num_queries * k) as u64 + 64, "{counts:?}");
    }
}

/// Codes leave more open, which may take a second trip to read, but not a round each.
#[test]
fn a_certified_search_reads_back_at_most_twice() {
    let Some(searcher) = gpu_searcher(GpuTuning::default()) else { return };
    let mut rng = Rng(22);
    let spec = FileSpec { block_bytes: Some(65_536), ..FileSpec::new(64) };
    let mut made = TempFile::with_rows(&spec, &rng.values(64 * 12_000));
    made.file.write_codes().unwrap();
    for k in [10, 300, 2000] {
        let queries = rng.values(64 * 2);
        let full = Query { k, ..Query::new(&queries) };
        let certified = Query { precision: Precision::Certified, ..full };
        let (found, counts) = searcher.search_counted(&made.file.snapshot(), &certified).unwrap();
        assert_eq!((found.backend, counts.num_coded_rows), (Backend::Gpu, 12_000));
        assert!(counts.num_read_backs <= 2, "k = {k}: {counts:?}");
        assert!(found.hits == searcher.search_naive(&made.file.snapshot(), &full).unwrap(), "k = {k}");
    }
}

#[test]
fn any_number_of_hits_from_rows_in_any_order() {
    let searchers = searchers();
    let mut rng = Rng(23);
    let queries = rng.values(DIMS * 3);
    let random = rng.values(DIMS * NUM_ROWS);
    // For the first query every row is better than all before it, so that none falls below a cut.
    let ascending: Vec<f32> = (0..NUM_ROWS)
        .flat_map(|row| queries[..DIMS].iter().map(move |value| value * (row + 1) as f32 / NUM_ROWS as f32))
        .collect();
    for k in HITS {
        check(
            &searchers,
            "random",
            &make(&random, Metric::Cosine).file.snapshot(),
            &Query { k, ..Query::new(&queries) },
        );
        check(
            &searchers,
            "ascending",
            &make(&ascending, Metric::Dot).file.snapshot(),
            &Query { k, ..Query::new(&queries) },
        );
    }
}

/// Rows that no bound tells apart fill every list; ties go to the lower id.
#[test]
fn equal_rows_fill_the_lists() {
    let searchers = searchers();
    let mut rng = Rng(24);
    let queries = rng.values(DIMS * 2);
    let same = rng.values(DIMS).repeat(NUM_ROWS);
    let coarse: Vec<f32> = (0..DIMS * NUM_ROWS).map(|_| rng.below(2) as f32 + 1.0).collect();
    for k in HITS {
        check(&searchers, "equal", &make(&same, Metric::Cosine).file.snapshot(), &Query { k, ..Query::new(&queries) });
        check(&searchers, "tied", &make(&coarse, Metric::L2).file.snapshot(), &Query { k, ..Query::new(&queries) });
    }
}

/// Zero rows are counted once, also where their round was done again, and filters hold.
#[test]
fn filters_and_zero_rows() {
    let searchers = searchers();
    let mut rng = Rng(25);
    let queries = rng.values(DIMS * 9);
    let mut rows = rng.values(DIMS * NUM_ROWS);
    for row in (0..NUM_ROWS).step_by(11) {
        rows[row * DIMS..(row + 1) * DIMS].fill(0.0);
    }
    for metric in [Metric::Cosine, Metric::Dot, Metric::L2, Metric::DOT_PENALIZED] {
        let made = make(&rows, metric);
        let snapshot = made.file.snapshot();
        for (k, kept_of_10) in [(10, 1), (1025, 5), (10, 10)] {
            let filter = RowFilter::from_predicate(&snapshot, |id| (id / 10 * 7) % 10 < kept_of_10);
            check(&searchers, "filtered", &snapshot, &Query { k, filter: Some(&filter), ..Query::new(&queries) });
        }
    }
}

/// More queries than one dispatch has workgroups for.
#[test]
fn batches_of_many_queries() {
    let searchers = searchers();
    let mut rng = Rng(26);
    let made = make(&rng.values(DIMS * 1000), Metric::Dot);
    for num_queries in [16, 17, 100, 300] {
        let queries = rng.values(DIMS * num_queries);
        check(&searchers, "batch", &made.file.snapshot(), &Query { k: 3, ..Query::new(&queries) });
    }
}

/// A penalty that leaves the range of f32 beside a tiny query is for the CPU.
#[test]
fn a_tiny_query_under_a_penalty_is_exact() {
    let Some(searcher) = gpu_searcher(GpuTuning::default()) else { return };
    let mut rng = Rng(27);
    let made = make(&rng.values(DIMS * 500), Metric::DOT_PENALIZED);
    let queries: Vec<f32> = rng.values(DIMS * 2).iter().map(|value| value * 1e-35).collect();
    let query = Query::new(&queries);
    let found = searcher.search(&made.file.snapshot(), &query).unwrap();
    assert_eq!(found.hits, searcher.search_naive(&made.file.snapshot(), &query).unwrap());
    assert!(found.gpu_fault.is_some(), "it says who answered and why");
}

/// Whichever round of the chain the device goes in, the CPU finishes.
#[test]
fn a_device_lost_in_any_round_is_reported() {
    let mut rng = Rng(28);
    let made = make(&rng.values(DIMS * NUM_ROWS), Metric::Cosine);
    let queries = rng.values(DIMS * 2);
    let query = Query { k: 1025, ..Query::new(&queries) };
    // Before and between the two rounds of a chain, and between chains.
    for (after_rounds, found_capacity) in [(0, 9000), (1, 9000), (2, 2400)] {
        let lose_device_after_rounds = Some(after_rounds);
        let tuning = GpuTuning { lose_device_after_rounds, ..tight_limits(found_capacity) };
        let Some(searcher) = gpu_searcher(tuning) else { return };
        let found = searcher.search(&made.file.snapshot(), &query).unwrap();
        assert!(found.hits == searcher.search_naive(&made.file.snapshot(), &query).unwrap());
        assert!(found.backend == Backend::Cpu && found.gpu_fault.is_some(), "lost after {after_rounds}");
    }
}
