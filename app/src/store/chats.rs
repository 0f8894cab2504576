//! Chats: questions with their answers, as the answering side wrote them down.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, Result, params};
use serde::{Deserialize, Serialize};

use super::{Store, StoreError};

/// A chat's id within its library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChatId(pub u64);

/// A chat as listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatRecord {
    /// Its id.
    pub id: ChatId,
    /// Its first question.
    pub title: String,
    /// When it began, in seconds since 1970.
    pub created_secs: u64,
    /// Questions asked.
    pub turns: usize,
}

fn list(connection: &Connection) -> Result<Vec<ChatRecord>> {
    connection
        .prepare_cached(
            "SELECT id, title, created_secs, (SELECT count(*) FROM chat_turns WHERE chat = chats.id)
             FROM chats ORDER BY id DESC",
        )?
        .query_map([], |row| {
            Ok(ChatRecord {
                id: ChatId(row.get::<_, i64>(0)? as u64),
                title: row.get(1)?,
                created_secs: row.get::<_, i64>(2)? as u64,
                turns: row.get::<_, i64>(3)? as usize,
            })
        })?
        .collect()
}

/// Answers (JSON) of a chat, in order.
fn answers(connection: &Connection, chat: ChatId) -> Result<Vec<String>> {
    connection
        .prepare_cached("SELECT answer FROM chat_turns WHERE chat = ?1 ORDER BY position")?
        .query_map([chat.0 as i64], |row| row.get(0))?
        .collect()
}

/// Appends a turn; without a chat it begins one.
fn append(connection: &Connection, chat: Option<ChatId>, question: &str, answer: &str) -> Result<ChatId> {
    let chat = match chat {
        Some(chat) => chat,
        None => create(connection, question)?,
    };
    connection.execute(
        "INSERT INTO chat_turns (chat, position, question, answer)
         VALUES (?1, (SELECT count(*) FROM chat_turns WHERE chat = ?1), ?2, ?3)",
        params![chat.0 as i64, question, answer],
    )?;
    Ok(chat)
}

/// Removes the last turn of a chat if it has this question.
fn remove_last(connection: &Connection, chat: ChatId, question: &str) -> Result<()> {
    connection.execute(
        "DELETE FROM chat_turns WHERE chat = ?1 AND question = ?2
         AND position = (SELECT max(position) FROM chat_turns WHERE chat = ?1)",
        params![chat.0 as i64, question],
    )?;
    Ok(())
}

fn create(connection: &Connection, title: &str) -> Result<ChatId> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    connection
        .execute("INSERT INTO chats (title, created_secs) VALUES (?1, ?2)", params![title, since.as_secs() as i64])?;
    Ok(ChatId(connection.last_insert_rowid() as u64))
}

fn delete(connection: &Connection, chat: ChatId) -> Result<()> {
    connection.execute("DELETE FROM chats WHERE id = ?1", [chat.0 as i64])?;
    Ok(())
}

impl Store {
    /// Chats, newest first.
    pub(crate) fn chats(&self) -> std::result::Result<Vec<ChatRecord>, StoreError> {
        self.database.read(list)
    }

    /// Answers (JSON) of a chat, in order.
    pub(crate) fn chat(&self, chat: ChatId) -> std::result::Result<Vec<String>, StoreError> {
        self.database.read(|connection| answers(connection, chat))
    }

    /// Appends a turn; without a chat it begins one.
    pub(crate) fn append_chat(
        &self,
        chat: Option<ChatId>,
        question: &str,
        answer: &str,
    ) -> std::result::Result<ChatId, StoreError> {
        self.database.write_quietly(|transaction| append(transaction, chat, question, answer))
    }

    /// Puts an answer in the place of the last one, if that answers the same question, or after it.
    pub(crate) fn replace_last_of_chat(
        &self,
        chat: ChatId,
        question: &str,
        answer: &str,
    ) -> std::result::Result<ChatId, StoreError> {
        self.database.write_quietly(|transaction| {
            remove_last(transaction, chat, question)?;
            append(transaction, Some(chat), question, answer)
        })
    }

    /// Removes a chat.
    pub(crate) fn remove_chat(&self, chat: ChatId) -> std::result::Result<(), StoreError> {
        self.database.write_quietly(|transaction| delete(transaction, chat))
    }
}
