//! Damaged, hostile and vanishing files: a typed error that names the defect, never a panic, a
//! signal or a wrong answer.

use std::fs;
use std::path::Path;

use engine::{Error, FileSpec, Query, RowFilter, VectorFile};
use proptest::prelude::*;

use super::samples::{Rng, TempFile, cpu_searcher};

const DIMS: usize = 40;
const BLOCK: u64 = 65_536;
/// Rows of 192 bytes in such a block.
const ROWS_PER_BLOCK: u64 = 256;

/// Two blocks and a bit, one tombstone, several epochs; the writer is gone.
fn sample() -> tempfile::TempDir {
    let spec = FileSpec { block_bytes: Some(BLOCK), ..FileSpec::new(DIMS as u32) };
    let mut made = TempFile::with_rows(&spec, &Rng(1).values(DIMS * 700));
    made.file.delete(&[50]).unwrap();
    made.file.append(&[7001], &[0.5; DIMS]).unwrap();
    made.folder
}

fn path_in(folder: &tempfile::TempDir) -> std::path::PathBuf {
    folder.path().join("rows.vec")
}

/// Opens, verifies and searches; the first error, if there is one.
fn use_fully(path: &Path) -> Result<(), Error> {
    let file = VectorFile::open_read_only(path)?;
    let report = file.verify()?;
    let searched = cpu_searcher(1).search(&file.snapshot(), &Query::new(&[1.0; DIMS]));
    assert_eq!(searched.is_err(), !report.is_sound(), "search and verify agree on {report:?}");
    searched.map(|_| ())
}

fn flip(path: &Path, byte: u64, mask: u8) {
    let mut bytes = fs::read(path).unwrap();
    bytes[byte as usize] ^= mask;
    fs::write(path, bytes).unwrap();
}

/// CRC32C bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0x82F6_3B78 & 0_u32.wrapping_sub(crc & 1));
    !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

