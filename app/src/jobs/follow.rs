//! Following folders: what changes in them goes into the ingest queue.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::ingest::{Queue, What};
use super::latest::Latest;
use super::{Event, Outbox, Worker, spawn};
use crate::ingest::IngestOptions;
use crate::library::Error;
use crate::state::FolderState;
use crate::watch::{Changes, FolderWatch, WatchError};

/// How long changes wait when the queue is full.
const FULL_QUEUE_WAIT: Duration = Duration::from_millis(500);
const FULL_QUEUE_TRIES: usize = 20;

/// Folders to follow, with how to read what changes in them.
pub(super) struct Follow {
    pub(super) folders: Vec<PathBuf>,
    pub(super) options: IngestOptions,
}

/// The window's side.
pub(super) struct Handle {
    mailbox: Arc<Latest<Follow>>,
    worker: Worker,
}

impl Handle {
    /// Follows what is put into the mailbox; changes go to `queue`.
    pub(super) fn start(queue: Queue, outbox: Outbox) -> Self {
        let mailbox: Arc<Latest<Follow>> = Arc::default();
        let (requests, queue) = (Arc::clone(&mailbox), Arc::new(queue));
        let worker = Worker::start("follow", move || {
            let mut watch: Option<FolderWatch> = None;
            while let Some(follow) = requests.take() {
                // The old watch ends before the new one begins: folders in both are not followed twice.
                drop(watch.take());
                watch = begin(follow, &queue, &|err| {
                    outbox.send(Event::Failed(failure(err)));
                });
            }
        });
        Self { mailbox, worker }
    }

    /// Follows these folders and no others.
    pub(super) fn follow(&self, follow: Follow) {
        self.mailbox.put(follow);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.mailbox.close();
        self.worker.join();
    }
}

/// Folders that are not there, such as an unplugged disk, are left out, and so are those that cannot be followed: they
/// are told of, and the others are followed all the same.
fn begin(follow: Follow, queue: &Arc<Queue>, on_failure: &dyn Fn(&WatchError)) -> Option<FolderWatch> {
    let Follow { folders, options } = follow;
    let mut folders: Vec<PathBuf> = folders.into_iter().filter(|folder| folder.is_dir()).collect();
    while !folders.is_empty() {
        let (followed, options, queue) = (folders.clone(), options.clone(), Arc::clone(queue));
        match FolderWatch::start(&folders, move |changes| send(&queue, &followed, changes, &options)) {
            Ok(watch) => return Some(watch),
            Err(err) => {
                on_failure(&err);
                let before = folders.len();
                folders.retain(|folder| *folder != err.path);
                if folders.len() == before {
                    return None;
                }
            }
        }
    }
    None
}

/// Tells how folders are.
pub(super) fn look(folders: Vec<PathBuf>, outbox: Outbox) {
    spawn("look-at-folders", move || {
        let found = folders.into_iter().map(|folder| (folder.clone(), state_of(&folder)));
        outbox.send(Event::FoldersLookedAt(found.collect()));
    });
}

fn state_of(folder: &Path) -> FolderState {
    match std::fs::read_dir(folder) {
        Ok(_) => FolderState::There,
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => FolderState::Gone,
        Err(err) => FolderState::Unreadable(err.to_string()),
    }
}

fn send(queue: &Queue, folders: &[PathBuf], changes: Changes, options: &IngestOptions) {
    for _ in 0..FULL_QUEUE_TRIES {
        let what = What::Changes { folders: folders.to_vec(), changes: changes.clone() };
        if queue.add(what, options.clone()) {
            return;
        }
        std::thread::sleep(FULL_QUEUE_WAIT);
    }
    tracing::warn!("the ingest queue stayed full: {} changed paths are read at the next start", changes.paths.len());
}

fn failure(err: &WatchError) -> Error {
    Error::new("A folder is not followed", err.to_string())
        .with_hint("its documents stay searchable; add the folder again to read what changed")
}
