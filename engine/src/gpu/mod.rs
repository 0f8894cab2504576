//! Search on the GPU: WGSL kernels score and select in one pass, the canonical score ranks.
//!
//! Rows live on the device in slabs (`slab`). A search goes over them in rounds that grow: each round
//! scores a range of rows and appends to one list what is not below its query's cut; the host
//! bounds the canonical scores of what was found (`crate::bound`), raises the cuts and starts
//! the next round. No score matrix exists, and only what passed is read back.
//!
//! Invariants: the device is this module's own, never one that draws; a fault (validation, out of
//! memory, device lost, a dispatch that left no trace) is reported and the CPU finishes the query;
//! a software adapter is used only when asked for.

pub(crate) mod device;
pub mod layout;
pub(crate) mod pipeline;
pub(crate) mod round;
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
    /// Entries of the list that a round fills.
    pub found_capacity: Option<u32>,
    /// Bytes of rows that stay on the device.
    pub resident_bytes: Option<u64>,
    /// Keeps to kernels that every device runs.
    pub without_subgroups: bool,
    /// Destroys the device after so many rounds.
    pub lose_device_after_rounds: Option<u32>,
}
