//! Appending rows: encode, write past the committed rows, sync, commit.

use half::f16;

use crate::error::Error;
use crate::metric::Dtype;
use crate::score;

use super::VectorFile;
use super::block::{Block, row_checksum};
use super::layout::Geometry;
use super::open::map_blocks;

impl VectorFile {
    /// Appends rows; they are on the device and visible to new snapshots on return.
    ///
    /// `rows` holds `ids.len() × dims` values, row after row. Nothing is appended on an error.
    ///
    /// # Errors
    /// If the ids do not strictly increase from [`VectorFile::last_id`] on, a value is not finite
    /// (the row is named), the lengths do not fit, the handle is read-only, or the disk refuses.
    pub fn append(&mut self, ids: &[u64], rows: &[f32]) -> Result<(), Error> {
        self.check_writable()?;
        self.check_batch(ids, rows)?;
        if ids.is_empty() {
            return Ok(());
        }
        let num_rows = self.superblock.num_rows + ids.len() as u64;
        self.make_room(num_rows)?;
        let tail_crc = self.write_rows(ids, rows)?;
        self.disk.sync()?;
        let mut next = self.superblock.clone();
        next.epoch += 1;
        next.num_rows = num_rows;
        next.last_id = ids[ids.len() - 1];
        next.tail_crc = tail_crc;
        self.commit(next)
    }

    fn check_batch(&self, ids: &[u64], rows: &[f32]) -> Result<(), Error> {
        let dims = self.dims();
        if ids.len().checked_mul(dims) != Some(rows.len()) {
            return Err(Error::RowShape { found: rows.len(), ids: ids.len(), dims });
        }
        let mut previous = self.last_id();
        for (position, &id) in ids.iter().enumerate() {
            if let Some(previous) = previous.filter(|&previous| id <= previous) {
                return Err(Error::IdOrder { position, id, previous });
            }
            previous = Some(id);
        }
        let dtype = self.superblock.geometry.dtype;
        rows.chunks_exact(dims).enumerate().try_for_each(|(row, values)| check_values(row, values, dtype))
    }

    /// Makes the file long enough and maps its new blocks.
    fn make_room(&mut self, num_rows: u64) -> Result<(), Error> {
        let geometry = self.superblock.geometry;
        let required = geometry.required_bytes(num_rows);
        let required =
            required.ok_or_else(|| Error::BadSpec { reason: format!("{num_rows} rows do not fit in any file") })?;
        self.disk.grow(required)?;
        let (mapped, needed) = (self.blocks.len() as u64, geometry.num_blocks(num_rows));
        if mapped < needed {
            let new_blocks = map_blocks(&self.disk, geometry, mapped, needed)?;
            self.blocks = self.blocks.iter().cloned().chain(new_blocks).collect::<Vec<Block>>().into();
        }
        Ok(())
    }

    /// Writes the rows past the committed ones and returns the new tail checksum.
    fn write_rows(&self, ids: &[u64], rows: &[f32]) -> Result<u32, Error> {
        let geometry = self.superblock.geometry;
        let rows_per_block = geometry.rows_per_block as u64;
        let mut tail_crc = self.superblock.tail_crc;
        let (mut next_row, mut done) = (self.superblock.num_rows, 0);
        while done < ids.len() {
            let row_in_block = (next_row % rows_per_block) as usize;
            let count = (geometry.rows_per_block - row_in_block).min(ids.len() - done);
            let values = &rows[done * geometry.dims..(done + count) * geometry.dims];
            let encoded = EncodedRows::new(geometry, self.superblock.is_normalised, &ids[done..done + count], values);
            self.write_in_block(next_row / rows_per_block, row_in_block, &ids[done..done + count], &encoded)?;
            let before = if row_in_block == 0 { 0 } else { tail_crc };
            tail_crc = crc32c::crc32c_append(before, bytemuck::cast_slice(&encoded.checksums));
            next_row += count as u64;
            done += count;
        }
        Ok(tail_crc)
    }

    fn write_in_block(&self, block: u64, first: usize, ids: &[u64], encoded: &EncodedRows) -> Result<(), Error> {
        let geometry = self.superblock.geometry;
        let start = geometry.block_offset(block).unwrap_or(u64::MAX);
        let at = |offset: usize| start.saturating_add(offset as u64);
        self.disk.write_at(&encoded.bytes, at(first * geometry.stride_bytes))?;
        self.disk.write_at(bytemuck::cast_slice(ids), at(geometry.ids_offset() + first * 8))?;
        self.disk.write_at(bytemuck::cast_slice(&encoded.norms), at(geometry.norms_offset() + first * 8))?;
        self.disk.write_at(bytemuck::cast_slice(&encoded.checksums), at(geometry.checksums_offset() + first * 4))
    }
}

/// Rows as they lie in a block.
struct EncodedRows {
    bytes: Vec<u8>,
    norms: Vec<f64>,
    checksums: Vec<u32>,
}

impl EncodedRows {
    fn new(geometry: Geometry, is_normalised: bool, ids: &[u64], rows: &[f32]) -> Self {
        let mut bytes = vec![0; ids.len() * geometry.stride_bytes];
        let (mut norms, mut checksums) = (Vec::with_capacity(ids.len()), Vec::with_capacity(ids.len()));
        let mut values = vec![0.0; geometry.dims];
        let targets = bytes.chunks_exact_mut(geometry.stride_bytes);
        for ((target, row), &id) in targets.zip(rows.chunks_exact(geometry.dims)).zip(ids) {
            values.copy_from_slice(row);
            if is_normalised {
                normalise(&mut values);
            }
            let norm = store_values(&mut values, geometry.dtype, target);
            norms.push(norm);
            checksums.push(row_checksum(target, id, norm));
        }
        Self { bytes, norms, checksums }
    }
}

fn normalise(values: &mut [f32]) {
    let norm = score::norm(values);
    if norm > 0.0 {
        for value in values {
            *value = (f64::from(*value) / norm) as f32;
        }
    }
}

/// Writes the values to `target`, leaves in `values` what was stored, and returns the norm of that.
fn store_values(values: &mut [f32], dtype: Dtype, target: &mut [u8]) -> f64 {
    let size_bytes = values.len() * dtype.size_bytes();
    match dtype {
        Dtype::F32 => target[..size_bytes].copy_from_slice(bytemuck::cast_slice(values)),
        Dtype::F16 => {
            for (value, slot) in values.iter_mut().zip(target.chunks_exact_mut(2)) {
                let stored = f16::from_f32(*value);
                slot.copy_from_slice(&stored.to_le_bytes());
                *value = stored.to_f32();
            }
        }
    }
    score::norm(values)
}

fn check_values(row: usize, values: &[f32], dtype: Dtype) -> Result<(), Error> {
    let fits = |value: &f32| match dtype {
        Dtype::F32 => value.is_finite(),
        Dtype::F16 => f16::from_f32(*value).is_finite(),
    };
    match values.iter().position(|value| !fits(value)) {
        None => Ok(()),
        Some(dim) => {
            let hint = if values[dim].is_finite() { " as f16 (at most 65504)" } else { "" };
            Err(Error::BadRow { row, dim, value: values[dim], hint })
        }
    }
}
