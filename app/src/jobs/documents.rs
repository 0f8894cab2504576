//! Listing and removing documents.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::{Event, Outbox, Worker, guarded};
use crate::library::Library;
use crate::store::{DocumentId, DocumentRecord};

/// Tasks that may wait.
const QUEUE_CAPACITY: usize = 64;

/// Something to do with documents.
pub(super) enum Task {
    List,
    Remove(Vec<DocumentRecord>),
}

/// The window's side.
pub(super) struct Handle {
    tasks: Option<SyncSender<Task>>,
    worker: Worker,
}

impl Handle {
    pub(super) fn start(library: Arc<Library>, outbox: Outbox) -> Self {
        let (tasks, queue) = sync_channel(QUEUE_CAPACITY);
        let worker = Worker::start("documents", move || work(&library, &outbox, &queue));
        Self { tasks: Some(tasks), worker }
    }

    pub(super) fn add(&self, task: Task) {
        let sent = self.tasks.as_ref().map(|tasks| tasks.try_send(task));
        if let Some(Err(err)) = sent {
            tracing::warn!("a document task was dropped: {err}");
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.tasks = None;
        self.worker.join();
    }
}

fn work(library: &Library, outbox: &Outbox, queue: &Receiver<Task>) {
    for task in queue {
        let event = match task {
            Task::List => Event::DocumentsListed(guarded(|| library.documents())),
            Task::Remove(records) => {
                let ids: Vec<DocumentId> = records.iter().map(|record| record.id).collect();
                let outcome = guarded(|| library.remove(&ids));
                let with_file = records.iter().filter(|record| record.path.is_file()).map(|record| record.id).collect();
                Event::DocumentsRemoved { records, with_file, outcome }
            }
        };
        outbox.send(event);
    }
}
