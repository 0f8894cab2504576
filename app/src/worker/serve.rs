//! The worker's side: [`Service`] reads requests, sends responses and ends with its host.
//!
//! Invariant: only frames reach the host. Native libraries that print to stdout print to stderr instead.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::protocol::{FrameError, Hello, read_frame, write_frame};

/// Requests read but not yet taken: the one being answered and a cancel for it.
const REQUESTS_IN_FLIGHT: usize = 16;

/// A worker's conversation with its host.
pub struct Service<Request, Response> {
    requests: Receiver<Request>,
    responses: BufWriter<File>,
    sends: std::marker::PhantomData<fn(Response)>,
}

impl<Request: DeserializeOwned + Send + 'static, Response: Serialize> Service<Request, Response> {
    /// Says hello and starts reading requests. Once the host closes the pipe or dies, this process ends, even
    /// in the middle of work.
    ///
    /// # Errors
    /// The pipe is broken or a thread cannot be started.
    pub fn start(verb: &str) -> Result<Self, FrameError> {
        die_with_parent();
        let mut responses = BufWriter::new(take_stdout()?);
        write_frame(&mut responses, &Hello::new(verb))?;
        let (sender, requests) = sync_channel(REQUESTS_IN_FLIGHT);
        thread::Builder::new().name("worker-requests".to_owned()).spawn(move || read_requests(&sender))?;
        Ok(Self { requests, responses, sends: std::marker::PhantomData })
    }

    /// Waits for the next request.
    pub fn next_request(&mut self) -> Option<Request> {
        self.requests.recv().ok()
    }

    /// A request that has arrived in the meantime, such as a cancel; does not wait.
    pub fn poll_request(&mut self) -> Option<Request> {
        self.requests.try_recv().ok()
    }

    /// Sends one response.
    ///
    /// # Errors
    /// The pipe is broken or the response too large.
    pub fn send(&mut self, response: &Response) -> Result<(), FrameError> {
        write_frame(&mut self.responses, response)
    }
}

fn read_requests<Request: DeserializeOwned>(sender: &SyncSender<Request>) {
    let mut stdin = BufReader::new(io::stdin());
    loop {
        match read_frame(&mut stdin) {
            Ok(Some(request)) => {
                if sender.send(request).is_err() {
                    quit(0);
                }
            }
            Ok(None) => quit(0),
            Err(err) => {
                eprintln!("unreadable request: {err}");
                quit(2);
            }
        }
    }
}

/// Asks the kernel to end this process when the thread that started it ends. Elsewhere, and if the host is
/// gone already, the closed pipe does it.
fn die_with_parent() {
    #[cfg(target_os = "linux")]
    #[expect(unsafe_code, reason = "prctl has no safe wrapper in the standard library")]
    // SAFETY: PR_SET_PDEATHSIG takes one integer and touches no memory of ours.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
}

/// The stdout that the host reads; whoever prints to stdout from now on prints to stderr.
#[cfg(unix)]
fn take_stdout() -> io::Result<File> {
    use std::os::fd::AsFd;

    let frames = io::stdout().as_fd().try_clone_to_owned()?;
    #[expect(unsafe_code, reason = "dup2 has no safe wrapper in the standard library")]
    // SAFETY: both descriptors are open for as long as the process lives; `frames` is its own descriptor.
    let moved = unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) };
    if moved < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(File::from(frames))
}

#[cfg(windows)]
fn take_stdout() -> io::Result<File> {
    use std::os::windows::io::AsHandle;

    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}

/// Ends the process without running the exit handlers of native libraries whose threads are still at work.
fn quit(status: i32) -> ! {
    #[cfg(unix)]
    #[expect(unsafe_code, reason = "_exit has no safe wrapper in the standard library")]
    // SAFETY: _exit takes an integer and does not return.
    unsafe {
        libc::_exit(status)
    }
    #[cfg(not(unix))]
    std::process::exit(status)
}
