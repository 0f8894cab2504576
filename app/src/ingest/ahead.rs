//! Reading ahead: several files are read at once while the calling thread embeds, and come out in their order.
//!
//! Invariant: what has been read and not yet taken is bounded, in files and in bytes of text.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

use super::prepare::{Prepared, prepare};
use super::run::{IngestError, Ingestion};
use super::scan::ScannedFile;
use crate::store::StoreError;

/// Files read ahead of the one that is taken next.
const MOST_FILES: usize = 64;
/// Bytes of text read ahead, beyond which only the file that is taken next is read.
const MOST_BYTES: usize = 32 << 20;
/// Files read at the same time; each has a worker process.
const MOST_READERS: usize = 8;

type Read = Result<Prepared, StoreError>;

/// The files of an ingest while they are read.
pub(super) struct ReadAhead<'a> {
    ingestion: Ingestion<'a>,
    files: &'a [ScannedFile],
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Index of the file that the next free reader takes.
    next: usize,
    /// Index of the file that is taken next.
    taken: usize,
    read: BTreeMap<usize, Read>,
    bytes: usize,
    /// Readers at work or waiting.
    readers: usize,
    is_abandoned: bool,
}

impl<'a> ReadAhead<'a> {
    pub(super) fn new(ingestion: Ingestion<'a>, files: &'a [ScannedFile]) -> Self {
        Self { ingestion, files, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Starts the readers, as many as there are cores.
    pub(super) fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> Result<(), IngestError> {
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let readers = cores.min(MOST_READERS).min(self.files.len()).max(1);
        self.lock().readers = readers;
        for reader in 0..readers {
            let spawned = thread::Builder::new()
                .name(format!("ingest-read-{reader}"))
                .spawn_scoped(scope, move || self.read_files());
            if let Err(err) = spawned {
                self.abandon();
                return Err(IngestError::Thread(err.to_string()));
            }
        }
        Ok(())
    }

    /// The next file in order, waiting for it; `None` after the last one, and once the ingest is cancelled.
    pub(super) fn take(&self) -> Option<Read> {
        let mut state = self.lock();
        loop {
            if let Some(read) = state.take_next() {
                self.changed.notify_all();
                return Some(read);
            }
            if state.readers == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next file in order if it has been read.
    pub(super) fn take_if_read(&self) -> Option<Read> {
        let read = self.lock().take_next();
        self.changed.notify_all();
        read
    }

    /// Lets the readers end after what they are at.
    pub(super) fn abandon(&self) {
        self.lock().is_abandoned = true;
        self.changed.notify_all();
    }

    fn read_files(&self) {
        let _leaving = Leaving(self);
        while let Some(index) = self.next_index() {
            self.ingestion.cancel.wait_while_paused();
            if self.ingestion.cancel.is_cancelled() {
                break;
            }
            let read = prepare(self.ingestion, &self.files[index]);
            let mut state = self.lock();
            state.bytes += bytes_of(&read);
            state.read.insert(index, read);
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Waits for room and gives the index of the next file.
    fn next_index(&self) -> Option<usize> {
        let mut state = self.lock();
        loop {
            if state.is_abandoned || state.next >= self.files.len() {
                return None;
            }
            let has_room = state.next < state.taken + MOST_FILES && state.bytes < MOST_BYTES;
            if has_room || state.next == state.taken {
                state.next += 1;
                return Some(state.next - 1);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a reader out however it ends, so that nobody waits for it.
struct Leaving<'r, 'a>(&'r ReadAhead<'a>);

impl Drop for Leaving<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().readers -= 1;
        self.0.changed.notify_all();
    }
}

impl State {
    fn take_next(&mut self) -> Option<Read> {
        let read = self.read.remove(&self.taken)?;
        self.taken += 1;
        self.bytes -= bytes_of(&read);
        Some(read)
    }
}

fn bytes_of(read: &Read) -> usize {
    read.as_ref().map_or(0, Prepared::text_bytes)
}
