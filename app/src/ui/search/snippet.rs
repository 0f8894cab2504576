//! Passages with the query's words marked.

use std::ops::Range;

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, FontId, Ui};

use super::super::theme::{palette, strong_font};
use crate::retrieve::{densest_stretch, word_matches};
use crate::state::Surroundings;

/// Characters of a passage that a list shows.
const SNIPPET_CHARS: usize = 420;

/// The whole of `text` with the words of `query` marked.
pub(in crate::ui) fn marked(ui: &Ui, text: &str, query: &str, size: f32) -> LayoutJob {
    layout(ui, text.trim(), &word_matches(text.trim(), query), size)
}

/// [`marked`] within what stands `around` it: the passage on a ground of its own.
pub(in crate::ui) fn in_place(ui: &Ui, text: &str, query: &str, size: f32, around: &Surroundings) -> LayoutJob {
    let passage = layout(ui, text, &word_matches(text, query), size);
    let colours = palette(ui);
    let line_height = Some((size * 1.42).round());
    let quiet = TextFormat { line_height, ..TextFormat::simple(FontId::proportional(size), colours.ink_secondary) };
    let mut job = LayoutJob::default();
    job.append(&around.before, 0.0, quiet.clone());
    for section in passage.sections {
        let mut format = section.format;
        if format.background == Color32::TRANSPARENT {
            format.background = colours.accent_wash;
        }
        let range = section.byte_range.start.0..section.byte_range.end.0;
        job.append(&passage.text[range], 0.0, format);
    }
    job.append(&around.after, 0.0, quiet);
    job
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
