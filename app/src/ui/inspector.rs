//! The inspector at the right: what is selected, in full.

use egui::{Align, Frame, Label, Layout, Margin, Panel, ScrollArea, Ui};

use super::icons::Icon;
use super::page_view::PageView;
use super::reading::ReadingFields;
use super::search::snippet;
use super::theme::{mono, palette, secondary, strong, tokens};
use super::widgets::{Tone, chip, format, hairline, icon_button, quiet};
use crate::command::Command;
use crate::extract::Metadata;
use crate::library::NEEDS_PASSWORD;
use crate::state::{AppState, Passage, Selection, Surroundings};
use crate::store::{DocumentRecord, DocumentStatus};

/// The inspector.
#[derive(Default)]
pub(super) struct Inspector {
    pages: PageView,
    reading: ReadingFields,
}

impl Inspector {
    /// Draws the inspector when something is selected.
    pub(super) fn ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        if state.selection == Selection::Nothing {
            return;
        }
        let frame = Frame::new().fill(palette(ui).surface).inner_margin(Margin::symmetric(16, 12));
        let width = tokens().space.inspector_width;
        let panel = Panel::right("inspector").default_size(width).size_range(260.0..=760.0).frame(frame);
        panel.show(ui, |ui| match &state.selection {
            Selection::Nothing => {}
            Selection::Document(id) => {
                if let Some(record) = state.library.document(*id) {
                    document_ui(ui, record, &mut self.reading, commands);
                }
            }
            Selection::Passage(passage) => {
                passage_head_ui(ui, passage, commands);
                ScrollArea::vertical().id_salt("passage_text").auto_shrink(false).show(ui, |ui| {
                    passage_text_ui(ui, passage, state.pages.around.as_ref());
                    self.pages.ui(ui, &state.pages);
                    let is_locked = state.pages.pictures.error().is_some_and(|error| error.title == NEEDS_PASSWORD);
                    if let Some(record) = state.library.document(passage.document).filter(|_| is_locked) {
                        self.reading.password_ui(ui, record, commands);
                    }
                });
            }
        });
    }
}

fn head_ui(ui: &mut Ui, title: &str, commands: &mut Vec<Command>) {
    let size = egui::vec2(ui.available_width(), tokens().space.control_height);
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        if icon_button(ui, Icon::Close, "Close inspector").clicked() {
            commands.push(Command::Dismiss);
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.add(Label::new(strong(title).size(tokens().text.body)).truncate());
        });
    });
}

fn document_ui(ui: &mut Ui, record: &DocumentRecord, reading: &mut ReadingFields, commands: &mut Vec<Command>) {
    head_ui(ui, &record.title, commands);
    let (word, tone) = status(record);
    chip(ui, word, tone, false);
    if let Some(reason) = &record.reason {
        ui.label(secondary(reason));
    }
    ui.add_space(4.0);
    reading.ui(ui, record, commands);
    for (name, value) in facts(record) {
        fact_ui(ui, name, &value);
    }
    for (name, values) in record.metadata.iter().flat_map(Metadata::iter).take(MOST_PROPERTIES) {
        fact_ui(ui, &label_of(name), &values.join(", "));
    }
    let left_out =
        record.metadata.as_ref().map_or(0, |metadata| metadata.iter().count().saturating_sub(MOST_PROPERTIES));
    if left_out > 0 {
        ui.label(secondary(format!("and {} more", format::count(left_out))));
    }
    if !record.pages_without_text.is_empty() {
        let pages: Vec<String> = record.pages_without_text.iter().map(u32::to_string).collect();
        fact_ui(ui, "Pages without text", &pages.join(", "));
    }
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        if record.status == DocumentStatus::Ready && ui.button("Open in Chunks").clicked() {
            commands.push(Command::OpenInChunks { document: record.id, byte: None });
        }
        if quiet(ui, "Remove").clicked() {
            commands.push(Command::RemoveDocuments(vec![record.id]));
        }
    });
}

/// Properties of a document that are shown, of which hostile ones have many.
const MOST_PROPERTIES: usize = 16;

/// `Review date` of `review-date`.
fn label_of(name: &str) -> String {
    let mut letters = name.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    (first + letters.as_str()).replace('-', " ")
}

