//! Suites over the engine as a user sees it: equality with the oracle, files, faults.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]
#![allow(clippy::float_cmp, reason = "answers are compared bit for bit")]

mod certified;
mod damage;
mod equality;
mod exchange;
mod fixtures;
mod fuzz;
mod gpu;
mod gpu_lists;
mod kill;
mod known_shapes;
mod lifecycle;
mod samples;
