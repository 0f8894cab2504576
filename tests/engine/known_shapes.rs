//! Shapes of data and queries that broke other engines.

use engine::{Dtype, FileSpec, Metric, Query, RowFilter, Searcher};

use super::samples::{Rng, TempFile, cpu_searcher};

fn ids(hits: &[engine::Hit]) -> Vec<u64> {
    hits.iter().map(|hit| hit.id).collect()
}

fn check(searcher: &Searcher, made: &TempFile, query: &Query<'_>) -> Vec<Vec<engine::Hit>> {
    let snapshot = made.file.snapshot();
    let found = searcher.search(&snapshot, query).unwrap().hits;
    assert_eq!(found, searcher.search_naive(&snapshot, query).unwrap());
    found
}

#[test]
fn batch_size_does_not_change_the_answer() {
    let mut rng = Rng(1);
    let made = TempFile::with_rows(&FileSpec::new(48), &rng.values(48 * 2500));
    let queries = rng.values(48 * 1024);
    let (one, three) = (cpu_searcher(1), cpu_searcher(3));
    let all = check(&one, &made, &Query::new(&queries));
    for size in [1, 2, 3, 5, 10, 16, 17, 19, 20, 32, 1024] {
        for searcher in [&one, &three] {
            let part = Query::new(&queries[..48 * size]);
            let found = searcher.search(&made.file.snapshot(), &part).unwrap().hits;
            assert_eq!(found, all[..size], "{size} queries");
        }
    }
}

#[test]
fn a_large_common_offset_keeps_the_order() {
    let mut rng = Rng(2);
    let rows: Vec<f32> = rng.values(32 * 800).iter().map(|value| 10_000.0 + value).collect();
    let made = TempFile::with_rows(&FileSpec::new(32), &rows);
    let searcher = cpu_searcher(2);
    for metric in [Metric::L2, Metric::Dot, Metric::Cosine] {
        let found = check(&searcher, &made, &Query { metric: Some(metric), ..Query::new(&rows[..64]) });
        if metric == Metric::L2 {
            assert_eq!((found[0][0].id, found[0][0].score, found[1][0].id), (10, 0.0, 20));
        }
    }
}

#[test]
fn uneven_scales_never_give_a_negative_distance() {
    let mut rng = Rng(3);
    let mut rows = Vec::new();
    for row in 0..600_i32 {
        rows.extend(rng.values(24).iter().map(|value| value * 10_f32.powi(row % 13 - 6)));
    }
    let made = TempFile::with_rows(&FileSpec::new(24), &rows);
    let found = check(&cpu_searcher(2), &made, &Query { k: 600, metric: Some(Metric::L2), ..Query::new(&rows) });
    assert!(found.iter().flatten().all(|hit| hit.score <= 0.0 && hit.score.is_finite()));
    assert!(found.iter().enumerate().all(|(row, hits)| hits[0].score == 0.0 && hits[0].id == (row as u64 + 1) * 10));
}

#[test]
fn any_k_up_to_all_rows() {
    let mut rng = Rng(4);
    let made = TempFile::with_rows(&FileSpec::new(8), &rng.values(8 * 12_000));
    let queries = rng.values(8 * 3);
    let searcher = cpu_searcher(2);
    let mut longest = Vec::new();
    for k in [12_001, 12_000, 10_100, 2049, 1, 0] {
        let found = check(&searcher, &made, &Query { k, ..Query::new(&queries) });
        assert!(found.iter().all(|hits| hits.len() == k.min(12_000)));
        if longest.is_empty() {
            longest.clone_from(&found);
        }
        assert_eq!(ids(&found[1]), ids(&longest[1])[..k.min(12_000)], "k = {k}");
    }
}

#[test]
fn an_empty_index_has_no_hits_for_any_batch() {
    let made = TempFile::create(&FileSpec::new(8));
    for num_queries in [0, 1, 19, 20] {
        let found = check(&cpu_searcher(2), &made, &Query::new(&vec![1.0; 8 * num_queries]));
        assert!(found.len() == num_queries && found.iter().all(Vec::is_empty));
    }
}

#[test]
fn one_row_is_found() {
    let made = TempFile::with_rows(&FileSpec::new(1), &[-3.0]);
    let found = check(&cpu_searcher(4), &made, &Query { k: 5, ..Query::new(&[2.0]) });
    assert_eq!((found[0].len(), found[0][0].id, found[0][0].score), (1, 10, -1.0));
}

#[test]
fn a_filter_is_obeyed_and_complete() {
    let mut rng = Rng(5);
    let made = TempFile::with_rows(&FileSpec::new(16), &rng.values(16 * 3000));
    let snapshot = made.file.snapshot();
    let queries = rng.values(16 * 20);
    let searcher = cpu_searcher(2);
    for wanted in [vec![], vec![10], vec![777, 29_990, 30_000], (1..=900).map(|row| row * 20).collect::<Vec<u64>>()] {
        let filter = RowFilter::from_ids(&snapshot, &wanted);
        for k in [2, 50] {
            let found = check(&searcher, &made, &Query { k, filter: Some(&filter), ..Query::new(&queries) });
            let matches = filter.num_rows() as usize;
            assert!(found.iter().all(|hits| hits.len() == k.min(matches)), "as many hits as match");
            assert!(found.iter().flatten().all(|hit| wanted.contains(&hit.id)));
        }
    }
}

