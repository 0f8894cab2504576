//! The first half of a file's way: whether there is anything to do, and its text.

use std::sync::{Mutex, PoisonError};

use super::meter::Stopwatch;
use super::run::Ingestion;
use super::scan::ScannedFile;
use super::source;
use crate::chunk::{ChunkerConfig, ChunkerKind};
use crate::extract::{DocumentKind, Extract, ExtractError, Extraction, ReadOptions};
use crate::store::{DocumentStatus, Hash, KnownDocument, StoreError, text_hash, text_mark};

/// Counted up when readers learn something that files refused before need.
const READERS_GENERATION: u32 = 4;
/// How often in a row reading a file may take too long until it counts as refused.
pub(super) const MOST_TIMEOUTS: u32 = 3;
/// How often a file that changes while it is read is read again.
const READ_ATTEMPTS: usize = 3;

/// A file on its way from [`prepare`] to [`super::finish::finish`].
pub(super) struct Prepared {
    pub(super) file: ScannedFile,
    pub(super) known: Option<KnownDocument>,
    /// What it is cut with.
    pub(super) chunker: ChunkerConfig,
    /// Whether that is no accident: it was asked for, or the document has it.
    pub(super) is_chosen: bool,
    /// Whether cuts made by hand do not fit the text any more.
    pub(super) loses_cuts: bool,
    /// How it is read.
    pub(super) read: ReadOptions,
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
    /// A picture without text, as before.
    PassedOver,
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
    let mut prepared = Prepared {
        file: file.clone(),
        known: ingestion.store.document_at(&file.path)?,
        chunker: ingestion.options.chunker.clone(),
        is_chosen: !ingestion.options.keep_chunkers,
        loses_cuts: false,
        read: ingestion.options.read.clone(),
        step: Step::Cancelled,
        stopwatch: Stopwatch::start(),
    };
    prepared.step = match source::fingerprint(&file.path, ingestion.cancel) {
        Err(err) => Step::Unreadable(err.to_string()),
        Ok(None) => Step::Cancelled,
        Ok(Some((hash, bytes))) => prepared.proceed(ingestion, hash, bytes)?,
    };
    Ok(prepared)
}

impl Prepared {
    /// What there is to do with these bytes.
    fn proceed(&mut self, ingestion: Ingestion<'_>, hash: Hash, bytes: u64) -> Result<Step, StoreError> {
        let file = &self.file;
        let passed_over = ingestion.store.passed_over_mark(&file.path)?;
        if !file.is_named && passed_over == Some(picture_mark(&hash, ingestion.extractor)) {
            return Ok(Step::PassedOver);
        }
        if self.known.is_none() && passed_over.is_some() {
            // It has changed since it was passed over, and did not wait in the queue.
            ingestion.store.enqueue(&[(file.path.clone(), file.bytes)])?;
            self.known = ingestion.store.document_at(&file.path)?;
        }
        self.known = adopt_renamed(ingestion, file, self.known.take(), &hash)?;
        self.take_what_is_kept(ingestion);
        let step = read(ingestion, self, hash, bytes)?;
        if let (Step::Extracted(text), ChunkerKind::Manual) = (&step, self.chunker.kind) {
            self.check_cuts(ingestion, &text.extraction.text);
        }
        Ok(step)
    }

    /// Cuts by hand belong to the text they were made in.
    fn check_cuts(&mut self, ingestion: Ingestion<'_>, text: &str) {
        let Some(known) = self.known.as_ref().filter(|_| ingestion.options.keep_chunkers) else { return };
        let stored = ingestion.store.extraction(known.id).ok().map(|extraction| text_hash(&extraction.text));
        if stored.or(known.cut_mark) != Some(text_hash(text)) {
            self.loses_cuts = true;
            self.is_chosen = false;
            self.chunker = ingestion.options.chunker.clone();
        }
    }

    /// How the document was read and cut so far holds on where nothing else is asked for.
    fn take_what_is_kept(&mut self, ingestion: Ingestion<'_>) {
        let Some(known) = &self.known else { return };
        self.read = ingestion.options.read.over(&known.read);
        self.read.password = self.read.password.take().or_else(|| ingestion.passwords.of(&self.file.path));
        let Some(kept) = known.chunker.as_ref().filter(|_| ingestion.options.keep_chunkers) else { return };
        if crate::chunk::build(kept).is_ok() {
            self.chunker = kept.clone();
            self.is_chosen = true;
        }
    }
}

