//! The second half of a file's way: it becomes searchable, or why not is recorded.

use super::FileOutcome;
use super::embedding::EmbedFailure;
use super::index::{IndexFailure, Passages, embed_all};
use super::meter::{Meter, Stopwatch};
use super::prepare::{Prepared, Step, Text, refusal_mark};
use super::run::{IngestError, Ingestion};
use super::scan::ScannedFile;
use crate::chunk::ChunkError;
use crate::embed::EmbedError;
use crate::extract::ExtractError;
use crate::progress::IngestPhase;
use crate::store::{DocumentStatus, Hash, KnownDocument};

/// Makes files that were read together searchable or records why not, and gives `on_outcome` what became of each, in
/// order; `None` for a file of a folder that no reader is there for.
pub(super) fn finish(
    ingestion: Ingestion<'_>,
    group: Vec<Prepared>,
    meter: &Meter<'_>,
    on_outcome: &mut dyn FnMut(Option<FileOutcome>),
) -> Result<(), IngestError> {
    meter.phase(IngestPhase::Chunking);
    let cut = |read: &Prepared| match &read.step {
        Step::Extracted(text) => Some(Passages::of(ingestion, &read.chunker, &read.file, text)),
        _ => None,
    };
    let cuts: Vec<Option<Result<Passages, IndexFailure>>> = group.iter().map(cut).collect();
    let ready: Vec<&Passages> = cuts.iter().flatten().filter_map(|cut| cut.as_ref().ok()).collect();
    let vectors = if ready.is_empty() { Ok(Vec::new()) } else { embed_all(ingestion, &ready, meter) };
    meter.phase(IngestPhase::Storing);
    let dims = ingestion.embedder.dims();
    let mut before = 0;
    for (read, cut) in group.iter().zip(cuts) {
        let job = Job { ingestion, file: &read.file, known: read.known.as_ref(), stopwatch: read.stopwatch };
        let outcome = match (&read.step, cut) {
            (Step::Extracted(text), Some(Ok(passages))) => {
                let rows = before * dims..(before + passages.len()) * dims;
                before += passages.len();
                let vectors = vectors.as_ref().map(|vectors| &vectors[rows]).map_err(Clone::clone);
                job.store(passages, text, vectors).map(Some)
            }
            (_, Some(Err(failure))) => job.not_indexed(failure).map(Some),
            (step, _) => job.without_text(step),
        };
        on_outcome(outcome?);
    }
    Ok(())
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
        self.record_with_mark(status, reason, None)
    }

    fn record_with_mark(
        &self,
        status: DocumentStatus,
        reason: &str,
        mark: Option<&Hash>,
    ) -> Result<FileOutcome, IngestError> {
        if let Some(known) = self.known {
            self.ingestion.store.make_unready(known.id, status, reason, mark)?;
        }
        Ok(self.outcome(status, Some(reason.to_owned())))
    }

    /// The bytes gave no text before; nothing is to be done until they change or the file is named.
    fn still_refused(&self) -> FileOutcome {
        let status = self.known.map_or(DocumentStatus::Failed, |known| known.status);
        let reason = self.known.and_then(|known| known.reason.clone());
        FileOutcome { unchanged: true, ..self.outcome(status, reason) }
    }

    fn refused(&self, err: &ExtractError, hash: &Hash) -> Result<Option<FileOutcome>, IngestError> {
        let status = match err {
            ExtractError::Cancelled { .. } => return self.cancelled().map(Some),
            ExtractError::Unsupported { .. } if self.is_passed_over() => return self.skip(),
            ExtractError::Encrypted { .. } => DocumentStatus::Encrypted,
            ExtractError::NeedsOcr { .. } => DocumentStatus::NeedsOcr,
            // Says nothing about the bytes: it is tried again with the next scan.
            ExtractError::Io { .. } | ExtractError::MissingLibrary { .. } => {
                return self.keep_or_record(DocumentStatus::Failed, &err.to_string()).map(Some);
            }
            _ => DocumentStatus::Failed,
        };
        let mark = refusal_mark(hash, self.ingestion.extractor);
        self.record_with_mark(status, &err.to_string(), Some(&mark)).map(Some)
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

    fn without_text(&self, step: &Step) -> Result<Option<FileOutcome>, IngestError> {
        match step {
            Step::Unchanged => self.unchanged().map(Some),
            Step::Unreadable(reason) => self.unreadable(reason).map(Some),
            Step::Refused(err, hash) => self.refused(err, hash),
            Step::StillRefused => Ok(Some(self.still_refused())),
            Step::Cancelled | Step::Extracted(_) => self.cancelled().map(Some),
        }
    }

    fn store(
        &self,
        passages: Passages,
        text: &Text,
        vectors: Result<&[f32], EmbedFailure>,
    ) -> Result<FileOutcome, IngestError> {
        let Some(known) = self.known else {
            return self.unreadable("the document was removed meanwhile");
        };
        let chunks = passages.len();
        let stored = vectors
            .map_err(IndexFailure::from)
            .and_then(|vectors| Ok(passages.store(self.ingestion, known.id, self.file, text, vectors)?));
        match stored {
            Ok(true) => Ok(FileOutcome {
                chunks,
                pages: text.extraction.coverage.pages,
                ..self.outcome(DocumentStatus::Ready, None)
            }),
            Ok(false) => Ok(FileOutcome {
                document: None,
                ..self.outcome(DocumentStatus::Cancelled, Some("removed while it was read".to_owned()))
            }),
            Err(failure) => self.not_indexed(failure),
        }
    }

    fn not_indexed(&self, failure: IndexFailure) -> Result<FileOutcome, IngestError> {
        match failure {
            _ if self.ingestion.cancel.is_cancelled() => self.cancelled(),
            IndexFailure::Embed(EmbedFailure::Store(err)) | IndexFailure::Store(err) => Err(err.into()),
            IndexFailure::Embed(EmbedFailure::Embed(err @ EmbedError::Load(_))) => Err(err.into()),
            err @ (IndexFailure::Embed(_) | IndexFailure::Chunk(ChunkError::Embed(_))) => {
                self.keep_or_record(DocumentStatus::Failed, &err.to_string())
            }
            err => self.record(DocumentStatus::Failed, &err.to_string()),
        }
    }
}
