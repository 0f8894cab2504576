//! Answers, one at a time, streamed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Event, Outbox, Worker, guarded};
use crate::answer::AskOptions;
use crate::library::Library;
use crate::progress::CancelToken;
use crate::store::ChatId;

/// A question to answer.
#[derive(Clone, Debug)]
pub struct AnswerRequest {
    /// Its number, which comes back with every event.
    pub number: u64,
    /// The question.
    pub question: String,
    /// How to answer.
    pub options: AskOptions,
    /// The conversation that it belongs to; `None` begins one.
    pub chat: Option<ChatId>,
    /// Whether the answer is to stand in the place of the conversation's last one.
    pub replaces_last: bool,
}

/// The window's side.
pub(super) struct Handle {
    requests: Option<SyncSender<(AnswerRequest, CancelToken)>>,
    running: Arc<AtomicBool>,
    cancel: Mutex<CancelToken>,
    worker: Worker,
}

impl Handle {
    pub(super) fn start(library: Arc<Library>, outbox: Outbox) -> Self {
        let (requests, queue) = sync_channel(1);
        let running: Arc<AtomicBool> = Arc::default();
        let busy = Arc::clone(&running);
        let worker = Worker::start("answer", move || work(&library, &outbox, &queue, &busy));
        Self { requests: Some(requests), running, cancel: Mutex::default(), worker }
    }

    /// Begins an answer; false while another is being written.
    pub(super) fn ask(&self, request: AnswerRequest) -> bool {
        let Some(requests) = &self.requests else {
            return false;
        };
        if self.running.swap(true, Ordering::AcqRel) {
            return false;
        }
        let token = CancelToken::new();
        *self.cancel.lock().unwrap_or_else(PoisonError::into_inner) = token.clone();
        requests.try_send((request, token)).is_ok()
    }

    pub(super) fn stop(&self) {
        self.cancel.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.stop();
        self.requests = None;
        self.worker.join();
    }
}

fn work(library: &Library, outbox: &Outbox, queue: &Receiver<(AnswerRequest, CancelToken)>, running: &AtomicBool) {
    for (AnswerRequest { number, question, options, chat, replaces_last }, cancel) in queue {
        let mut on_event = |event| {
            outbox.send_growth(Event::AnswerProgressed { number, event });
        };
        let outcome = Box::new(guarded(|| library.ask(&question, &options, &mut on_event, &cancel)));
        let kept = outcome.as_ref().as_ref().ok().and_then(|answer| {
            let kept = guarded(|| match chat {
                // The one before it is worth more than one that was stopped.
                Some(chat) if replaces_last && !answer.is_stopped() => library.keep_answer_again(chat, answer),
                _ => library.keep_answer(chat, answer),
            });
            kept.inspect_err(|err| tracing::warn!("the answer is not kept: {err}")).ok()
        });
        running.store(false, Ordering::Release);
        outbox.send(Event::Answered { number, outcome, kept });
    }
}
