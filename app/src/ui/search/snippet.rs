//! Passages with the query's words marked.

use std::ops::Range;

use egui::text::{LayoutJob, TextFormat};
use egui::{FontId, Ui};

use super::super::theme::{palette, strong_font};
use crate::retrieve::{densest_stretch, word_matches};

/// Characters of a passage that a list shows.
const SNIPPET_CHARS: usize = 420;

/// The whole of `text` with the words of `query` marked.
pub(in crate::ui) fn marked(ui: &Ui, text: &str, query: &str, size: f32) -> LayoutJob {
    layout(ui, text.trim(), &word_matches(text.trim(), query), size)
}

/// The stretch of `text` where most words of `query` stand, in one paragraph.
pub(super) fn around_match(ui: &Ui, text: &str, query: &str, size: f32) -> LayoutJob {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let stretch = densest_stretch(&flat, &word_matches(&flat, query), SNIPPET_CHARS);
    let shown = &flat[stretch.clone()];
    let shown = if stretch.start > 0 { format!("… {shown}") } else { shown.to_owned() };
    layout(ui, &shown, &word_matches(&shown, query), size)
}

fn layout(ui: &Ui, text: &str, marks: &[Range<usize>], size: f32) -> LayoutJob {
    let colours = palette(ui);
    let line_height = Some((size * 1.42).round());
    let plain = TextFormat { line_height, ..TextFormat::simple(FontId::proportional(size), colours.ink) };
    let mark = TextFormat { background: colours.mark, font_id: FontId::new(size, strong_font()), ..plain.clone() };
    let mut job = LayoutJob::default();
    let mut done = 0;
    for range in marks {
        job.append(&text[done..range.start], 0.0, plain.clone());
        job.append(&text[range.clone()], 0.0, mark.clone());
        done = range.end;
    }
    job.append(&text[done..], 0.0, plain);
    job
}
