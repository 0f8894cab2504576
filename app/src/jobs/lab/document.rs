//! The document that the lab has open, with its places indexed.

use std::ops::Range;
use std::sync::Arc;

use super::LabRequest;
use super::tables::Tables;
use super::vectors::SegmentVectors;
use crate::extract::{Extraction, SpanPlace};
use crate::store::DocumentId;

/// An open document.
pub(super) struct OpenDocument {
    pub(super) id: DocumentId,
    library_version: u64,
    pub(super) extraction: Arc<Extraction>,
    pub(super) places: PlaceIndex,
    pub(super) vectors: SegmentVectors,
    pub(super) tables: Tables,
}

impl OpenDocument {
    pub(super) fn new(request: &LabRequest, extraction: Arc<Extraction>) -> Self {
        let (id, library_version) = (request.document, request.library_version);
        let places = PlaceIndex::new(&extraction);
        let vectors = SegmentVectors::of(&extraction.text);
        Self { id, library_version, extraction, places, vectors, tables: Tables::default() }
    }

    /// Whether this is the document that `request` means, as the library holds it now.
    pub(super) fn is(&self, request: &LabRequest) -> bool {
        self.id == request.document && self.library_version == request.library_version
    }
}

/// Pages, headings and rows by the byte where they start.
#[derive(Default)]
pub(super) struct PlaceIndex {
    pages: Vec<(usize, u32)>,
    headings: Vec<(usize, String)>,
    rows: Vec<(usize, u32)>,
}

impl PlaceIndex {
    pub(super) fn new(extraction: &Extraction) -> Self {
        let mut index = Self::default();
        for span in &extraction.spans {
            match &span.place {
                SpanPlace::Page(page) => index.pages.push((span.start, *page)),
                SpanPlace::Row(row) => index.rows.push((span.start, *row)),
                SpanPlace::Section(path) => {
                    index.headings.push((span.start, path.last().cloned().unwrap_or_default()));
                }
            }
        }
        index
    }

    /// Where `bytes` stand, in a few words: pages, rows and the innermost heading.
    pub(super) fn label(&self, bytes: Range<usize>) -> String {
        let mut parts = Vec::new();
        for (list, one, many) in [(&self.pages, "p.", "pp."), (&self.rows, "row", "rows")] {
            match (at(list, bytes.start), at(list, bytes.end.saturating_sub(1))) {
                (Some(first), Some(last)) if first != last => parts.push(format!("{many} {first}–{last}")),
                (Some(first), _) => parts.push(format!("{one} {first}")),
                (None, _) => {}
            }
        }
        if let Some(heading) = at(&self.headings, bytes.start).filter(|heading| !heading.is_empty()) {
            parts.push(heading.clone());
        }
        parts.join("  ·  ")
    }
}

/// The entry that starts last at or before `byte`.
fn at<T>(list: &[(usize, T)], byte: usize) -> Option<&T> {
    let after = list.partition_point(|(start, _)| *start <= byte);
    after.checked_sub(1).map(|position| &list[position].1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{Coverage, DocumentKind, Span};

    #[test]
    fn places_read_as_people_write_them() {
        let span = |start, end, place| Span { start, end, place };
        let extraction = Extraction {
            kind: DocumentKind::Pdf,
            title: None,
            text: "x".repeat(30),
            spans: vec![
                span(0, 10, SpanPlace::Page(1)),
                span(10, 30, SpanPlace::Page(2)),
                span(5, 30, SpanPlace::Section(vec!["Plan".to_owned(), "Costs".to_owned()])),
            ],
            coverage: Coverage::default(),
            metadata: None,
        };
        let places = PlaceIndex::new(&extraction);
        assert_eq!(places.label(0..5), "p. 1");
        assert_eq!(places.label(6..12), "pp. 1–2  ·  Costs");
    }
}
