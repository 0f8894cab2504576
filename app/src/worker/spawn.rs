//! Starts processes from one thread that lives as long as this process.
//!
//! Linux delivers a worker's parent-death signal when the *thread* that started it ends. Workers are started
//! by short-lived job threads and must outlive them, so a lasting thread does the starting.

use std::io;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

struct SpawnJob {
    command: Command,
    reply: SyncSender<io::Result<Child>>,
}

/// Starts `command` from the lasting thread.
pub(super) fn spawn_lasting(command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<Option<SyncSender<SpawnJob>>> = OnceLock::new();
    let stopped = || io::Error::other("the thread that starts workers is not running");
    let spawner = SPAWNER.get_or_init(start_spawner).as_ref().ok_or_else(stopped)?;
    let (reply, answer) = sync_channel(1);
    let job = SpawnJob { command, reply };
    spawner.send(job).map_err(|_| stopped())?;
    answer.recv().map_err(|_| stopped())?
}

fn start_spawner() -> Option<SyncSender<SpawnJob>> {
    let (sender, jobs) = sync_channel(4);
    thread::Builder::new().name("worker-spawner".to_owned()).spawn(move || run_spawner(&jobs)).ok()?;
    Some(sender)
}

fn run_spawner(jobs: &Receiver<SpawnJob>) {
    while let Ok(mut job) = jobs.recv() {
        // The asker waits for this reply, so it can only be gone if its thread panicked.
        drop(job.reply.send(job.command.spawn()));
    }
}
