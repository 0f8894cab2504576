//! The menu that saves a figure.

use egui::Ui;

use crate::command::Command;
use crate::jobs::{ExportFormat, Figure};

/// One entry for each format.
pub(crate) fn export_menu(ui: &mut Ui, figure: Figure, commands: &mut Vec<Command>) {
    for (format, word) in ExportFormat::ALL {
        if ui.button(format!("Save as {word}…")).clicked() {
            commands.push(Command::Export { figure, format, path: None });
            ui.close();
        }
    }
}
