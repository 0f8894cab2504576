//! Outcrop: questions over one's own documents, on one's own machine.
//!
//! Start reading at [`Library`], the one API that the window, the command line and the tests use: open a
//! library, ingest, search, ask. Chunking needs no library: see [`chunk`].
//!
//! Directions (a tidy test holds them): `ui -> command -> jobs -> library -> ingest | retrieve | answer ->
//! extract | chunk | embed | store -> engine`. Nothing below `ui` names egui.

pub mod answer;
pub mod chunk;
pub mod cli;
pub mod embed;
pub mod eval;
pub mod extract;
pub mod figure;
pub mod ingest;
pub mod library;
pub mod models;
pub mod progress;
pub mod retrieve;
pub mod similarity;
pub mod store;
pub mod watch;
pub mod worker;

mod dice;
mod http;
mod onnx;
mod secrets;

#[cfg(feature = "gui")]
pub mod command;
#[cfg(feature = "gui")]
pub mod jobs;
#[cfg(feature = "gui")]
pub mod state;
#[cfg(feature = "gui")]
pub mod ui;

pub use library::{Library, LibraryOptions};
pub use progress::CancelToken;
