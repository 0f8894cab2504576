//! Conversations, kept with the library that they are about.

use super::{Error, Library};
use crate::answer::Answer;
use crate::store::{ChatId, ChatRecord};

impl Library {
    /// Chats, newest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn chats(&self) -> Result<Vec<ChatRecord>, Error> {
        Ok(self.store.chats()?)
    }

    /// The answers of a chat, in the order asked.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn chat(&self, chat: ChatId) -> Result<Vec<Answer>, Error> {
        let parse = |json: String| {
            serde_json::from_str(&json)
                .map_err(|err| Error::new("Damaged chat", format!("an answer cannot be read: {err}")))
        };
        self.store.chat(chat)?.into_iter().map(parse).collect()
    }

    /// Keeps an answer; without a chat it begins one.
    ///
    /// # Errors
    /// The library cannot be written.
    pub fn keep_answer(&self, chat: Option<ChatId>, answer: &Answer) -> Result<ChatId, Error> {
        let json = serde_json::to_string(answer)
            .map_err(|err| Error::new("Chat", format!("the answer cannot be written down: {err}")))?;
        Ok(self.store.append_chat(chat, &answer.question, &json)?)
    }

    /// Removes a chat.
    ///
    /// # Errors
    /// The library cannot be written.
    pub fn remove_chat(&self, chat: ChatId) -> Result<(), Error> {
        Ok(self.store.remove_chat(chat)?)
    }
}
