//! One round: score a range of rows, read back what passed.
//!
//! Invariant: a round that left no trace of its own (nonce, number of dispatches) is a fault, so
//! what an earlier round wrote is never taken for its answer.

use crate::cpu::certified::CodedQuery;
use crate::metric::Dtype;
use crate::query::KernelKind;

use super::device::{GpuDevice, GpuFault};
use super::layout::{FoundEntry, FoundHeader, Params};
use super::pipeline::{Kernel, Pipelines};
use super::slab::Slab;

/// Bytes of a word that the kernels read.
const QUAD_BYTES: usize = 16;
/// Offset between the params of two dispatches; every device aligns to it.
const PARAMS_STRIDE: u64 = 256;
/// Dispatches between two submits at most.
const MAX_DISPATCHES: u64 = 64;
/// Multiply-adds between two submits: milliseconds on a real device, where drivers lose patience
/// after two seconds.
const MAX_MULTIPLY_ADDS: u64 = 1 << 32;
/// Entries read back with the header; more need a second trip.
const PREFETCHED_ENTRIES: u32 = 16 << 10;

/// The buffers of a batch of queries.
pub(crate) struct RoundBuffers {
    params: wgpu::Buffer,
    queries: wgpu::Buffer,
    query_cuts: wgpu::Buffer,
    found: wgpu::Buffer,
    readback: wgpu::Buffer,
    no_mask: wgpu::Buffer,
    num_queries: u32,
    num_quads: u32,
}

/// What a kernel knows of a query's cut: t, b, and for codes their scale and how far they spread scores.
pub(crate) type QueryCutWords = [f32; 4];

/// Queries as a kernel reads them, padded to whole 16-byte words.
pub(crate) struct PackedQueries {
    bytes: Vec<u8>,
    num_queries: usize,
    num_quads: usize,
}

impl PackedQueries {
    /// Values for the kernels that read values.
    pub(crate) fn values(queries: &[&[f32]]) -> Self {
        let bytes = queries.iter().map(|query| bytemuck::cast_slice(query));
        Self::padded(bytes.collect::<Vec<&[u8]>>().as_slice())
    }

    /// Codes, which fit in 8 bits, for the kernels that read codes.
    pub(crate) fn codes(queries: &[CodedQuery]) -> Self {
        let narrow: Vec<Vec<u8>> = queries
            .iter()
            .map(|query| query.codes.iter().map(|&code| (code as i8).cast_unsigned()).collect())
            .collect();
        Self::padded(narrow.iter().map(Vec::as_slice).collect::<Vec<&[u8]>>().as_slice())
    }

    fn padded(queries: &[&[u8]]) -> Self {
        let num_quads = queries.first().map_or(0, |query| query.len()).div_ceil(QUAD_BYTES);
        let mut bytes = vec![0; queries.len() * num_quads * QUAD_BYTES];
        for (query, target) in queries.iter().zip(bytes.chunks_exact_mut(num_quads * QUAD_BYTES)) {
            target[..query.len()].copy_from_slice(query);
        }
        Self { bytes, num_queries: queries.len(), num_quads }
    }
}

/// A round that is being put together.
pub(crate) struct Round<'a> {
    gpu: &'a GpuDevice,
    pipelines: &'a Pipelines,
    buffers: &'a RoundBuffers,
    kernel: Kernel,
    kind: KernelKind,
    dtype: Dtype,
    nonce: u32,
    encoder: wgpu::CommandEncoder,
    num_dispatches: u32,
    waiting_dispatches: u64,
    waiting_multiply_adds: u64,
}

/// What a round found.
pub(crate) enum Found {
    /// All that passed.
    Entries(Vec<FoundEntry>),
    /// More passed than the list holds.
    Overflow,
}

impl RoundBuffers {
    /// Sends the queries.
    pub(crate) fn new(gpu: &GpuDevice, queries: &PackedQueries) -> Result<Self, GpuFault> {
        use wgpu::BufferUsages as Usage;
        let num_queries = queries.num_queries as u64;
        let storage = Usage::STORAGE | Usage::COPY_DST;
        let header = size_of::<FoundHeader>() as u64;
        let entry = size_of::<FoundEntry>() as u64;
        let found_bytes = header + u64::from(gpu.found_capacity) * entry;
        let buffers = Self {
            params: gpu.buffer("params", MAX_DISPATCHES * PARAMS_STRIDE, Usage::UNIFORM | Usage::COPY_DST)?,
            queries: gpu.buffer("queries", queries.bytes.len() as u64, storage)?,
            query_cuts: gpu.buffer("query cuts", num_queries * size_of::<QueryCutWords>() as u64, storage)?,
            found: gpu.buffer("found", found_bytes, storage | Usage::COPY_SRC)?,
            readback: gpu.buffer("read back", found_bytes, Usage::MAP_READ | Usage::COPY_DST)?,
            no_mask: gpu.buffer("no mask", 16, storage)?,
            num_queries: queries.num_queries as u32,
            num_quads: queries.num_quads as u32,
        };
        gpu.queue.write_buffer(&buffers.queries, 0, &queries.bytes);
        Ok(buffers)
    }

