//! The second half of a file's way: it becomes searchable, or why not is recorded.

use super::FileOutcome;
use super::embedding::EmbedFailure;
use super::index::{IndexFailure, index};
use super::meter::{Meter, Stopwatch};
use super::prepare::{Prepared, Step, Text};
use super::run::{IngestError, Ingestion};
use super::scan::ScannedFile;
use crate::chunk::{ChunkError, Chunker};
use crate::embed::EmbedError;
use crate::extract::ExtractError;
use crate::store::{DocumentStatus, KnownDocument};

/// Makes a prepared file searchable or records why not; `None` for a file of a folder that no reader is there for.
pub(super) fn finish(
    ingestion: Ingestion<'_>,
    chunker: &dyn Chunker,
    prepared: Prepared,
    meter: &Meter<'_>,
) -> Result<Option<FileOutcome>, IngestError> {
    let Prepared { file, known, step, stopwatch } = prepared;
    let job = Job { ingestion, file: &file, known: known.as_ref(), stopwatch };
    match step {
        Step::Unchanged => job.unchanged().map(Some),
        Step::Cancelled => job.cancelled().map(Some),
        Step::Unreadable(reason) => job.unreadable(&reason).map(Some),
        Step::Refused(err) => job.refused(&err),
        Step::Extracted(text) => job.index(chunker, &text, meter).map(Some),
    }
}

/// What is known of the file being finished.
struct Job<'a> {
    ingestion: Ingestion<'a>,
    file: &'a ScannedFile,
    known: Option<&'a KnownDocument>,
    stopwatch: Stopwatch,
}

impl Job<'_> {
    fn outcome(&self, status: DocumentStatus, reason: Option<String>) -> FileOutcome {
        FileOutcome {
            path: self.file.path.clone(),
            document: self.known.map(|known| known.id),
            status,
            reason,
            unchanged: false,
            pages: None,
            chunks: 0,
            secs: self.stopwatch.secs(),
        }
    }

    fn unchanged(&self) -> Result<FileOutcome, IngestError> {
        let (chunks, pages) = match self.known {
            Some(known) => self.ingestion.store.size_of(known.id)?,
            None => (0, None),
        };
        Ok(FileOutcome { unchanged: true, chunks, pages, ..self.outcome(DocumentStatus::Ready, None) })
    }

    fn cancelled(&self) -> Result<FileOutcome, IngestError> {
        self.keep_or_record(DocumentStatus::Cancelled, "stopped before it was searchable; add it again")
    }

    fn unreadable(&self, reason: &str) -> Result<FileOutcome, IngestError> {
        self.keep_or_record(DocumentStatus::Failed, &format!("the file could not be read: {reason}"))
    }

    /// What happened says nothing about the bytes: a searchable document stays as it is.
    fn keep_or_record(&self, status: DocumentStatus, reason: &str) -> Result<FileOutcome, IngestError> {
        match self.known {
            Some(known) if known.status == DocumentStatus::Ready => {
                let reason = format!("{reason}; what was read earlier stays searchable");
                Ok(self.outcome(status, Some(reason)))
            }
            _ => self.record(status, reason),
        }
    }

    fn record(&self, status: DocumentStatus, reason: &str) -> Result<FileOutcome, IngestError> {
        if let Some(known) = self.known {
            self.ingestion.store.make_unready(known.id, status, reason)?;
        }
        Ok(self.outcome(status, Some(reason.to_owned())))
    }

    fn refused(&self, err: &ExtractError) -> Result<Option<FileOutcome>, IngestError> {
        let status = match err {
            ExtractError::Cancelled { .. } => return self.cancelled().map(Some),
            ExtractError::Unsupported { .. } if self.is_passed_over() => return self.skip(),
            ExtractError::Encrypted { .. } => DocumentStatus::Encrypted,
            ExtractError::NeedsOcr { .. } => DocumentStatus::NeedsOcr,
            ExtractError::Io { .. } | ExtractError::MissingLibrary { .. } => {
                return self.keep_or_record(DocumentStatus::Failed, &err.to_string()).map(Some);
            }
            _ => DocumentStatus::Failed,
        };
        self.record(status, &err.to_string()).map(Some)
    }

    /// Whether a file that no reader is there for was neither named nor a document before.
    fn is_passed_over(&self) -> bool {
        !self.file.is_named && self.known.is_none_or(|known| known.status == DocumentStatus::Queued)
    }

    fn skip(&self) -> Result<Option<FileOutcome>, IngestError> {
        if let Some(known) = self.known {
            self.ingestion.store.remove(&[known.id])?;
        }
        Ok(None)
    }

    fn index(&self, chunker: &dyn Chunker, text: &Text, meter: &Meter<'_>) -> Result<FileOutcome, IngestError> {
        let Some(known) = self.known else {
            return self.unreadable("the document was removed meanwhile");
        };
        match index(self.ingestion, chunker, known.id, self.file, text, meter) {
            Ok(Some(chunks)) => Ok(FileOutcome {
                chunks,
                pages: text.extraction.coverage.pages,
                ..self.outcome(DocumentStatus::Ready, None)
            }),
            Ok(None) => Ok(FileOutcome {
                document: None,
                ..self.outcome(DocumentStatus::Cancelled, Some("removed while it was read".to_owned()))
            }),
            Err(_) if self.ingestion.cancel.is_cancelled() => self.cancelled(),
            Err(IndexFailure::Embed(EmbedFailure::Store(err)) | IndexFailure::Store(err)) => Err(err.into()),
            Err(IndexFailure::Embed(EmbedFailure::Embed(err @ EmbedError::Load(_)))) => Err(err.into()),
            Err(err @ (IndexFailure::Embed(_) | IndexFailure::Chunk(ChunkError::Embed(_)))) => {
                self.keep_or_record(DocumentStatus::Failed, &err.to_string())
            }
            Err(err) => self.record(DocumentStatus::Failed, &err.to_string()),
        }
    }
}
