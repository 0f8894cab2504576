//! Rows on the device: runs of rows of one block, each small enough for one binding.
//!
//! Invariant: a slab holds committed rows only, whose checksums were right when they were sent.

use std::collections::BTreeMap;

use crate::bound::{Bounds, RowCut};
use crate::cpu::certified::code_error;
use crate::file::{CodesView, Snapshot, UUID_BYTES, code_stride};
use crate::metric::Metric;

use super::device::{GpuDevice, GpuFault};
use super::search::SearchFault;

/// Longer rows go to the CPU: their products may leave the range of f32.
const MAX_NORM: f64 = 1e12;
/// Stands for "reached by nothing": beyond any score of rows within [`MAX_NORM`].
pub(crate) const BEYOND_SCORES: f32 = 1e30;
/// Bytes that may wait in staging memory before they are submitted.
const STAGED_BYTES: u64 = 64 << 20;

/// What a slab holds of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SlabContent {
    /// The stored values.
    Values,
    /// Their int8 codes.
    Codes,
}

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
    content: SlabContent,
    /// Rows of zeros, as rows of the file.
    pub(crate) zero_rows: Vec<u64>,
}

/// The slabs that stay on the device between searches, all of one file.
#[derive(Default)]
pub(crate) struct SlabCache {
    uuid: [u8; UUID_BYTES],
    slabs: BTreeMap<(SlabContent, u64), Slab>,
    bytes: u64,
    staged_bytes: u64,
}

/// Bytes from row to row.
fn stride_bytes(snapshot: &Snapshot, content: SlabContent) -> usize {
    match content {
        SlabContent::Values => snapshot.geometry().stride_bytes,
        SlabContent::Codes => code_stride(snapshot.dims()),
    }
}

/// Cuts a snapshot into slabs.
pub(crate) fn plan(gpu: &GpuDevice, snapshot: &Snapshot, content: SlabContent) -> Result<Vec<SlabRange>, GpuFault> {
    let geometry = snapshot.geometry();
    let row_bytes = (stride_bytes(snapshot, content) as u64).max(size_of::<[f32; 4]>() as u64);
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
        (content, range): (SlabContent, SlabRange),
        bounds: &Bounds,
        metric: Metric,
        use_slab: impl FnOnce(&Slab) -> Result<T, SearchFault>,
    ) -> Result<T, SearchFault> {
        let key = (content, range.first_row);
        if self.slabs.get(&key).is_some_and(|slab| slab.range.num_rows < range.num_rows) {
            self.remove(key);
        }
        if let Some(slab) = self.slabs.get_mut(&key) {
            slab.retarget(gpu, snapshot, bounds, metric)?;
            return use_slab(slab);
        }
        let slab = Slab::upload(gpu, snapshot, (content, range), bounds, metric)?;
        let bytes = slab.rows.size() + slab.cuts.size();
        self.flush_if_full(gpu, bytes)?;
        let outcome = use_slab(&slab)?;
        if self.bytes + bytes <= gpu.resident_bytes {
            self.bytes += bytes;
            self.slabs.insert(key, slab);
        }
        Ok(outcome)
    }

    fn remove(&mut self, key: (SlabContent, u64)) {
        if let Some(slab) = self.slabs.remove(&key) {
            self.bytes -= slab.rows.size() + slab.cuts.size();
        }
    }

    /// Staging memory grows with what was written since the last submit, so submit in time.
    fn flush_if_full(&mut self, gpu: &GpuDevice, bytes: u64) -> Result<(), GpuFault> {
        self.staged_bytes += bytes;
        if self.staged_bytes >= STAGED_BYTES {
            self.staged_bytes = 0;
            gpu.queue.submit([]);
            gpu.wait(1)?;
        }
        Ok(())
    }
}

impl Slab {
    fn upload(
        gpu: &GpuDevice,
        snapshot: &Snapshot,
        (content, range): (SlabContent, SlabRange),
        bounds: &Bounds,
        metric: Metric,
    ) -> Result<Self, SearchFault> {
        let block = snapshot.check_block(range.block).map_err(SearchFault::File)?;
        let start = (range.first_row - block.first_row) as usize;
        let norms = &block.norms()[start..start + range.num_rows];
        if norms.iter().any(|&norm| norm.is_nan() || norm > MAX_NORM) {
            return Err(GpuFault("a row is too long for f32 products".to_owned()).into());
        }
        let stride_bytes = stride_bytes(snapshot, content);
        let bytes = match content {
            SlabContent::Values => block.bytes,
            SlabContent::Codes => codes_of(snapshot, range.block)?.all_bytes(),
        };
        let bytes = &bytes[start * stride_bytes..(start + range.num_rows) * stride_bytes];
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let rows = gpu.buffer("rows", bytes.len() as u64, usage)?;
        gpu.queue.write_buffer(&rows, 0, bytes);
        let cuts = gpu.buffer("row cuts", range.num_rows as u64 * 16, usage)?;
        let zero_rows = (range.first_row..).zip(norms).filter(|(_, norm)| **norm == 0.0).map(|(row, _)| row).collect();
        let slab = Self { range, stride_bytes, rows, cuts, cuts_metric: metric, content, zero_rows };
        slab.send_cuts(gpu, snapshot, bounds)?;
        Ok(slab)
    }

    /// Makes the cuts those of another metric.
    fn retarget(
        &mut self,
        gpu: &GpuDevice,
        snapshot: &Snapshot,
        bounds: &Bounds,
        metric: Metric,
    ) -> Result<(), GpuFault> {
        if self.cuts_metric == metric {
            return Ok(());
        }
        self.cuts_metric = metric;
        self.send_cuts(gpu, snapshot, bounds)
    }

    fn send_cuts(&self, gpu: &GpuDevice, snapshot: &Snapshot, bounds: &Bounds) -> Result<(), GpuFault> {
        let block = snapshot.block(self.range.block);
        let start = (self.range.first_row - block.first_row) as usize;
        // An older snapshot may show fewer rows than were sent; the cuts of the others are not used.
        let end = (start + self.range.num_rows).min(block.num_rows);
        let mut cuts = row_cuts(&block.norms()[start..end], bounds, self.cuts_metric);
        if self.content == SlabContent::Codes {
            let codes = codes_of(snapshot, self.range.block)?;
            let parts = codes.residuals[start..end].iter().zip(&codes.scales[start..end]);
            for (cut, (&residual, &scale)) in cuts.iter_mut().zip(parts) {
                cut[2] = (cut[2] + code_error(residual, 0.0, 0.0)).next_up();
                cut[3] = scale;
            }
        }
        gpu.queue.write_buffer(&self.cuts, 0, bytemuck::cast_slice(&cuts));
        Ok(())
    }
}

/// The codes of a block, which were there and whole when the search began.
pub(crate) fn codes_of(snapshot: &Snapshot, block: usize) -> Result<CodesView<'_>, GpuFault> {
    let num_rows = snapshot.block(block).num_rows;
    let codes = snapshot.codes().and_then(|codes| codes.block(block, num_rows));
    codes.ok_or_else(|| GpuFault("the codes went while they were sent".to_owned()))
}

/// Alpha, nu, delta of every row, and room for the scale of its codes.
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
