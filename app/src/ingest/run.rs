//! The run over all files: they are read ahead while the calling thread chunks, embeds and stores.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::ahead::ReadAhead;
use super::finish::{Finished, finish};
use super::meter::{Meter, Stopwatch};
use super::prepare::Prepared;
use super::scan::{ScannedFile, absolute, scan};
use super::{FileOutcome, IngestOptions, IngestReport};
use crate::chunk::{ChunkError, ChunkerConfig};
use crate::embed::{EmbedError, Embedder};
use crate::extract::{Extract, Passwords, ReadOptionsError};
use crate::progress::{CancelToken, IngestProgress};
use crate::store::{ChunkingKey, DocumentStatus, Store, StoreError};

/// Text of files that are finished together, and how many they may be.
const GROUP_BYTES: usize = 64 << 10;
const GROUP_FILES: usize = 32;
const STOPPED: &str = "stopped before it was read; add it again";

/// What an ingest works with.
#[derive(Clone, Copy)]
pub(crate) struct Ingestion<'a> {
    pub(crate) store: &'a Store,
    pub(crate) embedder: &'a dyn Embedder,
    pub(crate) extractor: &'a dyn Extract,
    pub(crate) options: &'a IngestOptions,
    /// What opened encrypted files before.
    pub(crate) passwords: &'a Passwords,
    pub(crate) cancel: &'a CancelToken,
}

impl Ingestion<'_> {
    /// What a chunking of this ingest is made with.
    pub(super) fn chunking_key(&self, config: &ChunkerConfig) -> ChunkingKey {
        ChunkingKey {
            config: config.clone(),
            context: self.options.context,
            fingerprint: self.embedder.fingerprint().to_owned(),
        }
    }
}

