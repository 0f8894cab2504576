//! The buffers that shaders and host share, as the host sees them.
//!
//! Invariant: field for field the structs of `shaders/*.wgsl`; a test compares the offsets.

use bytemuck::{Pod, Zeroable};

/// The uniform of one dispatch.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Params {
    /// First row of the slab to score, or first query whose candidates are merged.
    pub start_row: u32,
    /// Row, or query, after the last.
    pub end_row: u32,
    /// Row of the file that is row 0 of the slab.
    pub first_file_row: u32,
    /// Queries in the batch.
    pub num_queries: u32,
    /// Groups of four values per query.
    pub num_quads: u32,
    /// 16-byte words from row to row.
    pub row_stride: u32,
    /// Candidates that a query's list holds.
    pub capacity: u32,
    /// 1 if the row mask counts.
    pub has_mask: u32,
    /// Number of the chain, written back by the kernels.
    pub nonce: u32,
    /// Workgroups in the first dimension.
    pub groups_per_line: u32,
    /// Hits wanted per query.
    pub k: u32,
    /// Number of the round in its chain.
    pub round: u32,
    /// Factor from a score to the lowest it may stand for.
    pub stretch: f32,
    /// What a proven number may be off by beside its own size.
    pub floor: f32,
    /// Zero, up to a size that any device aligns to.
    pub reserved: [u32; 2],
}

/// What a chain of rounds leaves before the lengths of its lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FoundHeader {
    /// 1 if a list was too short.
    pub overflow: u32,
    /// Dispatches that ran.
    pub num_dispatches: u32,
    /// The nonce of the dispatches that ran.
    pub nonce: u32,
    /// 0, or one more than the number of the round that overflowed.
    pub halted: u32,
}

/// How long a query's list is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ListLength {
    /// Candidates, also those that found no room.
    pub count: u32,
    /// Candidates that the last merge kept.
    pub kept: u32,
}

/// A row that may belong to a query's answer.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct FoundEntry {
    /// Row of the file.
    pub row: u32,
    /// The kernel's score.
    pub score: f32,
    /// Key of what the canonical score is at least.
    pub sure: u32,
    /// Key of what the canonical score is at most.
    pub reach: u32,
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
        ("k", offset_of!(Params, k)),
        ("round", offset_of!(Params, round)),
        ("stretch", offset_of!(Params, stretch)),
        ("floor", offset_of!(Params, floor)),
        ("reserved_0", offset_of!(Params, reserved)),
    ]
}

/// Names and offsets of what a chain leaves: the fields of [`FoundHeader`], then the lengths.
pub fn found_offsets() -> Vec<(&'static str, usize)> {
    use std::mem::offset_of;
    vec![
        ("overflow", offset_of!(FoundHeader, overflow)),
        ("num_dispatches", offset_of!(FoundHeader, num_dispatches)),
        ("nonce", offset_of!(FoundHeader, nonce)),
        ("halted", offset_of!(FoundHeader, halted)),
        ("counts", size_of::<FoundHeader>()),
    ]
}
