//! A chain of rounds: score rows, raise the cuts, score more rows, and read back once.
//!
//! Invariant: a chain that left no trace of its own (nonce, number of dispatches) is a fault, so what an earlier one
//! wrote is never taken for its answer. Where a round overflowed, the lists are those of the rounds before it.

use crate::bound::ScoreProof;
use crate::metric::Dtype;
use crate::query::KernelKind;

use super::buffers::{BatchBuffers, MAX_DISPATCHES, PARAMS_STRIDE};
use super::device::{GpuDevice, GpuFault};
use super::layout::{FoundEntry, FoundHeader, ListLength, Params};
use super::pipeline::{CutKernel, Kernel, Pipelines};
use super::slab::{Slab, SlabContent};

/// Multiply-adds between two submits: milliseconds on a real device, where drivers lose patience
/// after two seconds.
const MAX_MULTIPLY_ADDS: u64 = 1 << 32;

/// What all rounds of a chain have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChainSpec {
    pub(crate) kernel: Kernel,
    pub(crate) kind: KernelKind,
    pub(crate) dtype: Dtype,
    pub(crate) k: usize,
    pub(crate) proof: ScoreProof,
    pub(crate) nonce: u32,
}

/// A chain that is being put together.
pub(crate) struct Chain<'a> {
    gpu: &'a GpuDevice,
    pipelines: &'a Pipelines,
    buffers: &'a BatchBuffers,
    spec: ChainSpec,
    encoder: wgpu::CommandEncoder,
    num_rounds: u32,
    num_dispatches: u32,
    waiting_dispatches: u64,
    waiting_multiply_adds: u64,
    /// Since the last read-back.
    num_submits: u32,
    num_read_backs: u64,
}

/// What a chain found.
pub(crate) struct Found {
    /// What is left of the candidates of each query.
    pub(crate) lists: Vec<Vec<FoundEntry>>,
    /// Rounds before the one that overflowed, if one did.
    pub(crate) num_rounds: usize,
    /// Times the host waited for the device.
    pub(crate) num_read_backs: u64,
}

