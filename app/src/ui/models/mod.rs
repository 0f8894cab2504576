//! The models space: what is installed and what for, what it needs in memory, fetching and adding.

mod memory;
mod row;
mod server;

use egui::{Align, CentralPanel, Frame, Layout, Margin, ScrollArea, Ui};

use super::theme::{palette, secondary, strong, title, tokens};
use super::widgets::{error_block, hairline, pending_line, quiet};
use crate::command::Command;
use crate::state::{AppState, ModelRow};

/// The models space.
#[derive(Default)]
pub(super) struct ModelsPanel {
    server: String,
    /// The model that was said to be removed, until that is confirmed.
    removing: Option<String>,
}

impl ModelsPanel {
    /// Draws the space.
    pub(super) fn ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        let margin = Margin { left: 24, right: 24, top: 18, bottom: 0 };
        CentralPanel::default().frame(Frame::new().fill(palette(ui).ground).inner_margin(margin)).show(ui, |ui| {
            head_ui(ui, commands);
            ui.add_space(4.0);
            in_use_ui(ui, state);
            memory::memory_ui(ui, state);
            ui.add_space(8.0);
            if let Some(error) = state.models.error() {
                error_block(ui, error);
            }
            match state.models.value() {
                Some(rows) => self.rows_ui(ui, rows, state, commands),
                None => {
                    pending_line(ui, "Looking for models");
                }
            }
        });
    }

    fn rows_ui(&mut self, ui: &mut Ui, rows: &[ModelRow], state: &AppState, commands: &mut Vec<Command>) {
        ScrollArea::vertical().id_salt("models").auto_shrink(false).show(ui, |ui| {
            for row in rows {
                hairline(ui);
                row::row_ui(ui, row, &mut self.removing, state, commands);
            }
            hairline(ui);
            server::server_ui(ui, &mut self.server, state, commands);
            hairline(ui);
            ui.add_space(8.0);
            add_ui(ui, commands);
        });
    }
}

fn head_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.label(title("Models"));
        ui.label(secondary("files on this machine; only fetching one uses the network"));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if quiet(ui, "Look again").clicked() {
                commands.push(Command::ListModels);
            }
        });
    });
}

fn in_use_ui(ui: &mut Ui, state: &AppState) {
    let Some(opened) = state.opened.value() else {
        return;
    };
    if let Some(note) = &opened.embedder_note {
        let frame = Frame::new().fill(palette(ui).warning_wash).corner_radius(tokens().space.radius);
        frame.inner_margin(Margin::symmetric(14, 10)).show(ui, |ui| {
            ui.label(strong("No embedding model is installed").color(palette(ui).warning));
            ui.label(secondary(note));
        });
    }
}

fn add_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        if ui.button("Add a GGUF file…").on_hover_text("A model that writes answers").clicked() {
            commands.push(Command::PickModel { is_folder: false });
        }
        let help = "A cross-encoder: model.onnx, tokenizer.json and manifest.toml";
        if ui.button("Add a reranker\u{2019}s folder…").on_hover_text(help).clicked() {
            commands.push(Command::PickModel { is_folder: true });
        }
    });
}
