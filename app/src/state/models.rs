//! What the models space lists, what is being fetched, and what memory all of it needs.

use crate::models::{EntryState, FetchPhase, FetchProgress};

/// A model or native library, as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRow {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub purpose: String,
    /// Size of its files.
    pub bytes: u64,
    /// Memory that it needs while it runs.
    pub memory_bytes: u64,
    /// Its licence.
    pub licence: String,
    /// Whether it is here; of one that is incomplete a part is, which fetching goes on from.
    pub state: EntryState,
    /// Whether the list of models has it, so that it can be fetched by its name.
    pub is_listed: bool,
    /// Whether it can write answers.
    pub is_generator: bool,
    /// Whether it writes the answers when no model is chosen.
    pub is_default: bool,
}

impl ModelRow {
    /// Whether it can be used.
    pub fn is_installed(&self) -> bool {
        self.state == EntryState::Installed
    }
}

/// A fetch under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetching {
    /// The model's name.
    pub name: String,
    /// How far it is; `None` before the first report.
    pub progress: Option<FetchProgress>,
    /// Bytes a second, of those that this fetch got.
    pub bytes_per_sec: f64,
    /// Seconds left for the download; `None` before the first byte.
    pub secs_left: Option<f64>,
    /// Whether it was told to stop.
    pub cancelling: bool,
}

impl Fetching {
    /// A fetch that was asked for.
    pub fn new(name: String) -> Self {
        Self { name, progress: None, bytes_per_sec: 0.0, secs_left: None, cancelling: false }
    }

    /// The share of the download that is there, 0 to 1.
    pub fn share(&self) -> f32 {
        self.progress.as_ref().map_or(0.0, |progress| progress.bytes_done as f32 / progress.bytes_total.max(1) as f32)
    }

    /// Whether the download is whole and its sums are being checked.
    pub fn is_checking(&self) -> bool {
        self.progress.as_ref().is_some_and(|progress| progress.phase != FetchPhase::Downloading)
    }
}

/// Memory that answering a question needs beside the generator, and what there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryNeeds {
    /// The embedder; 0 where none is installed.
    pub embedder_bytes: u64,
    /// The library's vectors.
    pub vectors_bytes: u64,
    /// What can be used without swapping; `None` where the system does not say.
    pub free_bytes: Option<u64>,
}