    /// Sets what rows must reach.
    pub(crate) fn set_cuts(&self, gpu: &GpuDevice, cuts: &[QueryCutWords]) {
        gpu.queue.write_buffer(&self.query_cuts, 0, bytemuck::cast_slice(cuts));
    }
}

impl<'a> Round<'a> {
    /// Starts a round with an empty list.
    pub(crate) fn new(
        gpu: &'a GpuDevice,
        pipelines: &'a Pipelines,
        buffers: &'a RoundBuffers,
        (kernel, kind, dtype): (Kernel, KernelKind, Dtype),
        nonce: u32,
    ) -> Self {
        gpu.queue.write_buffer(&buffers.found, 0, bytemuck::bytes_of(&FoundHeader::default()));
        Self {
            gpu,
            pipelines,
            buffers,
            kernel,
            kind,
            dtype,
            nonce,
            encoder: gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()),
            num_dispatches: 0,
            waiting_dispatches: 0,
            waiting_multiply_adds: 0,
        }
    }

    /// Scores the rows `start..end` of a slab, with a bit per row of the slab where only some count.
    pub(crate) fn score(&mut self, slab: &Slab, start: u32, end: u32, mask: Option<&[u32]>) -> Result<(), GpuFault> {
        let per_row = u64::from(self.buffers.num_queries) * u64::from(self.buffers.num_quads) * 4;
        let rows_per_submit = (MAX_MULTIPLY_ADDS / per_row.max(1)).clamp(64, u64::from(u32::MAX)) as u32;
        let mask = mask.map(|mask| self.mask_buffer(mask)).transpose()?;
        let mut first = start;
        while first < end {
            let last = end.min(first.saturating_add(rows_per_submit.min(self.rows_per_dispatch())));
            self.dispatch(slab, first, last, mask.as_ref())?;
            first = last;
        }
        Ok(())
    }

    /// Waits for the round and reads what it found.
    pub(crate) fn finish(mut self) -> Result<Found, GpuFault> {
        let entry = size_of::<FoundEntry>() as u64;
        let header = size_of::<FoundHeader>() as u64;
        let prefetched = u64::from(PREFETCHED_ENTRIES.min(self.gpu.found_capacity));
        let bytes = header + prefetched * entry;
        self.encoder.copy_buffer_to_buffer(&self.buffers.found, 0, &self.buffers.readback, 0, Some(bytes));
        self.submit();
        let words = self.read_back(bytes)?;
        let found: FoundHeader = bytemuck::pod_read_unaligned(&words[..header as usize]);
        if found.nonce != self.nonce || found.num_dispatches != self.num_dispatches {
            let (ran, expected) = (found.num_dispatches, self.num_dispatches);
            return Err(GpuFault(format!("{ran} of {expected} dispatches ran (nonce {})", found.nonce)));
        }
        if found.count > self.gpu.found_capacity {
            return Ok(Found::Overflow);
        }
        let bytes = header + u64::from(found.count) * entry;
        let words = if u64::from(found.count) <= prefetched { words } else { self.read_again(bytes)? };
        let entries = &words[header as usize..bytes as usize];
        Ok(Found::Entries(bytemuck::pod_collect_to_vec(entries)))
    }

    fn read_again(&mut self, bytes: u64) -> Result<Vec<u8>, GpuFault> {
        self.encoder.copy_buffer_to_buffer(&self.buffers.found, 0, &self.buffers.readback, 0, Some(bytes));
        self.submit();
        self.read_back(bytes)
    }

    fn read_back(&self, bytes: u64) -> Result<Vec<u8>, GpuFault> {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        self.buffers.readback.map_async(wgpu::MapMode::Read, 0..bytes, move |outcome| {
            // The receiver is gone only if the wait below failed, which is reported there.
            let _ = sender.try_send(outcome);
        });
        self.gpu.wait()?;
        match receiver.try_recv() {
            Ok(Ok(())) => {}
            Ok(Err(err)) => return Err(GpuFault(err.to_string())),
            Err(_) => return Err(GpuFault("the read-back did not finish".to_owned())),
        }
        let view = self.buffers.readback.get_mapped_range(0..bytes).map_err(|err| GpuFault(err.to_string()))?;
        let copy = view.to_vec();
        drop(view);
        self.buffers.readback.unmap();
        Ok(copy)
    }

    fn rows_per_dispatch(&self) -> u32 {
        let most_groups = u64::from(self.gpu.max_groups_per_dimension).pow(2);
        let per_64_rows = self.kernel.num_groups(64, u64::from(self.buffers.num_queries));
        (most_groups / per_64_rows).max(1).saturating_mul(64).min(u64::from(u32::MAX)) as u32
    }

    fn mask_buffer(&self, mask: &[u32]) -> Result<wgpu::Buffer, GpuFault> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let buffer = self.gpu.buffer("row mask", mask.len() as u64 * 4, usage)?;
        self.gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(mask));
        Ok(buffer)
    }

    fn dispatch(&mut self, slab: &Slab, start: u32, end: u32, mask: Option<&wgpu::Buffer>) -> Result<(), GpuFault> {
        let num_queries = self.buffers.num_queries;
        let groups = self.kernel.num_groups(u64::from(end - start), u64::from(num_queries));
        let most = u64::from(self.gpu.max_groups_per_dimension);
        let (columns, lines) = (groups.min(most), groups.div_ceil(most));
        if lines > most {
            return Err(GpuFault(format!("{num_queries} queries need {groups} workgroups, more than {most} x {most}")));
        }
        let params = Params {
            start_row: start,
            end_row: end,
            first_file_row: slab.range.first_row as u32,
            num_queries,
            num_quads: self.buffers.num_quads,
            row_stride: slab_stride(slab),
            capacity: self.gpu.found_capacity,
            has_mask: u32::from(mask.is_some()),
            nonce: self.nonce,
            groups_per_line: columns as u32,
            reserved: [0; 6],
        };
        let offset = self.waiting_dispatches * PARAMS_STRIDE;
        self.gpu.queue.write_buffer(&self.buffers.params, offset, bytemuck::bytes_of(&params));
        self.encode(slab, mask, offset as u32, columns as u32, lines as u32)?;
        self.num_dispatches += 1;
        self.waiting_dispatches += 1;
        self.waiting_multiply_adds +=
            u64::from(end - start) * u64::from(num_queries) * u64::from(self.buffers.num_quads) * 4;
        if self.waiting_dispatches == MAX_DISPATCHES || self.waiting_multiply_adds >= MAX_MULTIPLY_ADDS {
            self.submit();
        }
        Ok(())
    }

    fn encode(
        &mut self,
        slab: &Slab,
        mask: Option<&wgpu::Buffer>,
        params_offset: u32,
        columns: u32,
        lines: u32,
    ) -> Result<(), GpuFault> {
        let pipeline = self.pipelines.get(self.kernel, self.kind, self.dtype);
        let pipeline = pipeline.ok_or_else(|| GpuFault("a kernel is missing".to_owned()))?;
        let bind_group = self.bind_group(slab, mask.unwrap_or(&self.buffers.no_mask));
        let mut pass = self.encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &bind_group, &[params_offset]);
        pass.dispatch_workgroups(columns, lines, 1);
        Ok(())
    }

    fn bind_group(&self, slab: &Slab, mask: &wgpu::Buffer) -> wgpu::BindGroup {
        let params = wgpu::BufferBinding {
            buffer: &self.buffers.params,
            offset: 0,
            size: wgpu::BufferSize::new(size_of::<Params>() as u64),
        };
        let buffers = self.buffers;
        let storage = [&slab.rows, &slab.cuts, mask, &buffers.queries, &buffers.query_cuts, &buffers.found];
        let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(params) }];
        entries.extend(
            (1..)
                .zip(storage)
                .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }),
        );
        let layout = &self.pipelines.bindings;
        self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
    }

    fn submit(&mut self) {
        let next = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let encoder = std::mem::replace(&mut self.encoder, next);
        self.gpu.queue.submit([encoder.finish()]);
        self.waiting_dispatches = 0;
        self.waiting_multiply_adds = 0;
    }
}

/// 16-byte words from row to row.
fn slab_stride(slab: &Slab) -> u32 {
    (slab.stride_bytes / 16) as u32
}
