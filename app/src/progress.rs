//! What long work reports and how it is stopped: [`CancelToken`], [`IngestProgress`], [`Rate`].

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often paused work looks whether it may go on.
const PAUSE_POLL: Duration = Duration::from_millis(50);

/// Asks long work to stop or to pause. Clones share their flags; work checks for a cancel at least every 100 ms.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    is_cancelled: AtomicBool,
    is_paused: AtomicBool,
}

impl CancelToken {
    /// A token that nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to stop; cannot be taken back.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked the work to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Relaxed)
    }

    /// Asks the work to wait at the next place where it can, or to go on.
    pub fn set_paused(&self, is_paused: bool) {
        self.0.is_paused.store(is_paused, Ordering::Relaxed);
    }

    /// Whether the work is asked to wait.
    pub fn is_paused(&self) -> bool {
        self.0.is_paused.load(Ordering::Relaxed)
    }

    /// Waits for as long as the work is paused and not cancelled.
    pub fn wait_while_paused(&self) {
        while self.is_paused() && !self.is_cancelled() {
            std::thread::sleep(PAUSE_POLL);
        }
    }
}

/// The step of ingestion that is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IngestPhase {
    /// Looking for files.
    #[default]
    Scanning,
    /// Reading text out of a file, in the extract worker.
    Extracting,
    /// Splitting text.
    Chunking,
    /// Computing vectors.
    Embedding,
    /// Writing vectors and the database transaction.
    Storing,
    /// Nothing left to do.
    Done,
}

/// A snapshot of a running ingest.
#[derive(Clone, Debug, Default)]
pub struct IngestProgress {
    /// The step under way.
    pub phase: IngestPhase,
    /// Files finished, whatever their outcome.
    pub files_done: usize,
    /// Files to do in all.
    pub files_total: usize,
    /// Chunks embedded and stored so far, over all files.
    pub chunks_done: usize,
    /// Batches of texts embedded so far.
    pub batches_done: usize,
    /// The file under way.
    pub current: Option<PathBuf>,
    /// Chunks a second since the start.
    pub chunks_per_sec: f64,
    /// Estimated seconds left, once there is a basis for it.
    pub secs_left: Option<f64>,
}

/// Items a second and time left, from a count that only grows.
#[derive(Clone, Debug)]
pub struct Rate {
    started: Instant,
}

impl Default for Rate {
    fn default() -> Self {
        Self { started: Instant::now() }
    }
}

impl Rate {
    /// Items a second since the start; 0 in the first instant.
    pub fn per_sec(&self, done: usize) -> f64 {
        let secs = self.started.elapsed().as_secs_f64();
        if secs > 0.0 { done as f64 / secs } else { 0.0 }
    }

    /// Seconds left for `total - done` items at the rate so far; `None` before the first item is done.
    pub fn secs_left(&self, done: usize, total: usize) -> Option<f64> {
        (done > 0).then(|| self.started.elapsed().as_secs_f64() / done as f64 * total.saturating_sub(done) as f64)
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
