//! A generator for tests that says what it is told to.

use super::{ChatPrompt, GenerateError, GenerateEvent, Generation, Generator};
use crate::progress::CancelToken;

/// Counts words as tokens and streams a fixed text, or fails part of the way.
pub(crate) struct FakeGenerator {
    text: String,
    context_tokens: usize,
    dies_after: Option<usize>,
    fails_at: std::ops::Range<usize>,
    /// Prompts it was given.
    pub(crate) prompts: Vec<ChatPrompt>,
}

impl FakeGenerator {
    /// Says `text`, a few letters at a time.
    pub(crate) fn saying(text: &str) -> Self {
        Self { text: text.to_owned(), context_tokens: 4096, dies_after: None, fails_at: 0..0, prompts: Vec::new() }
    }

    /// With another context size.
    pub(crate) fn with_context(mut self, tokens: usize) -> Self {
        self.context_tokens = tokens;
        self
    }

    /// It writes nothing for prompts of these numbers.
    pub(crate) fn failing_at(mut self, prompts: std::ops::Range<usize>) -> Self {
        self.fails_at = prompts;
        self
    }

    /// Its process ends after that many pieces.
    pub(crate) fn dying_after(mut self, pieces: usize) -> Self {
        self.dies_after = Some(pieces);
        self
    }
}

impl Generator for FakeGenerator {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn context_tokens(&self) -> usize {
        self.context_tokens
    }

    fn count_tokens(&mut self, text: &str) -> Result<usize, GenerateError> {
        Ok(text.split_whitespace().count())
    }

    fn generate(
        &mut self,
        prompt: &ChatPrompt,
        max_tokens: usize,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
        cancel: &CancelToken,
    ) -> Result<Generation, GenerateError> {
        self.prompts.push(prompt.clone());
        if self.fails_at.contains(&(self.prompts.len() - 1)) {
            return Err(GenerateError::Died { detail: "signal 9 (killed)".to_owned(), partial: String::new() });
        }
        let mut generation = Generation::default();
        let letters: Vec<char> = self.text.chars().collect();
        for (number, piece) in letters.chunks(3).enumerate() {
            if cancel.is_cancelled() || number >= max_tokens {
                generation.stopped = Some(super::ask::STOPPED.to_owned());
                return Ok(generation);
            }
            if self.dies_after == Some(number) {
                return Err(GenerateError::Died { detail: "signal 9 (killed)".to_owned(), partial: generation.text });
            }
            let piece: String = piece.iter().collect();
            on_event(GenerateEvent::Piece(&piece));
            generation.text.push_str(&piece);
            generation.answer_tokens += 1;
        }
        Ok(generation)
    }
}
