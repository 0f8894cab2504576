//! Every path gives the oracle's ids in the oracle's order with the oracle's scores.

use engine::{Dtype, FileSpec, Metric, Precision, Query, RowFilter, Searcher};
use proptest::prelude::*;

use super::samples::{Rng, TempFile, cpu_searcher};

/// How the values of a case are made: each kind once broke an engine.
#[derive(Clone, Copy, Debug)]
enum Data {
    Random,
    /// Few distinct values: many ties.
    Coarse,
    /// Every row the same.
    Same,
    /// Rows sorted from worst to best for the first query.
    Ascending,
    /// One large offset on all values.
    Offset,
    /// Rows of very different length, some of zeros.
    Scales,
    /// Equal to six decimals.
    Close,
}

/// A file and what is asked of it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    data: Data,
    metric: Metric,
    dtype: Dtype,
    dims: usize,
    num_rows: usize,
    num_queries: usize,
    k: usize,
    kept_percent: u64,
    deleted_percent: u64,
    seed: u64,
}

/// Files and queries of every kind.
pub(crate) fn cases() -> impl Strategy<Value = Case> {
    let data = prop_oneof![
        Just(Data::Random),
        Just(Data::Coarse),
        Just(Data::Same),
        Just(Data::Ascending),
        Just(Data::Offset),
        Just(Data::Scales),
        Just(Data::Close)
    ];
    let metric = prop_oneof![
        Just(Metric::Cosine),
        Just(Metric::Dot),
        Just(Metric::L2),
        Just(Metric::DOT_PENALIZED),
        Just(Metric::DotPenalized { penalty: -3.0 })
    ];
    let dtype = prop_oneof![3 => Just(Dtype::F32), 1 => Just(Dtype::F16)];
    let shape = (1_usize..70, 0_usize..900, prop_oneof![Just(1_usize), Just(2), 3_usize..40]);
    let k = prop_oneof![0_usize..4, 4_usize..40, Just(1000_usize)];
    let kept = prop_oneof![Just(100_u64), 0_u64..100];
    let deleted = prop_oneof![2 => Just(0_u64), 1 => 0_u64..100];
    (data, metric, dtype, shape, k, kept, deleted, any::<u64>()).prop_map(
        |(data, metric, dtype, (dims, num_rows, num_queries), k, kept_percent, deleted_percent, seed)| Case {
            data,
            metric,
            dtype,
            dims,
            num_rows,
            num_queries,
            k,
            kept_percent,
            deleted_percent,
            seed,
        },
    )
}

fn make_rows(case: &Case, rng: &mut Rng, query: &[f32]) -> Vec<f32> {
    let mut rows = Vec::with_capacity(case.num_rows * case.dims);
    let same = rng.values(case.dims);
    for row in 0..case.num_rows {
        let scale = 10.0_f32.powi((rng.below(9) as i32 - 5) * i32::from(rng.below(10) > 0))
            * f32::from(u8::from(rng.below(12) > 0));
        for dim in 0..case.dims {
            rows.push(match case.data {
                Data::Random => rng.value(),
                Data::Coarse => rng.below(3) as f32 - 1.0,
                Data::Same => same[dim],
                Data::Ascending => query[dim] * (row + 1) as f32 / case.num_rows as f32,
                Data::Offset => 1000.0 + rng.value(),
                Data::Scales => rng.value() * scale,
                Data::Close => same[dim] + rng.value() * 1e-6,
            });
        }
    }
    rows
}

/// Appends the rows in two parts; in half of the cases those of the first part get codes.
fn fill(made: &mut TempFile, case: &Case, rows: &[f32]) {
    let ids: Vec<u64> = (1..=case.num_rows as u64).map(|row| row * 10).collect();
    let first = case.num_rows * 3 / 4;
    made.file.append(&ids[..first], &rows[..first * case.dims]).unwrap();
    if case.seed.is_multiple_of(2) {
        made.file.write_codes().unwrap();
    }
    made.file.append(&ids[first..], &rows[first * case.dims..]).unwrap();
}

