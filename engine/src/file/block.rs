//! A block: a fixed number of rows with their ids, norms and checksums.
//!
//! | offset in the block | section |
//! |---|---|
//! | 0 | rows at the stride; the bytes after a row's values are zero |
//! | rows_per_block × stride | ids, u64 |
//! | + rows_per_block × 8 | norms, f64: `‖row‖` over the stored values |
//! | + rows_per_block × 8 | checksums, u32: CRC32C of the row's stride, id and norm |
//! | + rows_per_block × 4 | zero up to a multiple of 65 536 |

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use half::f16;

use crate::metric::Dtype;

use super::layout::Geometry;
use super::map::Segment;

/// A block of a mapped or copied file.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) segment: Arc<Segment>,
    pub(crate) offset_in_segment: usize,
    /// Rows from the first on whose checksums were found right, shared by all snapshots.
    pub(crate) num_checked: Arc<AtomicUsize>,
}

/// The committed rows of a block.
#[derive(Clone, Copy)]
pub(crate) struct BlockView<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) geometry: Geometry,
    /// Row of the file that is row 0 of the block.
    pub(crate) first_row: u64,
    pub(crate) num_rows: usize,
    num_checked: &'a AtomicUsize,
}

impl Block {
    pub(crate) fn view(&self, geometry: Geometry, first_row: u64, num_rows: usize) -> BlockView<'_> {
        let bytes = &self.segment.bytes()[self.offset_in_segment..][..geometry.block_bytes];
        BlockView { bytes, geometry, first_row, num_rows, num_checked: &self.num_checked }
    }
}

impl<'a> BlockView<'a> {
    /// Ids of the committed rows, strictly increasing.
    pub(crate) fn ids(&self) -> &'a [u64] {
        bytemuck::cast_slice(&self.bytes[self.geometry.ids_offset()..][..self.num_rows * 8])
    }

    /// Norms of the committed rows.
    pub(crate) fn norms(&self) -> &'a [f64] {
        bytemuck::cast_slice(&self.bytes[self.geometry.norms_offset()..][..self.num_rows * 8])
    }

    /// Checksums of the committed rows.
    pub(crate) fn checksums(&self) -> &'a [u32] {
        bytemuck::cast_slice(&self.bytes[self.geometry.checksums_offset()..][..self.num_rows * 4])
    }

    /// A row with its padding.
    pub(crate) fn row_bytes(&self, row: usize) -> &'a [u8] {
        &self.bytes[row * self.geometry.stride_bytes..][..self.geometry.stride_bytes]
    }

    /// The values of a row, or `None` if they are not stored as f32.
    pub(crate) fn row_f32(&self, row: usize) -> Option<&'a [f32]> {
        (self.geometry.dtype == Dtype::F32).then(|| &bytemuck::cast_slice(self.row_bytes(row))[..self.geometry.dims])
    }

    /// Writes the values of a row to `values`, which has `dims` of them.
    pub(crate) fn read_row(&self, row: usize, values: &mut [f32]) {
        match self.geometry.dtype {
            Dtype::F32 => {
                values.copy_from_slice(&bytemuck::cast_slice(self.row_bytes(row))[..values.len()]);
            }
            Dtype::F16 => {
                let halves: &[f16] = &bytemuck::cast_slice(self.row_bytes(row))[..values.len()];
                half::slice::HalfFloatSliceExt::convert_to_f32_slice(halves, values);
            }
        }
    }

    /// The first row whose checksum does not fit. What was right once is not read again.
    pub(crate) fn first_damaged_row(&self) -> Option<usize> {
        let start = self.num_checked.load(Ordering::Relaxed);
        let damaged = (start..self.num_rows).find(|&row| !self.is_row_intact(row));
        if damaged.is_none() {
            self.num_checked.fetch_max(self.num_rows, Ordering::Relaxed);
        }
        damaged
    }

    /// Whether a row has the checksum it was written with.
    pub(crate) fn is_row_intact(&self, row: usize) -> bool {
        row_checksum(self.row_bytes(row), self.ids()[row], self.norms()[row]) == self.checksums()[row]
    }
}

/// The checksum stored with a row.
pub(crate) fn row_checksum(row_bytes: &[u8], id: u64, norm: f64) -> u32 {
    let mut tail = [0; 16];
    tail[..8].copy_from_slice(&id.to_le_bytes());
    tail[8..].copy_from_slice(&norm.to_le_bytes());
    crc32c::crc32c_append(crc32c::crc32c(row_bytes), &tail)
}
