//! The chunks space: a document's text as layers, beside it the curve that the cuts come from.
//!
//! Start at [`ChunksPanel`]; the picture's data is a [`LabResult`] that a job made.

mod compare;
mod detail;
mod minimap;
mod plot;
mod questions;
mod row;
mod sizes;
mod text;
mod threshold;
mod toolbar;

use std::sync::Arc;

use egui::{CentralPanel, Frame, Margin, Panel, Ui};

use super::icons::Icon;
use super::theme::{palette, secondary};
use super::widgets::{empty_state, error_block, pace_line, pending_line};
use crate::command::Command;
use crate::extract::Extraction;
use crate::state::{AppState, LabResult, Space};

/// The chunks space.
#[derive(Default)]
pub(super) struct ChunksPanel {
    text: text::TextView,
    plot: plot::PlotView,
    compare: compare::CompareView,
    question: questions::QuestionForm,
    /// The chunk under the pointer, in the text or in the plot.
    hovered: Option<usize>,
}

impl ChunksPanel {
    /// Draws the space.
    pub(super) fn ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        self.text.measure(ui, commands);
        toolbar::toolbar_ui(ui, state, commands);
        if let (Some(extraction), Some(result)) = (state.lab.extraction.value(), state.lab.result.value()) {
            let (extraction, result) = (Arc::clone(extraction), Arc::clone(result));
            if state.lab.is_comparing() {
                self.compare.ui(ui, &extraction, state, commands);
                return;
            }
            self.picture_ui(ui, &extraction, &result, state, commands);
        } else {
            let frame = Frame::new().fill(palette(ui).ground).inner_margin(Margin::same(24));
            CentralPanel::default().frame(frame).show(ui, |ui| nothing_ui(ui, state, commands));
        }
    }

    fn picture_ui(
        &mut self,
        ui: &mut Ui,
        extraction: &Extraction,
        result: &LabResult,
        state: &AppState,
        commands: &mut Vec<Command>,
    ) {
        let mut hovered = None;
        let side =
            Frame::new().fill(palette(ui).ground).inner_margin(Margin { left: 16, right: 16, top: 8, bottom: 8 });
        let panel = Panel::right("boundary").default_size(440.0).size_range(300.0..=900.0).frame(side);
        panel.show(ui, |ui| {
            if let Some(error) = state.lab.result.error() {
                error_block(ui, error);
            }
            let over = self.plot.ui(ui, result, state, self.hovered, commands);
            hovered = hovered.or(over);
            sizes::sizes_ui(ui, result);
            detail::detail_ui(ui, extraction, result, &mut self.question, state, commands);
        });
        let frame = Frame::new().fill(palette(ui).ground);
        CentralPanel::default().frame(frame).show(ui, |ui| {
            let over = self.text.ui(ui, extraction, result, state, self.hovered, commands);
            hovered = hovered.or(over);
        });
        if hovered != self.hovered {
            self.hovered = hovered;
            ui.ctx().request_repaint();
        }
    }
}

fn nothing_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let lab = &state.lab;
    if let Some(error) = lab.extraction.error().or(lab.result.error()) {
        error_block(ui, error);
    } else if let Some(pace) = &lab.embedding {
        if pace_line(ui, "Embedding", pace, "segments") {
            commands.push(Command::StopEmbedding);
        }
    } else if lab.document.is_some() {
        pending_line(ui, "Reading the document");
    } else {
        let help = "Add documents first, then look at how they are split.";
        empty_state(ui, Icon::Chunks, "No document to look at", help, |ui| {
            if ui.button("Go to Library").clicked() {
                commands.push(Command::ShowSpace(Space::Library));
            }
        });
    }
    if lab.document.is_none() && !lab.extraction.is_pending() {
        ui.label(secondary(""));
    }
}
