//! The selected chunk in words and numbers.

use egui::{Label, ScrollArea, Ui};

use super::super::theme::{layer, mono, secondary, strong, tokens};
use super::super::widgets::{format, hairline, quiet};
use super::questions::QuestionForm;
use crate::command::Command;
use crate::extract::Extraction;
use crate::state::edits::weakest_place;
use crate::state::{AppState, LabResult, Selection};

pub(super) fn detail_ui(
    ui: &mut Ui,
    extraction: &Extraction,
    result: &LabResult,
    form: &mut QuestionForm,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    ui.add_space(4.0);
    hairline(ui);
    let selected = match &state.selection {
        Selection::Passage(passage) if Some(passage.document) == state.lab.document => result.chunk_at(passage.start),
        _ => None,
    };
    let Some((index, chunk)) = selected.and_then(|index| Some((index, result.chunks.get(index)?))) else {
        undo_ui(ui, state, commands);
        ui.label(secondary("Click a chunk or the curve to see it here. Drag the threshold to cut elsewhere."));
        return;
    };
    ui.horizontal(|ui| {
        ui.label(strong(format!("Chunk {}", format::count(index + 1))).color(layer(ui, index).edge));
        let size = result.sizes.get(index).copied().unwrap_or_default();
        ui.label(secondary(format!("{} {}", format::count(size), format::unit(result.config.unit))));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            step_ui(ui, result, index, commands);
        });
    });
    ui.add(Label::new(secondary(result.places.get(index).cloned().unwrap_or_default())).truncate());
    similarity_ui(ui, chunk.left_similarity, chunk.right_similarity);
    ui.horizontal_wrapped(|ui| {
        edit_ui(ui, result, index, state, commands);
        form.ui(ui, extraction, result, chunk, state, commands);
    });
    ScrollArea::vertical().id_salt("chunk_detail").auto_shrink(false).show(ui, |ui| {
        let text = extraction.text.get(chunk.start..chunk.end).unwrap_or_default();
        let text = egui::RichText::new(text.trim()).size(tokens().text.secondary);
        ui.add(Label::new(text).wrap().selectable(true));
        ui.label(secondary(format!("bytes {}–{}", format::count(chunk.start), format::count(chunk.end))));
        if quiet(ui, "Copy text").clicked() {
            ui.ctx().copy_text(extraction.text.get(chunk.start..chunk.end).unwrap_or_default().to_owned());
        }
    });
}

fn step_ui(ui: &mut Ui, result: &LabResult, index: usize, commands: &mut Vec<Command>) {
    let steps = [("Next", index.checked_add(1)), ("Previous", index.checked_sub(1))];
    for (word, to) in steps {
        let to = to.and_then(|to| Some((to, result.chunks.get(to)?.start)));
        let button = ui.add_enabled_ui(to.is_some(), |ui| quiet(ui, word)).inner;
        if let Some((to, start)) = to.filter(|_| button.clicked()) {
            commands.extend([Command::InspectChunk(to), Command::JumpTo(start)]);
        }
    }
}

/// Merging and splitting by hand.
fn edit_ui(ui: &mut Ui, result: &LabResult, index: usize, state: &AppState, commands: &mut Vec<Command>) {
    let has_next = index + 1 < result.chunks.len();
    if ui.add_enabled_ui(has_next, |ui| ui.button("Merge with next")).inner.clicked() {
        commands.push(Command::MergeChunks(index));
    }
    let place = weakest_place(result, index);
    let split = ui.add_enabled_ui(place.is_some(), |ui| ui.button("Split")).inner;
    if let Some(byte) = place.filter(|_| split.on_hover_text("At its weakest place").clicked()) {
        commands.push(Command::SplitChunk(byte));
    }
    undo_buttons(ui, state, commands);
}

fn undo_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if state.lab.edits.can_undo() || state.lab.edits.can_redo() {
        ui.horizontal(|ui| undo_buttons(ui, state, commands));
    }
}

fn undo_buttons(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let steps = [
        ("Undo", state.lab.edits.can_undo(), Command::UndoEdit),
        ("Redo", state.lab.edits.can_redo(), Command::RedoEdit),
    ];
    for (word, is_there, command) in steps {
        if is_there && quiet(ui, word).clicked() {
            commands.push(command);
        }
    }
}

fn similarity_ui(ui: &mut Ui, left: Option<f32>, right: Option<f32>) {
    if left.is_none() && right.is_none() {
        return;
    }
    ui.horizontal(|ui| {
        for (name, similarity) in [("left cut", left), ("right cut", right)] {
            ui.label(secondary(name));
            ui.label(mono(similarity.map_or("none".to_owned(), |similarity| format!("{similarity:.3}"))));
        }
    });
}
