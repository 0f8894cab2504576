//! NumPy's array file: a magic, a version, a Python dictionary as text, then the values.
//!
//! Format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>

use crate::error::Error;
use crate::file::Disk;

use super::{Format, Shape, Value, bad_source};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Longest header that is read; two dimensions take about a hundred bytes.
const MAX_HEADER_BYTES: u32 = 64 << 10;
/// Values start at a multiple of this.
const ALIGN_BYTES: usize = 64;

/// The shape of a file; `None` if it does not start as one of this format.
pub(super) fn shape(disk: &Disk) -> Result<Option<Shape>, Error> {
    let mut start = [0; 12];
    let len_bytes = disk.len_bytes()?;
    if len_bytes < start.len() as u64 {
        return Ok(None);
    }
    disk.read_at(&mut start, 0)?;
    if start[..6] != MAGIC[..] {
        return Ok(None);
    }
    let (text_start, text_bytes) = match start[6] {
        1 => (10, u32::from(u16::from_le_bytes([start[8], start[9]]))),
        2 | 3 => (12, u32::from_le_bytes([start[8], start[9], start[10], start[11]])),
        version => return Err(bad_source(&disk.path, format!(".npy version {version}, expected 1, 2 or 3"))),
    };
    if text_bytes > MAX_HEADER_BYTES || text_start + u64::from(text_bytes) > len_bytes {
        return Err(bad_source(&disk.path, format!("its header claims {text_bytes} bytes")));
    }
    let mut text = vec![0; text_bytes as usize];
    disk.read_at(&mut text, text_start)?;
    let (value, num_rows, dims) =
        parse(&String::from_utf8_lossy(&text)).map_err(|reason| bad_source(&disk.path, reason))?;
    let values_start = text_start + u64::from(text_bytes);
    let needed = (dims as u64).checked_mul(value.size_bytes() as u64).and_then(|row| row.checked_mul(num_rows));
    let found = len_bytes - values_start;
    if needed != Some(found) {
        let reason = format!("{num_rows} rows of {dims} values do not make the {found} bytes after its header");
        return Err(bad_source(&disk.path, reason));
    }
    Ok(Some(Shape { format: Format::Npy { start: values_start, value }, num_rows, dims }))
}

/// The header of an array of f32 with two dimensions.
pub(super) fn header(num_rows: u64, dims: usize) -> Vec<u8> {
    let mut text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({num_rows}, {dims}), }}");
    let unpadded = MAGIC.len() + 4 + text.len() + 1;
    text.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(ALIGN_BYTES) - unpadded));
    text.push('\n');
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&[1, 0]);
    header.extend_from_slice(&(text.len() as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}

/// Value type, rows and dimensions of a header's dictionary.
fn parse(text: &str) -> Result<(Value, u64, usize), String> {
    let descr = field(text, "descr")?;
    let value = match descr.trim_matches(['\'', '"']) {
        "<f2" => Value::F16,
        "<f4" => Value::F32,
        "<f8" => Value::F64,
        other => return Err(format!("values of type {other:?}, expected <f2, <f4 or <f8")),
    };
    if field(text, "fortran_order")? != "False" {
        return Err("values in Fortran order; save it with numpy.ascontiguousarray".to_owned());
    }
    let shape = field(text, "shape")?;
    let sizes: Option<Vec<u64>> =
        shape.split(',').map(str::trim).filter(|size| !size.is_empty()).map(|size| size.parse().ok()).collect();
    match sizes.as_deref() {
        Some(&[num_rows, dims]) => Ok((value, num_rows, usize::try_from(dims).unwrap_or(usize::MAX))),
        _ => Err(format!("shape ({shape}), expected (rows, dimensions)")),
    }
}

/// The text of a dictionary's value: what stands in brackets, or all up to the next comma.
fn field<'t>(text: &'t str, name: &str) -> Result<&'t str, String> {
    let missing = || format!("its header has no {name:?}");
    let quoted = [format!("'{name}'"), format!("\"{name}\"")];
    let after = quoted.iter().find_map(|key| text.split_once(key.as_str())).ok_or_else(missing)?.1;
    let value = after.trim_start().strip_prefix(':').ok_or_else(missing)?.trim_start();
    let inside = value.strip_prefix('(').map(|inside| inside.split(')').next().unwrap_or_default());
    Ok(inside.unwrap_or_else(|| value.split([',', '}']).next().unwrap_or_default().trim_end()))
}
