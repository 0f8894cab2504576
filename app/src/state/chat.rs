//! Questions and answers.

use std::collections::BTreeSet;

use super::Loadable;
use crate::answer::Answer;
use crate::library::Error;
use crate::store::{ChatId, ChatRecord};

/// How far an answer is.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnState {
    /// Looking for passages.
    Searching,
    /// The generator's model is loading.
    Loading(String),
    /// The passages are there and the generator was asked.
    Asked(String),
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

/// What was searched and read for an answer that is not there, or not yet, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Passages found.
    pub found: usize,
    /// Passages that were searched.
    pub searched: usize,
    /// Passages that the generator was given.
    pub used: Option<usize>,
}

/// A question with its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Number of the question in this window.
    pub number: u64,
    /// The question as asked.
    pub question: String,
    /// What was searched and read; `None` before anything was found.
    pub coverage: Option<Coverage>,
    /// What has arrived of the answer.
    pub text: String,
    /// How far it is.
    pub state: TurnState,
    /// The turn before it, whose place its answer takes.
    pub replaces: Option<u64>,
}

impl Turn {
    /// A question that was just asked.
    pub fn asked(number: u64, question: String) -> Self {
        Self { number, question, coverage: None, text: String::new(), state: TurnState::Searching, replaces: None }
    }

    /// The answer, once it is there.
    pub fn answer(&self) -> Option<&Answer> {
        match &self.state {
            TurnState::Done(answer) => Some(answer),
            _ => None,
        }
    }

    /// Whether the answer is still on its way.
    pub fn is_running(&self) -> bool {
        !matches!(self.state, TurnState::Done(_) | TurnState::Failed(_))
    }
}

/// The chat space.
#[derive(Clone, Debug, Default)]
pub struct ChatState {
    /// Turns, oldest first.
    pub turns: Vec<Turn>,
    /// Number of the newest question.
    pub asked: u64,
    /// Questions that were typed and could not be asked so far.
    pub turned_down: Vec<String>,
    /// Where the conversation is kept, once something of it is.
    pub kept: Option<ChatId>,
    /// The turn whose question is being edited.
    pub edited: Option<u64>,
    /// Questions taken up to be edited so far.
    pub edits: u64,
    /// Turns whose passages are listed.
    pub listed: BTreeSet<u64>,
    /// Whether the conversations are shown instead of the turns.
    pub shows_conversations: bool,
    /// The conversations that are kept, newest first.
    pub conversations: Loadable<Vec<ChatRecord>>,
    /// The conversation that is being read.
    pub opening: Option<ChatId>,
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
                text: answer.answer.clone(),
                state: TurnState::Done(Box::new(answer.clone())),
                ..Turn::asked(number, answer.question)
            })
            .collect();
        self.asked += self.turns.len() as u64;
    }

    /// Takes all turns away; what was kept of them stays.
    pub fn clear(&mut self) {
        self.turns.clear();
        self.listed.clear();
        (self.kept, self.edited, self.opening) = (None, None, None);
    }

    /// The answers there are, oldest first.
    pub fn answers(&self) -> Vec<Answer> {
        self.turns.iter().filter_map(Turn::answer).cloned().collect()
    }

    /// The questions answered so far so that each stands by itself, oldest first; those before turn `end`, if given.
    pub fn questions(&self, end: Option<u64>) -> Vec<String> {
        let before = self.turns.iter().take_while(|turn| end.is_none_or(|end| turn.number < end));
        let own = |answer: &Answer| answer.standalone.as_ref().unwrap_or(&answer.question).clone();
        before.filter_map(Turn::answer).map(own).collect()
    }

    /// The turn of that number.
    pub fn turn(&self, number: u64) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.number == number)
    }

    /// The newest answer.
    pub fn last_answer(&self) -> Option<&Answer> {
        self.turns.iter().rev().find_map(Turn::answer)
    }

    /// The answer under way.
    pub fn running(&self) -> Option<&Turn> {
        self.turns.last().filter(|turn| turn.is_running())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(question: &str) -> Answer {
        // As the first version wrote it down.
        let json = format!(
            r#"{{"question": "{question}", "answer": "Yes.", "refused": false, "reason": null, "model": "extractive",
                "citations": [], "markers_dropped": 0, "passages_used": 1, "passages_found": 1, "prompt_tokens": 0,
                "answer_tokens": 0, "took_ms": {{"retrieve": 1.0, "first_token": null, "total": 2.0}}}}"#
        );
        serde_json::from_str(&json).unwrap_or_else(|err| panic!("{err}"))
    }

    #[test]
    fn an_answer_of_an_earlier_version_is_taken_up() {
        let mut chat = ChatState { asked: 4, ..ChatState::default() };
        chat.take_up(ChatId(1), vec![kept("Is it old?"), kept("How old?")]);
        assert_eq!(chat.turns.iter().map(|turn| turn.number).collect::<Vec<_>>(), [5, 6]);
        assert_eq!(chat.last_answer().map(|answer| answer.passages.len()), Some(0));
    }

    #[test]
    fn a_question_asked_again_leans_on_those_before_it() {
        let mut chat = ChatState::default();
        chat.take_up(ChatId(1), ["A?", "B?", "C?"].map(kept).to_vec());
        assert_eq!(chat.questions(None), ["A?", "B?", "C?"]);
        assert_eq!(chat.questions(Some(2)), ["A?"]);
    }
}
