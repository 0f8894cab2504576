//! The GPU gives the CPU's answers, under limits that send it through every path, and faults are reported.

use engine::gpu::GpuTuning;
use engine::{Backend, FileSpec, GpuMode, Precision, Query, Searcher, SearcherOptions};
use proptest::prelude::*;

use super::equality::{cases, check};
use super::samples::{Rng, TempFile};

/// A searcher on the software adapter with these limits. Fails if there is no adapter, unless
/// `OUTCROP_ALLOW_NO_GPU=1` says that none is expected.
pub(super) fn gpu_searcher(tuning: GpuTuning) -> Option<Searcher> {
    let options = SearcherOptions { gpu: GpuMode::Software, threads: Some(2) };
    match Searcher::with_gpu_tuning(&options, tuning) {
        Ok(searcher) => Some(searcher),
        Err(_) if std::env::var_os("OUTCROP_ALLOW_NO_GPU").is_some_and(|value| value == "1") => None,
        Err(err) => panic!("the GPU tests need an adapter (lavapipe will do): {err}"),
    }
}

/// Limits so low that every path of chunks, lines of workgroups and overflows runs.
fn tight_limits() -> GpuTuning {
    GpuTuning {
        max_binding_bytes: Some(16 << 10),
        max_groups_per_dimension: Some(4),
        found_capacity: Some(96),
        resident_bytes: Some(48 << 10),
        without_subgroups: true,
        lose_device_after_rounds: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn gpu_equals_the_oracle(case in cases()) {
        thread_local! {
            static SEARCHERS: Vec<Searcher> =
                [GpuTuning::default(), tight_limits()].into_iter().filter_map(gpu_searcher).collect();
        }
        SEARCHERS.with(|searchers| if searchers.is_empty() { Ok(()) } else { check(&case, searchers) })?;
    }
}

#[test]
fn a_software_adapter_really_ran() {
    let Some(searcher) = gpu_searcher(GpuTuning::default()) else {
        return;
    };
    let mut rng = Rng(7);
    for num_queries in [1, 8, 9, 70] {
        let made = TempFile::with_rows(&FileSpec::new(20), &rng.values(20 * 3000));
        let queries = rng.values(20 * num_queries);
        let outcome = searcher.search(&made.file.snapshot(), &Query::new(&queries)).unwrap();
        assert_eq!((outcome.backend, outcome.gpu_fault), (Backend::Gpu, None), "{num_queries} queries");
    }
}

/// Few queries read codes on the GPU too, and overflow, chunks and several hundred hits change nothing.
#[test]
fn certified_searches_run_on_the_gpu() {
    let mut rng = Rng(11);
    let mut made =
        TempFile::with_rows(&FileSpec { block_bytes: Some(65_536), ..FileSpec::new(70) }, &rng.values(70 * 3000));
    made.file.write_codes().unwrap();
    let queries = rng.values(70 * 8);
    let snapshot = made.file.snapshot();
    for tuning in [GpuTuning::default(), tight_limits()] {
        let Some(searcher) = gpu_searcher(tuning) else {
            return;
        };
        for (num_queries, k) in [(1, 10), (8, 10), (3, 700)] {
            let full = Query { k, ..Query::new(&queries[..70 * num_queries]) };
            let certified = Query { precision: Precision::Certified, ..full };
            let (found, counts) = searcher.search_counted(&snapshot, &certified).unwrap();
            assert_eq!((found.backend, counts.num_coded_rows), (Backend::Gpu, 3000), "{:?}", found.gpu_fault);
            assert_eq!(found.hits, searcher.search_naive(&snapshot, &full).unwrap(), "{num_queries} queries, k = {k}");
        }
    }
}

/// More hits than any list of a workgroup holds, on limits that need many rounds.
#[test]
fn thousands_of_hits_come_from_the_gpu() {
    let mut rng = Rng(12);
    let made =
        TempFile::with_rows(&FileSpec { block_bytes: Some(65_536), ..FileSpec::new(24) }, &rng.values(24 * 9000));
    let queries = rng.values(24 * 2);
    let snapshot = made.file.snapshot();
    for tuning in [GpuTuning::default(), GpuTuning { found_capacity: Some(5000), ..tight_limits() }] {
        let Some(searcher) = gpu_searcher(tuning) else {
            return;
        };
        for k in [1025, 5000, 9000] {
            let query = Query { k, ..Query::new(&queries) };
            let found = searcher.search(&snapshot, &query).unwrap();
            assert_eq!((found.backend, found.gpu_fault), (Backend::Gpu, None), "k = {k}");
            assert_eq!(found.hits, searcher.search_naive(&snapshot, &query).unwrap(), "k = {k}");
        }
    }
}

#[test]
fn a_lost_device_is_reported_and_the_cpu_finishes() {
    let tuning = GpuTuning { lose_device_after_rounds: Some(1), ..GpuTuning::default() };
    let Some(searcher) = gpu_searcher(tuning) else {
        return;
    };
    let mut rng = Rng(8);
    let made = TempFile::with_rows(&FileSpec::new(16), &rng.values(16 * 9000));
    let queries = rng.values(16 * 3);
    let query = Query::new(&queries);
    let expected = searcher.search_naive(&made.file.snapshot(), &query).unwrap();
    let lost = searcher.search(&made.file.snapshot(), &query).unwrap();
    assert_eq!(lost.hits, expected);
    assert_eq!(lost.backend, Backend::Cpu);
    assert!(lost.gpu_fault.is_some(), "the loss is reported");
    let again = searcher.search(&made.file.snapshot(), &query).unwrap();
    assert_eq!((again.hits, again.backend, again.gpu_fault), (expected, Backend::Gpu, None), "opened anew");
}