impl<'a> Chain<'a> {
    /// Starts a chain with empty lists.
    pub(crate) fn new(
        gpu: &'a GpuDevice,
        pipelines: &'a Pipelines,
        buffers: &'a BatchBuffers,
        spec: ChainSpec,
    ) -> Self {
        buffers.clear_lists(gpu);
        Self {
            gpu,
            pipelines,
            buffers,
            spec,
            encoder: gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()),
            num_rounds: 0,
            num_dispatches: 0,
            waiting_dispatches: 0,
            waiting_multiply_adds: 0,
            num_submits: 0,
            num_read_backs: 0,
        }
    }

    /// What its kernel reads.
    pub(crate) fn content(&self) -> SlabContent {
        self.spec.kernel.content()
    }

    /// Scores the rows `start..end` of a slab, with a bit per row of the slab where only some count.
    pub(crate) fn score(&mut self, slab: &Slab, start: u32, end: u32, mask: Option<&[u32]>) -> Result<(), GpuFault> {
        let per_row = u64::from(self.buffers.num_queries) * u64::from(self.buffers.num_quads) * 4;
        let rows_per_submit = (MAX_MULTIPLY_ADDS / per_row.max(1)).clamp(64, u64::from(u32::MAX)) as u32;
        let mask = mask.map(|mask| self.mask_buffer(mask)).transpose()?;
        let bind_group = self.score_bind_group(slab, mask.as_ref().unwrap_or(&self.buffers.no_mask));
        let spec = self.spec;
        let pipeline = self.pipelines.get(spec.kernel, spec.kind, spec.dtype);
        let mut first = start;
        while first < end {
            let last = end.min(first.saturating_add(rows_per_submit.min(self.rows_per_dispatch())));
            let params = Params {
                start_row: first,
                end_row: last,
                first_file_row: slab.range.first_row as u32,
                row_stride: slab_stride(slab),
                has_mask: u32::from(mask.is_some()),
                ..self.params()
            };
            let groups = spec.kernel.num_groups(u64::from(last - first), u64::from(self.buffers.num_queries));
            self.dispatch(pipeline, &bind_group, params, groups)?;
            self.waiting_multiply_adds += u64::from(last - first) * per_row;
            self.submit_if_full();
            first = last;
        }
        Ok(())
    }

    /// Ends a round: raises the cuts to what the candidates prove, and drops those below.
    pub(crate) fn raise_cuts(&mut self) -> Result<(), GpuFault> {
        let pipeline = self.pipelines.get_cut(CutKernel::for_hits(self.spec.k));
        let bind_group = self.cut_bind_group();
        let most_groups = u64::from(self.gpu.max_groups_per_dimension).pow(2).min(u64::from(u32::MAX)) as u32;
        let mut first = 0;
        while first < self.buffers.num_queries {
            let last = self.buffers.num_queries.min(first.saturating_add(most_groups));
            let params = Params { start_row: first, end_row: last, ..self.params() };
            self.dispatch(pipeline, &bind_group, params, u64::from(last - first))?;
            self.submit_if_full();
            first = last;
        }
        self.num_rounds += 1;
        Ok(())
    }

    /// Waits for the chain and reads what it found.
    pub(crate) fn finish(mut self) -> Result<Found, GpuFault> {
        let prefetched = self.prefetched();
        let bytes = self.buffers.copy_lists(&mut self.encoder, prefetched);
        let bytes = self.read_back(bytes)?;
        let (header, lengths, candidates) = self.buffers.split(&bytes);
        self.check(header, &lengths)?;
        let candidates: Vec<FoundEntry> = bytemuck::pod_collect_to_vec(candidates);
        let mut lists: Vec<Vec<FoundEntry>> = candidates
            .chunks_exact(prefetched as usize)
            .zip(&lengths)
            .map(|(list, length)| list[..list.len().min(length.count as usize)].to_vec())
            .collect();
        let longer: Vec<(u32, u32)> = (0..)
            .zip(&lengths)
            .filter(|(_, length)| length.count > prefetched)
            .map(|(query, length)| (query, length.count))
            .collect();
        if !longer.is_empty() {
            let bytes = self.buffers.copy_candidates(&mut self.encoder, 0, longer.iter().copied());
            let mut rest: &[FoundEntry] = &bytemuck::pod_collect_to_vec(&self.read_back(bytes)?);
            for (query, length) in longer {
                let (list, others) = rest.split_at(length as usize);
                lists[query as usize] = list.to_vec();
                rest = others;
            }
        }
        let num_rounds = header.halted.checked_sub(1).unwrap_or(self.num_rounds) as usize;
        Ok(Found { lists, num_rounds, num_read_backs: self.num_read_backs })
    }

    /// Candidates of each list that are read back at once: the answer, with what its bounds leave open.
    fn prefetched(&self) -> u32 {
        let most = self.spec.k.saturating_add(self.spec.k / 2).saturating_add(48);
        u32::try_from(most).unwrap_or(u32::MAX).min(self.buffers.capacity)
    }

    fn check(&self, header: FoundHeader, lengths: &[ListLength]) -> Result<(), GpuFault> {
        if header.nonce != self.spec.nonce || header.num_dispatches != self.num_dispatches {
            let (ran, expected) = (header.num_dispatches, self.num_dispatches);
            return Err(GpuFault(format!("{ran} of {expected} dispatches ran (nonce {})", header.nonce)));
        }
        if header.halted > self.num_rounds || (header.overflow == 1) != (header.halted > 0) {
            return Err(GpuFault(format!("round {} of {} overflowed", header.halted, self.num_rounds)));
        }
        match lengths.iter().find(|length| length.count > self.buffers.capacity) {
            Some(length) => Err(GpuFault(format!("a list has {} of {}", length.count, self.buffers.capacity))),
            None => Ok(()),
        }
    }

    fn params(&self) -> Params {
        Params {
            num_queries: self.buffers.num_queries,
            num_quads: self.buffers.num_quads,
            capacity: self.buffers.capacity,
            nonce: self.spec.nonce,
            k: self.spec.k as u32,
            round: self.num_rounds,
            stretch: self.spec.proof.stretch,
            floor: self.spec.proof.floor,
            ..Params::default()
        }
    }

    fn rows_per_dispatch(&self) -> u32 {
        let most_groups = u64::from(self.gpu.max_groups_per_dimension).pow(2);
        let per_64_rows = self.spec.kernel.num_groups(64, u64::from(self.buffers.num_queries));
        (most_groups / per_64_rows).max(1).saturating_mul(64).min(u64::from(u32::MAX)) as u32
    }

    fn mask_buffer(&self, mask: &[u32]) -> Result<wgpu::Buffer, GpuFault> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let buffer = self.gpu.buffer("row mask", mask.len() as u64 * 4, usage)?;
        self.gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(mask));
        Ok(buffer)
    }

    fn dispatch(
        &mut self,
        pipeline: Option<&wgpu::ComputePipeline>,
        bind_group: &wgpu::BindGroup,
        params: Params,
        groups: u64,
    ) -> Result<(), GpuFault> {
        let pipeline = pipeline.ok_or_else(|| GpuFault("a kernel is missing".to_owned()))?;
        let most = u64::from(self.gpu.max_groups_per_dimension);
        let (columns, lines) = (groups.min(most), groups.div_ceil(most));
        if lines > most {
            let num_queries = self.buffers.num_queries;
            return Err(GpuFault(format!("{num_queries} queries need {groups} workgroups, more than {most} x {most}")));
        }
        let params = Params { groups_per_line: columns as u32, ..params };
        let offset = self.waiting_dispatches * PARAMS_STRIDE;
        self.gpu.queue.write_buffer(&self.buffers.params, offset, bytemuck::bytes_of(&params));
        let mut pass = self.encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, bind_group, &[offset as u32]);
        pass.dispatch_workgroups(columns as u32, lines as u32, 1);
        drop(pass);
        self.num_dispatches += 1;
        self.waiting_dispatches += 1;
        Ok(())
    }

    fn score_bind_group(&self, slab: &Slab, mask: &wgpu::Buffer) -> wgpu::BindGroup {
        let buffers = self.buffers;
        let (cuts, found, candidates) = (&buffers.query_cuts, &buffers.found, &buffers.candidates);
        let storage = [&slab.rows, &slab.cuts, mask, &buffers.queries, cuts, found, candidates];
        self.bind_group(&self.pipelines.bindings, (1..).zip(storage))
    }

    fn cut_bind_group(&self) -> wgpu::BindGroup {
        let storage = [&self.buffers.query_cuts, &self.buffers.found, &self.buffers.candidates];
        self.bind_group(&self.pipelines.cut_bindings, (5..).zip(storage))
    }

    fn bind_group<'b>(
        &self,
        layout: &wgpu::BindGroupLayout,
        storage: impl Iterator<Item = (u32, &'b wgpu::Buffer)>,
    ) -> wgpu::BindGroup {
        let mut entries = vec![self.buffers.params_binding()];
        let entry = |(binding, buffer): (u32, &'b wgpu::Buffer)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        };
        entries.extend(storage.map(entry));
        self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
    }

    fn submit_if_full(&mut self) {
        if self.waiting_dispatches == MAX_DISPATCHES || self.waiting_multiply_adds >= MAX_MULTIPLY_ADDS {
            self.submit();
        }
    }

    fn submit(&mut self) {
        let next = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let encoder = std::mem::replace(&mut self.encoder, next);
        self.gpu.queue.submit([encoder.finish()]);
        self.num_submits += 1;
        self.waiting_dispatches = 0;
        self.waiting_multiply_adds = 0;
    }

    fn read_back(&mut self, bytes: u64) -> Result<Vec<u8>, GpuFault> {
        self.submit();
        self.num_read_backs += 1;
        let num_submits = std::mem::take(&mut self.num_submits);
        self.buffers.read_back(self.gpu, bytes, num_submits)
    }
}

/// 16-byte words from row to row.
fn slab_stride(slab: &Slab) -> u32 {
    (slab.stride_bytes / 16) as u32
}
