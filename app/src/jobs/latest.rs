//! [`Latest`]: a mailbox of one, where a newer request replaces the one that waits.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A mailbox that holds the newest request only.
pub(crate) struct Latest<T> {
    slot: Mutex<Slot<T>>,
    changed: Condvar,
}

struct Slot<T> {
    waiting: Option<T>,
    closed: bool,
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self { slot: Mutex::new(Slot { waiting: None, closed: false }), changed: Condvar::new() }
    }
}

impl<T> Latest<T> {
    /// Puts a request in place of the one that waits.
    pub(crate) fn put(&self, request: T) {
        self.lock().waiting = Some(request);
        self.changed.notify_one();
    }

    /// Waits for the next request; `None` once the mailbox is closed and empty.
    pub(crate) fn take(&self) -> Option<T> {
        let mut slot = self.lock();
        loop {
            if let Some(request) = slot.waiting.take() {
                return Some(request);
            }
            if slot.closed {
                return None;
            }
            slot = self.changed.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets [`Latest::take`] return `None` after what waits was taken.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Forgets what waits.
    pub(crate) fn clear(&self) {
        self.lock().waiting = None;
    }

    fn lock(&self) -> MutexGuard<'_, Slot<T>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_newest_request_wins() {
        let mailbox = Latest::default();
        mailbox.put(1);
        mailbox.put(2);
        assert_eq!(mailbox.take(), Some(2));
        mailbox.put(3);
        mailbox.close();
        assert_eq!((mailbox.take(), mailbox.take()), (Some(3), None));
    }

    #[test]
    fn a_waiting_thread_gets_a_late_request() {
        let mailbox = Arc::new(Latest::default());
        let taker = Arc::clone(&mailbox);
        let thread = super::super::spawn("taker", move || assert_eq!(taker.take(), Some(7))).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        mailbox.put(7);
        thread.join().unwrap();
    }
}
