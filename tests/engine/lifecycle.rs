//! Append, delete, compact, snapshots, locks: a file over its life.

use engine::{Dtype, Error, FileSpec, Metric, Query, RowFilter, VectorFile};

use super::samples::{Rng, TempFile, cpu_searcher};

fn small_spec() -> FileSpec {
    FileSpec { block_bytes: Some(65_536), metric: Metric::Dot, ..FileSpec::new(40) }
}

#[test]
fn rows_come_back_after_reopening() {
    let mut rng = Rng(1);
    let rows = rng.values(40 * 1000);
    let made = TempFile::with_rows(&small_spec(), &rows);
    let path = made.path();
    drop(made.file);
    let file = VectorFile::open_read_only(&path).unwrap();
    assert_eq!((file.num_rows(), file.last_id(), file.metric()), (1000, Some(10_000), Metric::Dot));
    for row in [0, 1, 255, 256, 999] {
        let id = (row as u64 + 1) * 10;
        assert_eq!(file.vector(id).unwrap(), &rows[row * 40..(row + 1) * 40], "row {row}");
    }
    assert_eq!(file.vector(15), None);
    assert!(file.verify().unwrap().is_sound());
}

#[test]
fn many_small_appends_equal_one_large_one() {
    let mut rng = Rng(2);
    let rows = rng.values(40 * 700);
    let ids: Vec<u64> = (1..=700).map(|row| row * 10).collect();
    let large = TempFile::with_rows(&small_spec(), &rows);
    let mut small = TempFile::create(&small_spec());
    let mut done = 0;
    while done < 700 {
        let count = (1 + rng.below(90) as usize).min(700 - done);
        small.file.append(&ids[done..done + count], &rows[done * 40..(done + count) * 40]).unwrap();
        done += count;
    }
    let bytes = |made: &TempFile| std::fs::read(made.path()).unwrap().split_off(65_536);
    assert!(bytes(&large) == bytes(&small), "blocks do not depend on how rows arrived");
    assert!(small.file.verify().unwrap().is_sound());
}

#[test]
fn a_snapshot_never_changes() {
    let mut rng = Rng(3);
    let mut made = TempFile::with_rows(&small_spec(), &rng.values(40 * 500));
    let searcher = cpu_searcher(2);
    let vectors = rng.values(40 * 2);
    let query = Query { k: 30, ..Query::new(&vectors) };
    let before = made.file.snapshot();
    let expected = searcher.search(&before, &query).unwrap();
    let more: Vec<u64> = (5001..5601).collect();
    made.file.append(&more, &rng.values(40 * 600)).unwrap();
    made.file.delete(&[10, 20, 30, expected.hits[0][0].id]).unwrap();
    made.file.compact().unwrap();
    assert_eq!(searcher.search(&before, &query).unwrap(), expected);
    assert_eq!(before.num_rows(), 500);
    assert_ne!(searcher.search(&made.file.snapshot(), &query).unwrap().hits, expected.hits);
}

#[test]
fn readers_search_while_the_writer_appends() {
    let mut rng = Rng(4);
    let mut made = TempFile::with_rows(&small_spec(), &rng.values(40 * 300));
    let snapshot = made.file.snapshot();
    let vectors = rng.values(40);
    let searcher = cpu_searcher(1);
    let expected = searcher.search(&snapshot, &Query::new(&vectors)).unwrap();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            for _ in 0..50 {
                assert_eq!(searcher.search(&snapshot, &Query::new(&vectors)).unwrap(), expected);
            }
        });
        for batch in 0..20 {
            let ids: Vec<u64> = (0..50).map(|row| 10_000 + batch * 50 + row).collect();
            made.file.append(&ids, &Rng(batch).values(40 * 50)).unwrap();
        }
        reader.join().unwrap();
    });
    assert_eq!(made.file.num_rows(), 1300);
}

