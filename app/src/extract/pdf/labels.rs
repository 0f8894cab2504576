//! Printed page labels, so that a person who looks for page iv finds it.

use pdfium_render::prelude::PdfDocument;

/// Page labels that a note names.
const MOST_LABELS_NAMED: usize = 6;

/// What is printed on the pages where it is not their number: `iv`, or 1 on the fifth page.
#[derive(Default)]
pub(super) struct Labels {
    /// Pages whose label does not go on counting from the page before.
    starts: Vec<(i32, String)>,
    differ: bool,
    last: Option<i32>,
}

impl Labels {
    pub(super) fn note(&mut self, document: &PdfDocument<'_>, index: i32) {
        let Ok(page) = document.pages().get(index) else { return };
        let Some(label) = page.label().map(str::trim).filter(|label| !label.is_empty()) else { return };
        let number: Option<i32> = label.parse().ok();
        self.differ |= number != Some(index + 1);
        let is_start = self.starts.is_empty() || number.map(|number| number - 1) != self.last;
        if is_start
            && self.starts.len() < MOST_LABELS_NAMED
            && (number.is_some() || self.last.is_some() || self.starts.is_empty())
        {
            self.starts.push((index + 1, label.to_owned()));
        }
        self.last = number;
    }

    /// A sentence for the reader; none where the labels are the numbers.
    pub(super) fn describe(&self) -> Option<String> {
        let starts = self.starts.iter().map(|(page, label)| format!("page {page} is labelled {label}"));
        self.differ.then(|| {
            format!("Printed page labels differ from page numbers: {}.", starts.collect::<Vec<_>>().join(", "))
        })
    }
}
