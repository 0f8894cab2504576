//! int8 codes of the rows: a sidecar that can be made again from the file at any time.
//!
//! A row `v` is approximated as `scale · code` with codes from -127 to 127; the norm of what is
//! left, `‖v - scale · code‖`, is stored rounded up, so that the error of a score is bounded.
//! `notes.vec` has `notes.vec.codes`. All numbers are little-endian.
//!
//! | offset | bytes | field |
//! |-------:|------:|-------|
//! | 0  | 8  | magic `89 4F 43 51 0D 0A 1A 0A` |
//! | 8  | 4  | version, 1 |
//! | 12 | 4  | dimensions |
//! | 16 | 16 | uuid of the vector file |
//! | 32 | 8  | rows with codes, from the first |
//! | 40 | 8  | rows per block, as in the vector file |
//! | 48 | 8  | zero |
//! | 56 | 4  | CRC32C of the checksum table |
//! | 60 | 4  | CRC32C of bytes 0 to 59 |
//! | 64 | 4 × blocks | checksum table: CRC32C of each block |
//! | next multiple of 4096 | | blocks, each a multiple of 4096 |
//!
//! A block holds the codes (a multiple of 32 bytes per row, zeros at the end), then the scales
//! (f32), then the residual norms (f32).

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;
use crate::score;

use super::block::BlockView;
use super::disk::{Disk, rename_durably, sibling};
use super::map::Segment;
use super::{Snapshot, VectorFile};

const MAGIC: [u8; 8] = *b"\x89OCQ\r\n\x1a\n";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 64;
const PAGE_BYTES: usize = 4096;
/// Codes of a row take a multiple of this.
const CODE_ALIGN_BYTES: usize = 32;
/// The largest magnitude of a row's code.
pub(crate) const MAX_CODE: f32 = 127.0;

/// The codes of a file's first rows.
#[derive(Debug)]
pub(crate) struct Codes {
    disk: Disk,
    segment: Segment,
    layout: CodesLayout,
    checksums: Vec<u32>,
    is_checked: Vec<AtomicBool>,
}

/// The codes of one block.
#[derive(Clone, Copy)]
pub(crate) struct CodesView<'a> {
    codes: &'a [i8],
    /// `row ≈ scale · code`.
    pub(crate) scales: &'a [f32],
    /// Upper bounds of `‖row - scale · code‖`.
    pub(crate) residuals: &'a [f32],
    /// Codes per row.
    pub(crate) stride: usize,
}

/// A row and what its codes leave out.
struct Quantised {
    codes: Vec<i8>,
    scale: f32,
    residual: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CodesLayout {
    num_rows: u64,
    rows_per_block: usize,
    stride: usize,
}

impl VectorFile {
    /// Writes int8 codes of all rows beside the file, for [`crate::Precision::Certified`].
    ///
    /// Rows appended later are searched without codes until this is called again. A compaction
    /// drops the codes.
    ///
    /// # Errors
    /// If a row is damaged, the handle is read-only or the disk refuses.
    pub fn write_codes(&mut self) -> Result<(), Error> {
        self.check_writable()?;
        let snapshot = self.snapshot();
        write(&snapshot)?;
        self.codes = load(&snapshot)?.map(std::sync::Arc::new);
        Ok(())
    }
}

/// Where the codes of a file lie.
pub(crate) fn codes_path(path: &Path) -> PathBuf {
    sibling(path, ".codes")
}

/// Length of a row's codes.
pub(crate) fn code_stride(dims: usize) -> usize {
    dims.next_multiple_of(CODE_ALIGN_BYTES)
}

/// Approximates a row by codes.
fn quantise(values: &[f32]) -> Quantised {
    let mut codes = vec![0_i8; code_stride(values.len())];
    let (scale, residual) = approximate(values, MAX_CODE, |dim, code| codes[dim] = code as i8);
    Quantised { codes, scale, residual }
}

/// Approximates a vector as `scale · code` with codes from `-max_code` to `max_code`, which `put` gets one by one
/// (none if the vector is too small to be told apart from zero). Returns the scale and an upper bound of the norm
/// of what is left.
pub(crate) fn approximate(values: &[f32], max_code: f32, mut put: impl FnMut(usize, f32)) -> (f32, f32) {
    let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let scale = largest / max_code;
    if scale < f32::MIN_POSITIVE {
        return (0.0, round_up(score::norm(values)));
    }
    let mut sum = 0.0_f64;
    for (dim, &value) in values.iter().enumerate() {
        let code = (value / scale).round().clamp(-max_code, max_code);
        put(dim, code);
        let left = f64::from(value) - f64::from(scale) * f64::from(code);
        sum += left * left;
    }
    (scale, round_up(sum.sqrt()))
}

/// The next f32 above, with room for the rounding of the sum.
fn round_up(value: f64) -> f32 {
    ((value * (1.0 + 1e-9)) as f32).next_up()
}

impl CodesLayout {
    fn of(snapshot: &Snapshot, num_rows: u64) -> Self {
        let geometry = snapshot.geometry();
        Self { num_rows, rows_per_block: geometry.rows_per_block, stride: code_stride(geometry.dims) }
    }

