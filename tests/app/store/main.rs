//! A library on disk: what is searchable is what is `Ready`, whatever happens to files, processes and bytes.

#![allow(clippy::format_collect, clippy::match_same_arms, reason = "plainer to read in a test")]
#![allow(clippy::unwrap_used, reason = "a failure is the test's message")]

mod archive;
mod damage;
mod disk_full;
mod filters;
mod fixture;
mod ingest;
mod kill;
mod machine;
mod ranking;
mod reading;
mod retrieve;
mod versions;
mod watch;
mod whole;
