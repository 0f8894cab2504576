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
        Ok(self.store.append_chat(chat, &answer.question, &written(answer)?)?)
    }

    /// Keeps an answer in the place of the chat's last one, if that answers the same question.
    ///
    /// # Errors
    /// The library cannot be written.
    pub fn keep_answer_again(&self, chat: ChatId, answer: &Answer) -> Result<ChatId, Error> {
        Ok(self.store.replace_last_of_chat(chat, &answer.question, &written(answer)?)?)
    }

    /// Removes a chat.
    ///
    /// # Errors
    /// The library cannot be written.
    pub fn remove_chat(&self, chat: ChatId) -> Result<(), Error> {
        Ok(self.store.remove_chat(chat)?)
    }
}

fn written(answer: &Answer) -> Result<String, Error> {
    serde_json::to_string(answer).map_err(|err| Error::new("Chat", format!("the answer cannot be written down: {err}")))
}
