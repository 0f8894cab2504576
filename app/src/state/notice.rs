//! Messages on top of the window.

use std::time::{Duration, Instant};

use crate::command::Command;
use crate::library::Error;

/// What kind of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// Goes away by itself.
    Message,
    /// Stays until it is dismissed.
    Error,
}

/// A message, with an action where there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// Message or error.
    pub kind: NoticeKind,
    /// The sentence.
    pub text: String,
    /// What was found and what to do.
    pub detail: Option<String>,
    /// The button's word and what it does.
    pub action: Option<(String, Command)>,
    /// When it goes away.
    pub expires: Option<Instant>,
}

impl Notice {
    /// How long a message stays.
    pub const STAY: Duration = Duration::from_secs(8);

    /// A message that goes away by itself.
    pub fn message(text: impl Into<String>, action: Option<(String, Command)>) -> Self {
        Self {
            kind: NoticeKind::Message,
            text: text.into(),
            detail: None,
            action,
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
            action: None,
            expires: None,
        }
    }
}
