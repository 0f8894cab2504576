//! Several sessions of one model, each on a share of the cores: two batches at once on a core each are faster than
//! one batch on both, because nothing waits at the end of every layer.
//!
//! Invariant: results are handed over in the order of the batches, whichever session is done first.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use ort::session::Session;

use super::EmbedError;
use crate::onnx;

/// Sessions of one model: each holds the weights once more.
const MOST_SESSIONS: usize = 4;

/// The sessions of one model.
pub(super) struct Sessions {
    all: Vec<Mutex<Session>>,
}

impl Sessions {
    /// Loads the model as often as there are cores for it; gives the names of its inputs too.
    pub(super) fn start(model: &[u8], library: &Path) -> Result<(Self, Vec<String>), String> {
        let cores = crate::models::num_cores();
        let count = cores.clamp(1, MOST_SESSIONS);
        let threads = (cores / count).max(1);
        let loaded: Result<Vec<Session>, String> = thread::scope(|scope| {
            let start = |_| named("load-session").spawn_scoped(scope, || load(model, library, threads));
            let loading: Vec<_> = (0..count).map(start).collect();
            loading
                .into_iter()
                .map(|load| {
                    let load = load.map_err(|err| err.to_string())?;
                    load.join().unwrap_or_else(|_| Err("loading it crashed".to_owned()))
                })
                .collect()
        });
        let all = loaded?;
        let inputs = all.first().map(|session| session.inputs().iter().map(|input| input.name().to_owned()).collect());
        Ok((Self { all: all.into_iter().map(Mutex::new).collect() }, inputs.unwrap_or_default()))
    }

    /// Runs a single batch on a session that is free, or on the first.
    fn with_one<T>(&self, run: impl FnOnce(&mut Session) -> T) -> T {
        let free = self.all.iter().find_map(|session| session.try_lock().ok());
        let mut session = free.unwrap_or_else(|| self.all[0].lock().unwrap_or_else(PoisonError::into_inner));
        run(&mut session)
    }

    /// Runs `count` batches and hands over what each gives in order, on the calling thread.
    pub(super) fn run_all<T: Send>(
        &self,
        count: usize,
        run: &(dyn Fn(&mut Session, usize) -> Result<T, EmbedError> + Sync),
        on_batch: &mut dyn FnMut(usize, T),
    ) -> Result<(), EmbedError> {
        let sessions = &self.all[..self.all.len().min(count)];
        if sessions.len() < 2 {
            for batch in 0..count {
                on_batch(batch, self.with_one(|session| run(session, batch))?);
            }
            return Ok(());
        }
        let next = AtomicUsize::new(0);
        let (send, receive) = sync_channel(sessions.len());
        thread::scope(|scope| {
            for session in sessions {
                let (send, next) = (send.clone(), &next);
                named("run-session")
                    .spawn_scoped(scope, move || run_some(session, count, next, run, &send))
                    .map_err(|err| EmbedError::Run(err.to_string()))?;
            }
            drop(send);
            let mut waiting = BTreeMap::new();
            let mut due = 0;
            for (batch, found) in receive {
                waiting.insert(batch, found?);
                while let Some(found) = waiting.remove(&due) {
                    on_batch(due, found);
                    due += 1;
                }
            }
            Ok(())
        })
    }
}

fn named(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.to_owned())
}

/// Takes batches until there are none left, or until nobody wants them any more.
fn run_some<T>(
    session: &Mutex<Session>,
    count: usize,
    next: &AtomicUsize,
    run: &(dyn Fn(&mut Session, usize) -> Result<T, EmbedError> + Sync),
    send: &SyncSender<(usize, Result<T, EmbedError>)>,
) {
    loop {
        let batch = next.fetch_add(1, Ordering::Relaxed);
        if batch >= count {
            return;
        }
        // Held for one batch only: a question must not wait for a whole document.
        let found = run(&mut session.lock().unwrap_or_else(PoisonError::into_inner), batch);
        let is_last = found.is_err();
        if send.send((batch, found)).is_err() || is_last {
            return;
        }
    }
}

fn load(model: &[u8], library: &Path, threads: usize) -> Result<Session, String> {
    let environment = onnx::environment(library)?;
    let build = || -> ort::Result<Session> {
        Session::builder(&environment)?
            .with_intra_threads(threads)?
            .with_inter_threads(1)?
            .with_intra_op_spinning(false)?
            .commit_from_memory(model)
    };
    build().map_err(|err| format!("the model does not load: {err}"))
}
