//! Search on the CPU: f32 kernels select candidates with proven bounds, the canonical score ranks.
//!
//! [`naive`] is the oracle that every other path is tested against. [`search`] starts the
//! threads on a shared [`plan`]; each [`worker`] gathers [`tile`]s of rows that may be returned,
//! runs a [`kernel`] over them (or, in [`certified`] searches, over their codes first) and keeps
//! what may belong to the answer in [`candidates`].

pub(crate) mod candidates;
pub(crate) mod certified;
pub(crate) mod kernel;
pub(crate) mod naive;
pub(crate) mod plan;
pub(crate) mod search;
pub(crate) mod tile;
pub(crate) mod worker;
