//! [`Command`]: everything a person can ask of the window, as one value. Menus, shortcuts, the palette and tests
//! all go through it; [`run`] routes it to the handler of its domain.
//!
//! Invariant: handlers change state and hand work to jobs; they never wait, and they know no egui.

mod catalogue;
mod chat;
mod chunks;
mod events;
mod export;
mod library;
mod models;
mod search;
mod shortcut;
mod similarity;
mod view;

pub use catalogue::{Entry, entries};
pub use events::apply;
pub use shortcut::{KeyName, Shortcut};

use std::path::PathBuf;
use std::sync::Arc;

use crate::chunk::ChunkerConfig;
use crate::extract::Password;
use crate::ingest::IngestOptions;
use crate::jobs::{ExportFormat, Figure, Jobs};
use crate::library::Error;
use crate::retrieve::SearchOptions;
use crate::similarity::MapLayout;
use crate::state::{
    AppState, LabelledQuestion, Passage, RowMetrics, SimilarityView, SortKey, Space, StatusFilter, ThemeChoice,
};
use crate::store::{ChatId, DocumentId};

/// Something a person asks of the window.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Brings a space to the front.
    ShowSpace(Space),
    /// Opens the command palette, or closes it.
    TogglePalette,
    /// Closes what is open on top: palette, then inspector.
    Dismiss,
    /// Shows an error until it is read.
    Report(Error),
    /// Takes a message away.
    DismissNotice(usize),
    /// Copies nothing else than what it says; the window does it.
    Quit,
    /// Chooses light, dark or system.
    SetTheme(ThemeChoice),
    /// Chooses the zoom.
    SetScale(f32),
    /// Remembers the window's inner size.
    RememberWindowSize([f32; 2]),

    /// Opens the library again after it failed.
    ReopenLibrary,
    /// Asks for files with the system's dialog.
    PickFiles,
    /// Asks for a folder with the system's dialog.
    PickFolder,
    /// Ingests files and folders.
    AddPaths(Vec<PathBuf>),
    /// Ingests folders and follows their changes from now on.
    FollowFolders(Vec<PathBuf>),
    /// No longer follows a folder; its documents stay.
    UnfollowFolder(PathBuf),
    /// Ingests the sample documents.
    AddSamples,
    /// Stops the ingest.
    CancelIngest,
    /// Lets the ingest stand still, or go on.
    PauseIngest(bool),
    /// Selects a document; with `extend` adds to or takes from the selection.
    SelectDocument {
        /// Which.
        id: DocumentId,
        /// Keep what is selected.
        extend: bool,
    },
    /// Selects every listed document.
    SelectAllDocuments,
    /// Removes documents from the library (never their files).
    RemoveDocuments(Vec<DocumentId>),
    /// Removes what is selected.
    RemoveSelected,
    /// Adds removed documents again, each as it was read and cut.
    RestoreDocuments(Vec<(PathBuf, IngestOptions)>),
    /// Reads the file of an encrypted document again with its password, which is not kept on disk.
    OpenWithPassword {
        /// Which document.
        document: DocumentId,
        /// What was typed.
        password: Password,
    },
    /// Reads the file of a document again in an encoding; the empty one lets it be found.
    SetEncoding {
        /// Which document.
        document: DocumentId,
        /// Its name.
        encoding: String,
    },
    /// Lists the documents of a folder.
    ShowFolder(PathBuf),
    /// Sorts the table, or turns its order.
    SortDocuments(SortKey),
    /// Lists documents whose title or path holds a text.
    FilterDocuments(String),
    /// Lists documents of some states.
    FilterStatus(StatusFilter),

    /// Shows a document's chunks, at a byte of its text where one is given.
    OpenInChunks {
        /// Which document.
        document: DocumentId,
        /// Where to.
        byte: Option<usize>,
    },
    /// Recuts the document in hand.
    SetChunker(ChunkerConfig),
    /// Tells how wide rows of text are.
    SetRowMetrics(Arc<RowMetrics>),
    /// Computes the boundary curve for a chunker that does not need it.
    ComputeCurve,
    /// Gives up embedding the segments of the document in hand; the chunking before it stays.
    StopEmbedding,
    /// Scrolls the text to a byte.
    JumpTo(usize),
    /// Shows a chunk of the document in hand in the inspector.
    InspectChunk(usize),
    /// Joins a chunk of the document in hand with the one after it.
    MergeChunks(usize),
    /// Cuts the chunk that holds a byte there.
    SplitChunk(usize),
    /// Moves the start of a chunk to a byte.
    MoveCut {
        /// The chunk.
        index: usize,
        /// Its new start.
        byte: usize,
    },
    /// Takes back the last edit of the chunking.
    UndoEdit,
    /// Does again what was taken back last.
    RedoEdit,
    /// Compares the chunker in hand with these; none ends the comparison.
    CompareWith(Vec<ChunkerConfig>),
    /// Adds a question on the document in hand.
    AddQuestion(LabelledQuestion),
    /// Takes a question away.
    RemoveQuestion(usize),
    /// Writes a figure of the document in hand, or asks where to without a path.
    Export {
        /// What.
        figure: Figure,
        /// As what.
        format: ExportFormat,
        /// Where to.
        path: Option<PathBuf>,
    },
    /// Stores the document with the chunker in hand.
    UseChunkerForDocument,
    /// Uses the chunker in hand for documents added from now on.
    UseChunkerForNew,

    /// Shows chunks by chunks, or the map.
    ShowSimilarity(SimilarityView),
    /// Lays the map out in another way.
    LayOutMap(MapLayout),
    /// Shows the texts of two chunks of the heat map.
    PickPair(usize, usize),
    /// Shows a passage of the map.
    PickPassage(usize),
    /// Lists the passages of the map that a line was drawn around; none takes the list away.
    EncirclePassages(Vec<usize>),
    /// Compares a query with what is shown; an empty one takes it away.
    CompareQuery(String),
    /// Stops a comparison that is under way.
    StopComparing,

    /// Searches.
    Search(String),
    /// Searches again in another way.
    SetSearchOptions(SearchOptions),
    /// Selects a hit and shows it in the inspector.
    SelectHit(usize),
    /// Shows a passage in the inspector.
    Inspect(Box<Passage>),

    /// Asks a question.
    Ask(String),
    /// Asks a turn's question again; an answer to the last one takes its place.
    AskAgain(u64),
    /// Takes a turn's question up to be edited; `None` gives that up.
    EditQuestion(Option<u64>),
    /// Copies the newest answer; the window does it.
    CopyAnswer,
    /// Lists the passages of a turn with what became of each, or hides them.
    TogglePassages(u64),
    /// Shows the passage that a marker of the newest answer names.
    OpenCitation(u32),
    /// Stops the answer.
    StopAnswer,
    /// Shows the conversations that are kept, or the one in hand.
    ShowConversations(bool),
    /// Takes up a conversation that was kept.
    OpenChat(ChatId),
    /// Deletes a conversation that was kept.
    RemoveChat(ChatId),
    /// Begins a new conversation; the one before stays in the library.
    ClearChat,
    /// Writes the conversation as Markdown; without a path the system's dialog asks for one.
    ExportChat(Option<PathBuf>),
    /// Answers with this model from now on; `None` takes the best one installed.
    UseModel(Option<String>),

    /// Looks up what is installed.
    ListModels,
    /// Fetches a model by its name.
    FetchModel(String),
    /// Stops the fetch; what was downloaded is kept.
    CancelFetch,
    /// Asks for a model in the system's dialog: a GGUF file, or the folder of a reranker.
    PickModel {
        /// Whether a folder is asked for.
        is_folder: bool,
    },
    /// Adds a model by its path.
    AddModel(PathBuf),
    /// Deletes an installed model's files.
    RemoveModel(String),
}

