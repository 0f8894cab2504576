//! Answers, one at a time, streamed.

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

/// Questions that wait while answers before them, which were given up, come to their ends.
const MOST_WAITING: usize = 8;

/// The window's side.
pub(super) struct Handle {
    requests: Option<SyncSender<(AnswerRequest, CancelToken)>>,
    cancel: Mutex<CancelToken>,
    worker: Worker,
}

impl Handle {
    pub(super) fn start(library: Arc<Library>, outbox: Outbox) -> Self {
        let (requests, queue) = sync_channel(MOST_WAITING);
        let worker = Worker::start("answer", move || work(&library, &outbox, &queue));
        Self { requests: Some(requests), cancel: Mutex::default(), worker }
    }

    /// Stops the answer under way, if there is one, and begins this one as soon as that has ended; false where too many
    /// wait for that.
    pub(super) fn ask(&self, request: AnswerRequest) -> bool {
        let Some(requests) = &self.requests else { return false };
        let token = CancelToken::new();
        let before = std::mem::replace(&mut *self.cancel.lock().unwrap_or_else(PoisonError::into_inner), token.clone());
        before.cancel();
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

fn work(library: &Library, outbox: &Outbox, queue: &Receiver<(AnswerRequest, CancelToken)>) {
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
        outbox.send(Event::Answered { number, outcome, kept });
    }
}