/// The options that make a difference to a document, all of them where its format is not known yet.
fn concerning(read: &ReadOptions, kind: Option<DocumentKind>) -> ReadOptions {
    kind.map_or_else(|| read.without_password(), |kind| read.concerning(kind))
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

fn read(ingestion: Ingestion<'_>, prepared: &Prepared, hash: Hash, bytes: u64) -> Result<Step, StoreError> {
    let Prepared { file, known, chunker, read, .. } = prepared;
    let known = known.as_ref();
    let is_same = |known: &&KnownDocument| {
        known.status == DocumentStatus::Ready
            && known.hash.as_ref() == Some(&hash)
            && known.read == concerning(read, known.kind)
    };
    // A password that this process does not know yet is tried: pages are drawn with it.
    let is_new_password = |known: &KnownDocument| {
        known.kind == Some(DocumentKind::Pdf)
            && ingestion.options.read.password.is_some()
            && ingestion.passwords.of(&file.path).is_none()
    };
    if let Some(known) = known.filter(is_same).filter(|known| !is_new_password(known)) {
        if ingestion.store.active_key(known.id)?.as_ref() == Some(&ingestion.chunking_key(chunker)) {
            return complete(ingestion, known, file, read);
        }
        if let Ok(extraction) = ingestion.store.extraction(known.id) {
            return Ok(Step::Extracted(Box::new(Text { hash, bytes, extraction })));
        }
    }
    if known.is_some_and(|known| !file.is_named && is_still_refused(ingestion, known, &hash, read)) {
        return Ok(Step::StillRefused);
    }
    Ok(extract(ingestion, file, read, hash, bytes))
}

/// Adds what the document says of itself where it was read before that was kept: once, whatever comes of it. Its text and
/// chunks stay as they are.
fn complete(
    ingestion: Ingestion<'_>,
    known: &KnownDocument,
    file: &ScannedFile,
    read: &ReadOptions,
) -> Result<Step, StoreError> {
    if !known.has_metadata {
        let result = ingestion.extractor.extract_as(&file.path, read, ingestion.cancel);
        if ingestion.cancel.is_cancelled() {
            return Ok(Step::Cancelled);
        }
        let metadata = result.ok().and_then(|extraction| extraction.metadata).unwrap_or_default();
        ingestion.store.set_metadata(known.id, &metadata)?;
    }
    Ok(Step::Unchanged)
}

/// Whether these bytes gave no text before, and there is no reason to think that they do now.
fn is_still_refused(ingestion: Ingestion<'_>, known: &KnownDocument, hash: &Hash, read: &ReadOptions) -> bool {
    let has_password = known.status == DocumentStatus::Encrypted && ingestion.options.read.password.is_some();
    let is_tried_again = (1..MOST_TIMEOUTS).contains(&known.timeouts);
    known.status != DocumentStatus::Ready
        && known.hash.as_ref() == Some(&refusal_mark(hash, ingestion.extractor, read))
        && !has_password
        && !is_tried_again
}

/// What is remembered of bytes that gave no text: never the hash of a document's bytes, and another one for each
/// generation of readers, for what they can do and for how they are asked to read, so that better readers try again.
pub(super) fn refusal_mark(hash: &Hash, reader: &dyn Extract, read: &ReadOptions) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"refused by the readers of ");
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
    hasher.update(&READERS_GENERATION.to_le_bytes());
    hasher.update(reader.abilities().as_bytes());
    hasher.update(&text_mark(hash, &read.without_password()));
    *hasher.finalize().as_bytes()
}

/// The same of a picture, which no option reads in another way.
pub(super) fn picture_mark(hash: &Hash, reader: &dyn Extract) -> Hash {
    refusal_mark(hash, reader, &ReadOptions::default())
}

/// Extracts until the file's bytes are the same before and after.
fn extract(ingestion: Ingestion<'_>, file: &ScannedFile, read: &ReadOptions, mut hash: Hash, mut bytes: u64) -> Step {
    for _ in 0..READ_ATTEMPTS {
        let result = ingestion.extractor.extract_as(&file.path, read, ingestion.cancel);
        if ingestion.cancel.is_cancelled() {
            return Step::Cancelled;
        }
        match source::fingerprint(&file.path, ingestion.cancel) {
            Ok(Some((after, _))) if after == hash => {
                return match result {
                    Ok(mut extraction) => {
                        extraction.metadata.get_or_insert_default();
                        if let Some(password) = read.password.as_ref().filter(|_| extraction.kind == DocumentKind::Pdf)
                        {
                            ingestion.passwords.keep(&file.path, password);
                        }
                        Step::Extracted(Box::new(Text { hash, bytes, extraction }))
                    }
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
