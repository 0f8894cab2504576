//! What was clicked: two chunks and how alike they are, or a passage of the map.

use egui::{Frame, Label, Margin, Panel, ScrollArea, Ui};

use super::super::theme::{mono, palette, secondary, strong, tokens};
use super::super::widgets::{format, hairline, quiet};
use crate::command::Command;
use crate::similarity::cosine;
use crate::state::{AppState, HeatResult, SimilarityView};

/// Draws the panel at the right, if anything was clicked.
pub(super) fn pair_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let similarity = &state.similarity;
    let picked = match similarity.view {
        SimilarityView::Heat => similarity.picked.is_some() && similarity.heat.value().is_some(),
        SimilarityView::Map => {
            let is_picked = similarity.picked_passage.is_some() || !similarity.encircled.is_empty();
            is_picked && similarity.map.value().is_some()
        }
    };
    if !picked {
        return;
    }
    let frame = Frame::new().fill(palette(ui).surface).inner_margin(Margin::symmetric(16, 16));
    Panel::right("picked").default_size(360.0).size_range(260.0..=640.0).frame(frame).show(ui, |ui| {
        match similarity.view {
            SimilarityView::Heat => chunks_ui(ui, state, commands),
            SimilarityView::Map => passage_ui(ui, state, commands),
        }
    });
}

fn chunks_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let (Some((row, column)), Some(heat)) = (state.similarity.picked, state.similarity.heat.value()) else { return };
    let vector = |index: usize| heat.vectors.get(index * heat.dims..(index + 1) * heat.dims).unwrap_or_default();
    ui.horizontal(|ui| {
        ui.label(strong("Cosine"));
        ui.label(mono(format!("{:.4}", cosine(vector(row), vector(column)))));
    });
    let height = (ui.available_height() - 24.0) / 2.0;
    for (index, salt) in [(row, "first"), (column, "second")] {
        hairline(ui);
        chunk_ui(ui, heat, index, (salt, height), commands);
        if row == column {
            break;
        }
    }
}

fn chunk_ui(ui: &mut Ui, heat: &HeatResult, index: usize, (salt, height): (&str, f32), commands: &mut Vec<Command>) {
    let Some(chunk) = heat.chunks.chunks.get(index) else { return };
    ui.horizontal(|ui| {
        ui.label(strong(format!("Chunk {}", format::count(index + 1))));
        if quiet(ui, "Open in Chunks").clicked() {
            commands.push(Command::OpenInChunks { document: heat.document, byte: Some(chunk.start) });
        }
    });
    if let Some(place) = heat.chunks.places.get(index).filter(|place| !place.is_empty()) {
        ui.add(Label::new(secondary(place.clone())).truncate());
    }
    ScrollArea::vertical().id_salt(salt).max_height((height - 70.0).max(60.0)).auto_shrink(false).show(ui, |ui| {
        let text = heat.extraction.text.get(chunk.start..chunk.end).unwrap_or_default();
        text_ui(ui, text);
    });
}

fn passage_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let map = state.similarity.map.value();
    let passage = state.similarity.picked_passage.and_then(|index| map?.passages.get(index));
    let Some(passage) = passage else {
        return encircled_ui(ui, state, commands);
    };
    if !state.similarity.encircled.is_empty() && quiet(ui, "Back to the list").clicked() {
        commands.push(Command::EncirclePassages(state.similarity.encircled.clone()));
    }
    let name = state.library.document(passage.document).map(|record| record.title.clone()).unwrap_or_default();
    ui.add(Label::new(strong(name)).truncate());
    if quiet(ui, "Open in Chunks").clicked() {
        commands.push(Command::OpenInChunks { document: passage.document, byte: Some(passage.start) });
    }
    ScrollArea::vertical().id_salt("passage").auto_shrink(false).show(ui, |ui| text_ui(ui, &passage.text));
}

/// Passages that are listed; the rest is counted.
const MOST_LISTED: usize = 200;
/// Characters of a passage in the list.
const LISTED_CHARS: usize = 120;

/// The passages that a line was drawn around, by document.
fn encircled_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some(map) = state.similarity.map.value() else { return };
    let encircled = &state.similarity.encircled;
    ui.horizontal(|ui| {
        ui.label(strong(format::counted(encircled.len(), "passage")));
        if quiet(ui, "Clear").clicked() {
            commands.push(Command::EncirclePassages(Vec::new()));
        }
    });
    hairline(ui);
    ScrollArea::vertical().id_salt("encircled").auto_shrink(false).show(ui, |ui| {
        let mut document = None;
        for &index in encircled.iter().take(MOST_LISTED) {
            let Some(passage) = map.passages.get(index) else { continue };
            if document.replace(passage.document) != Some(passage.document) {
                let name = state.library.document(passage.document).map(|record| record.title.clone());
                ui.add_space(6.0);
                ui.add(Label::new(strong(name.unwrap_or_default())).truncate());
            }
            let words = passage.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let start: String = words.chars().take(LISTED_CHARS).collect();
            if ui.push_id(index, |ui| ui.link(start).clicked()).inner {
                commands.push(Command::PickPassage(index));
            }
        }
        if encircled.len() > MOST_LISTED {
            ui.label(secondary(format!("and {} more", format::count(encircled.len() - MOST_LISTED))));
        }
    });
}

fn text_ui(ui: &mut Ui, text: &str) {
    let text = egui::RichText::new(text.trim()).size(tokens().text.secondary);
    ui.add(Label::new(text).wrap().selectable(true));
}
