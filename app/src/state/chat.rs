//! Questions and answers.

use crate::answer::Answer;
use crate::library::Error;
use crate::retrieve::SearchHit;
use crate::store::ChatId;

/// How far an answer is.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnState {
    /// Looking for passages.
    Searching,
    /// The generator's model is loading.
    Loading(String),
    /// The model reads its prompt.
    Reading {
        /// Tokens that it knows.
        read_tokens: usize,
        /// Tokens of the prompt.
        prompt_tokens: usize,
    },
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
        matches!(
            self.state,
            TurnState::Searching | TurnState::Loading(_) | TurnState::Reading { .. } | TurnState::Writing
        )
    }
}

/// The chat space.
#[derive(Clone, Debug, Default)]
pub struct ChatState {
    /// Turns, oldest first.
    pub turns: Vec<Turn>,
    /// Number of the newest question.
    pub asked: u64,
    /// Where the conversation is kept, once something of it is.
    pub kept: Option<ChatId>,
}

impl ChatState {
    /// Takes up a conversation that was kept.
    pub fn take_up(&mut self, chat: ChatId, answers: Vec<Answer>) {
        self.kept = Some(chat);
        self.turns = answers
            .into_iter()
            .zip(self.asked + 1..)
            .map(|(answer, number)| Turn {
                number,
                question: answer.question.clone(),
                hits: Vec::new(),
                text: answer.answer.clone(),
                state: TurnState::Done(Box::new(answer)),
            })
            .collect();
        self.asked += self.turns.len() as u64;
    }

    /// The answers there are, oldest first.
    pub fn answers(&self) -> Vec<Answer> {
        let done = self.turns.iter().filter_map(|turn| match &turn.state {
            TurnState::Done(answer) => Some(answer.as_ref().clone()),
            _ => None,
        });
        done.collect()
    }

    /// The questions answered so far so that each stands by itself, oldest first.
    pub fn questions(&self) -> Vec<String> {
        let own = |answer: Answer| answer.standalone.unwrap_or(answer.question);
        self.answers().into_iter().map(own).collect()
    }

    /// The answer under way.
    pub fn running(&self) -> Option<&Turn> {
        self.turns.last().filter(|turn| turn.is_running())
    }
}
