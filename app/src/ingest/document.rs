//! One file: [`prepare`] reads it, [`finish`] makes it searchable or records why not.

use super::embedding::{EmbedFailure, embed_cached};
use super::meter::{Meter, Stopwatch};
use super::run::{IngestError, Ingestion};
use super::scan::ScannedFile;
use super::{FileOutcome, passage, source};
use crate::chunk::{
    CharMeasure, Chunk, ChunkError, ChunkInput, Chunker, Measure, Unit, VectorSource, WordMeasure,
};
use crate::embed::EmbedError;
use crate::extract::{ExtractError, Extraction, PlaceIndex};
use crate::progress::IngestPhase;
use crate::store::{
    ChunkingKey, DocumentId, DocumentStatus, Hash, KnownDocument, NewChunk, ReadyDocument,
    StoreError,
};

/// How often a file that changes while it is read is read again.
const READ_ATTEMPTS: usize = 3;

/// A file on its way from [`prepare`] to [`finish`].
pub(super) struct Prepared {
    pub(super) file: ScannedFile,
    known: Option<KnownDocument>,
    step: Step,
    stopwatch: Stopwatch,
}

enum Step {
    /// The bytes cannot be read.
    Unreadable(String),
    /// Nothing to do.
    Unchanged,
    /// To be chunked and embedded.
    Extracted(Box<Text>),
    Refused(ExtractError),
    Cancelled,
}

struct Text {
    hash: Hash,
    bytes: u64,
    extraction: Extraction,
}

/// Reads a file unless its document is up to date.
pub(super) fn prepare(
    ingestion: Ingestion<'_>,
    file: &ScannedFile,
) -> Result<Prepared, StoreError> {
    let stopwatch = Stopwatch::start();
    let mut known = ingestion.store.document_at(&file.path)?;
    let step = match source::fingerprint(&file.path, ingestion.cancel) {
        Err(err) => Step::Unreadable(err.to_string()),
        Ok(None) => Step::Cancelled,
        Ok(Some((hash, bytes))) => {
            known = adopt_renamed(ingestion, file, known, &hash)?;
            read(ingestion, file, known.as_ref(), hash, bytes)?
        }
    };
    Ok(Prepared {
        file: file.clone(),
        known,
        step,
        stopwatch,
    })
}

/// A new file whose bytes belong to a document whose file is gone is that document, renamed.
fn adopt_renamed(
    ingestion: Ingestion<'_>,
    file: &ScannedFile,
    known: Option<KnownDocument>,
    hash: &Hash,
) -> Result<Option<KnownDocument>, StoreError> {
    let Some(newcomer) = known.as_ref().filter(|known| known.status != DocumentStatus::Ready) else {
        return Ok(known);
    };
    let same = ingestion.store.ready_with_hash(hash)?;
    let Some(renamed) = same.into_iter().find(|document| !document.path.exists()) else {
        return Ok(known);
    };
    ingestion.store.adopt_path(renamed.id, newcomer.id, &file.path)?;
    ingestion.store.document_at(&file.path)
}

fn read(
    ingestion: Ingestion<'_>,
    file: &ScannedFile,
    known: Option<&KnownDocument>,
    hash: Hash,
    bytes: u64,
) -> Result<Step, StoreError> {
    let same = known.filter(|known| {
        known.status == DocumentStatus::Ready && known.hash.as_ref() == Some(&hash)
    });
    if let Some(known) = same {
        if ingestion.store.active_key(known.id)?.as_ref() == Some(&key(ingestion)) {
            return Ok(Step::Unchanged);
        }
        if let Ok(extraction) = ingestion.store.extraction(known.id) {
            return Ok(Step::Extracted(Box::new(Text {
                hash,
                bytes,
                extraction,
            })));
        }
    }
    Ok(extract(ingestion, file, hash, bytes))
}

/// Extracts until the file's bytes are the same before and after.
fn extract(ingestion: Ingestion<'_>, file: &ScannedFile, mut hash: Hash, mut bytes: u64) -> Step {
    for _ in 0..READ_ATTEMPTS {
        let result = ingestion.extractor.extract(&file.path, ingestion.cancel);
        if ingestion.cancel.is_cancelled() {
            return Step::Cancelled;
        }
        match source::fingerprint(&file.path, ingestion.cancel) {
            Ok(Some((after, _))) if after == hash => {
                return match result {
                    Ok(extraction) => Step::Extracted(Box::new(Text {
                        hash,
                        bytes,
                        extraction,
                    })),
                    Err(err) => Step::Refused(err),
                };
            }
            Ok(Some(after)) => (hash, bytes) = after,
            Ok(None) => return Step::Cancelled,
            Err(err) => return Step::Unreadable(err.to_string()),
        }
    }
    Step::Unreadable("the file changes while it is read; add it again when it is finished".to_owned())
}

fn key(ingestion: Ingestion<'_>) -> ChunkingKey {
    ChunkingKey {
        config: ingestion.options.chunker.clone(),
        context: ingestion.options.context,
        fingerprint: ingestion.embedder.fingerprint().to_owned(),
    }
}

