//! [`Streamed`]: what a model says, on its way to the window.

use super::citations::Annotator;
use super::prompt::NOT_FOUND;

/// The model's text on its way through the annotator; its beginning is held back while it may be a refusal.
pub(super) struct Streamed<'a> {
    pub(super) annotator: Annotator<'a>,
    head: Option<String>,
}

impl<'a> Streamed<'a> {
    pub(super) fn new(annotator: Annotator<'a>) -> Self {
        Self { annotator, head: Some(String::new()) }
    }

    pub(super) fn push(&mut self, piece: &str) -> String {
        let Some(head) = &mut self.head else {
            return self.annotator.push(piece);
        };
        head.push_str(piece);
        if may_be_refusal(head) {
            return String::new();
        }
        let head = self.head.take().unwrap_or_default();
        self.annotator.push(head.trim_start())
    }

    pub(super) fn finish(&mut self) -> String {
        let head = self.head.take().unwrap_or_default();
        let mut rest = self.annotator.push(head.trim());
        rest.push_str(&self.annotator.finish());
        rest
    }

    pub(super) fn has_text(&self) -> bool {
        self.head.as_ref().is_none_or(|head| !head.trim().is_empty())
    }

    pub(super) fn says_not_found(&self) -> bool {
        self.head.as_ref().is_some_and(|head| bare(head).starts_with(NOT_FOUND))
    }
}

/// Whether what was said so far can still turn out to be the refusal that the prompt asks for.
fn may_be_refusal(head: &str) -> bool {
    let said = bare(head);
    NOT_FOUND.starts_with(&said) || said.starts_with(NOT_FOUND)
}

/// Letters in upper case, without the signs that models like to put around them.
fn bare(text: &str) -> String {
    text.trim_start_matches(|letter: char| !letter.is_alphanumeric()).to_uppercase().trim_end().to_owned()
}
