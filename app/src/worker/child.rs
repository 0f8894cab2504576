//! The host's side of one worker process.
//!
//! Invariant: no call blocks longer than the timeout it is given: writes go through a thread, reads come from
//! one. Dropping a [`WorkerChild`] kills its process.

use std::io::BufReader;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;
use std::{env, io};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::protocol::{FrameError, Hello, PROTOCOL_VERSION, encode_frame, read_frame};
use super::spawn::spawn_lasting;
use super::stderr::StderrTail;
use crate::secrets;

/// Names the program that workers run, for packagers and tests.
pub const WORKER_ENV: &str = "OUTCROP_WORKER";

/// Set in every worker; a process that has it starts no workers.
const INSIDE_WORKER_ENV: &str = "OUTCROP_INSIDE_WORKER";

const HELLO_TIMEOUT: Duration = Duration::from_secs(20);
const MESSAGES_IN_FLIGHT: usize = 64;

/// Which program a worker runs, and with what environment besides the host's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerBinary {
    /// The program.
    pub path: PathBuf,
    /// Variables set for it.
    pub envs: Vec<(String, String)>,
}

impl WorkerBinary {
    /// The explicit path if there is one, else `OUTCROP_WORKER`, else the running program.
    ///
    /// # Errors
    /// The system does not say where the running program is.
    pub fn resolve(explicit: Option<PathBuf>) -> Result<Self, WorkerError> {
        let from_env = || env::var_os(WORKER_ENV).map(PathBuf::from);
        let path = match explicit.or_else(from_env) {
            Some(path) => path,
            None => env::current_exe().map_err(|err| WorkerError::Spawn {
                binary: PathBuf::new(),
                detail: format!("the running program cannot be found: {err}"),
            })?,
        };
        Ok(Self { path, envs: Vec::new() })
    }

    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(["worker", verb])
            .envs(self.envs.iter().map(|(name, value)| (name, value)))
            .env(INSIDE_WORKER_ENV, "1")
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // A worker is told the password of the file it reads, and of no other.
        secrets::withhold(&mut command);
        command
    }
}

/// Why a worker could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// The process did not start.
    #[error("the worker process did not start: {detail}: {binary:?}")]
    Spawn {
        /// The program.
        binary: PathBuf,
        /// The system's message.
        detail: String,
    },
    /// What answered does not speak this protocol.
    #[error("the worker does not speak this version's protocol: {0}; reinstall outcrop")]
    Protocol(String),
    /// The process ended.
    #[error("the worker process ended: {detail}")]
    Died {
        /// Signal or exit status, and the last line it wrote to stderr.
        detail: String,
    },
}

/// A running worker that takes `Request`s and gives any number of `Response`s to each.
pub struct WorkerChild<Request, Response> {
    process: Child,
    outbox: SyncSender<Vec<u8>>,
    inbox: Receiver<Result<Response, FrameError>>,
    stderr: StderrTail,
    takes: PhantomData<fn(Request)>,
}

