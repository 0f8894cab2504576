//! Chunkers side by side: one text, a gutter of layers for each chunker, cuts that not all share marked; beside it the
//! chunkers with their numbers.

mod cards;
mod rows;

use egui::{CentralPanel, Frame, Margin, Panel, Ui};

use super::super::theme::palette;
use super::super::widgets::{error_block, pace_line, pending_line};
use crate::command::Command;
use crate::extract::Extraction;
use crate::state::AppState;

/// Letters of the columns.
const LETTERS: [&str; 4] = ["A", "B", "C", "D"];

/// Scroll position of the comparison.
#[derive(Default)]
pub(super) struct CompareView {
    rows: rows::Rows,
}

impl CompareView {
    /// Draws the comparison.
    pub(super) fn ui(&mut self, ui: &mut Ui, extraction: &Extraction, state: &AppState, commands: &mut Vec<Command>) {
        let side = Frame::new().fill(palette(ui).ground).inner_margin(Margin::symmetric(16, 8));
        let panel = Panel::right("comparison").default_size(420.0).size_range(320.0..=620.0).frame(side);
        panel.show(ui, |ui| {
            if let Some(error) = state.lab.comparison.error() {
                error_block(ui, error);
            }
            let here = self.rows.first_byte();
            if let Some(byte) = cards::cards_ui(ui, state, here, commands) {
                self.rows.jump_to(byte);
            }
        });
        CentralPanel::default().frame(Frame::new().fill(palette(ui).ground)).show(ui, |ui| {
            match state.lab.comparison.value() {
                Some(comparison) => self.rows.ui(ui, extraction, comparison),
                None => {
                    pending_line(ui, "Cutting");
                }
            }
            if let Some(pace) = &state.lab.embedding
                && pace_line(ui, "embedding", pace, "segments")
            {
                commands.push(Command::StopEmbedding);
            }
        });
    }
}