/// Makes a prepared file searchable or records why not; `None` for a file of a folder that no reader is there for.
pub(super) fn finish(
    ingestion: Ingestion<'_>,
    chunker: &dyn Chunker,
    prepared: Prepared,
    meter: &Meter<'_>,
) -> Result<Option<FileOutcome>, IngestError> {
    let Prepared {
        file,
        known,
        step,
        stopwatch,
    } = prepared;
    let job = Job {
        ingestion,
        file: &file,
        known: known.as_ref(),
        stopwatch,
    };
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
        Ok(FileOutcome {
            unchanged: true,
            chunks,
            pages,
            ..self.outcome(DocumentStatus::Ready, None)
        })
    }

    fn cancelled(&self) -> Result<FileOutcome, IngestError> {
        self.keep_or_record(DocumentStatus::Cancelled, "stopped before it was searchable; add it again")
    }

    fn unreadable(&self, reason: &str) -> Result<FileOutcome, IngestError> {
        self.keep_or_record(DocumentStatus::Failed, &format!("the file could not be read: {reason}"))
    }

    /// What happened says nothing about the bytes: a searchable document stays as it is.
    fn keep_or_record(
        &self,
        status: DocumentStatus,
        reason: &str,
    ) -> Result<FileOutcome, IngestError> {
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
            ExtractError::Unsupported { .. } if !self.file.is_named => {
                return self.skip();
            }
            ExtractError::Encrypted { .. } => DocumentStatus::Encrypted,
            ExtractError::NeedsOcr { .. } => DocumentStatus::NeedsOcr,
            _ => DocumentStatus::Failed,
        };
        self.record(status, &err.to_string()).map(Some)
    }

    fn skip(&self) -> Result<Option<FileOutcome>, IngestError> {
        if let Some(known) = self.known {
            self.ingestion.store.remove(&[known.id])?;
        }
        Ok(None)
    }

    fn index(
        &self,
        chunker: &dyn Chunker,
        text: &Text,
        meter: &Meter<'_>,
    ) -> Result<FileOutcome, IngestError> {
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
            Err(IndexFailure::Embed(EmbedFailure::Store(err))) | Err(IndexFailure::Store(err)) => {
                Err(err.into())
            }
            Err(IndexFailure::Embed(EmbedFailure::Embed(err @ EmbedError::Load(_)))) => Err(err.into()),
            Err(err) => self.record(DocumentStatus::Failed, &err.to_string()),
        }
    }
}

/// Why a text did not become searchable.
#[derive(Debug, thiserror::Error)]
pub(super) enum IndexFailure {
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    #[error(transparent)]
    Embed(#[from] EmbedFailure),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the text gave no passages")]
    NoChunks,
}

/// Chunks, embeds and stores a text; gives the number of chunks, or `None` when the document was removed meanwhile.
fn index(
    ingestion: Ingestion<'_>,
    chunker: &dyn Chunker,
    id: DocumentId,
    file: &ScannedFile,
    text: &Text,
    meter: &Meter<'_>,
) -> Result<Option<usize>, IndexFailure> {
    meter.phase(IngestPhase::Chunking);
    let extraction = &text.extraction;
    let chunks = split(ingestion, chunker, extraction)?;
    let chunks = describe(ingestion, extraction, file, chunks);
    let passages: Vec<&str> = chunks.iter().map(|chunk| chunk.passage.as_str()).collect();
    let total = passages.len();
    let vectors = embed_cached(
        ingestion.store,
        ingestion.embedder,
        &passages,
        ingestion.cancel,
        &mut |done| meter.embedded(done, total),
    )?;
    if ingestion.cancel.is_cancelled() {
        return Err(EmbedFailure::from(EmbedError::Cancelled).into());
    }
    meter.phase(IngestPhase::Storing);
    let is_stored = ingestion.store.make_ready(ReadyDocument {
        id,
        bytes: text.bytes,
        hash: text.hash,
        extraction,
        title: passage::title(extraction, &file.path),
        key: key(ingestion),
        embedder: ingestion.embedder.name(),
        dims: ingestion.embedder.dims(),
        chunks,
        vectors: &vectors,
    })?;
    Ok(is_stored.then_some(total))
}

fn split(
    ingestion: Ingestion<'_>,
    chunker: &dyn Chunker,
    extraction: &Extraction,
) -> Result<Vec<Chunk>, IndexFailure> {
    let embed = |texts: &[&str]| {
        let Ingestion { store, embedder, cancel, .. } = ingestion;
        embed_cached(store, embedder, texts, cancel, &mut |_| {}).map_err(|err| err.to_string())
    };
    let tokens = WordMeasure::new(|word: &str| ingestion.embedder.count_tokens(word));
    let measure: &dyn Measure = match chunker.config().unit {
        Unit::Chars => &CharMeasure,
        Unit::Tokens => &tokens,
    };
    let chunking = chunker.chunk(&ChunkInput {
        text: &extraction.text,
        spans: &extraction.spans,
        measure,
        vectors: VectorSource {
            embed: Some(&embed),
            vectors: None,
        },
    })?;
    if chunking.chunks.is_empty() {
        return Err(IndexFailure::NoChunks);
    }
    Ok(chunking.chunks)
}

fn describe(
    ingestion: Ingestion<'_>,
    extraction: &Extraction,
    file: &ScannedFile,
    chunks: Vec<Chunk>,
) -> Vec<NewChunk> {
    let context = passage::document_context(extraction, &file.path);
    let places = PlaceIndex::new(extraction);
    let describe = |chunk: Chunk| {
        let text = extraction.text.get(chunk.start..chunk.end).unwrap_or_default();
        let place = places.place(chunk.start..chunk.end);
        let passage = if ingestion.options.context {
            passage::with_context(&context, &place, text)
        } else {
            text.to_owned()
        };
        NewChunk {
            start: chunk.start,
            end: chunk.end,
            tokens: ingestion.embedder.count_tokens(text),
            left_similarity: chunk.left_similarity,
            right_similarity: chunk.right_similarity,
            place,
            passage,
        }
    };
    chunks.into_iter().map(describe).collect()
}
