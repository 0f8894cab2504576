//! One answer: prompt in batches, then token by token, greedily.

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;

use super::model::BATCH_TOKENS;
use super::repeat::is_looping;
use super::turn::ChatFrame;
use super::utf8::Utf8Buffer;
use super::{Conversation, failed, respond};
use crate::worker::generate::{GenerateOutcome, GenerateTask};
use crate::worker::protocol::FrameError;

const SEQUENCE: i32 = 0;

/// A model with its context and the tokens whose state the context holds.
pub(super) struct Answering<'m> {
    model: &'m LlamaModel,
    context: LlamaContext<'m>,
    frame: ChatFrame,
    cached: Vec<LlamaToken>,
}

/// Why an answer ended early.
enum Stop {
    Cancelled,
    Pipe(FrameError),
    Fault(String),
}

/// What came out.
struct Written {
    answer_tokens: u32,
    stopped: Option<String>,
}

impl<'m> Answering<'m> {
    pub(super) fn new(model: &'m LlamaModel, context: LlamaContext<'m>, frame: ChatFrame) -> Self {
        Self { model, context, frame, cached: Vec::new() }
    }

    /// Answers one chat, sending pieces on the way, and gives the last response.
    pub(super) fn answer(
        &mut self,
        id: u64,
        (system, user): (&str, &str),
        max_tokens: u32,
        service: &mut Conversation,
    ) -> Result<GenerateOutcome, FrameError> {
        let prompt = self.frame.tokenize(self.model, system, user);
        let room = self.context.n_ctx().saturating_sub(max_tokens.max(1));
        let prompt_tokens = prompt.len() as u32;
        if prompt_tokens > room || prompt.is_empty() {
            return Ok(GenerateOutcome::TooLong { prompt_tokens, room_tokens: room });
        }
        let reused = self.keep_prefix(&prompt);
        let written = self.read(id, &prompt[reused..], service).and_then(|()| self.write(id, max_tokens, service));
        let done = |answer_tokens, stopped| GenerateOutcome::Done {
            prompt_tokens,
            reused_tokens: reused as u32,
            answer_tokens,
            stopped,
        };
        match written {
            Ok(written) => Ok(done(written.answer_tokens, written.stopped)),
            Err(Stop::Cancelled) => Ok(done(0, Some("stopped".to_owned()))),
            Err(Stop::Pipe(err)) => Err(err),
            Err(Stop::Fault(detail)) => {
                self.forget();
                Ok(failed(detail))
            }
        }
    }

    /// Drops from the cache what differs from `prompt`; gives the tokens that need not be read again.
    fn keep_prefix(&mut self, prompt: &[LlamaToken]) -> usize {
        let common = self.cached.iter().zip(prompt).take_while(|(a, b)| a == b).count();
        // The last token is always read, for its logits.
        let keep = common.min(prompt.len().saturating_sub(1));
        let removed = self.context.kv_cache_seq_rm(SEQUENCE, Some(keep as u32), None);
        if keep == 0 || removed.is_err() {
            self.forget();
            return 0;
        }
        self.cached.truncate(keep);
        keep
    }

    fn forget(&mut self) {
        self.context.clear_kv_cache();
        self.cached.clear();
    }

    /// Reads the prompt in batches; only the last token's logits are asked for.
    fn read(&mut self, id: u64, tokens: &[LlamaToken], service: &mut Conversation) -> Result<(), Stop> {
        let mut left = tokens.len();
        let prompt_tokens = (self.cached.len() + tokens.len()) as u32;
        for batch in tokens.chunks(BATCH_TOKENS) {
            check_cancel(service)?;
            left -= batch.len();
            self.decode(batch, left == 0)?;
            let read_tokens = self.cached.len() as u32;
            respond(service, id, GenerateOutcome::Reading { read_tokens, prompt_tokens }).map_err(Stop::Pipe)?;
        }
        Ok(())
    }

    /// One forward pass over `tokens`.
    fn decode(&mut self, tokens: &[LlamaToken], want_logits: bool) -> Result<(), Stop> {
        let fault = |err: &dyn std::fmt::Display| Stop::Fault(format!("llama.cpp failed: {err}"));
        let mut batch = LlamaBatch::new(tokens.len(), 1);
        for (at, token) in tokens.iter().enumerate() {
            let position = (self.cached.len() + at) as i32;
            let logits = want_logits && at + 1 == tokens.len();
            batch.add(*token, position, &[SEQUENCE], logits).map_err(|err| fault(&err))?;
        }
        self.context.decode(&mut batch).map_err(|err| fault(&err))?;
        self.cached.extend_from_slice(tokens);
        Ok(())
    }

    fn write(&mut self, id: u64, max_tokens: u32, service: &mut Conversation) -> Result<Written, Stop> {
        let mut sampler = LlamaSampler::greedy();
        let mut text = Utf8Buffer::default();
        let prompt_len = self.cached.len();
        let mut count = 0;
        let stopped = loop {
            let token = sampler.sample(&self.context, -1);
            if self.model.vocab().is_eog(token) {
                break None;
            }
            count += 1;
            send_piece(id, &text.push(&self.piece(token)), service)?;
            if is_cancelled(service) {
                break Some("stopped".to_owned());
            }
            if count >= max_tokens {
                break Some(format!("the answer reached its limit of {max_tokens} tokens"));
            }
            self.decode(&[token], true)?;
            if is_looping(&self.cached[prompt_len..]) {
                break Some("the model began to repeat itself".to_owned());
            }
        };
        send_piece(id, &text.finish(), service)?;
        Ok(Written { answer_tokens: count, stopped })
    }

    fn piece(&self, token: LlamaToken) -> Vec<u8> {
        self.model.vocab().token_to_piece(token, false, None)
    }
}

fn send_piece(id: u64, text: &str, service: &mut Conversation) -> Result<(), Stop> {
    if text.is_empty() {
        return Ok(());
    }
    let text = text.to_owned();
    respond(service, id, GenerateOutcome::Piece { text }).map_err(Stop::Pipe)
}

/// Whether the host has asked to stop. Other requests do not come before this one is answered.
fn is_cancelled(service: &mut Conversation) -> bool {
    matches!(service.poll_request(), Some(request) if request.task == GenerateTask::Cancel)
}

fn check_cancel(service: &mut Conversation) -> Result<(), Stop> {
    if is_cancelled(service) { Err(Stop::Cancelled) } else { Ok(()) }
}
