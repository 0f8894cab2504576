//! Progress of an ingest: counters that the caller sees as snapshots.
//!
//! Time left is estimated over bytes of files, with the share of the files under way that is embedded.

use std::sync::Mutex;
use std::time::Instant;

use super::scan::ScannedFile;
use crate::progress::{IngestPhase, IngestProgress, Rate};

/// Shared by the thread that extracts and the one that stores.
pub(super) struct Meter<'a> {
    on_progress: &'a (dyn Fn(&IngestProgress) + Sync),
    state: Mutex<State>,
}

struct State {
    progress: IngestProgress,
    rate: Rate,
    bytes_total: u64,
    bytes_done: u64,
    /// Of the files under way.
    bytes: u64,
    share_done: f64,
    chunks_before: usize,
}

impl<'a> Meter<'a> {
    pub(super) fn new(on_progress: &'a (dyn Fn(&IngestProgress) + Sync)) -> Self {
        Self {
            on_progress,
            state: Mutex::new(State {
                progress: IngestProgress::default(),
                rate: Rate::default(),
                bytes_total: 0,
                bytes_done: 0,
                bytes: 0,
                share_done: 0.0,
                chunks_before: 0,
            }),
        }
    }

    /// Tells the caller that files are being looked for.
    pub(super) fn scanning(&self) {
        self.change(|_| {});
    }

    /// Sets what there is to do.
    pub(super) fn start(&self, files: usize, bytes: u64) {
        self.change(|state| {
            state.progress.files_total = files;
            state.bytes_total = bytes;
            state.progress.phase = IngestPhase::Extracting;
        });
    }

    /// Files are under way together.
    pub(super) fn group<'f>(&self, files: impl Iterator<Item = &'f ScannedFile> + Clone) {
        self.change(|state| {
            state.progress.current = files.clone().next().map(|file| file.path.clone());
            state.progress.phase = IngestPhase::Extracting;
            state.bytes = files.map(|file| file.bytes).sum();
            state.share_done = 0.0;
            state.chunks_before = state.progress.chunks_done;
        });
    }

    pub(super) fn phase(&self, phase: IngestPhase) {
        self.change(|state| state.progress.phase = phase);
    }

    /// `done` of the group's `total` chunks are embedded, by one more batch.
    pub(super) fn embedded(&self, done: usize, total: usize) {
        self.change(|state| {
            state.progress.phase = IngestPhase::Embedding;
            state.progress.chunks_done = state.chunks_before + done;
            state.progress.batches_done += 1;
            state.share_done = done as f64 / total.max(1) as f64;
        });
    }

    /// A file of the group is finished.
    pub(super) fn file_done(&self, bytes: u64) {
        self.change(|state| {
            state.progress.files_done += 1;
            state.bytes_done += bytes;
            state.bytes = state.bytes.saturating_sub(bytes);
        });
    }

    pub(super) fn done(&self) {
        self.change(|state| {
            state.progress.phase = IngestPhase::Done;
            state.progress.current = None;
            state.bytes_done = state.bytes_total;
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        change(&mut state);
        state.estimate();
        let snapshot = state.progress.clone();
        drop(state);
        (self.on_progress)(&snapshot);
    }
}

impl State {
    fn estimate(&mut self) {
        self.progress.chunks_per_sec = self.rate.per_sec(self.progress.chunks_done);
        let done = self.bytes_done as f64 + self.bytes as f64 * self.share_done;
        self.progress.secs_left = if self.progress.phase == IngestPhase::Done {
            Some(0.0)
        } else {
            self.rate.secs_left(done as usize, self.bytes_total as usize)
        };
    }
}

/// Seconds since a file was begun.
#[derive(Clone, Copy)]
pub(super) struct Stopwatch(Instant);

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn secs(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}
