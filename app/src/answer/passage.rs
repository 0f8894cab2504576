//! [`Passage`]: a hit as a numbered source of a prompt.

use crate::retrieve::SearchHit;

use super::Citation;
use super::support::Evidence;

/// A whole passage that the answer may rest on.
#[derive(Clone, Copy)]
pub(super) struct Passage<'a> {
    /// Its number in the prompt and in markers, from 1.
    pub(super) number: u32,
    /// The hit.
    pub(super) hit: &'a SearchHit,
}

impl<'a> Passage<'a> {
    /// The hits, numbered from 1.
    pub(super) fn number_all(hits: &'a [SearchHit]) -> Vec<Self> {
        hits.iter().zip(1..).map(|(hit, number)| Self { number, hit }).collect()
    }

    /// Title and headings.
    pub(super) fn label(&self) -> String {
        let title = std::iter::once(&self.hit.title);
        let heading = self.hit.chunk.place.heading.iter();
        title.chain(heading).map(String::as_str).collect::<Vec<_>>().join(" > ")
    }

    /// The passage prepared for matching.
    pub(super) fn evidence(&self) -> Evidence<'a> {
        Evidence::new(&self.hit.chunk.text, &self.label())
    }

    /// A citation of `range`, bytes of the passage's text.
    pub(super) fn cite(&self, range: std::ops::Range<usize>) -> Citation {
        let chunk = &self.hit.chunk;
        Citation {
            marker: self.number,
            document: chunk.document,
            path: self.hit.path.clone(),
            pages: chunk.place.pages,
            heading: chunk.place.heading.clone(),
            rows: chunk.place.rows,
            lines: lines_of(chunk.place.lines, &chunk.text, &range),
            start: chunk.start + range.start,
            end: chunk.start + range.end,
            quote: chunk.text[range].to_owned(),
            score: self.hit.score,
        }
    }

    /// A citation of all of it.
    pub(super) fn cite_whole(&self) -> Citation {
        self.cite(0..self.hit.chunk.text.len())
    }
}

/// Lines of a part of a passage whose own lines are known.
fn lines_of(whole: (u32, u32), text: &str, range: &std::ops::Range<usize>) -> (u32, u32) {
    let breaks = |part: &str| part.bytes().filter(|byte| *byte == b'\n').count() as u32;
    let first = whole.0 + breaks(&text[..range.start]);
    (first, first + breaks(&text[range.clone()]))
}
