//! What jobs report, in the past tense.

use std::path::PathBuf;
use std::sync::Arc;

use crate::answer::{Answer, AskEvent};
use crate::extract::{Extraction, PagePicture};
use crate::ingest::IngestReport;
use crate::library::{Error, Library};
use crate::retrieve::SearchResults;
use crate::state::{
    Comparison, Fetching, FolderState, HeatResult, LabResult, LabelledQuestion, MapResult, MemoryNeeds, ModelRow,
    QueryAnswer, Surroundings,
};
use crate::store::{ChatId, ChatRecord, DocumentId, DocumentRecord};

/// Something that happened in a job.
pub enum Event {
    /// The library is open, or is not.
    LibraryOpened(Result<Arc<Library>, Error>),
    /// Every document.
    DocumentsListed(Result<Vec<DocumentRecord>, Error>),
    /// Documents were removed.
    DocumentsRemoved {
        /// What they were.
        records: Vec<DocumentRecord>,
        /// Those whose file is still there, so that they can be added again.
        with_file: Vec<DocumentId>,
        /// How many there were, or why not.
        outcome: Result<usize, Error>,
    },
    /// A waiting ingest began.
    IngestStarted,
    /// An ingest ended.
    IngestFinished(Result<IngestReport, Error>),
    /// The system's dialog gave files.
    PathsPicked(Vec<PathBuf>),
    /// How the followed folders are.
    FoldersLookedAt(Vec<(PathBuf, FolderState)>),
    /// The system's dialog gave folders.
    FoldersPicked(Vec<PathBuf>),
    /// A search has hits, which are being ranked again.
    FirstRanked {
        /// Its number.
        number: u64,
        /// Its hits so far.
        results: Box<SearchResults>,
    },
    /// A search ended.
    Searched {
        /// Its number.
        number: u64,
        /// Its hits.
        outcome: Result<SearchResults, Error>,
    },
    /// A document's text is here.
    TextLoaded {
        /// Which document.
        document: DocumentId,
        /// Its text.
        outcome: Result<Arc<Extraction>, Error>,
    },
    /// Some segments of a document are embedded.
    SegmentsEmbedded {
        /// Which document.
        document: DocumentId,
        /// Segments embedded.
        done: usize,
        /// Segments to embed.
        total: usize,
    },
    /// A document was cut.
    Cut {
        /// Which document.
        document: DocumentId,
        /// The request's number.
        number: u64,
        /// The chunking.
        outcome: Result<Arc<LabResult>, Error>,
    },
    /// The text around a passage was read.
    SurroundingsRead {
        /// Number of the request.
        number: u64,
        /// The text; `None` where the document has changed.
        around: Option<Surroundings>,
    },
    /// Pages were drawn.
    PagesDrawn {
        /// The request's number.
        number: u64,
        /// Their pictures.
        outcome: Result<Vec<Arc<PagePicture>>, Error>,
    },
    /// The questions written on a document are here.
    QuestionsLoaded {
        /// Which document.
        document: DocumentId,
        /// Its questions.
        questions: Vec<LabelledQuestion>,
    },
    /// A document was cut by several chunkers.
    Compared {
        /// Which document.
        document: DocumentId,
        /// The request's number.
        number: u64,
        /// The comparison.
        outcome: Result<Arc<Comparison>, Error>,
    },
    /// A figure was written, or is not wanted any more (`None`).
    Exported(Result<Option<PathBuf>, Error>),
    /// Rows embedded or compared for the similarity space.
    SimilarityProgressed {
        /// The request's number.
        number: u64,
        /// Rows done.
        done: usize,
        /// Rows to do.
        total: usize,
    },
    /// Chunks were compared.
    HeatCompared {
        /// The request's number.
        number: u64,
        /// Their similarities.
        outcome: Result<Arc<HeatResult>, Error>,
    },
    /// The library was mapped.
    Mapped {
        /// The request's number.
        number: u64,
        /// The map.
        outcome: Result<Arc<MapResult>, Error>,
    },
    /// A query was compared.
    QueryCompared {
        /// The request's number.
        number: u64,
        /// What is near it.
        outcome: Result<Arc<QueryAnswer>, Error>,
    },
    /// An answer goes on.
    AnswerProgressed {
        /// The question's number.
        number: u64,
        /// What happened.
        event: AskEvent,
    },
    /// An answer ended.
    Answered {
        /// The question's number.
        number: u64,
        /// The answer.
        outcome: Box<Result<Answer, Error>>,
        /// The conversation that it was kept in.
        kept: Option<ChatId>,
    },
    /// The latest conversation of the library, if there is one.
    ChatLoaded(Result<Option<(ChatId, Vec<Answer>)>, Error>),
    /// The conversations that are kept, newest first.
    ChatsListed(Result<Vec<ChatRecord>, Error>),
    /// A conversation was read.
    ChatOpened {
        /// Which.
        chat: ChatId,
        /// Its answers, oldest first.
        outcome: Result<Vec<Answer>, Error>,
    },
    /// A conversation was written to a file.
    ChatExported(Result<PathBuf, Error>),
    /// What is installed.
    ModelsListed {
        /// Number of the listing.
        number: u64,
        /// The models.
        outcome: Result<Vec<ModelRow>, Error>,
        /// What they need.
        memory: MemoryNeeds,
    },
    /// A fetch goes on.
    FetchProgressed(Fetching),
    /// A fetch ended.
    FetchEnded {
        /// The model's name.
        name: String,
        /// Whether it is installed.
        outcome: Result<(), Error>,
    },
    /// The system's dialog gave a model.
    ModelPicked(PathBuf),
    /// A model was added under this name.
    ModelAdded(Result<String, Error>),
    /// A model was to be deleted.
    ModelRemoved {
        /// Its name.
        name: String,
        /// Whether it is gone.
        outcome: Result<(), Error>,
    },
    /// A small job failed: settings or samples could not be written.
    Failed(Error),
}
