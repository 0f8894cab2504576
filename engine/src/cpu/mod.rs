//! Search on the CPU: f32 kernels select candidates with proven bounds, the canonical score ranks.
//!
//! [`naive`] is the oracle that every other path is tested against. [`search`] hands out chunks
//! of rows to the worker threads; each gathers [`tile`]s of rows that may be returned, runs a
//! [`kernel`] over them and keeps what may belong to the answer in [`candidates`].

pub(crate) mod candidates;
pub(crate) mod kernel;
pub(crate) mod naive;
pub(crate) mod search;
pub(crate) mod tile;
