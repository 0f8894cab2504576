//! How a file is read where it does not say so itself.
//!
//! [`ReadOptions`] are what a person asks for; all of them but the password stay with the document. [`Passwords`] are
//! those that this process knows.
//!
//! Invariant: a [`Password`] has no serialized form and is not shown by `Debug`: it is in memory, and on the pipe to the
//! extract worker, and nowhere else.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use encoding_rs::Encoding;
use serde::{Deserialize, Serialize};

use super::DocumentKind;

/// Encodings that a person may mean, for messages and menus; any other label of the WHATWG's list works too.
pub const COMMON_ENCODINGS: &[&str] = &[
    "UTF-8",
    "windows-1252",
    "windows-1250",
    "windows-1251",
    "ISO-8859-2",
    "ISO-8859-15",
    "KOI8-R",
    "IBM866",
    "macintosh",
    "Shift_JIS",
    "EUC-JP",
    "gb18030",
    "Big5",
    "EUC-KR",
    "UTF-16LE",
    "UTF-16BE",
];
/// How many of them an error names.
const NAMED_ENCODINGS: usize = 6;

/// How a file is read. As a wish, `None` leaves an option as the document has it and the empty text takes it back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadOptions {
    /// The encoding of text files, by a label of the WHATWG's list; without it the encoding is found.
    pub encoding: Option<String>,
    /// Which elements of an HTML file are read, as a CSS selector.
    pub html_selector: Option<String>,
    /// Which field of the records of a JSON file is their text; dots lead into inner objects.
    pub json_field: Option<String>,
    /// What opens an encrypted PDF. Never kept.
    #[serde(skip)]
    pub password: Option<Password>,
}

/// Why options cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadOptionsError {
    /// No such encoding.
    #[error("no encoding is called {label:?}; expected a label such as {}", COMMON_ENCODINGS[..NAMED_ENCODINGS].join(", "))]
    Encoding {
        /// What was given.
        label: String,
    },
    /// No selector.
    #[error("{selector:?} is no CSS selector ({detail}); expected one such as main, article.post or #content")]
    Selector {
        /// What was given.
        selector: String,
        /// What is wrong with it.
        detail: String,
    },
}

impl ReadOptions {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks what can be checked without a file.
    ///
    /// # Errors
    /// The encoding or the selector does not exist.
    pub fn check(&self) -> Result<(), ReadOptionsError> {
        if let Some(label) = given(self.encoding.as_ref()) {
            encoding(label)?;
        }
        if let Some(text) = given(self.html_selector.as_ref()) {
            selector(text)?;
        }
        Ok(())
    }

    /// These options with those of `kept` where they leave something open.
    #[must_use]
    pub fn over(&self, kept: &Self) -> Self {
        let pick = |wish: &Option<String>, kept: &Option<String>| {
            wish.as_ref().or(kept.as_ref()).filter(|text| !text.is_empty()).cloned()
        };
        Self {
            encoding: pick(&self.encoding, &kept.encoding),
            html_selector: pick(&self.html_selector, &kept.html_selector),
            json_field: pick(&self.json_field, &kept.json_field),
            password: self.password.clone().or_else(|| kept.password.clone()),
        }
    }

    /// What of these options makes a difference to a document of `kind`, without the password.
    #[must_use]
    pub fn concerning(&self, kind: DocumentKind) -> Self {
        use DocumentKind::{Code, Csv, Html, Json, Markdown, Text};
        let is_text = matches!(kind, Text | Markdown | Html | Csv | Json | Code);
        let name = |label: &str| encoding(label).map_or_else(|_| label.to_owned(), |found| found.name().to_owned());
        Self {
            encoding: given(self.encoding.as_ref()).filter(|_| is_text).map(name),
            html_selector: given(self.html_selector.as_ref()).filter(|_| kind == Html).map(str::to_owned),
            json_field: given(self.json_field.as_ref()).filter(|_| kind == Json).map(str::to_owned),
            password: None,
        }
    }

    /// Whether the encoding of a document of `kind` can be chosen.
    pub fn has_encoding(kind: DocumentKind) -> bool {
        let asked = Self { encoding: Some(COMMON_ENCODINGS[0].to_owned()), ..Self::default() };
        !asked.concerning(kind).is_empty()
    }

