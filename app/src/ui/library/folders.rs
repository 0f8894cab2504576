//! The folders that are followed, each with a way to stop.

use egui::{Response, Ui};

use super::super::theme::secondary;
use super::super::widgets::quiet;
use crate::command::Command;
use crate::state::AppState;

pub(super) fn folders_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let followed = &state.settings.followed;
    if followed.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.label(secondary("Following"));
        for folder in followed {
            let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
            let hover = format!("{}\nClick to stop following; its documents stay", folder.display());
            if named(quiet(ui, &format!("{name}  ×")), &name).on_hover_text(hover).clicked() {
                commands.push(Command::UnfollowFolder(folder.clone()));
            }
        }
    });
    ui.add_space(4.0);
}

/// Says what a click does to those who do not see the cross.
fn named(response: Response, folder: &str) -> Response {
    response.accessible_name(format!("Stop following {folder}"))
}
