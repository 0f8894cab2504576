//! Where a block and its sections lie. Every size that comes from a header passes through here.
//!
//! Invariant: no arithmetic on untrusted numbers that can wrap.

use crate::metric::Dtype;

/// Offset of the first block; the two superblock slots lie before it.
pub(crate) const BLOCKS_START_BYTES: u64 = 64 * 1024;
/// Blocks are multiples of this, so that any page size can map one.
pub(crate) const BLOCK_ALIGN_BYTES: u64 = 64 * 1024;
/// Rows start at multiples of this.
const ROW_ALIGN_BYTES: u64 = 64;
/// Size that blocks aim at.
const DEFAULT_BLOCK_BYTES: u64 = 8 << 20;
/// Largest block that a file may declare.
const MAX_BLOCK_BYTES: u64 = 1 << 30;
/// Bytes a row takes beside its values: id, norm, checksum.
const ROW_EXTRA_BYTES: u64 = 8 + 8 + 4;
/// Most dimensions of a row.
pub const MAX_DIMS: u32 = 65_536;

/// The geometry of a file: sizes and offsets that follow from its superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) dims: usize,
    pub(crate) dtype: Dtype,
    pub(crate) stride_bytes: usize,
    pub(crate) rows_per_block: usize,
    pub(crate) block_bytes: usize,
}

impl Geometry {
    /// The geometry of a new file whose blocks aim at `block_bytes`.
    pub(crate) fn new(dims: u32, dtype: Dtype, block_bytes: Option<u64>) -> Result<Self, String> {
        let stride = stride_bytes(dims, dtype)?;
        let target = block_bytes.unwrap_or(DEFAULT_BLOCK_BYTES).clamp(BLOCK_ALIGN_BYTES, MAX_BLOCK_BYTES);
        let fitting = target / (stride + ROW_EXTRA_BYTES);
        let rows = if fitting >= 64 { fitting / 64 * 64 } else { fitting.max(1) };
        Self::from_header(
            dims,
            dtype,
            stride,
            rows,
            (rows * (stride + ROW_EXTRA_BYTES)).next_multiple_of(BLOCK_ALIGN_BYTES),
        )
    }

    /// Checks what a superblock says.
    pub(crate) fn from_header(
        dims: u32,
        dtype: Dtype,
        stride: u64,
        rows_per_block: u64,
        block_bytes: u64,
    ) -> Result<Self, String> {
        let expected_stride = stride_bytes(dims, dtype)?;
        if stride != expected_stride {
            return Err(format!("row stride is {stride} bytes but {dims} dimensions need {expected_stride}"));
        }
        let needed = rows_per_block.checked_mul(stride + ROW_EXTRA_BYTES).filter(|&bytes| bytes > 0);
        let needed = needed.and_then(|bytes| bytes.checked_next_multiple_of(BLOCK_ALIGN_BYTES));
        if needed != Some(block_bytes) || block_bytes > MAX_BLOCK_BYTES {
            return Err(format!("{rows_per_block} rows of {stride} bytes do not make a block of {block_bytes} bytes"));
        }
        Ok(Self {
            dims: dims as usize,
            dtype,
            stride_bytes: stride as usize,
            rows_per_block: rows_per_block as usize,
            block_bytes: block_bytes as usize,
        })
    }

    /// Blocks that `rows` rows take.
    pub(crate) fn num_blocks(&self, rows: u64) -> u64 {
        rows.div_ceil(self.rows_per_block as u64)
    }

    /// Offset of a block in the file.
    pub(crate) fn block_offset(&self, block: u64) -> Option<u64> {
        block.checked_mul(self.block_bytes as u64)?.checked_add(BLOCKS_START_BYTES)
    }

    /// Length that a file with `rows` committed rows has at least.
    pub(crate) fn required_bytes(&self, rows: u64) -> Option<u64> {
        self.block_offset(self.num_blocks(rows)).filter(|&bytes| i64::try_from(bytes).is_ok())
    }

    /// Offset of the ids in a block.
    pub(crate) fn ids_offset(&self) -> usize {
        self.rows_per_block * self.stride_bytes
    }

    /// Offset of the norms in a block.
    pub(crate) fn norms_offset(&self) -> usize {
        self.ids_offset() + self.rows_per_block * 8
    }

    /// Offset of the checksums in a block.
    pub(crate) fn checksums_offset(&self) -> usize {
        self.norms_offset() + self.rows_per_block * 8
    }
}

fn stride_bytes(dims: u32, dtype: Dtype) -> Result<u64, String> {
    if dims == 0 || dims > MAX_DIMS {
        return Err(format!("{dims} dimensions, expected 1 to {MAX_DIMS}"));
    }
    Ok((u64::from(dims) * dtype.size_bytes() as u64).next_multiple_of(ROW_ALIGN_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_geometry_that_is_made_is_accepted_again() {
        for dims in [1, 3, 16, 17, 384, 768, 1536, MAX_DIMS] {
            for dtype in [Dtype::F32, Dtype::F16] {
                for block in [None, Some(0), Some(65_536), Some(1 << 20)] {
                    let made = Geometry::new(dims, dtype, block);
                    let geometry = made.as_ref().expect("a sound geometry");
                    let again = Geometry::from_header(
                        dims,
                        dtype,
                        geometry.stride_bytes as u64,
                        geometry.rows_per_block as u64,
                        geometry.block_bytes as u64,
                    );
                    assert_eq!(made, again);
                    assert!(geometry.checksums_offset() + geometry.rows_per_block * 4 <= geometry.block_bytes);
                }
            }
        }
    }

    #[test]
    fn hostile_sizes_are_refused() {
        assert!(Geometry::from_header(0, Dtype::F32, 0, 1, 65_536).is_err());
        assert!(Geometry::from_header(16, Dtype::F32, 64, u64::MAX, 65_536).is_err());
        assert!(Geometry::from_header(16, Dtype::F32, 64, 0, 0).is_err());
        assert!(Geometry::from_header(16, Dtype::F32, 64, u64::MAX / 84, u64::MAX).is_err());
        let geometry = Geometry::new(16, Dtype::F32, None).expect("sound");
        assert_eq!(geometry.required_bytes(u64::MAX), None);
    }
}
