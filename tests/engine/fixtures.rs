//! Files written by earlier versions stay readable, and what is written today has the same bytes.

use std::fs;
use std::path::{Path, PathBuf};

use engine::{Dtype, FileSpec, Metric, Query, VectorFile};

use super::samples::cpu_searcher;

/// Where the uuid and the checksum of a superblock lie: the only bytes that differ from file to file.
const UUID: std::ops::Range<usize> = 32..48;
const CHECKSUM: std::ops::Range<usize> = 4092..4096;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(name)
}

/// Version 1 with f32 rows: two appends and a deletion.
fn write_v1_f32(path: &Path) {
    let metric = Metric::DotPenalized { penalty: 0.25 };
    let spec = FileSpec { metric, block_bytes: Some(65_536), ..FileSpec::new(5) };
    let mut file = VectorFile::create(path, &spec).unwrap();
    file.append(&[7, 8], &[1.0, -2.0, 0.5, 0.0, 3.25, 0.0, 0.0, 0.0, 0.0, 1e-20]).unwrap();
    file.append(&[1 << 32], &[0.1, 0.2, 0.3, 0.4, 0.5]).unwrap();
    file.delete(&[8]).unwrap();
}

/// Version 1 with f16 rows, scaled to unit length.
fn write_v1_f16(path: &Path) {
    let spec = FileSpec { dtype: Dtype::F16, is_normalised: true, block_bytes: Some(65_536), ..FileSpec::new(3) };
    VectorFile::create(path, &spec).unwrap().append(&[1, 2], &[3.0, 4.0, 0.0, 0.0, 0.0, -9.0]).unwrap();
}

#[test]
fn version_1_with_f32_rows_is_read() {
    let file = VectorFile::open_read_only(&fixture("v1-f32.vec")).unwrap();
    assert_eq!((file.dims(), file.num_rows(), file.num_live_rows()), (5, 3, 2));
    assert_eq!(file.metric(), Metric::DotPenalized { penalty: 0.25 });
    assert_eq!((file.snapshot().epoch(), file.last_id()), (4, Some(1 << 32)));
    assert_eq!(file.vector(7).unwrap(), [1.0, -2.0, 0.5, 0.0, 3.25]);
    assert_eq!(file.vector(8), None, "deleted");
    assert_eq!(file.vector(1 << 32).unwrap(), [0.1, 0.2, 0.3, 0.4, 0.5]);
    assert!(file.verify().unwrap().is_sound());
    let found = cpu_searcher(1).search(&file.snapshot(), &Query::new(&[0.0, 0.0, 0.0, 0.0, 2.0])).unwrap();
    let norm = f64::sqrt(1.0 + 4.0 + 0.25 + 3.25 * 3.25);
    assert_eq!((found.hits[0][0].id, found.hits[0][0].score), (7, 6.5 - 0.25 * norm));
}

#[test]
fn version_1_with_f16_rows_is_read() {
    let file = VectorFile::open_read_only(&fixture("v1-f16.vec")).unwrap();
    assert_eq!(file.snapshot().dtype(), Dtype::F16);
    assert_eq!(file.vector(1).unwrap(), [0.600_097_66, 0.799_804_7, 0.0]);
    assert_eq!(file.vector(2).unwrap(), [0.0, 0.0, -1.0]);
    assert!(file.verify().unwrap().is_sound());
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for (name, write) in [("v1-f32.vec", write_v1_f32 as fn(&Path)), ("v1-f16.vec", write_v1_f16)] {
        let path = folder.path().join(name);
        write(&path);
        let (mut today, mut then) = (fs::read(&path).unwrap(), fs::read(fixture(name)).unwrap());
        assert_eq!(today.len(), then.len());
        for bytes in [&mut today, &mut then] {
            for slot in [0, 4096] {
                bytes[slot + UUID.start..slot + UUID.end].fill(0);
                bytes[slot + CHECKSUM.start..slot + CHECKSUM.end].fill(0);
                // The checksum of the tombstones covers the uuid.
                bytes[slot + 140..slot + 144].fill(0);
            }
        }
        let differing = today.iter().zip(&then).position(|(a, b)| a != b);
        assert_eq!(differing, None, "{name}: the first byte that differs");
    }
}