#[test]
fn deleted_rows_are_gone_and_compaction_frees_them() {
    let mut rng = Rng(5);
    let mut made = TempFile::with_rows(&small_spec(), &rng.values(40 * 900));
    let doomed: Vec<u64> = (1..=900).filter(|row| row % 3 != 0).map(|row| row * 10).collect();
    assert_eq!(made.file.delete(&doomed).unwrap(), 600);
    assert_eq!(made.file.delete(&doomed).unwrap(), 0, "nothing is deleted twice");
    assert_eq!(made.file.delete(&[7, 99_999]).unwrap(), 0, "unknown ids are passed over");
    let check = |file: &VectorFile| {
        assert_eq!(file.num_live_rows(), 300);
        assert!(!file.contains(10) && file.contains(30));
        assert_eq!(file.last_id(), Some(9000));
        let ids: Vec<u64> = file.snapshot().ids().collect();
        assert!(ids.len() == 300 && ids.iter().all(|id| id % 30 == 0));
        assert!(file.verify().unwrap().is_sound());
    };
    check(&made.file);
    check(&VectorFile::open_read_only(&made.path()).unwrap());
    let kept = made.file.vector(30).unwrap();
    let length = |made: &TempFile| std::fs::metadata(made.path()).unwrap().len();
    let before = length(&made);
    made.file.compact().unwrap();
    check(&made.file);
    assert_eq!(made.file.num_rows(), 300);
    assert_eq!(made.file.vector(30).unwrap(), kept);
    assert!(length(&made) < before);
    check(&VectorFile::open_read_only(&made.path()).unwrap());
    made.file.append(&[9001], &kept).unwrap();
    assert_eq!(made.file.num_live_rows(), 301);
}

#[test]
fn deleting_everything_leaves_a_usable_file() {
    let mut made = TempFile::with_rows(&small_spec(), &Rng(6).values(40 * 3));
    made.file.delete(&[10, 20, 30]).unwrap();
    let found = cpu_searcher(1).search(&made.file.snapshot(), &Query::new(&[1.0; 40])).unwrap();
    assert!(found.hits[0].is_empty());
    made.file.compact().unwrap();
    assert_eq!((made.file.num_rows(), made.file.num_live_rows()), (0, 0));
    made.file.append(&[31], &[1.0; 40]).unwrap();
    assert_eq!(cpu_searcher(1).search(&made.file.snapshot(), &Query::new(&[1.0; 40])).unwrap().hits[0].len(), 1);
}

#[test]
fn there_is_one_writer() {
    let made = TempFile::with_rows(&small_spec(), &[1.0; 40]);
    assert!(matches!(VectorFile::open(&made.path()), Err(Error::Locked { .. })));
    let mut reader = VectorFile::open_read_only(&made.path()).unwrap();
    assert!(matches!(reader.append(&[99], &[1.0; 40]), Err(Error::ReadOnly { .. })));
    assert!(matches!(reader.delete(&[10]), Err(Error::ReadOnly { .. })));
    assert!(matches!(reader.compact(), Err(Error::ReadOnly { .. })));
    let path = made.path();
    drop(made.file);
    let mut writer = VectorFile::open(&path).unwrap();
    writer.append(&[99], &[2.0; 40]).unwrap();
    assert_eq!(reader.num_rows(), 1);
    reader.refresh().unwrap();
    assert_eq!(reader.num_rows(), 2);
}

#[test]
fn bad_batches_are_refused_whole() {
    let mut made = TempFile::with_rows(&small_spec(), &[1.0; 80]);
    let mut rows = vec![1.0; 120];
    rows[95] = f32::NAN;
    match made.file.append(&[21, 22, 23], &rows) {
        Err(Error::BadRow { row: 2, dim: 15, .. }) => {}
        other => panic!("the row is named: {other:?}"),
    }
    rows[95] = f32::INFINITY;
    assert!(made.file.append(&[21, 22, 23], &rows).is_err());
    assert!(matches!(made.file.append(&[21], &rows), Err(Error::RowShape { found: 120, ids: 1, dims: 40 })));
    for ids in [[20, 21], [22, 22], [23, 22]] {
        assert!(matches!(made.file.append(&ids, &[1.0; 80]), Err(Error::IdOrder { .. })), "{ids:?}");
    }
    assert_eq!(made.file.num_rows(), 2);
    assert!(matches!(VectorFile::create(&made.path(), &small_spec()), Err(Error::Locked { .. })));
}

