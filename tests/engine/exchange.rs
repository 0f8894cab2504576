//! `.npy` and `.fvecs` in and out, and files of those names that are not what they say.

use std::fs;
use std::path::Path;

use engine::{Error, FileSpec, VectorFile, VectorSource};

use super::samples::{Rng, TempFile};

const DIMS: usize = 7;

fn made() -> (TempFile, Vec<f32>) {
    let rows = Rng(1).values(DIMS * 900);
    let spec = FileSpec { block_bytes: Some(65_536), ..FileSpec::new(DIMS as u32) };
    let mut made = TempFile::with_rows(&spec, &rows);
    made.file.delete(&[10, 500, 9000]).unwrap();
    let live = rows.chunks(DIMS).enumerate().filter(|(row, _)| ![0, 49, 899].contains(row));
    let live = live.flat_map(|(_, row)| row.to_vec()).collect();
    (made, live)
}

fn take_in(source: &Path, target: &Path) -> Result<VectorFile, Error> {
    let mut source = VectorSource::open(source)?;
    let mut file = VectorFile::create(target, &FileSpec::new(source.dims() as u32))?;
    file.append_from(&mut source, 100)?;
    Ok(file)
}

#[test]
fn rows_survive_the_way_out_and_in() {
    let (made, live) = made();
    let folder = made.folder.path();
    made.file.snapshot().write_npy(&folder.join("rows.npy")).unwrap();
    made.file.snapshot().write_fvecs(&folder.join("rows.fvecs")).unwrap();
    for name in ["rows.npy", "rows.fvecs"] {
        let source = VectorSource::open(&folder.join(name)).unwrap();
        assert_eq!((source.num_rows(), source.dims()), (897, DIMS), "{name}");
        let file = take_in(&folder.join(name), &folder.join(format!("{name}.vec"))).unwrap();
        let ids: Vec<u64> = file.snapshot().ids().collect();
        assert_eq!(ids, (100..997).collect::<Vec<u64>>(), "{name}");
        let back: Vec<f32> = ids.iter().flat_map(|&id| file.vector(id).unwrap()).collect();
        assert_eq!(back, live, "{name}");
        assert!(file.verify().unwrap().is_sound());
    }
}

#[test]
fn a_source_is_read_in_parts() {
    let (made, live) = made();
    let path = made.folder.path().join("rows.fvecs");
    made.file.snapshot().write_fvecs(&path).unwrap();
    let mut source = VectorSource::open(&path).unwrap();
    let mut read = Vec::new();
    loop {
        let part = source.read(100).unwrap();
        if part.is_empty() {
            break;
        }
        read.extend(part);
    }
    assert_eq!(read, live);
}

/// A `.npy` file with this dictionary before `values`.
fn npy(dictionary: &str, values: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.bytes());
    bytes.extend(values);
    bytes
}

#[test]
fn arrays_of_other_widths_are_taken_in() {
    let folder = tempfile::tempdir().unwrap();
    let f64s: Vec<u8> = [0.5_f64, -2.0, 3.25, 4.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    // 0.5, -2, 3.25 and 4 as f16.
    let f16s: Vec<u8> = [0x3800_u16, 0xC000, 0x4280, 0x4400].iter().flat_map(|value| value.to_le_bytes()).collect();
    for (name, descr, values) in [("d.npy", "<f8", f64s), ("h.npy", "<f2", f16s)] {
        let dictionary = format!("{{\"descr\": \"{descr}\", \"fortran_order\": False, \"shape\": (2,2)}}");
        fs::write(folder.path().join(name), npy(&dictionary, &values)).unwrap();
        let mut source = VectorSource::open(&folder.path().join(name)).unwrap();
        assert_eq!(source.read(9).unwrap(), [0.5, -2.0, 3.25, 4.0], "{name}");
    }
}

#[test]
fn what_cannot_be_taken_in_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let values = [0; 32];
    let cases: [(&str, Vec<u8>, &str); 11] = [
        ("order.npy", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 4), }", &values), "Fortran"),
        ("type.npy", npy("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }", &values), "<i8"),
        ("flat.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (8,), }", &values), "shape"),
        ("short.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", &values), "3 rows"),
        (
            "huge.npy",
            npy(
                "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807), }",
                &values,
            ),
            "rows of",
        ),
        ("empty.npy", npy("", &values), "descr"),
        ("cut.npy", b"\x93NUMPY\x01\x00\xff\xff{'de".to_vec(), "65535"),
        ("version.npy", b"\x93NUMPY\x09\x00\x10\x00{'descr':".to_vec(), "version 9"),
        ("dims.fvecs", vec![0xFF; 64], "dimensions"),
        ("rest.fvecs", [vec![2, 0, 0, 0], vec![0; 9]].concat(), "whole number"),
        ("rows.txt", b"some other file, long enough".to_vec(), ".fvecs"),
    ];
    for (name, bytes, reason) in cases {
        fs::write(folder.path().join(name), bytes).unwrap();
        let err = VectorSource::open(&folder.path().join(name)).expect_err(name);
        assert!(err.to_string().contains(reason) && err.to_string().contains(name), "{err}");
    }
    let uneven = [2_u32, 0, 0, 3, 0, 0].map(u32::to_le_bytes).concat();
    fs::write(folder.path().join("uneven.fvecs"), uneven).unwrap();
    let err = VectorSource::open(&folder.path().join("uneven.fvecs")).unwrap().read(9).expect_err("uneven");
    assert!(err.to_string().contains("row 1"), "{err}");
}

#[test]
fn a_bad_row_is_counted_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut values = vec![0.5_f32; 2 * 50];
    values[2 * 33 + 1] = f32::NAN;
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (50, 2), }";
    fs::write(folder.path().join("rows.npy"), npy(dictionary, &bytes)).unwrap();
    let mut source = VectorSource::open(&folder.path().join("rows.npy")).unwrap();
    source.read(10).unwrap();
    let mut file = VectorFile::create(&folder.path().join("rows.vec"), &FileSpec::new(2)).unwrap();
    let err = file.append_from(&mut source, 1).expect_err("not a number");
    assert!(matches!(err, Error::BadRow { row: 33, dim: 1, .. }), "{err}");
    let mut wide = VectorFile::create(&folder.path().join("wide.vec"), &FileSpec::new(3)).unwrap();
    let err = wide.append_from(&mut source, 1).expect_err("other dimensions");
    assert!(err.to_string().contains("2 dimensions, expected the file's 3"), "{err}");
}
