//! [`Annotator`]: citations made by the system while the answer streams.
//!
//! A marker of the model passes only where its passage supports the sentence before it; markers that name no
//! passage, or one that says something else, are dropped and counted. A sentence that is left without a marker gets the
//! passage that supports it best; where none does it gets [`UNSUPPORTED`] and a reason. What streams out is the final
//! answer, letter for letter.
//!
//! Code stays as it is written: in a code span brackets are text, and a code block is judged as a whole, its marker in a
//! line of its own after the fence. Of a table the rows are judged, not the header; a row's marker stands in its last cell.

mod blocks;
mod judge;
mod markers;
mod prose;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use self::blocks::{Blocks, Part};
use super::passage::Passage;
use super::support::Evidence;
use super::{Citation, Unsupported};

/// Stands after a sentence that no passage supports.
pub(super) const UNSUPPORTED: &str = "[?]";

/// Passes an answer through, piece by piece, and puts its citations right.
pub(super) struct Annotator<'a> {
    sources: Vec<(Passage<'a>, Evidence<'a>)>,
    blocks: Blocks,
    /// Came in, not yet judged: a `[` that may begin a marker, a full stop that may end a sentence.
    held: String,
    /// The sentence under way, without markers.
    sentence: String,
    /// Markers put after the sentence under way.
    cited: Vec<u32>,
    citations: BTreeMap<u32, Vec<Citation>>,
    dropped: usize,
    checked: usize,
    unsupported: Vec<Unsupported>,
    last_shown: Option<char>,
    /// Since the last `[` of the text came nothing but digits and separators: a `]` would make it look like a marker.
    looks_like_marker: bool,
    /// A space came in before a `[`: shown only if something follows it.
    owes_space: bool,
    /// The marker of a code block stands in the line: what follows begins after a blank one.
    owes_blank_line: bool,
}

/// What an answer rests on.
pub(super) struct Annotations {
    /// By marker; a passage that supports several sentences is there with each place.
    pub(super) citations: Vec<Citation>,
    /// Markers that were dropped.
    pub(super) dropped: usize,
    /// Sentences that say something, and so were checked.
    pub(super) checked: usize,
    /// Those that no passage supports.
    pub(super) unsupported: Vec<Unsupported>,
}

impl<'a> Annotator<'a> {
    /// For an answer from these passages.
    pub(super) fn new(passages: &[Passage<'a>]) -> Self {
        let sources = passages.iter().map(|passage| (*passage, passage.evidence()));
        Self {
            sources: sources.collect(),
            blocks: Blocks::default(),
            held: String::new(),
            sentence: String::new(),
            cited: Vec::new(),
            citations: BTreeMap::new(),
            dropped: 0,
            checked: 0,
            unsupported: Vec::new(),
            last_shown: None,
            looks_like_marker: false,
            owes_space: false,
            owes_blank_line: false,
        }
    }

    /// Takes a piece of the model's text; gives what can be shown.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for part in self.blocks.push(piece) {
            self.take(part, &mut out);
        }
        out
    }

    /// Ends the answer; gives the rest of it.
    pub(super) fn finish(&mut self) -> String {
        let mut out = String::new();
        for part in self.blocks.finish() {
            self.take(part, &mut out);
        }
        self.end_text(&mut out);
        out
    }

    /// The citations, after [`Self::finish`].
    pub(super) fn into_annotations(self) -> Annotations {
        Annotations {
            citations: self.citations.into_values().flatten().collect(),
            dropped: self.dropped,
            checked: self.checked,
            unsupported: self.unsupported,
        }
    }

    fn take(&mut self, part: Part, out: &mut String) {
        if let Part::Text(text) = part {
            self.held.push_str(&text);
            while self.step(out, false) {}
            return;
        }
        self.end_text(out);
        match part {
            Part::Text(text) | Part::Plain(text) => self.write(&text, out),
            Part::Code(block) => self.judge_code(&block, out),
            Part::Row { row, header } => self.judge_row(&row, &header, out),
        }
    }

    fn end_text(&mut self, out: &mut String) {
        while self.step(out, true) {}
        self.end_sentence(out);
    }

    /// Shows text as it is.
    fn write(&mut self, text: &str, out: &mut String) {
        if !text.is_empty() && std::mem::take(&mut self.owes_blank_line) {
            out.push_str(if text.starts_with('\n') { "\n" } else { "\n\n" });
        }
        out.push_str(text);
        self.last_shown = text.chars().last().or(self.last_shown);
    }
}
