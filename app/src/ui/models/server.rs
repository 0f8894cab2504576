//! A model server, by its address.

use egui::{TextEdit, Ui};

use crate::answer::Address;
use crate::command::Command;
use crate::library::Error;
use crate::state::AppState;
use crate::ui::theme::{secondary, strong, tokens};
use crate::ui::widgets::quiet;

/// A model server that the user names. Questions and the passages found for them are sent there, and nowhere else.
pub(super) fn server_ui(ui: &mut Ui, server: &mut String, state: &AppState, commands: &mut Vec<Command>) {
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