/// Carries out `command`.
pub fn run(command: Command, state: &mut AppState, jobs: &mut Jobs) {
    use Command as C;
    match command {
        C::ShowSpace(_)
        | C::TogglePalette
        | C::Dismiss
        | C::Report(_)
        | C::DismissNotice(_)
        | C::Quit
        | C::SetTheme(_)
        | C::SetScale(_)
        | C::RememberWindowSize(_) => view::run(command, state, jobs),
        C::ListModels
        | C::FetchModel(_)
        | C::CancelFetch
        | C::PickModel { .. }
        | C::AddModel(_)
        | C::RemoveModel(_) => models::run(command, state, jobs),
        C::ReopenLibrary
        | C::PickFiles
        | C::PickFolder
        | C::AddPaths(_)
        | C::FollowFolders(_)
        | C::UnfollowFolder(_)
        | C::AddSamples
        | C::CancelIngest
        | C::PauseIngest(_)
        | C::SelectDocument { .. }
        | C::SelectAllDocuments
        | C::RemoveDocuments(_)
        | C::RemoveSelected
        | C::RestoreDocuments(_)
        | C::OpenWithPassword { .. }
        | C::SetEncoding { .. }
        | C::ShowFolder(_)
        | C::SortDocuments(_)
        | C::FilterDocuments(_)
        | C::FilterStatus(_) => library::run(command, state, jobs),
        C::OpenInChunks { .. }
        | C::SetChunker(_)
        | C::SetRowMetrics(_)
        | C::ComputeCurve
        | C::StopEmbedding
        | C::JumpTo(_)
        | C::InspectChunk(_)
        | C::MergeChunks(_)
        | C::SplitChunk(_)
        | C::MoveCut { .. }
        | C::UndoEdit
        | C::RedoEdit
        | C::CompareWith(_)
        | C::AddQuestion(_)
        | C::RemoveQuestion(_)
        | C::Export { .. }
        | C::UseChunkerForDocument
        | C::UseChunkerForNew => chunks::run(command, state, jobs),
        C::ShowSimilarity(_)
        | C::LayOutMap(_)
        | C::PickPair(..)
        | C::PickPassage(_)
        | C::EncirclePassages(_)
        | C::CompareQuery(_)
        | C::StopComparing => {
            similarity::run(command, state, jobs);
        }
        C::Search(_) | C::SetSearchOptions(_) | C::SelectHit(_) | C::Inspect(_) => {
            search::run(command, state, jobs);
        }
        C::Ask(_)
        | C::AskAgain(_)
        | C::EditQuestion(_)
        | C::CopyAnswer
        | C::TogglePassages(_)
        | C::OpenCitation(_)
        | C::StopAnswer
        | C::ClearChat
        | C::ShowConversations(_)
        | C::OpenChat(_)
        | C::RemoveChat(_)
        | C::ExportChat(_)
        | C::UseModel(_) => chat::run(command, state, jobs),
    }
}