/// Why an ingest as a whole could not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum IngestError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Chunker(#[from] ChunkError),
    #[error(transparent)]
    Model(#[from] EmbedError),
    #[error(transparent)]
    Read(#[from] ReadOptionsError),
    #[error("no thread for reading files: {0}")]
    Thread(String),
}

/// Ingests files and folders. A file that fails is part of the report, not an error; documents under the folders
/// whose files are gone are forgotten.
pub(crate) fn ingest(
    ingestion: Ingestion<'_>,
    paths: &[PathBuf],
    on_progress: &(dyn Fn(&IngestProgress) + Sync),
) -> Result<IngestReport, IngestError> {
    let meter = Meter::new(on_progress);
    meter.scanning();
    let files = scan(paths, ingestion.cancel);
    let folders: Vec<PathBuf> = paths.iter().filter(|path| path.is_dir()).map(|path| absolute(path)).collect();
    run(ingestion, &files, &|path| folders.iter().any(|folder| path.starts_with(folder)), &meter)
}

/// As [`ingest`] for what changed in folders: the files at or below the paths `changed`, and nothing else.
pub(crate) fn ingest_changes(
    ingestion: Ingestion<'_>,
    folders: &[PathBuf],
    changed: &BTreeSet<PathBuf>,
    on_progress: &(dyn Fn(&IngestProgress) + Sync),
) -> Result<IngestReport, IngestError> {
    let meter = Meter::new(on_progress);
    meter.scanning();
    let is_changed = |path: &Path| path.ancestors().any(|above| changed.contains(above));
    let mut files = scan(folders, ingestion.cancel);
    files.retain(|file| is_changed(&file.path));
    run(ingestion, &files, &is_changed, &meter)
}

/// Reads `files`, then forgets the documents whose path `is_covered` and whose file is gone. In this order a renamed
/// file is found while its document is still there.
fn run(
    ingestion: Ingestion<'_>,
    files: &[ScannedFile],
    is_covered: &dyn Fn(&Path) -> bool,
    meter: &Meter<'_>,
) -> Result<IngestReport, IngestError> {
    let stopwatch = Stopwatch::start();
    ingestion.store.expect_writable()?;
    // A chunker that cannot be built is an error of the ingest, not of every file.
    crate::chunk::build(&ingestion.options.chunker)?;
    ingestion.options.read.check()?;
    meter.start(files.len(), files.iter().map(|file| file.bytes).sum());
    enqueue(ingestion.store, files)?;

    let mut report = IngestReport::default();
    let result = read_all(ingestion, files, meter, &mut report);
    let reason = match &result {
        Ok(()) => STOPPED.to_owned(),
        Err(err) => format!("not read because of an earlier error: {err}"),
    };
    let rest = &files[report.num_files().min(files.len())..];
    cancel_rest(ingestion.store, rest, &reason, &mut report)?;
    result?;
    report.cancelled = ingestion.cancel.is_cancelled();
    if !report.cancelled {
        report.removed = forget_gone(ingestion.store, is_covered)?;
        ingestion.store.quicken(ingestion.embedder.fingerprint());
    }
    report.secs = stopwatch.secs();
    meter.done();
    Ok(report)
}

/// Removes the documents whose path `is_covered` and whose file is gone; a file that cannot be looked at is not gone.
fn forget_gone(store: &Store, is_covered: &dyn Fn(&Path) -> bool) -> Result<Vec<PathBuf>, StoreError> {
    let is_gone = |path: &Path| is_covered(path) && path.try_exists().is_ok_and(|exists| !exists);
    let passed_over: Vec<PathBuf> = store.passed_over()?.into_iter().filter(|path| is_gone(path)).collect();
    if !passed_over.is_empty() {
        store.forget_passed_over(&passed_over)?;
    }
    let mut gone = store.document_paths()?;
    gone.retain(|(_, path)| is_gone(path));
    let (ids, paths): (Vec<_>, Vec<_>) = gone.into_iter().unzip();
    if !ids.is_empty() {
        store.remove(&ids)?;
    }
    Ok(paths)
}

/// Files that were passed over before are looked at first: most of them are no documents today either.
fn enqueue(store: &Store, files: &[ScannedFile]) -> Result<(), StoreError> {
    let passed_over = store.passed_over()?;
    let is_queued = |file: &&ScannedFile| file.path.is_file() && (file.is_named || !passed_over.contains(&file.path));
    let queue: Vec<(PathBuf, u64)> =
        files.iter().filter(is_queued).map(|file| (file.path.clone(), file.bytes)).collect();
    store.enqueue(&queue)
}

fn read_all(
    ingestion: Ingestion<'_>,
    files: &[ScannedFile],
    meter: &Meter<'_>,
    report: &mut IngestReport,
) -> Result<(), IngestError> {
    let ahead = ReadAhead::new(ingestion, files);
    std::thread::scope(|scope| {
        ahead.start(scope)?;
        let result = store_all(ingestion, &ahead, meter, report);
        ahead.abandon();
        result
    })
}

fn store_all(
    ingestion: Ingestion<'_>,
    ahead: &ReadAhead<'_>,
    meter: &Meter<'_>,
    report: &mut IngestReport,
) -> Result<(), IngestError> {
    while let Some(first) = ahead.take() {
        ingestion.cancel.wait_while_paused();
        let group = gather(first?, ahead)?;
        let files: Vec<(PathBuf, u64)> = group.iter().map(|read| (read.file.path.clone(), read.file.bytes)).collect();
        let mut files = files.into_iter();
        meter.group(group.iter().map(|read| &read.file));
        finish(ingestion, group, meter, &mut |outcome| {
            let Some((path, bytes)) = files.next() else { return };
            meter.file_done(bytes);
            match outcome {
                Finished::File(outcome) => report.files.push(outcome),
                Finished::Skipped => report.skipped.push(path),
                Finished::WithoutText => report.without_text.push(path),
            }
        })?;
        if ingestion.cancel.is_cancelled() {
            return Ok(());
        }
    }
    Ok(())
}

/// Files that are finished together: small ones that have been read already join the first, so that the model gets
/// whole batches.
fn gather(first: Prepared, ahead: &ReadAhead<'_>) -> Result<Vec<Prepared>, StoreError> {
    let mut bytes = first.text_bytes();
    let mut group = vec![first];
    while bytes < GROUP_BYTES && group.len() < GROUP_FILES {
        let Some(read) = ahead.take_if_read() else { break };
        let read = read?;
        bytes += read.text_bytes();
        group.push(read);
    }
    Ok(group)
}

/// Files that nobody came to.
fn cancel_rest(store: &Store, rest: &[ScannedFile], reason: &str, report: &mut IngestReport) -> Result<(), StoreError> {
    let paths: Vec<PathBuf> = rest.iter().map(|file| file.path.clone()).collect();
    let known = store.cancel_waiting(&paths, reason)?;
    for (path, known) in paths.into_iter().zip(known) {
        report.files.push(FileOutcome {
            path,
            document: known.as_ref().map(|known| known.id),
            status: known.map_or(DocumentStatus::Cancelled, |known| known.status),
            reason: Some(reason.to_owned()),
            notes: Vec::new(),
            unchanged: false,
            pages: None,
            chunks: 0,
            secs: 0.0,
        });
    }
    Ok(())
}
