//! From a byte range to pages, heading, rows and lines.

use std::ops::Range;

use super::{Extraction, Place, Span, SpanPlace};

/// Looks up places in one extraction; building it reads the text once, each look-up is a binary search.
#[derive(Clone, Debug)]
pub struct PlaceIndex<'a> {
    pages: Vec<&'a Span>,
    sections: Vec<&'a Span>,
    rows: Vec<&'a Span>,
    line_starts: Vec<usize>,
    text_bytes: usize,
}

impl<'a> PlaceIndex<'a> {
    /// The index of `extraction`.
    pub fn new(extraction: &'a Extraction) -> Self {
        let of_kind = |wanted: fn(&SpanPlace) -> bool| {
            let spans = extraction.spans.iter();
            spans.filter(|span| wanted(&span.place)).collect()
        };
        let newlines = extraction.text.bytes().enumerate();
        let after_newlines = newlines.filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self {
            pages: of_kind(|place| matches!(place, SpanPlace::Page(_))),
            sections: of_kind(|place| matches!(place, SpanPlace::Section(_))),
            rows: of_kind(|place| matches!(place, SpanPlace::Row(_))),
            line_starts: std::iter::once(0).chain(after_newlines).collect(),
            text_bytes: extraction.text.len(),
        }
    }

    /// Where `range` (bytes of the text) stands. Ends beyond the text count as its end.
    pub fn place(&self, range: Range<usize>) -> Place {
        let start = range.start.min(self.text_bytes);
        let last = range.end.min(self.text_bytes).saturating_sub(1).max(start);
        Place {
            pages: numbers(overlapping(&self.pages, start, last)),
            heading: heading_of(&self.sections, start, last),
            rows: numbers(overlapping(&self.rows, start, last)),
            lines: (self.line_at(start), self.line_at(last)),
        }
    }

    fn line_at(&self, at: usize) -> u32 {
        self.line_starts.partition_point(|start| *start <= at) as u32
    }
}

impl Extraction {
    /// Where `range` (bytes of `text`) stands. For many look-ups build one [`PlaceIndex`].
    pub fn place(&self, range: Range<usize>) -> Place {
        PlaceIndex::new(self).place(range)
    }
}

/// The spans that hold any byte from `start` to `last`, both included.
fn overlapping<'s, 'a>(spans: &'s [&'a Span], start: usize, last: usize) -> &'s [&'a Span] {
    let from = spans.partition_point(|span| span.end <= start);
    let to = spans.partition_point(|span| span.start <= last);
    spans.get(from..to).unwrap_or_default()
}

fn numbers(spans: &[&Span]) -> Option<(u32, u32)> {
    let number = |span: &&Span| match span.place {
        SpanPlace::Page(number) | SpanPlace::Row(number) => Some(number),
        SpanPlace::Section(_) => None,
    };
    Some((number(spans.first()?)?, number(spans.last()?)?))
}

/// The heading over most of the range: what a chunk repeats from the section before is no reason to bear its name.
fn heading_of(sections: &[&Span], start: usize, last: usize) -> Vec<String> {
    let share = |span: &Span| span.end.min(last + 1) - span.start.max(start);
    let under = overlapping(sections, start, last);
    // Of equal shares the first.
    let Some(most) = under.iter().rev().max_by_key(|span| share(span)) else {
        return Vec::new();
    };
    let above_all = (last + 1 - start).saturating_sub(under.iter().map(|span| share(span)).sum());
    match &most.place {
        SpanPlace::Section(path) if share(most) >= above_all => path.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{Coverage, DocumentKind};

    fn sample() -> Extraction {
        let span = |start, end, place| Span { start, end, place };
        let section = |path: &[&str]| SpanPlace::Section(path.iter().map(|part| (*part).to_owned()).collect());
        Extraction {
            kind: DocumentKind::Pdf,
            title: None,
            text: "one\ntwo\nthree\nfour".to_owned(),
            spans: vec![
                span(0, 4, SpanPlace::Page(1)),
                span(4, 8, SpanPlace::Page(2)),
                span(4, 8, section(&["A"])),
                span(8, 18, section(&["A", "B"])),
                span(8, 14, SpanPlace::Row(1)),
                span(14, 18, SpanPlace::Page(4)),
                span(14, 18, SpanPlace::Row(2)),
            ],
            coverage: Coverage::default(),
            metadata: None,
        }
    }

    #[test]
    fn a_range_names_first_and_last_of_everything_it_touches() {
        let place = sample().place(2..16);
        assert_eq!(place.pages, Some((1, 4)));
        assert_eq!(place.heading, ["A", "B"]);
        assert_eq!(place.rows, Some((1, 2)));
        assert_eq!(place.lines, (1, 4));
    }

    #[test]
    fn the_heading_is_that_of_most_of_the_range() {
        let heading = |range| sample().place(range).heading;
        assert_eq!(heading(0..5), Vec::<String>::new());
        assert_eq!(heading(2..8), ["A"]);
        assert_eq!(heading(7..12), ["A", "B"]);
        assert_eq!(heading(6..10), ["A"], "of equal shares the first");
        assert_eq!(heading(8..8), ["A", "B"]);
    }

    #[test]
    fn the_byte_after_a_range_does_not_count() {
        let place = sample().place(4..8);
        assert_eq!(place.pages, Some((2, 2)));
        assert_eq!(place.heading, ["A"]);
        assert_eq!(place.rows, None);
        assert_eq!(place.lines, (2, 2));
    }

    #[test]
    fn where_no_span_is_there_is_no_place() {
        let place = sample().place(9..12);
        assert_eq!(place.pages, None);
        assert_eq!(place.heading, ["A", "B"]);
    }

    #[test]
    fn ranges_beyond_the_text_end_at_its_end() {
        assert_eq!(sample().place(17..900).lines, (4, 4));
        assert_eq!(sample().place(500..900).lines, (4, 4));
        assert_eq!(sample().place(18..18).pages, None);
    }
}
