//! Keeps the end of what a worker writes to stderr, for the reason shown when it dies.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::process::ChildStderr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

const TAIL_BYTES: usize = 4096;

/// The last bytes of a worker's stderr.
pub(super) struct StderrTail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl StderrTail {
    /// Reads `stderr` until it closes, in a thread of its own.
    pub(super) fn follow(mut stderr: ChildStderr) -> io::Result<Self> {
        let bytes = Arc::new(Mutex::new(VecDeque::with_capacity(TAIL_BYTES)));
        let shared = Arc::clone(&bytes);
        let reader = thread::Builder::new().name("worker-stderr".to_owned()).spawn(move || {
            let mut piece = [0; 1024];
            while let Ok(read @ 1..) = stderr.read(&mut piece) {
                keep_tail(&mut shared.lock().unwrap_or_else(PoisonError::into_inner), &piece[..read]);
            }
        })?;
        Ok(Self { bytes, reader: Some(reader) })
    }

    /// The text so far. Called once the process has ended: waits for the rest of it.
    pub(super) fn text(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            // The reader does not panic; if it did, what it kept is still there.
            drop(reader.join());
        }
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes.iter().copied().collect::<Vec<_>>()).into_owned()
    }
}

fn keep_tail(tail: &mut VecDeque<u8>, piece: &[u8]) {
    tail.extend(piece);
    let surplus = tail.len().saturating_sub(TAIL_BYTES);
    tail.drain(..surplus);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let mut tail = VecDeque::new();
        for round in 0..100_u8 {
            keep_tail(&mut tail, &[round; 1000]);
        }
        assert_eq!(tail.len(), TAIL_BYTES);
        assert_eq!(tail.back(), Some(&99));
        assert_eq!(tail.front(), Some(&95));
    }
}