impl<Request: Serialize, Response: DeserializeOwned + Send + 'static> WorkerChild<Request, Response> {
    /// Starts `<binary> worker <verb>` and waits for its hello.
    ///
    /// # Errors
    /// The program does not start, ends at once, or is not a worker of this version.
    pub fn spawn(binary: &WorkerBinary, verb: &str) -> Result<Self, WorkerError> {
        let failed = |err: io::Error| WorkerError::Spawn { binary: binary.path.clone(), detail: err.to_string() };
        if env::var_os(INSIDE_WORKER_ENV).is_some() {
            return Err(failed(io::Error::other("a worker starts no workers")));
        }
        let mut process = spawn_lasting(binary.command(verb)).map_err(failed)?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err(failed(io::Error::other("its pipes are missing")));
        };
        let (hello_sender, hello) = sync_channel(1);
        let mut child = Self {
            process,
            outbox: start_writer(stdin).map_err(failed)?,
            inbox: start_reader(stdout, hello_sender).map_err(failed)?,
            stderr: StderrTail::follow(stderr).map_err(failed)?,
            takes: PhantomData,
        };
        child.check_hello(&hello, verb)?;
        Ok(child)
    }

    /// Queues a request; does not wait for the worker to read it.
    ///
    /// # Errors
    /// The worker died, or has left the requests before this one unread.
    pub fn send(&mut self, request: &Request) -> Result<(), WorkerError> {
        let frame = encode_frame(request).map_err(|err| WorkerError::Protocol(err.to_string()))?;
        match self.outbox.try_send(frame) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => Err(WorkerError::Protocol("it does not read its requests".to_owned())),
            Err(TrySendError::Disconnected(_)) => Err(self.death()),
        }
    }

    /// The next response, or `None` when `timeout` has passed without one.
    ///
    /// # Errors
    /// The worker died or sent something that is no response.
    pub fn receive(&mut self, timeout: Duration) -> Result<Option<Response>, WorkerError> {
        match self.inbox.recv_timeout(timeout) {
            Ok(Ok(response)) => Ok(Some(response)),
            Ok(Err(FrameError::Malformed(detail))) => Err(WorkerError::Protocol(detail)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Err(self.death()),
        }
    }

    /// Whether the process is still there.
    pub fn is_running(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// The process id, for tests and logs.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    fn check_hello(&mut self, hello: &Receiver<Result<Hello, FrameError>>, verb: &str) -> Result<(), WorkerError> {
        match hello.recv_timeout(HELLO_TIMEOUT) {
            Ok(Ok(hello)) if hello == Hello::new(verb) => Ok(()),
            Ok(Ok(hello)) => Err(WorkerError::Protocol(format!(
                "found {:?} version {}, expected {verb:?} version {PROTOCOL_VERSION}",
                hello.verb, hello.version
            ))),
            Ok(Err(FrameError::Malformed(detail))) => Err(WorkerError::Protocol(detail)),
            Ok(Err(err @ FrameError::TooLarge { .. })) => Err(WorkerError::Protocol(err.to_string())),
            Err(RecvTimeoutError::Timeout) => {
                Err(WorkerError::Protocol(format!("no hello within {} s", HELLO_TIMEOUT.as_secs())))
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Err(self.death()),
        }
    }

    /// Ends the process if it has not ended by itself, and says how it ended.
    fn death(&mut self) -> WorkerError {
        let status = end_process(&mut self.process);
        let stderr = self.stderr.text();
        let mut detail = status.map_or_else(|| "it was killed because its pipe broke".to_owned(), describe_status);
        if let Some(line) = last_words(&stderr) {
            detail.push_str(": ");
            detail.push_str(line);
        }
        WorkerError::Died { detail }
    }
}

impl<Request, Response> WorkerChild<Request, Response> {
    /// Ends the process at once.
    pub fn kill(&mut self) {
        // It may have ended by itself already, which is as good.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl<Request, Response> Drop for WorkerChild<Request, Response> {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Gives a process whose pipe just closed a moment to end by itself, then kills it. `None` if it was killed.
fn end_process(process: &mut Child) -> Option<ExitStatus> {
    for _ in 0..50 {
        if let Ok(Some(status)) = process.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
    drop(process.kill());
    drop(process.wait());
    None
}

fn start_writer(mut stdin: ChildStdin) -> io::Result<SyncSender<Vec<u8>>> {
    let (outbox, frames) = sync_channel::<Vec<u8>>(MESSAGES_IN_FLIGHT);
    thread::Builder::new().name("worker-stdin".to_owned()).spawn(move || {
        while let Ok(frame) = frames.recv() {
            if io::Write::write_all(&mut stdin, &frame).is_err() {
                return;
            }
        }
    })?;
    Ok(outbox)
}

fn start_reader<Response: DeserializeOwned + Send + 'static>(
    stdout: ChildStdout,
    hello: SyncSender<Result<Hello, FrameError>>,
) -> io::Result<Receiver<Result<Response, FrameError>>> {
    let (responses, inbox) = sync_channel(MESSAGES_IN_FLIGHT);
    thread::Builder::new().name("worker-stdout".to_owned()).spawn(move || {
        let mut stdout = BufReader::new(stdout);
        if forward_one(&mut stdout, &hello) {
            drop(hello);
            while forward_one(&mut stdout, &responses) {}
        }
    })?;
    Ok(inbox)
}

/// Passes one message on; false when there will be no more.
fn forward_one<Message: DeserializeOwned>(
    reader: &mut BufReader<ChildStdout>,
    to: &SyncSender<Result<Message, FrameError>>,
) -> bool {
    match read_frame(reader) {
        Ok(Some(message)) => to.send(Ok(message)).is_ok(),
        Ok(None) => false,
        Err(err) => {
            // Nobody listens any more when the child is being dropped.
            drop(to.send(Err(err)));
            false
        }
    }
}

/// The last line that says something; the runtime ends with notes on how to debug.
fn last_words(stderr: &str) -> Option<&str> {
    let lines = stderr.lines().map(str::trim);
    lines.rev().find(|line| !line.is_empty() && !line.starts_with("note:"))
}

fn describe_status(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match signal_name(signal) {
            Some(name) => format!("signal {signal} ({name})"),
            None => format!("signal {signal}"),
        };
    }
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => "unknown exit status".to_owned(),
    }
}

#[cfg(unix)]
fn signal_name(signal: i32) -> Option<&'static str> {
    match signal {
        libc::SIGILL => Some("illegal instruction"),
        libc::SIGTRAP => Some("trap"),
        libc::SIGABRT => Some("abort"),
        libc::SIGBUS => Some("bus error"),
        libc::SIGFPE => Some("arithmetic fault"),
        libc::SIGKILL => Some("killed"),
        libc::SIGSEGV => Some("invalid memory access"),
        libc::SIGTERM => Some("terminated"),
        libc::SIGXCPU => Some("out of processor time"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_given_no_secret() {
        let binary = WorkerBinary { path: PathBuf::from("outcrop"), envs: Vec::new() };
        for verb in ["extract", "generate"] {
            secrets::assert_withheld(&binary.command(verb));
        }
    }
}
