//! A library on disk: what is searchable is what is `Ready`, whatever happens to files, processes and bytes.

#![allow(clippy::unwrap_used, reason = "a failure is the test's message")]

mod damage;
mod fixture;
mod ingest;
mod kill;
mod machine;
mod ranking;
mod retrieve;
mod versions;
