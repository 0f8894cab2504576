//! Questions and answers.

use crate::answer::Answer;
use crate::library::Error;
use crate::retrieve::SearchHit;

/// How far an answer is.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnState {
    /// Looking for passages.
    Searching,
    /// The generator's model is loading.
    Loading(String),
    /// Tokens arrive.
    Writing,
    /// Done, stopped or declined: see the answer.
    Done(Box<Answer>),
    /// Failed.
    Failed(Error),
}

/// A question with its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Number of the question in this window.
    pub number: u64,
    /// The question as asked.
    pub question: String,
    /// Passages found.
    pub hits: Vec<SearchHit>,
    /// What has arrived of the answer.
    pub text: String,
    /// How far it is.
    pub state: TurnState,
}

impl Turn {
    /// Whether the answer is still on its way.
    pub fn is_running(&self) -> bool {
        matches!(self.state, TurnState::Searching | TurnState::Loading(_) | TurnState::Writing)
    }
}

/// The chat space.
#[derive(Clone, Debug, Default)]
pub struct ChatState {
    /// Turns, oldest first.
    pub turns: Vec<Turn>,
    /// Number of the newest question.
    pub asked: u64,
}

impl ChatState {
    /// The answer under way.
    pub fn running(&self) -> Option<&Turn> {
        self.turns.last().filter(|turn| turn.is_running())
    }
}