#[test]
fn impossible_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for dims in [0, engine::MAX_DIMS + 1] {
        let made = VectorFile::create(&folder.path().join("a.vec"), &FileSpec::new(dims));
        assert!(matches!(made, Err(Error::BadSpec { .. })), "{dims} dimensions");
    }
    let endless = FileSpec { metric: Metric::DotPenalized { penalty: f64::NAN }, ..FileSpec::new(3) };
    assert!(VectorFile::create(&folder.path().join("a.vec"), &endless).is_err());
    let missing = VectorFile::open_read_only(&folder.path().join("none.vec"));
    assert!(matches!(missing, Err(Error::Io { .. })));
    VectorFile::create(&folder.path().join("b.vec"), &FileSpec::new(3)).unwrap();
    let twice = VectorFile::create(&folder.path().join("b.vec"), &FileSpec::new(3));
    assert!(matches!(twice, Err(Error::Io { .. })), "an existing file is never overwritten");
}

#[test]
fn f16_rows_are_rounded_once_and_bounded() {
    let spec = FileSpec { dtype: Dtype::F16, ..FileSpec::new(3) };
    let mut made = TempFile::with_rows(&spec, &[0.1, -2.0, 65_504.0]);
    assert_eq!(made.file.vector(10).unwrap(), [0.099_975_586, -2.0, 65_504.0]);
    assert!(matches!(made.file.append(&[11], &[1.0, 70_000.0, 0.0]), Err(Error::BadRow { row: 0, dim: 1, .. })));
}

#[test]
fn normalised_files_scale_what_they_store() {
    let spec = FileSpec { is_normalised: true, ..FileSpec::new(2) };
    let made = TempFile::with_rows(&spec, &[3.0, 4.0, 0.0, 0.0, 1e-30, 0.0]);
    assert_eq!(made.file.vector(10).unwrap(), [0.6, 0.8]);
    assert_eq!(made.file.vector(20).unwrap(), [0.0, 0.0]);
    assert_eq!(made.file.vector(30).unwrap(), [1.0, 0.0]);
}

#[test]
fn in_memory_files_answer_alike() {
    let mut rng = Rng(9);
    let made = TempFile::with_rows(&small_spec(), &rng.values(40 * 600));
    let copied = VectorFile::open_in_memory(&made.path()).unwrap();
    let vectors = rng.values(40 * 3);
    let searcher = cpu_searcher(2);
    let expected = searcher.search(&made.file.snapshot(), &Query::new(&vectors)).unwrap();
    std::fs::OpenOptions::new().write(true).open(made.path()).unwrap().set_len(0).unwrap();
    assert_eq!(searcher.search(&copied.snapshot(), &Query::new(&vectors)).unwrap(), expected);
}

#[test]
fn filters_belong_to_their_file() {
    let mut made = TempFile::with_rows(&small_spec(), &Rng(10).values(40 * 9));
    let other = TempFile::with_rows(&small_spec(), &Rng(11).values(40 * 9));
    let filter = RowFilter::from_ids(&made.file.snapshot(), &[20, 50, 55, 90, 1000]);
    assert_eq!(filter.num_rows(), 3);
    let query = Query { filter: Some(&filter), ..Query::new(&[1.0; 40]) };
    let searcher = cpu_searcher(1);
    assert!(matches!(searcher.search(&other.file.snapshot(), &query), Err(Error::ForeignFilter { .. })));
    made.file.append(&[91], &[1.0; 40]).unwrap();
    assert_eq!(
        searcher.search(&made.file.snapshot(), &query).unwrap().hits[0].len(),
        3,
        "rows added later are not in it"
    );
    made.file.delete(&[20]).unwrap();
    assert_eq!(searcher.search(&made.file.snapshot(), &query).unwrap().hits[0].len(), 2);
    made.file.compact().unwrap();
    assert!(matches!(searcher.search(&made.file.snapshot(), &query), Err(Error::ForeignFilter { .. })));
    let unsorted = RowFilter::from_ids(&made.file.snapshot(), &[90, 30, 30, 70]);
    assert_eq!(unsorted.num_rows(), 3);
    let odd = RowFilter::from_predicate(&made.file.snapshot(), |id| id % 20 == 10);
    assert_eq!(odd.num_rows(), 5);
}
