//! The first half of a file's way: whether there is anything to do, and its text.

use std::sync::{Mutex, PoisonError};

use super::meter::Stopwatch;
use super::run::Ingestion;
use super::scan::ScannedFile;
use super::source;
use crate::chunk::{ChunkerConfig, ChunkerKind};
use crate::extract::{Extract, ExtractError, Extraction};
use crate::store::{DocumentStatus, Hash, KnownDocument, StoreError};

/// Counted up when readers learn something that files refused before need.
const READERS_GENERATION: u32 = 3;
/// How often a file that changes while it is read is read again.
const READ_ATTEMPTS: usize = 3;

/// A file on its way from [`prepare`] to [`super::finish::finish`].
pub(super) struct Prepared {
    pub(super) file: ScannedFile,
    pub(super) known: Option<KnownDocument>,
    /// What it is cut with.
    pub(super) chunker: ChunkerConfig,
    pub(super) step: Step,
    pub(super) stopwatch: Stopwatch,
}

impl Prepared {
    /// Bytes of the text that was read.
    pub(super) fn text_bytes(&self) -> usize {
        match &self.step {
            Step::Extracted(text) => text.extraction.text.len(),
            _ => 0,
        }
    }
}

/// What there is to do with a file.
pub(super) enum Step {
    /// The bytes cannot be read.
    Unreadable(String),
    /// Nothing to do.
    Unchanged,
    /// To be chunked and embedded.
    Extracted(Box<Text>),
    /// No text came out of these bytes.
    Refused(ExtractError, Hash),
    /// No text came out of them before, and they are the same.
    StillRefused,
    /// Stopped by the user.
    Cancelled,
}

/// The text of a file, and the bytes it came from.
pub(super) struct Text {
    pub(super) hash: Hash,
    pub(super) bytes: u64,
    pub(super) extraction: Extraction,
}

/// Reads a file unless its document is up to date.
pub(super) fn prepare(ingestion: Ingestion<'_>, file: &ScannedFile) -> Result<Prepared, StoreError> {
    let stopwatch = Stopwatch::start();
    let mut known = ingestion.store.document_at(&file.path)?;
    let mut chunker = ingestion.options.chunker.clone();
    let step = match source::fingerprint(&file.path, ingestion.cancel) {
        Err(err) => Step::Unreadable(err.to_string()),
        Ok(None) => Step::Cancelled,
        Ok(Some((hash, bytes))) => {
            known = adopt_renamed(ingestion, file, known, &hash)?;
            if let Some(kept) = kept_chunker(ingestion, known.as_ref(), &hash)? {
                chunker = kept;
            }
            read(ingestion, file, known.as_ref(), &chunker, (hash, bytes))?
        }
    };
    Ok(Prepared { file: file.clone(), known, chunker, step, stopwatch })
}

/// The chunker that a document keeps, if it keeps one. Cuts by hand belong to the text they were made in.
fn kept_chunker(
    ingestion: Ingestion<'_>,
    known: Option<&KnownDocument>,
    hash: &Hash,
) -> Result<Option<ChunkerConfig>, StoreError> {
    let Some(known) = known.filter(|known| ingestion.options.keep_chunkers && known.status == DocumentStatus::Ready)
    else {
        return Ok(None);
    };
    let is_same = known.hash.as_ref() == Some(hash);
    let kept = ingestion.store.active_key(known.id)?.map(|key| key.config);
    let is_usable =
        |config: &ChunkerConfig| (is_same || config.kind != ChunkerKind::Manual) && crate::chunk::build(config).is_ok();
    Ok(kept.filter(is_usable))
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
    // Two copies of the same bytes are not both what the lost file was renamed to.
    static ADOPTING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = ADOPTING.lock().unwrap_or_else(PoisonError::into_inner);
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
    chunker: &ChunkerConfig,
    (hash, bytes): (Hash, u64),
) -> Result<Step, StoreError> {
    let same = known.filter(|known| known.status == DocumentStatus::Ready && known.hash.as_ref() == Some(&hash));
    if let Some(known) = same {
        if ingestion.store.active_key(known.id)?.as_ref() == Some(&ingestion.chunking_key(chunker)) {
            return Ok(Step::Unchanged);
        }
        if let Ok(extraction) = ingestion.store.extraction(known.id) {
            return Ok(Step::Extracted(Box::new(Text { hash, bytes, extraction })));
        }
    }
    let refused = known.filter(|known| known.status != DocumentStatus::Ready && !file.is_named);
    if refused.is_some_and(|known| known.hash.as_ref() == Some(&refusal_mark(&hash, ingestion.extractor))) {
        return Ok(Step::StillRefused);
    }
    Ok(extract(ingestion, file, hash, bytes))
}

/// What is remembered of bytes that gave no text: never the hash of a document's bytes, and another one for each
/// generation of readers and for what they can do, so that better readers try again.
pub(super) fn refusal_mark(hash: &Hash, reader: &dyn Extract) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"refused by the readers of ");
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
    hasher.update(&READERS_GENERATION.to_le_bytes());
    hasher.update(reader.abilities().as_bytes());
    hasher.update(hash);
    *hasher.finalize().as_bytes()
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
                    Ok(extraction) => Step::Extracted(Box::new(Text { hash, bytes, extraction })),
                    Err(err) => Step::Refused(err, hash),
                };
            }
            Ok(Some(after)) => (hash, bytes) = after,
            Ok(None) => return Step::Cancelled,
            Err(err) => return Step::Unreadable(err.to_string()),
        }
    }
    Step::Unreadable("the file changes while it is read; add it again when it is finished".to_owned())
}