    fn num_blocks(&self) -> usize {
        self.num_rows.div_ceil(self.rows_per_block as u64) as usize
    }

    fn block_bytes(&self) -> usize {
        (self.rows_per_block * (self.stride + 8)).next_multiple_of(PAGE_BYTES)
    }

    fn blocks_start(&self) -> usize {
        (HEADER_BYTES + self.num_blocks() * 4).next_multiple_of(PAGE_BYTES)
    }

    fn scales_offset(&self) -> usize {
        self.rows_per_block * self.stride
    }

    fn residuals_offset(&self) -> usize {
        self.scales_offset() + self.rows_per_block * 4
    }
}

fn write(snapshot: &Snapshot) -> Result<(), Error> {
    let layout = CodesLayout::of(snapshot, snapshot.num_rows());
    let target = codes_path(snapshot.path());
    let draft = Disk::create(&sibling(&target, ".new"))?;
    let mut table = Vec::with_capacity(layout.num_blocks());
    for index in 0..layout.num_blocks() {
        let image = encode_block(&snapshot.check_block(index)?, &layout);
        table.push(crc32c::crc32c(&image));
        draft.write_at(&image, (layout.blocks_start() + index * layout.block_bytes()) as u64)?;
    }
    draft.write_at(bytemuck::cast_slice(&table), HEADER_BYTES as u64)?;
    draft.write_at(&encode_header(snapshot, &layout, &table), 0)?;
    draft.grow((layout.blocks_start() + layout.num_blocks() * layout.block_bytes()) as u64)?;
    draft.sync()?;
    rename_durably(&draft.path, &target)
}

fn encode_block(block: &BlockView<'_>, layout: &CodesLayout) -> Vec<u8> {
    let mut image = vec![0_u8; layout.block_bytes()];
    let mut values = vec![0.0; block.geometry.dims];
    for row in 0..block.num_rows {
        block.read_row(row, &mut values);
        let quantised = quantise(&values);
        let mut put = |offset: usize, bytes: &[u8]| {
            image[offset..offset + bytes.len()].copy_from_slice(bytes);
        };
        put(row * layout.stride, bytemuck::cast_slice(&quantised.codes));
        put(layout.scales_offset() + row * 4, &quantised.scale.to_le_bytes());
        put(layout.residuals_offset() + row * 4, &quantised.residual.to_le_bytes());
    }
    image
}

fn encode_header(snapshot: &Snapshot, layout: &CodesLayout, table: &[u32]) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&(snapshot.dims() as u32).to_le_bytes());
    header[16..32].copy_from_slice(&snapshot.uuid());
    header[32..40].copy_from_slice(&layout.num_rows.to_le_bytes());
    header[40..48].copy_from_slice(&(layout.rows_per_block as u64).to_le_bytes());
    header[56..60].copy_from_slice(&crc32c::crc32c(bytemuck::cast_slice(table)).to_le_bytes());
    let crc = crc32c::crc32c(&header[..60]);
    header[60..].copy_from_slice(&crc.to_le_bytes());
    header
}

/// The codes that belong to a snapshot. None, stale or damaged ones are no error: they only save time.
pub(crate) fn load(snapshot: &Snapshot) -> Result<Option<Codes>, Error> {
    let path = codes_path(snapshot.path());
    if !path.exists() {
        return Ok(None);
    }
    let disk = Disk::open(&path, false)?;
    let mut header = [0; HEADER_BYTES];
    if disk.len_bytes()? < HEADER_BYTES as u64 {
        return Ok(None);
    }
    disk.read_at(&mut header, 0)?;
    let Some(layout) = parse_header(&header, snapshot) else {
        return Ok(None);
    };
    let len_bytes = layout.blocks_start() + layout.num_blocks() * layout.block_bytes();
    if layout.num_blocks() == 0 || disk.len_bytes()? < len_bytes as u64 {
        return Ok(None);
    }
    let mut checksums = vec![0_u32; layout.num_blocks()];
    disk.read_at(bytemuck::cast_slice_mut(&mut checksums), HEADER_BYTES as u64)?;
    if crc32c::crc32c(bytemuck::cast_slice(&checksums)).to_le_bytes() != header[56..60] {
        return Ok(None);
    }
    let segment = Segment::map(&disk, 0, len_bytes)?;
    let is_checked = checksums.iter().map(|_| AtomicBool::new(false)).collect();
    Ok(Some(Codes { disk, segment, layout, checksums, is_checked }))
}

