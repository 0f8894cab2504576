//! Sections under headings, for every format whose headings come one after the other.

use super::{SpanPlace, TextBuilder};

/// Marks sections as headings come: each reaches to the next heading of any level.
#[derive(Default)]
pub(super) struct SectionWriter {
    enclosing: Vec<(u8, String)>,
    open_since: Option<usize>,
}

impl SectionWriter {
    /// A heading of `level` (1 is the outermost) starts at `start`. One without a title is no heading.
    pub(super) fn begin(&mut self, built: &mut TextBuilder, level: u8, title: &str, start: usize) {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
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
