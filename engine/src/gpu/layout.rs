//! The buffers that shaders and host share, as the host sees them.
//!
//! Invariant: field for field the structs of `shaders/*.wgsl`; a test compares the offsets.

use bytemuck::{Pod, Zeroable};

/// The uniform of one dispatch.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Params {
    /// First row of the slab to score.
    pub start_row: u32,
    /// Row after the last.
    pub end_row: u32,
    /// Row of the file that is row 0 of the slab.
    pub first_file_row: u32,
    /// Queries in the batch.
    pub num_queries: u32,
    /// Groups of four values per query.
    pub num_quads: u32,
    /// 16-byte words from row to row.
    pub row_stride: u32,
    /// Entries that the list holds.
    pub capacity: u32,
    /// 1 if the row mask counts.
    pub has_mask: u32,
    /// Number of the round, written back by the kernel.
    pub nonce: u32,
    /// Workgroups in the first dimension.
    pub groups_per_line: u32,
    /// Zero, up to a size that any device aligns to.
    pub reserved: [u32; 6],
}

/// What a round leaves before its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FoundHeader {
    /// Rows that passed, also those that found no room.
    pub count: u32,
    /// Dispatches that ran.
    pub num_dispatches: u32,
    /// The nonce of the dispatches that ran.
    pub nonce: u32,
    /// Zero.
    pub reserved: u32,
}

/// A row that passed.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct FoundEntry {
    /// Number of the query in its batch.
    pub query: u32,
    /// Row of the file.
    pub row: u32,
    /// The kernel's score.
    pub score: f32,
}

/// Names and offsets of the fields of [`Params`], for the test that compares them with the shaders.
pub fn params_offsets() -> Vec<(&'static str, usize)> {
    use std::mem::offset_of;
    vec![
        ("start_row", offset_of!(Params, start_row)),
        ("end_row", offset_of!(Params, end_row)),
        ("first_file_row", offset_of!(Params, first_file_row)),
        ("num_queries", offset_of!(Params, num_queries)),
        ("num_quads", offset_of!(Params, num_quads)),
        ("row_stride", offset_of!(Params, row_stride)),
        ("capacity", offset_of!(Params, capacity)),
        ("has_mask", offset_of!(Params, has_mask)),
        ("nonce", offset_of!(Params, nonce)),
        ("groups_per_line", offset_of!(Params, groups_per_line)),
        ("reserved_0", offset_of!(Params, reserved)),
    ]
}

/// Names and offsets of what a round leaves: the fields of [`FoundHeader`], then the entries.
pub fn found_offsets() -> Vec<(&'static str, usize)> {
    use std::mem::offset_of;
    vec![
        ("count", offset_of!(FoundHeader, count)),
        ("num_dispatches", offset_of!(FoundHeader, num_dispatches)),
        ("nonce", offset_of!(FoundHeader, nonce)),
        ("reserved", offset_of!(FoundHeader, reserved)),
        ("entries", size_of::<FoundHeader>()),
    ]
}
