//! The second half of a file's way: it becomes searchable, or why not is recorded.

use super::FileOutcome;
use super::embedding::EmbedFailure;
use super::index::{IndexFailure, Passages, embed_all};
use super::meter::Meter;
use super::prepare::{MOST_TIMEOUTS, Prepared, Step, Text, picture_mark, refusal_mark};
use super::run::{IngestError, Ingestion};
use super::scan::ScannedFile;
use crate::chunk::ChunkError;
use crate::embed::EmbedError;
use crate::extract::ExtractError;
use crate::progress::IngestPhase;
use crate::store::{DocumentStatus, Hash, KnownDocument, Unready};

/// What is noted of a file whose cuts by hand could not be kept.
pub(crate) const CUTS_LOST: &str =
    "the cuts made by hand are lost: its text is another one now, and was cut by the chunker for new documents";

/// What became of a file.
pub(super) enum Finished {
    File(FileOutcome),
    /// No reader is there for it; it was found in a folder.
    Skipped,
    /// A picture without text; it was found in a folder.
    WithoutText,
}

/// Makes files that were read together searchable or records why not, and gives `on_outcome` what became of each, in
/// order.
pub(super) fn finish(
    ingestion: Ingestion<'_>,
    group: Vec<Prepared>,
    meter: &Meter<'_>,
    on_outcome: &mut dyn FnMut(Finished),
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
        let job = Job { ingestion, file: &read.file, known: read.known.as_ref(), prepared: read };
        let outcome = match (&read.step, cut) {
            (Step::Extracted(text), Some(Ok(passages))) => {
                let rows = before * dims..(before + passages.len()) * dims;
                before += passages.len();
                let vectors = vectors.as_ref().map(|vectors| &vectors[rows]).map_err(Clone::clone);
                job.store(passages, text, vectors).map(Finished::File)
            }
            (_, Some(Err(failure))) => job.not_indexed(failure).map(Finished::File),
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
    prepared: &'a Prepared,
}

impl Job<'_> {
    fn outcome(&self, status: DocumentStatus, reason: Option<String>) -> FileOutcome {
        FileOutcome {
            path: self.file.path.clone(),
            document: self.known.map(|known| known.id),
            status,
            reason,
            notes: Vec::new(),
            unchanged: false,
            pages: None,
            chunks: 0,
            secs: self.prepared.stopwatch.secs(),
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
        self.record_with_mark(status, reason, None, 0)
    }

    /// How it was to be read and cut is remembered with the failure.
    fn record_with_mark(
        &self,
        status: DocumentStatus,
        reason: &str,
        mark: Option<&Hash>,
        timeouts: u32,
    ) -> Result<FileOutcome, IngestError> {
        let Prepared { read, chunker, is_chosen, .. } = self.prepared;
        if let Some(known) = self.known {
            let read = &read.without_password();
            let chunker = Some(chunker).filter(|_| *is_chosen);
            let unready = Unready { mark, timeouts, read: Some(read), chunker, ..Unready::new(status, reason) };
            self.ingestion.store.make_unready(known.id, unready)?;
        }
        Ok(self.outcome(status, Some(reason.to_owned())))
    }

    /// The bytes gave no text before; nothing is to be done until they change or the file is named.
    fn still_refused(&self) -> FileOutcome {
        let status = self.known.map_or(DocumentStatus::Failed, |known| known.status);
        let reason = self.known.and_then(|known| known.reason.clone());
        FileOutcome { unchanged: true, ..self.outcome(status, reason) }
    }

    fn refused(&self, err: &ExtractError, hash: &Hash) -> Result<Finished, IngestError> {
        let status = match err {
            ExtractError::Cancelled { .. } => return self.cancelled().map(Finished::File),
            ExtractError::Unsupported { .. } if self.is_passed_over() => return self.skip(),
            ExtractError::PictureWithoutText { .. } => return self.picture_without_text(err, hash),
            ExtractError::TimedOut { .. } => return self.timed_out(err, hash).map(Finished::File),
            // The bytes are those of a document that was opened: what was tried with them fails alone.
            _ if self.is_wish_of_ready(hash) => {
                return self.keep_or_record(DocumentStatus::Failed, &err.to_string()).map(Finished::File);
            }
            ExtractError::Encrypted { .. }
            | ExtractError::PasswordNeeded { .. }
            | ExtractError::PasswordWrong { .. } => DocumentStatus::Encrypted,
            ExtractError::NeedsOcr { .. } => DocumentStatus::NeedsOcr,
            // Says nothing about the bytes: it is tried again with the next scan.
            ExtractError::Io { .. } | ExtractError::MissingLibrary { .. } => {
                return self.keep_or_record(DocumentStatus::Failed, &err.to_string()).map(Finished::File);
            }
            _ => DocumentStatus::Failed,
        };
        let mark = self.mark(hash);
        self.record_with_mark(status, &err.to_string(), Some(&mark), 0).map(Finished::File)
    }

    /// Whether a searchable document with these bytes was to be read in another way than it was.
    fn is_wish_of_ready(&self, hash: &Hash) -> bool {
        let wish = &self.ingestion.options.read;
        let is_wish = !wish.is_empty() || wish.password.is_some();
        let is_ready =
            |known: &KnownDocument| known.status == DocumentStatus::Ready && known.hash.as_ref() == Some(hash);
        is_wish && self.known.is_some_and(is_ready)
    }

    fn mark(&self, hash: &Hash) -> Hash {
        refusal_mark(hash, self.ingestion.extractor, &self.prepared.read)
    }

    /// A machine with more to do than usual is no property of the file: it has a few more tries.
    fn timed_out(&self, err: &ExtractError, hash: &Hash) -> Result<FileOutcome, IngestError> {
        let mark = self.mark(hash);
        let is_ready = |known: &KnownDocument| known.status == DocumentStatus::Ready;
        let counts = |known: &KnownDocument| is_ready(known) || known.hash.as_ref() == Some(&mark);
        let before = self.known.filter(|known| !self.file.is_named && counts(known));
        let times = before.map_or(0, |known| known.timeouts) + 1;
        let reason = if times < MOST_TIMEOUTS {
            format!("{err}; try {times} of {MOST_TIMEOUTS}, the next is made when its folder is read again")
        } else {
            format!("{err}; try {times} of {MOST_TIMEOUTS}, name the file itself to have it read once more")
        };
        match self.known.filter(|known| is_ready(known) && times < MOST_TIMEOUTS) {
            Some(known) => {
                self.ingestion.store.count_timeouts(known.id, times)?;
                self.keep_or_record(DocumentStatus::Failed, &reason)
            }
            None => self.record_with_mark(DocumentStatus::Failed, &reason, Some(&mark), times),
        }
    }

    /// A photograph is no document, unless somebody says so by naming it or it was one before.
    fn picture_without_text(&self, err: &ExtractError, hash: &Hash) -> Result<Finished, IngestError> {
        let mark = picture_mark(hash, self.ingestion.extractor);
        let was_document = self.known.is_some_and(|known| known.status == DocumentStatus::Ready);
        let store = self.ingestion.store;
        if self.file.is_named || was_document {
            store.pass_over(&self.file.path, &mark, None)?;
            return self.record_with_mark(DocumentStatus::Failed, &err.to_string(), Some(&mark), 0).map(Finished::File);
        }
        store.pass_over(&self.file.path, &mark, self.known.map(|known| known.id))?;
        Ok(Finished::WithoutText)
    }

    /// Whether a file that no reader is there for was neither named nor a document before.
    fn is_passed_over(&self) -> bool {
        !self.file.is_named && self.known.is_none_or(|known| known.status == DocumentStatus::Queued)
    }

    fn skip(&self) -> Result<Finished, IngestError> {
        if let Some(known) = self.known {
            self.ingestion.store.remove(&[known.id])?;
        }
        Ok(Finished::Skipped)
    }

    fn without_text(&self, step: &Step) -> Result<Finished, IngestError> {
        let outcome = match step {
            Step::PassedOver => return Ok(Finished::WithoutText),
            Step::Refused(err, hash) => return self.refused(err, hash),
            Step::Unchanged => self.unchanged(),
            Step::Unreadable(reason) => self.unreadable(reason),
            Step::StillRefused => Ok(self.still_refused()),
            Step::Cancelled | Step::Extracted(_) => self.cancelled(),
        };
        outcome.map(Finished::File)
    }

    /// What a person should know of a file that became searchable: what its reader says, and what became of its cuts.
    fn notes(&self, text: &Text) -> Vec<String> {
        let lost = self.prepared.loses_cuts.then(|| CUTS_LOST.to_owned());
        text.extraction.coverage.notes.iter().cloned().chain(lost).collect()
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
        let stored = vectors.map_err(IndexFailure::from).and_then(|vectors| {
            Ok(passages.store(self.ingestion, known.id, self.file, text, &self.prepared.read, vectors)?)
        });
        match stored {
            Ok(true) => Ok(FileOutcome {
                chunks,
                pages: text.extraction.coverage.pages,
                notes: self.notes(text),
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
