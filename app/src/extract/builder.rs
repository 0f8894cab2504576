//! [`TextBuilder`]: the only way to make an [`Extraction`].
//!
//! Invariant: whatever a reader pushes, the text has no NUL, BOM or `\r`, stays under the budget, and every span
//! is in bounds, on a character boundary, not empty and sorted by start.

use super::{Coverage, DocumentKind, ExtractError, ExtractLimits, Extraction, Metadata, Span, SpanPlace};

/// Collects the text and the spans of one document.
pub(super) struct TextBuilder {
    text: String,
    spans: Vec<Span>,
    limit_bytes: usize,
    /// Whether the last character pushed was a `\r`, so that a `\n` at the start of the next piece belongs to it.
    after_return: bool,
    /// What the reader learned of the document besides its text.
    pub(super) title: Option<String>,
    /// See [`Metadata`].
    pub(super) metadata: Metadata,
    /// See [`Coverage`].
    pub(super) coverage: Coverage,
}

impl TextBuilder {
    pub(super) fn new(limits: &ExtractLimits) -> Self {
        Self {
            text: String::new(),
            spans: Vec::new(),
            limit_bytes: usize::try_from(limits.text_bytes).unwrap_or(usize::MAX),
            after_return: false,
            title: None,
            metadata: Metadata::default(),
            coverage: Coverage::default(),
        }
    }

    /// Bytes so far; a reader remembers it as the start of a span.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The text so far.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Adds text: line ends become `\n`, form feeds too, other control characters and BOMs go.
    ///
    /// # Errors
    /// The text would be over the budget.
    pub(super) fn push(&mut self, piece: &str) -> Result<(), ExtractError> {
        if piece.len() > self.limit_bytes.saturating_sub(self.text.len()) {
            return Err(ExtractError::over_budget(format!(
                "the document has more text than the {} MiB that one document may have",
                self.limit_bytes >> 20
            )));
        }
        for character in piece.chars() {
            self.push_character(character);
        }
        Ok(())
    }

    fn push_character(&mut self, character: char) {
        let after_return = std::mem::replace(&mut self.after_return, character == '\r');
        match character {
            '\n' if after_return => {}
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                self.text.push('\n');
            }
            '\t' => self.text.push('\t'),
            '\u{feff}' => {}
            _ if character.is_control() => {}
            _ => self.text.push(character),
        }
    }

    /// Takes the last character away.
    pub(super) fn pop(&mut self) {
        self.text.pop();
    }

    /// Makes the text end in a blank line, unless it is empty.
    pub(super) fn break_paragraph(&mut self) {
        self.after_return = false;
        self.text.truncate(self.text.trim_end_matches(' ').len());
        while !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Makes the text end in a line end, unless it is empty.
    pub(super) fn break_line(&mut self) {
        self.after_return = false;
        self.text.truncate(self.text.trim_end_matches(' ').len());
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Marks the text from `start` up to here; nothing if it is empty.
    pub(super) fn mark(&mut self, start: usize, place: SpanPlace) {
        self.mark_range(start, self.text.len(), place);
    }

    /// Marks the text from `start` to `end`, moved inwards to character boundaries; nothing if it is empty.
    pub(super) fn mark_range(&mut self, start: usize, end: usize, place: SpanPlace) {
        let end = self.text.floor_char_boundary(end);
        let start = self.text.ceil_char_boundary(start.min(end));
        if start < end {
            self.spans.push(Span { start, end, place });
        }
    }

    /// Forgets the sections from `start` on, because the document around them has a structure of its own.
    pub(super) fn forget_sections(&mut self, start: usize) {
        self.spans.retain(|span| span.start < start || !matches!(span.place, SpanPlace::Section(_)));
    }

    /// Adds a sentence to the coverage notes.
    pub(super) fn note(&mut self, sentence: impl Into<String>) {
        self.coverage.notes.push(sentence.into());
    }

    /// The finished extraction, without white space at the end of the text.
    ///
    /// # Errors
    /// There is nothing but white space.
    pub(super) fn finish(mut self, kind: DocumentKind) -> Result<Extraction, ExtractError> {
        let kept_bytes = self.text.trim_end().len();
        if kept_bytes == 0 {
            return Err(ExtractError::empty());
        }
        self.text.truncate(kept_bytes);
        for span in &mut self.spans {
            span.end = span.end.min(kept_bytes);
        }
        self.spans.retain(|span| span.start < span.end);
        self.spans.sort_by_key(|span| span.start);
        Ok(Extraction {
            kind,
            title: self.title.as_deref().map(super::sections::label).filter(|title| !title.is_empty()),
            text: self.text,
            spans: self.spans,
            coverage: self.coverage,
            metadata: Some(self.metadata),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    fn builder() -> TextBuilder {
        TextBuilder::new(&ExtractLimits::default())
    }

    #[test]
    fn line_ends_and_control_characters_are_normalised_across_pieces() {
        let mut built = builder();
        for piece in ["\u{feff}a\r", "\nb\rc\0d", "\u{c}e\n\n"] {
            built.push(piece).unwrap();
        }
        let extraction = built.finish(DocumentKind::Text).unwrap();
        assert_eq!(extraction.text, "a\nb\ncd\ne");
    }

    #[test]
    fn spans_end_where_the_trimmed_text_ends() {
        let mut built = builder();
        built.push("page one").unwrap();
        built.mark(0, SpanPlace::Page(1));
        let start = built.len();
        built.push("  \n ").unwrap();
        built.mark(start, SpanPlace::Page(2));
        let extraction = built.finish(DocumentKind::Pdf).unwrap();
        assert_eq!(extraction.spans.len(), 1);
        assert_eq!(extraction.spans[0].end, 8);
    }

    #[test]
    fn more_text_than_the_budget_is_refused() {
        let mut built = TextBuilder::new(&ExtractLimits { text_bytes: 10, ..ExtractLimits::default() });
        built.push("0123456789").unwrap();
        let result = built.push("x");
        assert!(matches!(result, Err(ExtractError::OverBudget { .. })));
    }

    #[test]
    fn nothing_but_white_space_is_empty() {
        let mut built = builder();
        built.push(" \n\t\r\n").unwrap();
        let result = built.finish(DocumentKind::Text);
        assert!(matches!(result, Err(ExtractError::Empty { .. })));
    }
}
