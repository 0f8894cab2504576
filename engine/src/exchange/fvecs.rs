//! Rows of f32, each after its number of dimensions as a 32-bit integer.
//!
//! Format: <http://corpus-texmex.irisa.fr/>

use std::path::Path;

use crate::error::Error;
use crate::file::{Disk, MAX_DIMS};

use super::{Format, Shape, bad_source};

const HEADER_BYTES: usize = 4;

/// Bytes of a row with its header.
pub(super) fn row_bytes(dims: usize) -> usize {
    HEADER_BYTES + dims * 4
}

/// What stands before every row.
pub(super) fn row_header(dims: usize) -> [u8; HEADER_BYTES] {
    (dims as u32).to_le_bytes()
}

/// The shape of a file, from its first row and its length.
pub(super) fn shape(disk: &Disk) -> Result<Shape, Error> {
    let len_bytes = disk.len_bytes()?;
    let mut header = [0; HEADER_BYTES];
    if len_bytes < HEADER_BYTES as u64 {
        return Err(bad_source(&disk.path, format!("{len_bytes} bytes, too few for a row")));
    }
    disk.read_at(&mut header, 0)?;
    let dims = u32::from_le_bytes(header);
    if dims == 0 || dims > MAX_DIMS {
        return Err(bad_source(&disk.path, format!("{dims} dimensions, expected 1 to {MAX_DIMS}")));
    }
    let dims = dims as usize;
    let row_bytes = row_bytes(dims) as u64;
    if !len_bytes.is_multiple_of(row_bytes) {
        let reason = format!("{len_bytes} bytes are no whole number of rows of {dims} dimensions");
        return Err(bad_source(&disk.path, reason));
    }
    Ok(Shape { format: Format::Fvecs, num_rows: len_bytes / row_bytes, dims })
}

/// Appends the values of whole rows, the first of which is row `first_row` of the file.
pub(super) fn decode(
    path: &Path,
    bytes: &[u8],
    dims: usize,
    first_row: u64,
    values: &mut Vec<f32>,
) -> Result<(), Error> {
    for (row, bytes) in (first_row..).zip(bytes.chunks_exact(row_bytes(dims))) {
        let (header, row_values) = bytes.split_at(HEADER_BYTES);
        if header != row_header(dims) {
            let found = u32::from_le_bytes(header.try_into().unwrap_or_default());
            return Err(bad_source(path, format!("row {row} has {found} dimensions, the first has {dims}")));
        }
        super::Value::F32.decode(row_values, values);
    }
    Ok(())
}
