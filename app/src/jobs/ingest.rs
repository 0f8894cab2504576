//! The ingest queue: one ingest at a time, its progress as a snapshot, cancel at any time.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Event, GROWTH_WAIT, Outbox, Worker, guarded};
use crate::ingest::IngestOptions;
use crate::library::Library;
use crate::progress::{CancelToken, IngestProgress};
use crate::watch::Changes;

/// Ingests that may wait.
const QUEUE_CAPACITY: usize = 256;

struct Task {
    what: What,
    options: IngestOptions,
    batch: CancelToken,
}

/// What an ingest reads.
pub(super) enum What {
    /// Files and folders.
    Paths(Vec<PathBuf>),
    /// What changed in followed folders.
    Changes { folders: Vec<PathBuf>, changes: Changes },
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
    pub(super) fn add(&self, what: What, options: IngestOptions) -> bool {
        self.queue().is_some_and(|queue| queue.add(what, options))
    }

    /// Another way into the same queue.
    pub(super) fn queue(&self) -> Option<Queue> {
        Some(Queue { tasks: self.tasks.clone()?, shared: Arc::clone(&self.shared) })
    }

    /// Lets everything that runs or waits stand still, or go on.
    pub(super) fn set_paused(&self, is_paused: bool) {
        lock(&self.shared).batch.set_paused(is_paused);
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

/// The way into the queue.
pub(super) struct Queue {
    tasks: SyncSender<Task>,
    shared: Arc<Mutex<Shared>>,
}

impl Queue {
    /// Queues an ingest; false when the queue is full.
    pub(super) fn add(&self, what: What, options: IngestOptions) -> bool {
        let batch = lock(&self.shared).batch.clone();
        self.tasks.try_send(Task { what, options, batch }).is_ok()
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
        let on_progress = |progress: &IngestProgress| {
            lock(&self.shared).progress = Some(progress.clone());
            (self.outbox.wake)(GROWTH_WAIT);
        };
        match &task.what {
            What::Paths(paths) => self.library.ingest(paths, &task.options, &on_progress, &task.batch),
            What::Changes { folders, changes } => {
                self.library.ingest_changes(folders, changes, &task.options, &on_progress, &task.batch)
            }
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
