//! What a library is opened with.

use std::path::PathBuf;
use std::sync::Arc;

use crate::embed::Embedder;
use crate::extract::Extract;
use crate::models::ModelSource;

/// Which library to open and what to open it with.
#[derive(Clone, Default)]
pub struct LibraryOptions {
    /// Outcrop's home: libraries, models and logs. `None` takes `OUTCROP_HOME`, else the user's data folder.
    pub home: Option<PathBuf>,
    /// Where models and native libraries are; `None` takes `OUTCROP_MODELS`, else `<home>/models`.
    pub models: Option<PathBuf>,
    /// The library's name; `None` is `default`.
    pub name: Option<String>,
    /// Whether it is made, and written to.
    pub access: Access,
    /// The embedder; `None` takes the installed default model, else the hash embedder with a note.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// What reads text out of files; `None` takes the extract workers.
    pub extractor: Option<Arc<dyn Extract>>,
    /// Where the window fetches models from; `None` takes the built-in catalogue and the package client.
    pub model_source: Option<ModelSource>,
    /// Where the vector leg runs.
    pub gpu: GpuChoice,
    /// The binary that worker processes run; `None` is the running program.
    pub worker_binary: Option<PathBuf>,
}

/// What a library is opened for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Reading and writing; it is made if it is not there.
    #[default]
    Make,
    /// Reading and writing; it must be there.
    Write,
    /// Reading; it must be there. Another process may write it meanwhile.
    Read,
}

/// Where the vector leg runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GpuChoice {
    /// A hardware GPU if there is one and the data is worth it, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Off,
    /// A software adapter, for tests.
    Software,
}

impl From<GpuChoice> for engine::GpuMode {
    fn from(choice: GpuChoice) -> Self {
        match choice {
            GpuChoice::Auto => Self::Auto,
            GpuChoice::Off => Self::Off,
            GpuChoice::Software => Self::Software,
        }
    }
}
