//! Messages on top of the window.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::ingest::IngestOptions;
use crate::library::Error;

/// What kind of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// Goes away by itself.
    Message,
    /// Stays until it is dismissed.
    Error,
}

/// How something is taken back.
#[derive(Clone, Debug, PartialEq)]
pub enum Undo {
    /// Adds removed documents again, each as it was read and cut.
    RestoreDocuments(Vec<(PathBuf, IngestOptions)>),
}

/// A message, with its undo where there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// Message or error.
    pub kind: NoticeKind,
    /// The sentence.
    pub text: String,
    /// What was found and what to do.
    pub detail: Option<String>,
    /// How to take back what it tells.
    pub undo: Option<Undo>,
    /// When it goes away.
    pub expires: Option<Instant>,
}

impl Notice {
    /// How long a message stays.
    pub const STAY: Duration = Duration::from_secs(8);

    /// A message that goes away by itself.
    pub fn message(text: impl Into<String>, undo: Option<Undo>) -> Self {
        Self {
            kind: NoticeKind::Message,
            text: text.into(),
            detail: None,
            undo,
            expires: Some(Instant::now() + Self::STAY),
        }
    }

    /// An error that stays until it is dismissed.
    pub fn error(error: &Error) -> Self {
        let hint = error.hint.as_deref().map(|hint| format!("\n{hint}")).unwrap_or_default();
        Self {
            kind: NoticeKind::Error,
            text: error.title.clone(),
            detail: Some(format!("{}{hint}", error.detail)),
            undo: None,
            expires: None,
        }
    }
}
