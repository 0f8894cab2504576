//! The buffers of a batch of queries, and the way back to the host.

use crate::cpu::certified::CodedQuery;

use super::device::{GpuDevice, GpuFault};
use super::layout::{FoundEntry, FoundHeader, ListLength, Params};

/// Bytes of a word that the kernels read.
const QUAD_BYTES: usize = 16;
/// Offset between the params of two dispatches; every device aligns to it.
pub(crate) const PARAMS_STRIDE: u64 = 256;
/// Dispatches between two submits at most.
pub(crate) const MAX_DISPATCHES: u64 = 64;
const HEADER_BYTES: u64 = size_of::<FoundHeader>() as u64;
const ENTRY_BYTES: u64 = size_of::<FoundEntry>() as u64;

/// The buffers of a batch of queries.
pub(crate) struct BatchBuffers {
    pub(crate) params: wgpu::Buffer,
    pub(crate) queries: wgpu::Buffer,
    pub(crate) query_cuts: wgpu::Buffer,
    pub(crate) found: wgpu::Buffer,
    pub(crate) candidates: wgpu::Buffer,
    pub(crate) no_mask: wgpu::Buffer,
    readback: wgpu::Buffer,
    pub(crate) num_queries: u32,
    pub(crate) num_quads: u32,
    /// Candidates that each list holds.
    pub(crate) capacity: u32,
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

impl BatchBuffers {
    /// Sends the queries, each of which gets a list for `capacity` candidates.
    pub(crate) fn new(gpu: &GpuDevice, queries: &PackedQueries, capacity: u32) -> Result<Self, GpuFault> {
        use wgpu::BufferUsages as Usage;
        let num_queries = queries.num_queries as u64;
        let storage = Usage::STORAGE | Usage::COPY_DST;
        let lists_bytes = num_queries * u64::from(capacity) * ENTRY_BYTES;
        let found_bytes = HEADER_BYTES + num_queries * size_of::<ListLength>() as u64;
        let readback_bytes = found_bytes + lists_bytes;
        let buffers = Self {
            params: gpu.buffer("params", MAX_DISPATCHES * PARAMS_STRIDE, Usage::UNIFORM | Usage::COPY_DST)?,
            queries: gpu.buffer("queries", queries.bytes.len() as u64, storage)?,
            query_cuts: gpu.buffer(
                "query cuts",
                num_queries * size_of::<QueryCutWords>() as u64,
                storage | Usage::COPY_SRC,
            )?,
            found: gpu.buffer("found", found_bytes, storage | Usage::COPY_SRC)?,
            candidates: gpu.buffer("candidates", lists_bytes, storage | Usage::COPY_SRC)?,
            no_mask: gpu.buffer("no mask", 16, storage)?,
            readback: gpu.buffer("read back", readback_bytes, Usage::MAP_READ | Usage::COPY_DST)?,
            num_queries: queries.num_queries as u32,
            num_quads: queries.num_quads as u32,
            capacity,
        };
        gpu.queue.write_buffer(&buffers.queries, 0, &queries.bytes);
        Ok(buffers)
    }

    /// Sets what rows must reach.
    pub(crate) fn set_cuts(&self, gpu: &GpuDevice, cuts: &[QueryCutWords]) {
        gpu.queue.write_buffer(&self.query_cuts, 0, bytemuck::cast_slice(cuts));
    }

    /// What rows must reach by now.
    #[cfg(test)]
    pub(crate) fn read_cuts(&self, gpu: &GpuDevice) -> Result<Vec<QueryCutWords>, GpuFault> {
        let bytes = u64::from(self.num_queries) * size_of::<QueryCutWords>() as u64;
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&self.query_cuts, 0, &self.readback, 0, Some(bytes));
        gpu.queue.submit([encoder.finish()]);
        Ok(bytemuck::pod_collect_to_vec(&self.read_back(gpu, bytes, 1)?))
    }

    /// Empties all lists.
    pub(crate) fn clear_lists(&self, gpu: &GpuDevice) {
        gpu.queue.write_buffer(&self.found, 0, &vec![0; self.found_bytes() as usize]);
    }

    /// Where the params of a dispatch are bound from.
    pub(crate) fn params_binding(&self) -> wgpu::BindGroupEntry<'_> {
        let size = wgpu::BufferSize::new(size_of::<Params>() as u64);
        let buffer = wgpu::BufferBinding { buffer: &self.params, offset: 0, size };
        wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(buffer) }
    }

    fn found_bytes(&self) -> u64 {
        HEADER_BYTES + u64::from(self.num_queries) * size_of::<ListLength>() as u64
    }

    /// Copies the header, the lengths and the first `prefetched` candidates of every list; returns how many bytes.
    pub(crate) fn copy_lists(&self, encoder: &mut wgpu::CommandEncoder, prefetched: u32) -> u64 {
        let found_bytes = self.found_bytes();
        encoder.copy_buffer_to_buffer(&self.found, 0, &self.readback, 0, Some(found_bytes));
        let lengths = (0..self.num_queries).map(|query| (query, prefetched));
        self.copy_candidates(encoder, found_bytes, lengths)
    }

    /// Copies the beginnings of some lists one after the other; returns where they end.
    pub(crate) fn copy_candidates(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        start: u64,
        lengths: impl Iterator<Item = (u32, u32)>,
    ) -> u64 {
        let mut end = start;
        for (query, length) in lengths {
            let from = u64::from(query) * u64::from(self.capacity) * ENTRY_BYTES;
            let bytes = u64::from(length) * ENTRY_BYTES;
            encoder.copy_buffer_to_buffer(&self.candidates, from, &self.readback, end, Some(bytes));
            end += bytes;
        }
        end
    }

    /// Splits what [`Self::copy_lists`] copied.
    pub(crate) fn split<'a>(&self, bytes: &'a [u8]) -> (FoundHeader, Vec<ListLength>, &'a [u8]) {
        let (found, candidates) = bytes.split_at(self.found_bytes() as usize);
        let (header, lengths) = found.split_at(HEADER_BYTES as usize);
        (bytemuck::pod_read_unaligned(header), bytemuck::pod_collect_to_vec(lengths), candidates)
    }

    /// Waits for what was submitted and reads what it copied.
    pub(crate) fn read_back(&self, gpu: &GpuDevice, bytes: u64, num_submits: u32) -> Result<Vec<u8>, GpuFault> {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        self.readback.map_async(wgpu::MapMode::Read, 0..bytes, move |outcome| {
            // The receiver is gone only if the wait below failed, which is reported there.
            let _ = sender.try_send(outcome);
        });
        gpu.wait(num_submits)?;
        match receiver.try_recv() {
            Ok(Ok(())) => {}
            Ok(Err(err)) => return Err(GpuFault(err.to_string())),
            Err(_) => return Err(GpuFault("the read-back did not finish".to_owned())),
        }
        let view = self.readback.get_mapped_range(0..bytes).map_err(|err| GpuFault(err.to_string()))?;
        let copy = view.to_vec();
        drop(view);
        self.readback.unmap();
        Ok(copy)
    }
}
