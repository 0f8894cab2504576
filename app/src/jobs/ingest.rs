//! The ingest queue: one ingest at a time, its progress as a snapshot, cancel at any time.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Event, Outbox, Worker, guarded};
use crate::ingest::IngestOptions;
use crate::library::Library;
use crate::progress::{CancelToken, IngestProgress};

/// Ingests that may wait.
const QUEUE_CAPACITY: usize = 256;

/// How often a running ingest wakes the window at most.
const WAKE_EVERY: Duration = Duration::from_millis(100);

struct Task {
    paths: Vec<PathBuf>,
    options: IngestOptions,
    batch: CancelToken,
}

#[derive(Default)]
struct Shared {
    /// Cancels the running ingest and all that wait.
    batch: CancelToken,
    progress: Option<IngestProgress>,
}

/// The window's side of the queue.
pub(super) struct Handle {
    tasks: Option<SyncSender<Task>>,
    shared: Arc<Mutex<Shared>>,
    worker: Worker,
}

impl Handle {
    pub(super) fn start(library: Arc<Library>, outbox: Outbox) -> Self {
        let (tasks, queue) = sync_channel(QUEUE_CAPACITY);
        let shared = Arc::default();
        let work = Work { library, outbox, shared: Arc::clone(&shared) };
        Self { tasks: Some(tasks), shared, worker: Worker::start("ingest", move || work.run(&queue)) }
    }

    /// Queues an ingest; false when the queue is full.
    pub(super) fn add(&self, paths: Vec<PathBuf>, options: IngestOptions) -> bool {
        let batch = lock(&self.shared).batch.clone();
        self.tasks.as_ref().is_some_and(|tasks| tasks.try_send(Task { paths, options, batch }).is_ok())
    }

    /// Cancels everything that runs or waits; false when nothing runs.
    pub(super) fn cancel(&self) -> bool {
        let mut shared = lock(&self.shared);
        std::mem::take(&mut shared.batch).cancel();
        shared.progress.is_some()
    }

    pub(super) fn progress(&self) -> Option<IngestProgress> {
        lock(&self.shared).progress.clone()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.cancel();
        self.tasks = None;
        self.worker.join();
    }
}

struct Work {
    library: Arc<Library>,
    outbox: Outbox,
    shared: Arc<Mutex<Shared>>,
}

impl Work {
    fn run(&self, queue: &Receiver<Task>) {
        for task in queue {
            if task.batch.is_cancelled() {
                self.outbox.send(Event::IngestStarted);
                continue;
            }
            lock(&self.shared).progress = Some(IngestProgress::default());
            self.outbox.send(Event::IngestStarted);
            let outcome = guarded(|| self.ingest(&task));
            lock(&self.shared).progress = None;
            self.outbox.send(Event::IngestFinished(outcome));
        }
    }

    fn ingest(&self, task: &Task) -> Result<crate::ingest::IngestReport, crate::library::Error> {
        let last_wake = Mutex::new(Instant::now());
        let on_progress = |progress: &IngestProgress| {
            lock(&self.shared).progress = Some(progress.clone());
            let mut last_wake = last_wake.lock().unwrap_or_else(PoisonError::into_inner);
            if last_wake.elapsed() >= WAKE_EVERY {
                *last_wake = Instant::now();
                (self.outbox.wake)();
            }
        };
        self.library.ingest(&task.paths, &task.options, &on_progress, &task.batch)
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
