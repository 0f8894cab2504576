//! The models space: what is installed and what for.

use egui::{Align, CentralPanel, Frame, Layout, Margin, ScrollArea, TextEdit, Ui};

use super::theme::{mono, palette, secondary, strong, title, tokens};
use super::widgets::{Tone, chip, error_block, format, hairline, pending_line, quiet};
use crate::answer::Address;
use crate::command::Command;
use crate::library::Error;
use crate::state::{AppState, ModelRow};

/// The models space.
#[derive(Default)]
pub(super) struct ModelsPanel {
    server: String,
}

impl ModelsPanel {
    /// Draws the space.
    pub(super) fn ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        models_ui(ui, state, commands, &mut self.server);
    }
}

fn models_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>, server: &mut String) {
    let margin = Margin { left: 24, right: 24, top: 18, bottom: 0 };
    CentralPanel::default().frame(Frame::new().fill(palette(ui).ground).inner_margin(margin)).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(title("Models"));
            ui.label(secondary("files on this machine; nothing is sent anywhere"));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if quiet(ui, "Look again").clicked() {
                    commands.push(Command::ListModels);
                }
            });
        });
        ui.add_space(4.0);
        in_use_ui(ui, state);
        ui.add_space(8.0);
        if let Some(error) = state.models.error() {
            error_block(ui, error);
        }
        match state.models.value() {
            Some(rows) => rows_ui(ui, rows, state, commands, server),
            None => {
                pending_line(ui, "Looking for models");
            }
        }
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

fn rows_ui(ui: &mut Ui, rows: &[ModelRow], state: &AppState, commands: &mut Vec<Command>, server: &mut String) {
    ScrollArea::vertical().id_salt("models").auto_shrink(false).show(ui, |ui| {
        for row in rows {
            hairline(ui);
            row_ui(ui, row, state, commands);
        }
        hairline(ui);
        server_ui(ui, server, state, commands);
        hairline(ui);
        ui.add_space(8.0);
        ui.label(secondary("Fetch what is missing with `outcrop models fetch NAME`, or add a GGUF file with `outcrop models add PATH`."));
    });
}

/// A model server that the user names. Questions and the passages found for them are sent there, and nowhere else.
fn server_ui(ui: &mut Ui, server: &mut String, state: &AppState, commands: &mut Vec<Command>) {
    let in_use = state.settings.model.as_deref().filter(|name| Address::is_address(name));
    ui.add_space(6.0);
    ui.label(strong("Model server").size(tokens().text.body - 1.0));
    ui.label(secondary(
        "An OpenAI-compatible address, such as Ollama's. Questions and the passages found for them are sent to it.",
    ));
    ui.horizontal(|ui| {
        let edit = TextEdit::singleline(server).hint_text("http://localhost:11434/v1#model").desired_width(360.0);
        ui.add(edit).accessible_name("Server address");
        let address = server.trim();
        let use_it = ui.add_enabled(!address.is_empty(), egui::Button::new("Use this server"));
        if use_it.clicked() {
            match Address::parse(address) {
                Ok(_) => commands.push(Command::UseModel(Some(address.to_owned()))),
                Err(detail) => commands.push(Command::Report(Error::new("Not an address", detail))),
            }
        }
        if let Some(name) = in_use {
            ui.label(secondary(format!("{name} writes the answers")));
            if quiet(ui, "Use no server").clicked() {
                commands.push(Command::UseModel(None));
            }
        }
    });
    ui.add_space(6.0);
}

fn row_ui(ui: &mut Ui, row: &ModelRow, state: &AppState, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.set_min_height(48.0);
        ui.vertical(|ui| {
            ui.add_space(6.0);
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.label(strong(&row.name).size(tokens().text.body - 1.0));
            ui.label(secondary(format!("{}  ·  {}", row.purpose, row.licence)));
        });
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (word, tone) = if row.installed { ("installed", Tone::Good) } else { ("not installed", Tone::Neutral) };
            chip(ui, word, tone, false);
            ui.label(mono(format::bytes(row.bytes)));
            if row.is_generator && row.installed {
                choose_ui(ui, row, state, commands);
            }
        });
    });
}

fn choose_ui(ui: &mut Ui, row: &ModelRow, state: &AppState, commands: &mut Vec<Command>) {
    if state.settings.model.as_deref() == Some(row.name.as_str()) {
        ui.label(secondary("writes the answers"));
        if quiet(ui, "Choose by itself").clicked() {
            commands.push(Command::UseModel(None));
        }
    } else if row.is_default && state.settings.model.is_none() {
        ui.label(secondary("writes the answers"));
    } else if ui.button("Use for answers").clicked() {
        commands.push(Command::UseModel(Some(row.name.clone())));
    }
}
