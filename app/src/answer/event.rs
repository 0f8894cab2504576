//! What happens while an answer is made.

use crate::retrieve::SearchHit;

/// What happens while an answer is made, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum AskEvent {
    /// Passages were found.
    Retrieved {
        /// Those.
        hits: Vec<SearchHit>,
        /// Passages that were searched.
        searched: usize,
    },
    /// The generator's model is loading (first question only).
    LoadingModel(String),
    /// The model is asked.
    Asking {
        /// Its name.
        model: String,
        /// Whole passages that it is given.
        used: usize,
    },
    /// The model reads its prompt; on a CPU that takes longer than the answer.
    Reading {
        /// Tokens that it knows.
        read_tokens: usize,
        /// Tokens of the prompt.
        prompt_tokens: usize,
    },
    /// A piece of the answer, whole UTF-8.
    Token(String),
}

/// What a generator says on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerateEvent<'t> {
    /// It reads the prompt.
    Reading {
        /// Tokens that it knows.
        read_tokens: usize,
        /// Tokens of the prompt.
        prompt_tokens: usize,
    },
    /// A piece of the text, whole UTF-8.
    Piece(&'t str),
}

impl<'t> GenerateEvent<'t> {
    /// The text that it adds, which may be none.
    pub fn text(self) -> &'t str {
        match self {
            Self::Reading { .. } => "",
            Self::Piece(piece) => piece,
        }
    }
}
