//! What can be installed (`assets/models.toml`), what is installed, and fetching it by package, or from a model hub, and
//! checksum.
//!
//! Start at [`Catalogue`] for what there is, [`entries`] and [`leftovers`] for what is here, [`fetch`] for getting
//! it. A model is a folder under the models folder: `<models>/<entry>/<file>`, with a stamp of what was verified.
//!
//! Invariants: a file whose size or SHA-256 is not the catalogue's is never installed; a fetch that was
//! interrupted goes on where it was; an installed model is not hashed again until its size or time changes; a hub is
//! asked only when the user says so.
//!
//! Must not know: libraries, prompts, how a model is run.

mod add;
mod catalogue;
mod error;
mod fetch;
mod gguf;
mod hub;
mod installed;
mod leftovers;
mod machine;
mod pip;
mod remove;
mod reranker;
mod stamp;
mod unpack;

pub use add::add;
pub use catalogue::{Catalogue, Entry, HubFile, ModelFile, ModelSet, ModelUse, Part};
pub use error::ModelError;
pub use fetch::{FetchPhase, FetchProgress, ModelSource, fetch, fetch_from_hub, fetch_with};
pub use gguf::check_gguf;
pub use hub::{HubModel, ModelHub, Verified};
pub use installed::{EntryState, GeneratorModel, InstalledEntry, Native, entries, generators, library_path};
pub use leftovers::{Leftover, leftovers};
pub use machine::{available_memory_bytes, missing_instructions, num_cores};
pub use pip::{Pip, WheelSource};
pub use remove::remove;
pub use reranker::{ModelKind, RerankerModel, rerankers};

pub(crate) use reranker::check_window;

use std::path::{Path, PathBuf};

/// Folder of the models that read scans in the models folder.
pub const OCR: &str = "pp-ocrv4";

/// The models folder: the one given, else `OUTCROP_MODELS`, else `<home>/models`.
pub fn folder(given: Option<&Path>, home: &Path) -> PathBuf {
    if let Some(given) = given {
        return given.to_owned();
    }
    match std::env::var_os("OUTCROP_MODELS") {
        Some(folder) if !folder.is_empty() => PathBuf::from(folder),
        _ => home.join("models"),
    }
}
