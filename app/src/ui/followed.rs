//! The followed folders, in the settings: how each is, and what can be done about it.

use std::path::Path;

use egui::{Label, Ui};

use super::theme::secondary;
use super::widgets::{Tone, chip, quiet};
use crate::command::Command;
use crate::state::{AppState, FolderState};

pub(super) fn followed_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if state.settings.followed.is_empty() {
        ui.label(secondary("No folder is followed. One that is added in the library, or dropped on it, is."));
        return;
    }
    for folder in &state.settings.followed {
        ui.horizontal_wrapped(|ui| folder_ui(ui, folder, state.library.folders.get(folder), commands));
    }
}

fn folder_ui(ui: &mut Ui, folder: &Path, found: Option<&FolderState>, commands: &mut Vec<Command>) {
    let path = folder.display().to_string();
    ui.add(Label::new(&path).selectable(true));
    match found {
        None | Some(FolderState::There) => {}
        Some(FolderState::Gone) => {
            chip(ui, "gone", Tone::Warning, false)
                .on_hover_text("Its documents stay. It is followed again once it is there again.");
        }
        Some(FolderState::Unreadable(reason)) => {
            chip(ui, "unreadable", Tone::Error, false);
            ui.label(secondary(reason));
        }
    }
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
    if quiet(ui, "Show").accessible_name(format!("Show {name}")).clicked() {
        commands.push(Command::ShowFolder(folder.to_owned()));
    }
    let stop = quiet(ui, "Stop following").accessible_name(format!("Stop following {name}"));
    if stop.on_hover_text("Its documents stay").clicked() {
        commands.push(Command::UnfollowFolder(folder.to_owned()));
    }
}
