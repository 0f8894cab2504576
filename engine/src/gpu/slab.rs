//! Rows on the device: runs of rows of one block, each small enough for one binding.
//!
//! Invariant: a slab holds committed rows only, whose checksums were right when they were sent.

use std::collections::BTreeMap;

use crate::bound::{Bounds, RowCut};
use crate::file::{Snapshot, UUID_BYTES};
use crate::metric::Metric;

use super::device::{GpuDevice, GpuFault};
use super::search::SearchFault;

/// Longer rows go to the CPU: their products may leave the range of f32.
const MAX_NORM: f64 = 1e12;
/// Stands for "reached by nothing": beyond any score of rows within [`MAX_NORM`].
pub(crate) const BEYOND_SCORES: f32 = 1e30;
/// Bytes that may wait in staging memory before they are submitted.
const STAGED_BYTES: u64 = 64 << 20;

/// Which rows a slab holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlabRange {
    pub(crate) block: usize,
    /// First row of the file.
    pub(crate) first_row: u64,
    pub(crate) num_rows: usize,
}

/// Rows on the device.
pub(crate) struct Slab {
    pub(crate) range: SlabRange,
    pub(crate) stride_bytes: usize,
    pub(crate) rows: wgpu::Buffer,
    pub(crate) cuts: wgpu::Buffer,
    cuts_metric: Metric,
    /// Rows of zeros, as rows of the file.
    pub(crate) zero_rows: Vec<u64>,
}

/// The slabs that stay on the device between searches, all of one file.
#[derive(Default)]
pub(crate) struct SlabCache {
    uuid: [u8; UUID_BYTES],
    slabs: BTreeMap<u64, Slab>,
    bytes: u64,
    staged_bytes: u64,
}

/// Cuts a snapshot into slabs.
pub(crate) fn plan(gpu: &GpuDevice, snapshot: &Snapshot) -> Result<Vec<SlabRange>, GpuFault> {
    let geometry = snapshot.geometry();
    let row_bytes = (geometry.stride_bytes as u64).max(size_of::<[f32; 4]>() as u64);
    let most_rows = (gpu.max_binding_bytes / row_bytes) as usize;
    if most_rows == 0 {
        return Err(GpuFault(format!("a row of {row_bytes} bytes exceeds the largest binding")));
    }
    let mut ranges = Vec::new();
    for block in snapshot.blocks() {
        let index = (block.first_row / geometry.rows_per_block as u64) as usize;
        for start in (0..block.num_rows).step_by(most_rows) {
            let num_rows = most_rows.min(block.num_rows - start);
            ranges.push(SlabRange { block: index, first_row: block.first_row + start as u64, num_rows });
        }
    }
    Ok(ranges)
}

impl SlabCache {
    /// Forgets everything unless it belongs to this file.
    pub(crate) fn turn_to(&mut self, snapshot: &Snapshot) {
        if self.uuid != snapshot.uuid() {
            *self = Self { uuid: snapshot.uuid(), ..Self::default() };
        }
    }

    /// Runs `use_slab` on the rows of `range`, which stay on the device if there is room.
    pub(crate) fn with_slab<T>(
        &mut self,
        gpu: &GpuDevice,
        snapshot: &Snapshot,
        range: SlabRange,
        bounds: &Bounds,
        metric: Metric,
        use_slab: impl FnOnce(&Slab) -> Result<T, SearchFault>,
    ) -> Result<T, SearchFault> {
        if self.slabs.get(&range.first_row).is_some_and(|slab| slab.range.num_rows < range.num_rows) {
            self.remove(range.first_row);
        }
        if let Some(slab) = self.slabs.get_mut(&range.first_row) {
            slab.retarget(gpu, snapshot, bounds, metric);
            return use_slab(slab);
        }
        let slab = Slab::upload(gpu, snapshot, range, bounds, metric)?;
        let bytes = slab.rows.size() + slab.cuts.size();
        self.flush_if_full(gpu, bytes)?;
        let outcome = use_slab(&slab)?;
        if self.bytes + bytes <= gpu.resident_bytes {
            self.bytes += bytes;
            self.slabs.insert(range.first_row, slab);
        }
        Ok(outcome)
    }

    fn remove(&mut self, first_row: u64) {
        if let Some(slab) = self.slabs.remove(&first_row) {
            self.bytes -= slab.rows.size() + slab.cuts.size();
        }
    }

    /// Staging memory grows with what was written since the last submit, so submit in time.
    fn flush_if_full(&mut self, gpu: &GpuDevice, bytes: u64) -> Result<(), GpuFault> {
        self.staged_bytes += bytes;
        if self.staged_bytes >= STAGED_BYTES {
            self.staged_bytes = 0;
            gpu.queue.submit([]);
            gpu.wait()?;
        }
        Ok(())
    }
}

impl Slab {
    fn upload(
        gpu: &GpuDevice,
        snapshot: &Snapshot,
        range: SlabRange,
        bounds: &Bounds,
        metric: Metric,
    ) -> Result<Self, SearchFault> {
        let block = snapshot.check_block(range.block).map_err(SearchFault::File)?;
        let start = (range.first_row - block.first_row) as usize;
        let norms = &block.norms()[start..start + range.num_rows];
        if norms.iter().any(|&norm| norm.is_nan() || norm > MAX_NORM) {
            return Err(GpuFault("a row is too long for f32 products".to_owned()).into());
        }
        let stride = block.geometry.stride_bytes;
        let bytes = &block.bytes[start * stride..(start + range.num_rows) * stride];
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let rows = gpu.buffer("rows", bytes.len() as u64, usage)?;
        gpu.queue.write_buffer(&rows, 0, bytes);
        let cuts = gpu.buffer("row cuts", range.num_rows as u64 * 16, usage)?;
        gpu.queue.write_buffer(&cuts, 0, bytemuck::cast_slice(&row_cuts(norms, bounds, metric)));
        let zero_rows = (range.first_row..).zip(norms).filter(|(_, norm)| **norm == 0.0).map(|(row, _)| row).collect();
        Ok(Self { range, stride_bytes: stride, rows, cuts, cuts_metric: metric, zero_rows })
    }

    /// Makes the cuts those of another metric.
    fn retarget(&mut self, gpu: &GpuDevice, snapshot: &Snapshot, bounds: &Bounds, metric: Metric) {
        if self.cuts_metric == metric {
            return;
        }
        let block = snapshot.block(self.range.block);
        let start = (self.range.first_row - block.first_row) as usize;
        // An older snapshot may show fewer rows than were sent; the cuts of the others are not used.
        let end = (start + self.range.num_rows).min(block.num_rows);
        let cuts = row_cuts(&block.norms()[start..end], bounds, metric);
        gpu.queue.write_buffer(&self.cuts, 0, bytemuck::cast_slice(&cuts));
        self.cuts_metric = metric;
    }
}

fn row_cuts(norms: &[f64], bounds: &Bounds, metric: Metric) -> Vec<[f32; 4]> {
    let cut = |&norm: &f64| {
        if metric == Metric::Cosine && norm == 0.0 {
            return [0.0, 0.0, -2.0 * BEYOND_SCORES, 0.0];
        }
        let RowCut { alpha, nu, delta } = bounds.row_cut(norm);
        [alpha, nu, delta, 0.0]
    };
    norms.iter().map(cut).collect()
}