fn facts(record: &DocumentRecord) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Path", record.path.display().to_string()), ("Size", format::bytes(record.bytes))];
    facts.extend(record.pages.map(|pages| ("Pages", format::count(pages as usize))));
    facts.push(("Chunks", format::count(record.chunks)));
    facts.extend(record.chunker.as_ref().map(|config| ("Chunker", format::chunker(config))));
    facts.extend(record.embedder.clone().map(|name| ("Embedder", name)));
    facts.extend(record.read.html_selector.clone().map(|selector| ("Elements read", selector)));
    facts.extend(record.read.json_field.clone().map(|field| ("Field read", field)));
    facts
}

fn fact_ui(ui: &mut Ui, name: &str, value: &str) {
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.label(secondary(name));
    ui.add(Label::new(egui::RichText::new(value).size(tokens().text.secondary)).wrap());
    ui.add_space(4.0);
}

fn passage_head_ui(ui: &mut Ui, passage: &Passage, commands: &mut Vec<Command>) {
    head_ui(ui, &passage.title, commands);
    let place = format::place(&passage.place);
    if !place.is_empty() {
        ui.label(secondary(place));
    }
    scores_ui(ui, passage);
    ui.horizontal(|ui| {
        if ui.button("Open in Chunks").clicked() {
            commands.push(Command::OpenInChunks { document: passage.document, byte: Some(passage.start) });
        }
        if quiet(ui, "Copy text").clicked() {
            ui.ctx().copy_text(passage.text.clone());
        }
    });
    ui.add_space(4.0);
    hairline(ui);
    ui.add_space(4.0);
}

/// The passage, in its place where the text around it is known.
fn passage_text_ui(ui: &mut Ui, passage: &Passage, around: Option<&Surroundings>) {
    let (Passage { text, query, .. }, size) = (passage, tokens().text.body - 1.0);
    let job = match around {
        Some(around) => snippet::in_place(ui, text, query, size, around),
        None => snippet::marked(ui, text, query, size),
    };
    ui.add(Label::new(job).wrap().selectable(true));
    ui.add_space(12.0);
    ui.label(secondary(footnote(passage)));
}

fn footnote(passage: &Passage) -> String {
    let mut parts = vec![format!("bytes {}–{}", format::count(passage.start), format::count(passage.end))];
    parts.extend(passage.tokens.map(|tokens| format::counted(tokens, "token")));
    parts.extend(passage.index.map(|index| format!("chunk {}", format::count(index + 1))));
    parts.join("  ·  ")
}

fn scores_ui(ui: &mut Ui, passage: &Passage) {
    let scores = passage.scores;
    let named = [
        ("cosine", scores.vector, "Similarity of the passage's vector and the query's, −1 to 1"),
        ("BM25", scores.keyword, "Weight of the query's words in the passage, 0 and up"),
        ("rerank", scores.rerank, "Score of the reranker"),
        ("fused", scores.fused, "What the legs' scores were fused to; this ranked the passage"),
    ];
    let shown: Vec<_> = named.iter().filter_map(|(name, score, help)| score.map(|score| (name, score, help))).collect();
    if shown.is_empty() {
        if let Some(score) = passage.score {
            ui.label(secondary(format!("score {score:.3}")));
        }
        return;
    }
    ui.horizontal_wrapped(|ui| {
        for (name, score, help) in shown {
            ui.label(secondary(*name)).on_hover_text(*help);
            ui.label(mono(format!("{score:.3}"))).on_hover_text(*help);
        }
    });
}

/// The word and tone of a document's state.
pub(super) fn status(record: &DocumentRecord) -> (&'static str, Tone) {
    match record.status {
        DocumentStatus::Ready if !record.pages_without_text.is_empty() => ("ready, in part", Tone::Warning),
        DocumentStatus::Ready => ("ready", Tone::Good),
        DocumentStatus::Failed => ("failed", Tone::Error),
        DocumentStatus::NeedsOcr => ("needs OCR", Tone::Warning),
        DocumentStatus::Encrypted => ("encrypted", Tone::Warning),
        DocumentStatus::Queued => ("queued", Tone::Neutral),
        DocumentStatus::Cancelled => ("cancelled", Tone::Neutral),
    }
}
