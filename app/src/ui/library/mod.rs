//! The library space: the documents, what goes in and what comes out.

mod first_run;
mod folders;
mod table;
mod toolbar;

use egui::{CentralPanel, Frame, Margin, ProgressBar, Ui};

use super::icons::Icon;
use super::status_line::ingest_sentence;
use super::theme::{palette, secondary};
use super::widgets::{empty_state, error_block, hairline, pending_line, quiet};
use crate::command::Command;
use crate::progress::IngestProgress;
use crate::state::AppState;

/// The library space.
#[derive(Default)]
pub(super) struct LibraryPanel {
    filter: String,
}

impl LibraryPanel {
    /// Draws the space.
    pub(super) fn ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        let frame =
            Frame::new().fill(palette(ui).ground).inner_margin(Margin { left: 24, right: 24, top: 18, bottom: 0 });
        CentralPanel::default().frame(frame).show(ui, |ui| {
            toolbar::toolbar_ui(ui, &mut self.filter, state, commands);
            folders::folders_ui(ui, state, commands);
            if let Some(progress) = &state.library.ingest {
                progress_ui(ui, progress, state, commands);
            }
            if let Some(error) = state.library.documents.error() {
                error_block(ui, error);
            }
            contents_ui(ui, state, commands);
        });
    }
}

fn contents_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some(documents) = state.library.documents.value() else {
        if state.opened.error().is_none() {
            pending_line(ui, "Opening the library");
        }
        return;
    };
    if documents.is_empty() && state.library.ingest.is_none() && state.library.queued == 0 {
        first_run::first_run_ui(ui, commands);
        return;
    }
    let listed = state.library.listed();
    if listed.is_empty() && !documents.is_empty() {
        let help = "Clear the filter to see all of them.";
        empty_state(ui, Icon::Search, "No document matches", help, |ui| {
            if ui.button("Show all documents").clicked() {
                commands.push(Command::FilterDocuments(String::new()));
                commands.push(Command::FilterStatus(crate::state::StatusFilter::All));
            }
        });
        return;
    }
    table::table_ui(ui, &listed, state, commands);
}

fn progress_ui(ui: &mut Ui, progress: &IngestProgress, state: &AppState, commands: &mut Vec<Command>) {
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        ui.label(ingest_sentence(progress, state.library.queued));
        if state.library.cancelling {
            ui.label(secondary("stopping after the running batch"));
            return;
        }
        if quiet(ui, "Cancel ingest").clicked() {
            commands.push(Command::CancelIngest);
        }
        let word = if state.library.paused { "Resume" } else { "Pause" };
        if quiet(ui, word).clicked() {
            commands.push(Command::PauseIngest(!state.library.paused));
        }
    });
    let share = progress.files_done as f32 / progress.files_total.max(1) as f32;
    let bar = ProgressBar::new(share).desired_height(4.0).fill(palette(ui).accent).corner_radius(2.0);
    ui.add(bar).accessible_name("Ingest progress");
    let current = progress.current.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    ui.add(egui::Label::new(secondary(current)).truncate());
    hairline(ui);
}
