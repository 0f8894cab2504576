//! Conversations: those that a library keeps, and one as a file.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Event, Jobs, Outbox, guarded, spawn};
use crate::answer::{Answer, to_markdown};
use crate::library::{Error, Library};
use crate::store::ChatId;

pub(super) fn load(library: Arc<Library>, outbox: Outbox) {
    spawn("load-chat", move || {
        outbox.send(Event::ChatLoaded(guarded(|| latest(&library))));
    });
}

fn latest(library: &Library) -> Result<Option<(ChatId, Vec<Answer>)>, Error> {
    let Some(chat) = library.chats()?.into_iter().next() else {
        return Ok(None);
    };
    Ok(Some((chat.id, library.chat(chat.id)?)))
}

impl Jobs {
    /// Lists the conversations that are kept.
    pub fn list_chats(&self) {
        self.with_library("list-chats", |library, outbox| {
            outbox.send(Event::ChatsListed(guarded(|| library.chats())));
        });
    }

    /// Reads a conversation that is kept.
    pub fn open_chat(&self, chat: ChatId) {
        self.with_library("open-chat", move |library, outbox| {
            outbox.send(Event::ChatOpened { chat, outcome: guarded(|| library.chat(chat)) });
        });
    }

    /// Deletes a conversation, then lists those that are left.
    pub fn remove_chat(&self, chat: ChatId) {
        self.with_library("remove-chat", move |library, outbox| {
            let outcome = guarded(|| library.remove_chat(chat).and_then(|()| library.chats()));
            outbox.send(Event::ChatsListed(outcome));
        });
    }

    fn with_library(&self, name: &str, work: impl FnOnce(&Library, &Outbox) + Send + 'static) {
        if let Some(workers) = &self.workers {
            let (library, outbox) = (Arc::clone(&workers.library), self.outbox.clone());
            spawn(name, move || work(&library, &outbox));
        }
    }
}

fn dialog() -> rfd::FileDialog {
    rfd::FileDialog::new().set_title("Export").set_file_name("conversation.md")
}

/// Writes a conversation to `path`; without a path the system's dialog asks for one.
pub(super) fn export(answers: Vec<Answer>, path: Option<PathBuf>, outbox: Outbox) {
    spawn("export-chat", move || {
        let Some(path) = path.or_else(|| super::dialog::save(dialog(), &outbox)) else {
            return;
        };
        let title = answers.first().map_or("Conversation", |answer| answer.question.as_str());
        let written = std::fs::write(&path, to_markdown(title, &answers));
        let outcome = written.map(|()| path.clone()).map_err(|err| {
            Error::new("The conversation could not be written", format!("{err}: {path:?}"))
                .with_hint("choose another folder")
        });
        outbox.send(Event::ChatExported(outcome));
    });
}
