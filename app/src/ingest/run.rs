//! The run over all files: one thread extracts ahead while the calling one chunks, embeds and stores.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::finish::finish;
use super::meter::{Meter, Stopwatch};
use super::prepare::{Prepared, prepare};
use super::scan::{ScannedFile, scan};
use super::{FileOutcome, IngestOptions, IngestReport};
use crate::chunk::{ChunkError, Chunker};
use crate::embed::{EmbedError, Embedder};
use crate::extract::Extract;
use crate::progress::{CancelToken, IngestProgress};
use crate::store::{ChunkingKey, DocumentStatus, Store, StoreError};

/// Documents extracted ahead of the one that is being embedded.
const EXTRACTED_AHEAD: usize = 1;
const STOPPED: &str = "stopped before it was read; add it again";

/// What an ingest works with.
#[derive(Clone, Copy)]
pub(crate) struct Ingestion<'a> {
    pub(crate) store: &'a Store,
    pub(crate) embedder: &'a dyn Embedder,
    pub(crate) extractor: &'a dyn Extract,
    pub(crate) options: &'a IngestOptions,
    pub(crate) cancel: &'a CancelToken,
}

impl Ingestion<'_> {
    /// What the chunkings of this ingest are made with.
    pub(super) fn chunking_key(&self) -> ChunkingKey {
        ChunkingKey {
            config: self.options.chunker.clone(),
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
    #[error("no thread for reading files: {0}")]
    Thread(String),
}

/// Ingests files and folders. A file that fails is part of the report, not an error.
pub(crate) fn ingest(
    ingestion: Ingestion<'_>,
    paths: &[PathBuf],
    on_progress: &(dyn Fn(&IngestProgress) + Sync),
) -> Result<IngestReport, IngestError> {
    let stopwatch = Stopwatch::start();
    ingestion.store.expect_writable()?;
    let chunker = crate::chunk::build(&ingestion.options.chunker)?;
    let meter = Meter::new(on_progress);
    meter.scanning();
    let files = scan(paths, ingestion.cancel);
    meter.start(files.len(), files.iter().map(|file| file.bytes).sum());
    enqueue(ingestion.store, &files)?;

    let mut report = IngestReport::default();
    let result = read_all(ingestion, chunker.as_ref(), &files, &meter, &mut report);
    let reason = match &result {
        Ok(()) => STOPPED.to_owned(),
        Err(err) => format!("not read because of an earlier error: {err}"),
    };
    let rest = &files[(report.files.len() + report.skipped.len()).min(files.len())..];
    cancel_rest(ingestion.store, rest, &reason, &mut report)?;
    result?;
    report.cancelled = ingestion.cancel.is_cancelled();
    report.secs = stopwatch.secs();
    meter.done();
    Ok(report)
}

fn enqueue(store: &Store, files: &[ScannedFile]) -> Result<(), StoreError> {
    let queue: Vec<(PathBuf, u64)> =
        files.iter().filter(|file| file.path.is_file()).map(|file| (file.path.clone(), file.bytes)).collect();
    store.enqueue(&queue)
}

fn read_all(
    ingestion: Ingestion<'_>,
    chunker: &dyn Chunker,
    files: &[ScannedFile],
    meter: &Meter<'_>,
    report: &mut IngestReport,
) -> Result<(), IngestError> {
    std::thread::scope(|scope| {
        let (send, receive) = sync_channel(EXTRACTED_AHEAD);
        std::thread::Builder::new()
            .name("ingest-extract".to_owned())
            .spawn_scoped(scope, move || extract_ahead(ingestion, files, &send))
            .map_err(|err| IngestError::Thread(err.to_string()))?;
        store_all(ingestion, chunker, &receive, meter, report)
    })
}

fn extract_ahead(ingestion: Ingestion<'_>, files: &[ScannedFile], send: &SyncSender<Result<Prepared, StoreError>>) {
    for file in files {
        if ingestion.cancel.is_cancelled() {
            return;
        }
        let prepared = prepare(ingestion, file);
        // The receiver is gone once the run has failed.
        if send.send(prepared).is_err() {
            return;
        }
    }
}

fn store_all(
    ingestion: Ingestion<'_>,
    chunker: &dyn Chunker,
    receive: &Receiver<Result<Prepared, StoreError>>,
    meter: &Meter<'_>,
    report: &mut IngestReport,
) -> Result<(), IngestError> {
    while let Ok(prepared) = receive.recv() {
        let prepared = prepared?;
        let (path, bytes) = (prepared.file.path.clone(), prepared.file.bytes);
        meter.file(&path, bytes);
        if let Some(outcome) = finish(ingestion, chunker, prepared, meter)? {
            meter.file_done(bytes, if outcome.unchanged { 0 } else { outcome.chunks });
            report.files.push(outcome);
        } else {
            meter.file_done(bytes, 0);
            report.skipped.push(path);
        }
        if ingestion.cancel.is_cancelled() {
            return Ok(());
        }
    }
    Ok(())
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
            unchanged: false,
            pages: None,
            chunks: 0,
            secs: 0.0,
        });
    }
    Ok(())
}
