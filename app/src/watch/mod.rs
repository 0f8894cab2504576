//! Folders that are followed: what changed in them, once it has been quiet for a moment.
//!
//! [`FolderWatch`] turns the system's notices into [`Changes`]; `quiet` holds back paths that are still being written.
//! Which of the changed paths are documents is decided by whoever reads them ([`crate::ingest::scan`]).
//!
//! Invariant: a notice is never lost. If the system or this module drops some, the next [`Changes`] say that
//! everything has to be looked at again.

mod quiet;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use quiet::Quiet;

/// A path is read once nothing has happened to it for this long: editors and downloads write in many steps.
pub const QUIET_TIME: Duration = Duration::from_millis(1000);
/// How often it is looked whether a path has become quiet.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Notices that may wait; with more of them everything is looked at again.
const NOTICES_CAPACITY: usize = 8192;

/// What changed in the followed folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Files and folders that were made, changed, renamed (both names) or deleted.
    pub paths: BTreeSet<PathBuf>,
    /// Whether notices were lost, so that more may have changed than `paths` says.
    pub is_incomplete: bool,
}

/// Why folders cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("changes of the folder cannot be followed: {detail}: {path:?}")]
pub struct WatchError {
    /// The folder.
    pub path: PathBuf,
    /// The system's message.
    pub detail: String,
}

/// Follows folders until it is dropped.
pub struct FolderWatch {
    /// Dropped first, so that the thread sees the end of its notices.
    watcher: Option<RecommendedWatcher>,
    thread: Option<JoinHandle<()>>,
}

/// What the system's thread and ours share.
struct Notices {
    paths: SyncSender<PathBuf>,
    are_lost: Arc<AtomicBool>,
}

impl FolderWatch {
    /// Follows `folders` with everything below them. `on_changes` is called on a thread of the watch, never twice at
    /// once; what changes while it runs comes with the next call.
    ///
    /// # Errors
    /// A folder cannot be followed: it is not there, or the system has no more watches.
    pub fn start(folders: &[PathBuf], on_changes: impl FnMut(Changes) + Send + 'static) -> Result<Self, WatchError> {
        let failed =
            |path: &PathBuf, err: &dyn std::fmt::Display| WatchError { path: path.clone(), detail: err.to_string() };
        let none = PathBuf::new();
        let first = folders.first().unwrap_or(&none);
        let (paths, received) = sync_channel(NOTICES_CAPACITY);
        let are_lost = Arc::new(AtomicBool::new(false));
        let notices = Notices { paths, are_lost: Arc::clone(&are_lost) };
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| notices.note(event))
            .map_err(|err| failed(first, &err))?;
        for folder in folders {
            watcher.watch(folder, RecursiveMode::Recursive).map_err(|err| failed(folder, &err))?;
        }
        let thread = thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || deliver(&received, &are_lost, on_changes))
            .map_err(|err| failed(first, &err))?;
        Ok(Self { watcher: Some(watcher), thread: Some(thread) })
    }
}

impl Drop for FolderWatch {
    fn drop(&mut self) {
        self.watcher = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the callback was reported by the panic hook.
            drop(thread.join());
        }
    }
}

impl Notices {
    fn note(&self, event: notify::Result<notify::Event>) {
        let event = match event {
            Ok(event) if event.need_rescan() => return self.are_lost.store(true, Ordering::Relaxed),
            Ok(event) => event,
            Err(err) => {
                tracing::warn!("a notice of a followed folder is lost: {err}");
                return self.are_lost.store(true, Ordering::Relaxed);
            }
        };
        if matches!(event.kind, EventKind::Access(_)) {
            return;
        }
        for path in event.paths {
            if let Err(TrySendError::Full(_)) = self.paths.try_send(path) {
                self.are_lost.store(true, Ordering::Relaxed);
            }
        }
    }
}

fn deliver(notices: &Receiver<PathBuf>, are_lost: &AtomicBool, mut on_changes: impl FnMut(Changes)) {
    let mut quiet = Quiet::new(QUIET_TIME);
    loop {
        match notices.recv_timeout(LOOK_EVERY) {
            Ok(path) => {
                quiet.note(path, Instant::now());
                continue_reading(notices, &mut quiet);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let mut changes = Changes { paths: quiet.take_due(Instant::now()), is_incomplete: false };
        // What is lost counts as a change of its own, once nothing else is going on.
        if quiet.is_empty() && are_lost.swap(false, Ordering::Relaxed) {
            changes.is_incomplete = true;
        }
        if changes != Changes::default() {
            on_changes(changes);
        }
    }
}

fn continue_reading(notices: &Receiver<PathBuf>, quiet: &mut Quiet) {
    let now = Instant::now();
    for path in notices.try_iter() {
        quiet.note(path, now);
    }
}
