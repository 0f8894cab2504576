//! What jobs report, in the past tense.

use std::path::PathBuf;
use std::sync::Arc;

use crate::answer::{Answer, AskEvent};
use crate::extract::Extraction;
use crate::ingest::IngestReport;
use crate::library::{Error, Library};
use crate::retrieve::SearchResults;
use crate::state::{LabResult, ModelRow};
use crate::store::{DocumentId, DocumentRecord};

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
    /// The system's dialog gave folders.
    FoldersPicked(Vec<PathBuf>),
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
    },
    /// What is installed.
    ModelsListed(Result<Vec<ModelRow>, Error>),
    /// A small job failed: settings or samples could not be written.
    Failed(Error),
}