    /// The same options without the password.
    #[must_use]
    pub fn without_password(&self) -> Self {
        Self { password: None, ..self.clone() }
    }
}

/// An option that asks for something.
pub(super) fn given(option: Option<&String>) -> Option<&str> {
    option.map(String::as_str).filter(|text| !text.is_empty())
}

/// The encoding of a label.
pub(super) fn encoding(label: &str) -> Result<&'static Encoding, ReadOptionsError> {
    let found = Encoding::for_label_no_replacement(label.as_bytes());
    found.ok_or_else(|| ReadOptionsError::Encoding { label: label.to_owned() })
}

/// A selector as it is used.
pub(super) fn selector(text: &str) -> Result<scraper::Selector, ReadOptionsError> {
    scraper::Selector::parse(text)
        .map_err(|err| ReadOptionsError::Selector { selector: text.to_owned(), detail: err.to_string() })
}

/// What opens an encrypted file.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Arc<str>);

impl Password {
    /// A password as it was typed.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The password itself, for the one who opens the file.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Password(…)")
    }
}

/// The passwords that opened files, as long as this process runs.
#[derive(Debug, Default)]
pub struct Passwords(Mutex<BTreeMap<PathBuf, Password>>);

impl Passwords {
    /// What opened the file at `path`.
    pub fn of(&self, path: &Path) -> Option<Password> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    /// Remembers what opened the file at `path`.
    pub fn keep(&self, path: &Path, password: &Password) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), password.clone());
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure is the test's message")]

    use super::*;

    #[test]
    fn a_wish_goes_over_what_is_kept_and_the_empty_text_takes_back() {
        let kept = ReadOptions {
            encoding: Some("KOI8-R".to_owned()),
            json_field: Some("body".to_owned()),
            ..ReadOptions::default()
        };
        let wish = ReadOptions {
            encoding: Some(String::new()),
            html_selector: Some("main".to_owned()),
            ..ReadOptions::default()
        };
        let both = ReadOptions {
            html_selector: Some("main".to_owned()),
            json_field: Some("body".to_owned()),
            ..ReadOptions::default()
        };
        assert_eq!(wish.over(&kept), both);
        assert_eq!(ReadOptions::default().over(&kept), kept);
    }

    #[test]
    fn only_what_concerns_a_format_is_told_apart() {
        let all = ReadOptions {
            encoding: Some("latin1".to_owned()),
            html_selector: Some("main".to_owned()),
            json_field: Some("body".to_owned()),
            password: Some(Password::new("x")),
        };
        assert!(all.concerning(DocumentKind::Pdf).is_empty() && !ReadOptions::has_encoding(DocumentKind::Pdf));
        let text = ReadOptions { encoding: Some("windows-1252".to_owned()), ..ReadOptions::default() };
        assert_eq!(all.concerning(DocumentKind::Text), text);
        assert_eq!(all.concerning(DocumentKind::Json).json_field, Some("body".to_owned()));
        assert_eq!(all.concerning(DocumentKind::Html).html_selector, Some("main".to_owned()));
    }

    #[test]
    fn what_does_not_exist_is_named_with_what_does() {
        let wrong = ReadOptions { encoding: Some("klingon".to_owned()), ..ReadOptions::default() };
        let said = wrong.check().unwrap_err().to_string();
        assert!(said.contains("klingon") && said.contains("UTF-8") && said.contains("windows-1252"), "{said}");
        let wrong = ReadOptions { html_selector: Some("p >".to_owned()), ..ReadOptions::default() };
        assert!(wrong.check().unwrap_err().to_string().contains("p >"));
        assert!(COMMON_ENCODINGS.iter().all(|label| encoding(label).unwrap().name() == *label));
    }

    #[test]
    fn a_password_is_neither_shown_nor_written() {
        let options = ReadOptions { password: Some(Password::new("harbour-7")), ..ReadOptions::default() };
        assert!(!format!("{options:?}").contains("harbour"));
        assert!(!serde_json::to_string(&options).unwrap().contains("harbour"));
    }
}
