//! Tidy: what must be true of the source tree itself, checked over the tracked files.
//!
//! Each module holds one kind of rule. Start reading at [`directions`], the architecture as a table. A rule that is
//! in the way is changed here, in the same commit as the code that needs it, and with a reason.

#![allow(clippy::unwrap_used, reason = "a test stops at the first thing that it cannot read")]

mod colours;
mod directions;
mod features;
mod manifest;
mod samples;
mod scan;
mod shaders;
mod shape;
mod tree;
mod words;
