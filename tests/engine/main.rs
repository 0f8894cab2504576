//! Suites over the engine as a user sees it.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod equality;
mod samples;
