//! Grounded answers: budget, prompt, generators, citations, refusal.
//!
//! Start at [`answer`], which turns search results into an [`Answer`]. [`Generators`] keeps the model's process
//! alive between questions.
//!
//! Invariant: every citation resolves to a stored byte range; markers that name no passage are dropped and
//! counted; a sentence that no passage supports is marked; under the threshold no model is asked.
//!
//! Must not know: embedders, the window, how passages were found.

mod ask;
mod budget;
mod citations;
mod claim;
mod dates;
mod endpoint;
mod event;
mod export;
mod extractive;
#[cfg(test)]
mod fake;
mod follow_up;
mod found;
mod gate;
mod generators;
mod llama;
mod measures;
mod passage;
mod prompt;
mod refusal;
mod route;
#[cfg(test)]
mod samples;
mod segments;
mod sentences;
mod streamed;
mod subjects;
mod support;
mod words;

pub use ask::{Question, Widened, answer};
pub use endpoint::{Address, EndpointGenerator};
pub use event::{AskEvent, GenerateEvent};
pub use export::to_markdown;
pub use extractive::EXTRACTIVE;
#[cfg(test)]
pub(crate) use fake::FakeGenerator;
pub use follow_up::standalone;
pub use found::{FoundPassage, PassageFate};
pub use gate::GateScale;
pub use generators::Generators;
pub use llama::LlamaGenerator;
pub use prompt::Task;
pub use route::{Route, route};

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::progress::CancelToken;
use crate::retrieve::SearchOptions;
use crate::store::DocumentId;

impl Answer {
    /// Whether the person stopped it.
    pub fn is_stopped(&self) -> bool {
        self.reason.as_deref() == Some(ask::STOPPED)
    }
}

/// How to answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskOptions {
    /// How passages are found.
    pub search: SearchOptions,
    /// Name of the generator: a model's name or `extractive`; `None` takes the best one installed.
    pub model: Option<String>,
    /// Most tokens of the answer, reserved in the context.
    pub max_answer_tokens: usize,
    /// Refuse without asking a model when the gate score (0 to 1) is lower.
    pub gate: f32,
    /// Chunks before and after each passage found that are given to the model with it, as far as they fit.
    #[serde(default)]
    pub neighbours: usize,
    /// Questions asked before in this conversation, oldest first, for follow-ups.
    #[serde(default)]
    pub before: Vec<String>,
}

impl Default for AskOptions {
    fn default() -> Self {
        Self {
            search: SearchOptions { k: 12, ..SearchOptions::default() },
            model: None,
            max_answer_tokens: 400,
            gate: 0.41,
            neighbours: 0,
            before: Vec::new(),
        }
    }
}

/// A source that the answer cites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    /// The number in the answer's `[n]`.
    pub marker: u32,
    /// Its document.
    pub document: DocumentId,
    /// The document's path.
    #[serde(serialize_with = "crate::store::path_as_text")]
    pub path: PathBuf,
    /// First and last page, from 1.
    pub pages: Option<(u32, u32)>,
    /// Heading path.
    pub heading: Vec<String>,
    /// First and last row, from 1, for tables.
    pub rows: Option<(u32, u32)>,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// First byte in the extracted text.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// The text of that range.
    pub quote: String,
    /// The score that ranked the passage.
    pub score: f32,
}

/// A sentence of an answer that no passage supports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsupported {
    /// The sentence.
    pub sentence: String,
    /// What it lacks.
    pub reason: String,
}

/// Milliseconds of an answer's parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswerTimes {
    /// Search.
    pub retrieve: f64,
    /// From the question to the first token.
    pub first_token: Option<f64>,
    /// In all.
    pub total: f64,
}

