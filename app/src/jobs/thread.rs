//! Threads that work for the window: named, joined when their handle goes, and none the worse for a panic of a job.

use std::panic::{self, AssertUnwindSafe};
use std::thread::{self, JoinHandle};

use crate::library::Error;

/// A running thread that is joined when its handle goes.
pub(super) struct Worker(Option<JoinHandle<()>>);

impl Worker {
    pub(super) fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Self {
        Self(spawn(name, work))
    }

    pub(super) fn join(&mut self) {
        if let Some(thread) = self.0.take() {
            // A panic of a job was reported by the panic hook already; closing goes on.
            let _ = thread.join();
        }
    }
}

/// Starts a named thread; a system without threads left gets none, and says so in the log.
pub(super) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(work);
    spawned.inspect_err(|err| tracing::error!("no thread for {name}: {err}")).ok()
}

/// Runs one piece of work; a panic in it becomes an error, so that the window is told and the thread goes on.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Error::new("Outcrop made a mistake", "a job ended where it should not have")
            .with_hint("the log in the library's home says where; please report it"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let outcome: Result<(), Error> = guarded(|| panic!("on purpose"));
        assert_eq!(outcome.unwrap_err().title, "Outcrop made a mistake");
        assert_eq!(guarded(|| Ok(1)), Ok(1));
    }
}
