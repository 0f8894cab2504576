//! `outcrop worker generate`: one llama.cpp model, kept loaded between questions.
//!
//! The host sends [`GenerateRequest`]s and gets [`GenerateResponse`]s that carry the request's id, so that what is
//! left of a cancelled answer is told apart from the next one.
//!
//! Invariant: prompt and answer together never exceed the context; contents are read as plain text, so that a
//! document cannot speak the chat template's special tokens.

use serde::{Deserialize, Serialize};

/// The verb after `outcrop worker`.
pub const GENERATE_VERB: &str = "generate";

/// What the host asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerateRequest {
    /// Comes back with every response to it.
    pub id: u64,
    /// The task.
    pub task: GenerateTask,
}

/// A task of the generate worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GenerateTask {
    /// Load a model in place of the one loaded.
    Load {
        /// The GGUF file.
        path: String,
        /// Threads to compute with.
        threads: u32,
        /// Most tokens of prompt and answer together.
        context_tokens: u32,
        /// Memory that it takes on a GPU, in bytes; `None` keeps it on the CPU.
        gpu_bytes: Option<u64>,
    },
    /// Count tokens.
    Count {
        /// The text.
        text: String,
    },
    /// Write an answer.
    Generate {
        /// The system turn.
        system: String,
        /// The user turn.
        user: String,
        /// Most tokens of the answer.
        max_tokens: u32,
    },
    /// Stop the answer under way. Has no response of its own.
    Cancel,
}

/// What the worker says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerateResponse {
    /// The request's id.
    pub id: u64,
    /// What it says to it.
    pub outcome: GenerateOutcome,
}

/// A response of the generate worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GenerateOutcome {
    /// The model is loaded.
    Loaded {
        /// Tokens of prompt and answer together.
        context_tokens: u32,
        /// The GPU that it runs on; `None` on the CPU.
        device: Option<String>,
        /// What people should know of it: why it does not run on the GPU that is there, or speaks another template
        /// than its own.
        notes: Vec<String>,
    },
    /// The count.
    Counted {
        /// Tokens.
        tokens: u32,
    },
    /// A part of the prompt has been read: a sign of life on slow machines.
    Reading {
        /// Tokens read so far, those that were known before included.
        read_tokens: u32,
        /// Tokens of the prompt.
        prompt_tokens: u32,
    },
    /// A piece of the answer, whole UTF-8.
    Piece {
        /// The text.
        text: String,
    },
    /// The answer has ended.
    Done {
        /// Tokens of the prompt after the template.
        prompt_tokens: u32,
        /// Prompt tokens that were still in the cache of the answer before.
        reused_tokens: u32,
        /// Tokens generated.
        answer_tokens: u32,
        /// Why it ended before the model was done, if it did.
        stopped: Option<String>,
    },
    /// The prompt does not fit.
    TooLong {
        /// Its tokens.
        prompt_tokens: u32,
        /// Tokens that fit beside the answer.
        room_tokens: u32,
    },
    /// It did not work.
    Failed {
        /// Why.
        detail: String,
    },
}

#[cfg(feature = "llama")]
pub use super::llama::serve_generate;

/// Without llama.cpp there is nothing to serve.
#[cfg(not(feature = "llama"))]
pub fn serve_generate() -> std::process::ExitCode {
    eprintln!("this build has no llama.cpp (feature `llama`); answers are extractive");
    std::process::ExitCode::FAILURE
}
