//! Sections under headings, for every format whose headings come one after the other.

use super::{SpanPlace, TextBuilder};

/// A heading is a label beside every passage of its section; what goes on longer is text with the looks of a heading.
const MAX_TITLE_CHARS: usize = 200;

/// `title` on one line and short enough to stand beside every passage under it.
pub(super) fn label(title: &str) -> String {
    // Words are taken one by one so that a title of many megabytes costs no more than a short one.
    let mut short = String::new();
    for word in title.split_whitespace() {
        if !short.is_empty() {
            short.push(' ');
        }
        short.extend(word.chars().take(MAX_TITLE_CHARS + 1));
        if short.chars().nth(MAX_TITLE_CHARS).is_some() {
            return short.chars().take(MAX_TITLE_CHARS - 1).chain(['…']).collect();
        }
    }
    short
}

/// Marks sections as headings come: each reaches to the next heading of any level.
#[derive(Default)]
pub(super) struct SectionWriter {
    enclosing: Vec<(u8, String)>,
    open_since: Option<usize>,
}

impl SectionWriter {
    /// A heading of `level` (1 is the outermost) starts at `start`. One without a title is no heading.
    pub(super) fn begin(&mut self, built: &mut TextBuilder, level: u8, title: &str, start: usize) {
        let title = label(title);
        if title.is_empty() {
            return;
        }
        self.close(built, start);
        self.enclosing.retain(|(outer, _)| *outer < level);
        self.enclosing.push((level, title));
        self.open_since = Some(start);
    }

    /// The document ends.
    pub(super) fn finish(mut self, built: &mut TextBuilder) {
        let end = built.len();
        self.close(built, end);
    }

    fn close(&mut self, built: &mut TextBuilder, end: usize) {
        if let Some(start) = self.open_since.take() {
            let path = self.enclosing.iter().map(|(_, title)| title.clone());
            built.mark_range(start, end, SpanPlace::Section(path.collect()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_short_line() {
        assert_eq!(label("  Price \n list "), "Price list");
        assert_eq!(label(&"x".repeat(200)).chars().count(), MAX_TITLE_CHARS);
        let endless = "岩石 ".repeat(1_000_000);
        assert_eq!(label(&endless).chars().count(), MAX_TITLE_CHARS);
        assert!(label(&"岩".repeat(300)).ends_with('…'));
        assert_eq!(label(" \n"), "");
    }
}