/// Every searcher gives the oracle's answer to a case.
pub(crate) fn check(case: &Case, searchers: &[Searcher]) -> Result<(), TestCaseError> {
    let mut rng = Rng(case.seed);
    let mut queries = rng.values(case.num_queries * case.dims);
    for value in &mut queries {
        *value += 2.0 * f32::EPSILON;
    }
    let rows = make_rows(case, &mut rng, &queries);
    let spec = FileSpec { dtype: case.dtype, block_bytes: Some(65_536), ..FileSpec::new(case.dims as u32) };
    let mut made = TempFile::create(&spec);
    fill(&mut made, case, &rows);
    let ids: Vec<u64> = made.file.snapshot().ids().collect();
    let doomed: Vec<u64> = ids.iter().copied().filter(|_| rng.below(100) < case.deleted_percent).collect();
    made.file.delete(&doomed).unwrap();
    let snapshot = made.file.snapshot();
    let kept: Vec<u64> = ids.into_iter().filter(|_| rng.below(100) < case.kept_percent).collect();
    let filter = (case.kept_percent < 100).then(|| RowFilter::from_ids(&snapshot, &kept));
    let query = Query {
        vectors: &queries,
        k: case.k,
        metric: Some(case.metric),
        filter: filter.as_ref(),
        precision: Precision::Full,
    };
    let expected = searchers[0].search_naive(&snapshot, &query).unwrap();
    for searcher in searchers {
        let found = searcher.search(&snapshot, &query).unwrap();
        prop_assert_eq!(&found.hits, &expected, "{}", searcher.backend_name());
        let certified = Query { precision: Precision::Certified, ..query };
        let found = searcher.search(&snapshot, &certified).unwrap();
        prop_assert_eq!(&found.hits, &expected, "certified");
    }
    Ok(())
}

/// How many cases are tried. `PROPTEST_CASES` says otherwise where time is short, as under an emulator.
fn num_cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: num_cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cpu_equals_the_oracle(case in cases()) {
        thread_local! { static SEARCHERS: [Searcher; 2] = [cpu_searcher(1), cpu_searcher(3)]; }
        SEARCHERS.with(|searchers| check(&case, searchers))?;
    }
}

/// One answer per query, whatever it is asked together with, on however many threads, from values or codes.
#[test]
fn batch_sizes_and_thread_counts_agree() {
    let mut rng = Rng(9);
    let dims = 41;
    let spec = FileSpec { metric: Metric::Dot, block_bytes: Some(65_536), ..FileSpec::new(dims as u32) };
    let mut made = TempFile::with_rows(&spec, &rng.values(dims * 2500));
    made.file.write_codes().unwrap();
    let snapshot = made.file.snapshot();
    let queries = rng.values(dims * 1024);
    let searchers = [1, 2, 3, 8].map(cpu_searcher);
    let expected = searchers[0].search_naive(&snapshot, &Query { k: 25, ..Query::new(&queries) }).unwrap();
    for num_queries in [1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 257, 1000, 1024] {
        for searcher in &searchers {
            for precision in [Precision::Full, Precision::Certified] {
                // The last queries of the batch, so that each size packs its panels anew.
                let first = 1024 - num_queries;
                let query = Query { k: 25, precision, ..Query::new(&queries[first * dims..]) };
                let found = searcher.search(&snapshot, &query).unwrap();
                assert_eq!(found.hits, expected[first..], "{num_queries} queries, {precision:?}, {searcher:?}");
            }
        }
    }
}

/// The codes are read, and what they cannot decide is little.
#[test]
fn certified_searches_of_any_batch_read_the_codes() {
    let mut rng = Rng(10);
    let mut made = TempFile::with_rows(&FileSpec::new(64), &rng.values(64 * 20_000));
    made.file.write_codes().unwrap();
    let queries = rng.values(64 * 40);
    for num_queries in [1, 3, 4, 40] {
        let query = Query { precision: Precision::Certified, ..Query::new(&queries[..64 * num_queries]) };
        let (_, counts) = cpu_searcher(2).search_counted(&made.file.snapshot(), &query).unwrap();
        assert_eq!(counts.num_coded_rows, 20_000, "{num_queries} queries");
        let rescored = counts.num_rescored / num_queries as u64;
        assert!((10..400).contains(&rescored), "{num_queries} queries: {rescored} rows each");
    }
}
