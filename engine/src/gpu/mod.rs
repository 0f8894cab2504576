//! Search on the GPU: WGSL kernels score and select in one pass, the canonical score ranks.
//!
//! Rows live on the device in slabs (`slab`). A search goes over them in rounds that grow (`schedule`): each round
//! scores a range of rows, appends to its query's list what is not below the query's cut (`shaders/score_*.wgsl`), and
//! then raises the cuts to what the lists prove and drops what fell below them (`shaders/merge_candidates.wgsl`, and
//! `select_candidates.wgsl` for many hits). Rounds follow each other on the device as a chain (`chain`); the host reads
//! back what is left of the lists, bounds the canonical scores (`crate::bound`) and ranks by them. No score matrix
//! exists. Where a list was too short the chain stops at the round before, and goes on in smaller rounds.
//!
//! Invariants: the device is this module's own, never one that draws; a fault (validation, out of
//! memory, device lost, a dispatch that left no trace) is reported and the CPU finishes the query;
//! a software adapter is used only when asked for.

pub(crate) mod buffers;
pub(crate) mod chain;
pub(crate) mod device;
pub mod layout;
pub(crate) mod pipeline;
pub(crate) mod schedule;
pub(crate) mod search;
pub(crate) mod slab;
#[cfg(test)]
mod twin;

/// Limits below those of the device, and faults to order: for tests that must reach every path.
#[derive(Clone, Copy, Debug, Default)]
pub struct GpuTuning {
    /// Largest buffer binding.
    pub max_binding_bytes: Option<u64>,
    /// Most workgroups per dimension of a dispatch.
    pub max_groups_per_dimension: Option<u32>,
    /// Candidates that the lists of a batch hold together.
    pub found_capacity: Option<u32>,
    /// Bytes of rows that stay on the device.
    pub resident_bytes: Option<u64>,
    /// Keeps to kernels that every device runs.
    pub without_subgroups: bool,
    /// Destroys the device after so many rounds.
    pub lose_device_after_rounds: Option<u32>,
}
