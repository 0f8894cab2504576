//! What the window shows: plain data, changed only by the handlers of `command` (which also take in the
//! events of `jobs`), read by the panels of `ui`.
//!
//! Invariant: no I/O, no locks, no egui. Start at [`AppState`].

mod chat;
mod comparison;
pub mod edits;
mod folders;
mod inspector;
mod lab;
mod library;
mod loadable;
mod models;
mod notice;
mod pace;
mod pages;
mod questions;
mod search;
mod settings;
mod similarity;
mod space;
mod text_rows;

pub use chat::{ChatState, Coverage, Turn, TurnState};
pub use comparison::{Column, Comparison, CutMark};
pub use edits::Edits;
pub use folders::FolderState;
pub use inspector::{Passage, Selection};
pub use lab::{Jump, LabResult, LabState, SizeStats};
pub use library::{LibraryState, SortKey, StatusFilter};
pub use loadable::Loadable;
pub use models::{Fetching, MemoryNeeds, ModelRow};
pub use notice::{Notice, NoticeKind, Undo};
pub use pace::Pace;
pub use pages::{PagesState, Surroundings};
pub use questions::{LabelledQuestion, QuestionScores};
pub use search::SearchState;
pub use settings::{Settings, ThemeChoice};
pub use similarity::{HeatResult, MapResult, QueryAnswer, SimilarityState, SimilarityView};
pub use space::Space;
pub use text_rows::{RowKind, RowMetrics, TextRow, TextRows};

use std::path::PathBuf;

use crate::library::Error;

/// All state of the window.
#[derive(Debug, Default)]
pub struct AppState {
    /// The space in front.
    pub space: Space,
    /// What is remembered between runs.
    pub settings: Settings,
    /// The open library's documents and the ingest.
    pub library: LibraryState,
    /// The document under the knife.
    pub lab: LabState,
    /// What lies near what.
    pub similarity: SimilarityState,
    /// The query and its hits.
    pub search: SearchState,
    /// Questions and answers.
    pub chat: ChatState,
    /// What the models space lists.
    pub models: Loadable<Vec<ModelRow>>,
    /// What they need in memory.
    pub memory: MemoryNeeds,
    /// The model that is being fetched.
    pub fetching: Option<Fetching>,
    /// The model whose files are being deleted.
    pub removing_model: Option<String>,
    /// What the inspector shows.
    pub selection: Selection,
    /// The pages that the selected passage stands on.
    pub pages: PagesState,
    /// Messages on top of the window, oldest first.
    pub notices: Vec<Notice>,
    /// Whether the command palette is open.
    pub palette_open: bool,
    /// The open library.
    pub opened: Loadable<Opened>,
}

/// What the window knows about the open library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// Where it lies.
    pub home: PathBuf,
    /// What the vector leg runs on.
    pub backend: String,
    /// Name of the embedder.
    pub embedder: String,
    /// A sentence for people when the hash embedder stands in.
    pub embedder_note: Option<String>,
    /// Another process writes to it.
    pub read_only: bool,
}

impl AppState {
    /// The installed model that writes the answers; `None` for sentences copied from the documents or a model server.
    pub fn generator(&self) -> Option<&ModelRow> {
        let name = self.generator_name();
        self.models.value()?.iter().find(|row| row.is_generator && row.is_installed() && row.name == name)
    }

    /// What writes the answers, in words.
    pub fn generator_name(&self) -> &str {
        let rows = self.models.value().map(Vec::as_slice).unwrap_or_default();
        let best = rows.iter().find(|row| row.is_default).map(|row| row.name.as_str());
        self.settings.model.as_deref().or(best).unwrap_or("extractive")
    }

    /// Shows `error` until it is dismissed.
    pub fn report(&mut self, error: &Error) {
        self.notices.push(Notice::error(error));
    }

    /// Shows a short message that goes away by itself, with its undo where there is one.
    pub fn tell(&mut self, text: impl Into<String>, undo: Option<Undo>) {
        self.notices.push(Notice::message(text, undo));
    }
}