#[test]
fn vectors_equal_to_six_decimals_are_told_apart() {
    let mut rng = Rng(6);
    let base = rng.values(64);
    let rows: Vec<f32> =
        (0..2000).flat_map(|_| base.iter().map(|value| value + rng.value() * 1e-6).collect::<Vec<_>>()).collect();
    let made = TempFile::with_rows(&FileSpec::new(64), &rows);
    for metric in [Metric::Cosine, Metric::Dot, Metric::L2] {
        check(&cpu_searcher(2), &made, &Query { k: 25, metric: Some(metric), ..Query::new(&rows[..64 * 4]) });
    }
}

#[test]
fn a_row_finds_itself_first() {
    let mut rng = Rng(7);
    let rows = rng.values(100 * 1500);
    for dtype in [Dtype::F32, Dtype::F16] {
        let made = TempFile::with_rows(&FileSpec { dtype, ..FileSpec::new(100) }, &rows);
        let stored: Vec<f32> = (0..1500).flat_map(|row| made.file.vector((row + 1) * 10).unwrap()).collect();
        let found = cpu_searcher(2).search(&made.file.snapshot(), &Query { k: 1, ..Query::new(&stored) }).unwrap().hits;
        assert!(
            found.iter().enumerate().all(|(row, hits)| hits[0].id == (row as u64 + 1) * 10 && hits[0].score <= 1.0)
        );
    }
}

#[test]
fn zero_rows_are_left_out_of_cosine_and_counted() {
    let mut rng = Rng(8);
    let mut rows = rng.values(12 * 500);
    for row in [0, 77, 499] {
        rows[row * 12..(row + 1) * 12].fill(0.0);
    }
    let made = TempFile::with_rows(&FileSpec::new(12), &rows);
    let searcher = cpu_searcher(2);
    let queries = rng.values(12 * 3);
    let query = Query { k: 500, ..Query::new(&queries) };
    let outcome = searcher.search(&made.file.snapshot(), &query).unwrap();
    assert_eq!((outcome.hits[0].len(), outcome.num_zero_rows), (497, 3));
    let found = check(&searcher, &made, &Query { metric: Some(Metric::Dot), ..query });
    assert_eq!(found[0].len(), 500, "a zero row has a dot product");
    assert!(searcher.search(&made.file.snapshot(), &Query::new(&[0.0; 12])).is_err());
    let origin = Query { metric: Some(Metric::L2), ..Query::new(&[0.0; 12]) };
    assert_eq!(check(&searcher, &made, &origin)[0][0].id, 10, "the origin is a point like any other");
}

#[test]
fn the_length_of_a_query_does_not_change_the_order() {
    let mut rng = Rng(9);
    let made = TempFile::with_rows(&FileSpec::new(33), &rng.values(33 * 900));
    let query = rng.values(33);
    let searcher = cpu_searcher(1);
    let expected = ids(&check(&searcher, &made, &Query::new(&query))[0]);
    for factor in [2.0, 0.5, 1024.0, 1e-30, 1e30] {
        let scaled: Vec<f32> = query.iter().map(|value| value * factor).collect();
        let found = check(&searcher, &made, &Query::new(&scaled));
        if factor > 1e-3 && factor < 1e20 {
            assert_eq!(ids(&found[0]), expected, "query x {factor}");
        }
    }
}

#[test]
fn tiny_and_huge_rows_are_scored() {
    let mut rows = vec![1e-4_f32; 16];
    rows.extend([1e-4_f32; 16]);
    rows.extend([1e-30_f32; 16]);
    rows.extend([1e30_f32; 16]);
    rows.extend([-3e38_f32; 16]);
    rows.extend([f32::MIN_POSITIVE / 4.0; 16]);
    let made = TempFile::with_rows(&FileSpec::new(16), &rows);
    let searcher = cpu_searcher(1);
    let found = check(&searcher, &made, &Query::new(&rows[..16]));
    assert_eq!(ids(&found[0]).len(), 6);
    assert!((found[0][0].score - 1.0).abs() < 1e-12, "two identical tiny rows match");
    for metric in [Metric::Dot, Metric::L2, Metric::DOT_PENALIZED] {
        for query in rows.chunks(16) {
            check(&searcher, &made, &Query { metric: Some(metric), ..Query::new(query) });
        }
    }
}

#[test]
fn bad_queries_are_named() {
    let made = TempFile::with_rows(&FileSpec::new(4), &[1.0; 4]);
    let searcher = cpu_searcher(1);
    let mut queries = [1.0; 12];
    for bad in [f32::NAN, f32::INFINITY] {
        queries[9] = bad;
        let err = searcher.search(&made.file.snapshot(), &Query::new(&queries)).expect_err("a bad query");
        assert!(matches!(err, engine::Error::BadQuery { query: 2, .. }), "{err}");
    }
    let err = searcher.search(&made.file.snapshot(), &Query::new(&[1.0; 6])).expect_err("a wrong length");
    assert!(err.to_string().contains("6 values") && err.to_string().contains("4 dimensions"), "{err}");
}

#[test]
fn ties_go_to_the_lower_id() {
    let made = TempFile::with_rows(&FileSpec::new(8), &vec![0.25; 8 * 5000]);
    for threads in [1, 2, 5] {
        let found = check(&cpu_searcher(threads), &made, &Query { k: 40, ..Query::new(&[1.0; 8 * 20]) });
        let expected: Vec<u64> = (1..=40).map(|row| row * 10).collect();
        assert!(found.iter().all(|hits| ids(hits) == expected), "{threads} threads");
    }
}
