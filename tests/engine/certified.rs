//! Searches over int8 codes: the same answers from a quarter of the bytes, whatever the codes are worth.

use std::fs;

use engine::{FileSpec, Metric, Precision, Query, VectorFile};

use super::samples::{Rng, TempFile, cpu_searcher};

const DIMS: usize = 96;

fn spec() -> FileSpec {
    FileSpec { metric: Metric::Dot, block_bytes: Some(256 << 10), ..FileSpec::new(DIMS as u32) }
}

/// The certified answer must be the full one, for one and for a few queries and several k.
fn check(file: &VectorFile, queries: &[f32]) {
    let snapshot = file.snapshot();
    let searcher = cpu_searcher(2);
    for count in [1, 2, 4] {
        for k in [1, 10, 200] {
            let full = Query { k, ..Query::new(&queries[..count * DIMS]) };
            let certified = Query { precision: Precision::Certified, ..full };
            let expected = searcher.search_naive(&snapshot, &full).unwrap();
            assert_eq!(searcher.search(&snapshot, &full).unwrap().hits, expected);
            assert_eq!(searcher.search(&snapshot, &certified).unwrap().hits, expected, "{count} queries, k = {k}");
        }
    }
}

#[test]
fn codes_do_not_change_the_answer() {
    let mut rng = Rng(1);
    let mut made = TempFile::with_rows(&spec(), &rng.values(DIMS * 5000));
    let queries = rng.values(DIMS * 4);
    assert_eq!(made.file.snapshot().num_coded_rows(), 0);
    made.file.write_codes().unwrap();
    assert_eq!(made.file.snapshot().num_coded_rows(), 5000);
    check(&made.file, &queries);
    let reader = VectorFile::open_read_only(&made.path()).unwrap();
    assert_eq!(reader.snapshot().num_coded_rows(), 5000, "codes are found again");
    check(&reader, &queries);
}

#[test]
fn rows_appended_later_are_found_too() {
    let mut rng = Rng(2);
    let mut made = TempFile::with_rows(&spec(), &rng.values(DIMS * 3000));
    made.file.write_codes().unwrap();
    let queries = rng.values(DIMS * 4);
    let best: Vec<f32> = queries[..DIMS].iter().map(|value| value * 5.0).collect();
    made.file.append(&[99_999], &best).unwrap();
    check(&made.file, &queries);
    let certified = Query { precision: Precision::Certified, ..Query::new(&queries[..DIMS]) };
    let found = cpu_searcher(1).search(&made.file.snapshot(), &certified).unwrap();
    assert_eq!(found.hits[0][0].id, 99_999);
}

/// Rows that differ by less than the codes can show, in the worst order.
#[test]
fn rows_that_share_their_codes_are_told_apart() {
    let mut rng = Rng(3);
    let base = rng.values(DIMS);
    let mut rows = Vec::new();
    for row in 0..4000_u16 {
        let step = 1e-6 * f32::from(row);
        rows.extend(base.iter().map(|value| value * (1.0 + step)));
    }
    let mut made = TempFile::with_rows(&spec(), &rows);
    made.file.write_codes().unwrap();
    check(&made.file, &[base.clone(), base.clone(), base.clone(), base].concat());
}

#[test]
fn damaged_and_stale_codes_are_not_used() {
    let mut rng = Rng(4);
    let mut made = TempFile::with_rows(&spec(), &rng.values(DIMS * 2500));
    made.file.write_codes().unwrap();
    let queries = rng.values(DIMS * 4);
    let codes = made.folder.path().join("rows.vec.codes");
    let intact = fs::read(&codes).unwrap();
    for byte in [0, 9, 20, 33, 57, 61, 64, 4096, 4096 + 100_000, intact.len() - 1] {
        let mut bytes = intact.clone();
        bytes[byte] ^= 0x10;
        fs::write(&codes, bytes).unwrap();
        check(&VectorFile::open_read_only(&made.path()).unwrap(), &queries);
    }
    for length in [0, 10, 64, 5000, intact.len() - 1] {
        fs::write(&codes, &intact[..length]).unwrap();
        check(&VectorFile::open_read_only(&made.path()).unwrap(), &queries);
    }
    fs::write(&codes, &intact).unwrap();
    made.file.delete(&[10, 20, 30]).unwrap();
    check(&made.file, &queries);
    made.file.compact().unwrap();
    fs::write(&codes, &intact).unwrap();
    let reader = VectorFile::open_read_only(&made.path()).unwrap();
    assert_eq!(reader.snapshot().num_coded_rows(), 0, "codes of the file before");
    check(&reader, &queries);
}

#[test]
fn codes_cut_off_under_a_reader_are_left_alone() {
    let mut rng = Rng(5);
    let mut made = TempFile::with_rows(&spec(), &rng.values(DIMS * 2500));
    made.file.write_codes().unwrap();
    let codes = made.folder.path().join("rows.vec.codes");
    fs::OpenOptions::new().write(true).open(codes).unwrap().set_len(4096).unwrap();
    check(&made.file, &rng.values(DIMS * 4));
}