/// Changes a field in both slots and makes their checksums fit again.
fn forge(path: &Path, offset: usize, value: &[u8]) {
    let mut bytes = fs::read(path).unwrap();
    for slot in [0, 4096] {
        bytes[slot + offset..slot + offset + value.len()].copy_from_slice(value);
        let crc = crc32c(&bytes[slot..slot + 4092]);
        bytes[slot + 4092..slot + 4096].copy_from_slice(&crc.to_le_bytes());
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn every_cut_is_noticed() {
    let length = fs::metadata(path_in(&sample())).unwrap().len();
    let cuts = [0, 1, 8, 143, 4091, 4095, 4096, 4097, 8191, 8192, 65_535, BLOCK, BLOCK + 1, 2 * BLOCK, length - 1];
    for cut in cuts {
        let folder = sample();
        fs::OpenOptions::new().write(true).open(path_in(&folder)).unwrap().set_len(cut).unwrap();
        let err = use_fully(&path_in(&folder)).expect_err("a cut file");
        let is_typed = matches!(err, Error::Truncated { .. } | Error::NotAVectorFile { .. } | Error::Damaged { .. });
        assert!(is_typed, "cut at {cut}: {err}");
    }
}

#[test]
fn a_file_cut_under_a_reader_is_an_error() {
    let folder = sample();
    let file = VectorFile::open_read_only(&path_in(&folder)).unwrap();
    let snapshot = file.snapshot();
    fs::OpenOptions::new().write(true).open(path_in(&folder)).unwrap().set_len(BLOCK + 100).unwrap();
    let searched = cpu_searcher(2).search(&snapshot, &Query::new(&[1.0; DIMS]));
    assert!(matches!(searched, Err(Error::Truncated { .. })));
    let ids: Vec<u64> = (0..1000).collect();
    for filter in [RowFilter::from_ids(&snapshot, &ids), RowFilter::from_predicate(&snapshot, |_| true)] {
        let query = Query { filter: Some(&filter), ..Query::new(&[1.0; DIMS]) };
        assert!(matches!(cpu_searcher(1).search(&snapshot, &query), Err(Error::Truncated { .. })));
    }
    assert!(matches!(file.verify(), Err(Error::Truncated { .. })));
}

#[test]
fn a_file_replaced_under_a_reader_keeps_its_answers() {
    let folder = sample();
    let file = VectorFile::open_read_only(&path_in(&folder)).unwrap();
    let searcher = cpu_searcher(1);
    let before = searcher.search(&file.snapshot(), &Query::new(&[1.0; DIMS])).unwrap();
    fs::write(folder.path().join("other"), b"something else").unwrap();
    fs::rename(folder.path().join("other"), path_in(&folder)).unwrap();
    assert_eq!(searcher.search(&file.snapshot(), &Query::new(&[1.0; DIMS])).unwrap(), before);
}

#[test]
fn flipped_bits_in_rows_are_found_and_named() {
    // The first block: values, an id, a norm, a checksum; then the second block.
    let places = [
        (0, 0),
        (0, 192 * 5 + 159),
        (0, 192 * 255),
        (0, 192 * ROWS_PER_BLOCK + 8 * 17),
        (0, (192 + 8) * ROWS_PER_BLOCK + 8 * 200 + 7),
        (0, (192 + 16) * ROWS_PER_BLOCK + 4 * 100),
        (1, 192 * 200 + 3),
    ];
    let mut rng = Rng(2);
    for (block, offset) in places {
        let folder = sample();
        flip(&path_in(&folder), BLOCK + block * 65_536 + offset, 1 << rng.below(8));
        let file = VectorFile::open_read_only(&path_in(&folder)).unwrap();
        let report = file.verify().unwrap();
        assert_eq!(report.damage.len(), 1, "block {block} offset {offset}: {report:?}");
        assert_eq!(report.damage[0].block as u64, block);
        let err = cpu_searcher(2).search(&file.snapshot(), &Query::new(&[1.0; DIMS])).expect_err("damage");
        assert!(err.to_string().contains(&format!("block {block}")), "{err}");
    }
}

#[test]
fn the_last_block_is_checked_when_a_file_is_opened() {
    let folder = sample();
    let checksum_of_row_690 = 3 * BLOCK + (192 + 16) * ROWS_PER_BLOCK + 4 * (690 - 2 * ROWS_PER_BLOCK);
    flip(&path_in(&folder), checksum_of_row_690, 4);
    let err = VectorFile::open_read_only(&path_in(&folder)).expect_err("a torn tail");
    assert!(err.to_string().contains("block 2"), "{err}");
}

#[test]
fn a_torn_superblock_falls_back_to_the_commit_before() {
    let folder = sample();
    let newest = VectorFile::open_read_only(&path_in(&folder)).unwrap().snapshot().epoch();
    flip(&path_in(&folder), (newest % 2) * 4096 + 100, 1);
    let file = VectorFile::open_read_only(&path_in(&folder)).unwrap();
    assert_eq!((file.snapshot().epoch(), file.num_rows()), (newest - 1, 700));
    flip(&path_in(&folder), ((newest - 1) % 2) * 4096 + 100, 1);
    assert!(matches!(VectorFile::open_read_only(&path_in(&folder)), Err(Error::Damaged { .. })));
}

#[test]
fn foreign_and_newer_files_are_told_apart() {
    let folder = sample();
    for slot in [0, 4096] {
        flip(&path_in(&folder), slot, 0xFF);
    }
    assert!(matches!(use_fully(&path_in(&folder)), Err(Error::NotAVectorFile { .. })));
    for (offset, value) in [(8, 2_u32), (12, 0x0D0C_0B0A), (16, 1 << 7)] {
        let folder = sample();
        forge(&path_in(&folder), offset, &value.to_le_bytes());
        let err = use_fully(&path_in(&folder)).expect_err("a newer file");
        assert!(matches!(err, Error::UnsupportedFormat { .. }), "{err}");
    }
    let folder = sample();
    forge(&path_in(&folder), 24, &(1_u64 << 9).to_le_bytes());
    use_fully(&path_in(&folder)).expect("an unknown compatible feature does not matter");
}

#[test]
fn hostile_headers_are_refused() {
    let hostile: [(usize, u64); 14] = [
        (56, 9),              // value type and metric
        (60, 77 << 32),       // metric
        (76, 0),              // dims
        (76, 0xFFFF_FFFF),    // dims
        (80, 0),              // stride
        (80, 1 << 63),        // stride
        (88, 0),              // rows per block
        (88, u64::MAX / 200), // rows per block
        (96, 0),              // block size
        (96, 1 << 40),        // block size
        (104, u64::MAX),      // rows
        (104, 1 << 40),       // rows
        (128, 1 << 20),       // deleted rows
        (120, 77),            // tombstones that are not there
    ];
    for (offset, value) in hostile {
        let folder = sample();
        forge(&path_in(&folder), offset, &value.to_le_bytes());
        let err = use_fully(&path_in(&folder)).expect_err("a hostile header");
        let is_typed = matches!(err, Error::Damaged { .. } | Error::Truncated { .. } | Error::Io { .. });
        assert!(is_typed, "offset {offset}, value {value}: {err}");
    }
}

#[test]
fn damaged_tombstones_are_refused() {
    let tombstones = |folder: &tempfile::TempDir| folder.path().join("rows.vec.deleted-1");
    for byte in [0, 8, 20, 33, 41, 64, 70] {
        let folder = sample();
        flip(&tombstones(&folder), byte, 2);
        assert!(matches!(use_fully(&path_in(&folder)), Err(Error::Damaged { .. })), "byte {byte}");
    }
    for length in [0, 63, 64, 151] {
        let folder = sample();
        fs::OpenOptions::new().write(true).open(tombstones(&folder)).unwrap().set_len(length).unwrap();
        assert!(matches!(use_fully(&path_in(&folder)), Err(Error::Damaged { .. })), "length {length}");
    }
    let folder = sample();
    fs::remove_file(tombstones(&folder)).unwrap();
    assert!(matches!(use_fully(&path_in(&folder)), Err(Error::Io { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..9000), has_magic: bool) {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = bytes;
        if has_magic && bytes.len() >= 8 {
            bytes[..8].copy_from_slice(b"\x89OCV\r\n\x1a\n");
        }
        fs::write(path_in(&folder), bytes).unwrap();
        prop_assert!(use_fully(&path_in(&folder)).is_err());
    }

    #[test]
    fn forged_fields_never_panic(offset in 48_usize..144, value: u64, is_small: bool) {
        let folder = sample();
        let value = if is_small { value % 1024 } else { value };
        let field = value.to_le_bytes();
        let width = field.len().min(144 - offset);
        forge(&path_in(&folder), offset, &field[..width]);
        let _ = use_fully(&path_in(&folder));
    }
}