/// The layout, if the header is whole and speaks of this file.
fn parse_header(header: &[u8; HEADER_BYTES], snapshot: &Snapshot) -> Option<CodesLayout> {
    let is_whole = header[..8] == MAGIC && crc32c::crc32c(&header[..60]).to_le_bytes() == header[60..];
    let is_ours = header[8..12] == VERSION.to_le_bytes()
        && header[12..16] == (snapshot.dims() as u32).to_le_bytes()
        && header[16..32] == snapshot.uuid()
        && header[40..48] == (snapshot.geometry().rows_per_block as u64).to_le_bytes();
    let num_rows = u64::from_le_bytes(header[32..40].try_into().ok()?);
    // A reader may have opened the file before the rows were appended that have codes by now.
    (is_whole && is_ours && num_rows <= snapshot.num_rows()).then(|| CodesLayout::of(snapshot, num_rows))
}

impl Codes {
    /// Whether the file still has the length that was mapped.
    pub(crate) fn is_whole(&self) -> bool {
        self.disk.check_len(self.segment.bytes().len() as u64).is_ok()
    }

    /// Rows with codes.
    pub(crate) fn num_rows(&self) -> u64 {
        self.layout.num_rows
    }

    /// The codes of a block whose rows up to `num_rows` all have them, if they are undamaged.
    pub(crate) fn block(&self, index: usize, num_rows: usize) -> Option<CodesView<'_>> {
        let layout = &self.layout;
        let end = index as u64 * layout.rows_per_block as u64 + num_rows as u64;
        if index >= layout.num_blocks() || end > layout.num_rows {
            return None;
        }
        let start = layout.blocks_start() + index * layout.block_bytes();
        let bytes = &self.segment.bytes()[start..start + layout.block_bytes()];
        if !self.is_checked[index].load(Ordering::Relaxed) {
            if crc32c::crc32c(bytes) != self.checksums[index] {
                return None;
            }
            self.is_checked[index].store(true, Ordering::Relaxed);
        }
        Some(CodesView {
            codes: bytemuck::cast_slice(&bytes[..layout.scales_offset()]),
            scales: bytemuck::cast_slice(&bytes[layout.scales_offset()..][..num_rows * 4]),
            residuals: bytemuck::cast_slice(&bytes[layout.residuals_offset()..][..num_rows * 4]),
            stride: layout.stride,
        })
    }

    /// Asks the system for the codes of a block that are needed now.
    pub(crate) fn will_need(&self, index: usize) {
        if index < self.layout.num_blocks() {
            let start = self.layout.blocks_start() + index * self.layout.block_bytes();
            self.segment.will_need(start..start + self.layout.block_bytes());
        }
    }
}

impl<'a> CodesView<'a> {
    /// The codes of a row.
    pub(crate) fn codes(&self, row: usize) -> &'a [i8] {
        &self.codes[row * self.stride..][..self.stride]
    }

    /// The codes of all rows of the block, stride by stride.
    #[cfg(feature = "gpu")]
    pub(crate) fn all_bytes(&self) -> &'a [u8] {
        bytemuck::cast_slice(self.codes)
    }

    /// The same as bytes.
    pub(crate) fn bytes(&self, row: usize) -> &'a [u8] {
        bytemuck::cast_slice(self.codes(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_residual_bounds_what_the_codes_leave_out() {
        let cases: [Vec<f32>; 5] = [
            (0..100).map(|i| ((i * 37 % 101) as f32 - 50.0) / 7.0).collect(),
            vec![0.0; 40],
            vec![1e-42; 33],
            vec![3e38, -3e38, 1.0],
            vec![1.0; 384],
        ];
        for values in cases {
            let quantised = quantise(&values);
            assert_eq!(quantised.codes.len() % CODE_ALIGN_BYTES, 0);
            let rest: f64 = values
                .iter()
                .zip(&quantised.codes)
                .map(|(&value, &code)| (f64::from(value) - f64::from(quantised.scale) * f64::from(code)).powi(2))
                .sum();
            assert!(rest.sqrt() <= f64::from(quantised.residual), "{rest} against {}", quantised.residual);
        }
    }
}