/// An answer with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The question as asked.
    pub question: String,
    /// What was searched for, where the question leaned on the one before it.
    #[serde(default)]
    pub standalone: Option<String>,
    /// The answer, Markdown, with `[n]` markers, and `[?]` after what no passage supports.
    pub answer: String,
    /// Whether the app declined to answer.
    pub refused: bool,
    /// Why it declined, or why the answer is cut off.
    pub reason: Option<String>,
    /// Name of the generator.
    pub model: String,
    /// Sources cited, by marker; one that supports several sentences is there once for each place in it.
    pub citations: Vec<Citation>,
    /// Markers of the model that named no passage, or one that does not say it.
    pub markers_dropped: usize,
    /// Sentences that were checked against the passages.
    #[serde(default)]
    pub sentences_checked: usize,
    /// Those that no passage supports; each ends in `[?]`.
    #[serde(default)]
    pub unsupported: Vec<Unsupported>,
    /// Whole passages that fitted in the prompt, or that an answer without a model looked into.
    pub passages_used: usize,
    /// Passages found.
    pub passages_found: usize,
    /// Passages that were searched.
    #[serde(default)]
    pub passages_searched: usize,
    /// Those found, best first, then the nearest that the search left out, with what became of each.
    #[serde(default)]
    pub passages: Vec<FoundPassage>,
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// Tokens of the answer.
    pub answer_tokens: usize,
    /// What people should know of the search behind it.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Milliseconds of its parts.
    pub took_ms: AnswerTimes,
}

/// What a generator is given. The generator applies its own chat template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatPrompt {
    /// The system turn.
    pub system: String,
    /// The user turn.
    pub user: String,
}

/// What a generator gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// All text.
    pub text: String,
    /// Tokens of the prompt after the template.
    pub prompt_tokens: usize,
    /// Tokens generated.
    pub answer_tokens: usize,
    /// Why it stopped early, if it did.
    pub stopped: Option<String>,
}

/// Why a generator gave nothing or less than all.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum GenerateError {
    /// The model's file is missing, damaged or too large for this machine.
    #[error("{0}")]
    Load(String),
    /// The prompt does not fit.
    #[error("the prompt has {prompt_tokens} tokens but only {room_tokens} fit; ask with fewer or shorter passages")]
    TooLong {
        /// Tokens of the prompt.
        prompt_tokens: usize,
        /// Tokens that fit beside the answer reserve.
        room_tokens: usize,
    },
    /// The worker died; what it said so far is kept.
    #[error("the model's process ended ({detail}); ask again to restart it")]
    Died {
        /// Signal or exit status.
        detail: String,
        /// Text so far.
        partial: String,
    },
    /// The model server went silent, dropped the connection or sent rubbish in mid-answer; what it said so far is kept.
    #[error("the answer broke off: {detail}; ask again")]
    BrokeOff {
        /// Which server, and what it did.
        detail: String,
        /// Text so far.
        partial: String,
    },
}

/// Writes an answer from a prompt.
pub trait Generator: Send {
    /// Name shown to people.
    fn name(&self) -> &str;

    /// Tokens that prompt and answer may have together.
    fn context_tokens(&self) -> usize;

    /// Whether it can start at once; false where the next call loads a model first.
    fn is_loaded(&mut self) -> bool {
        true
    }

    /// Makes it ready to start, however long that takes; comes back soon after `cancel`, then not ready.
    ///
    /// # Errors
    /// The model does not load.
    fn load(&mut self, _cancel: &CancelToken) -> Result<(), GenerateError> {
        Ok(())
    }

    /// What people should know of how it runs once it is loaded, such as why not on the GPU.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Tokens of `text` in this generator's vocabulary.
    ///
    /// # Errors
    /// The model does not load, or its worker died.
    fn count_tokens(&mut self, text: &str) -> Result<usize, GenerateError>;

    /// Generates greedily up to `max_tokens`, calling `on_event` for each piece; stops within 200 ms of `cancel`.
    ///
    /// # Errors
    /// See [`GenerateError`].
    fn generate(
        &mut self,
        prompt: &ChatPrompt,
        max_tokens: usize,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
        cancel: &CancelToken,
    ) -> Result<Generation, GenerateError>;
}
