//! A model: what it is for, whether it is here, and what can be done about that.

use egui::{Align, Label, Layout, ProgressBar, Ui};

use crate::command::Command;
use crate::models::EntryState;
use crate::state::{AppState, Fetching, ModelRow};
use crate::ui::theme::{mono, palette, secondary, strong, tokens};
use crate::ui::widgets::{Tone, chip, format, quiet};

/// Draws the row. `removing` is the model that waits to be removed once more is said.
pub(super) fn row_ui(
    ui: &mut Ui,
    row: &ModelRow,
    removing: &mut Option<String>,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    let is_here = row.state != EntryState::Missing;
    if !is_here && removing.as_ref() == Some(&row.name) {
        *removing = None;
    }
    let size = egui::vec2(ui.available_width(), 48.0);
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        let (word, tone) = match row.state {
            EntryState::Installed => ("installed", Tone::Good),
            EntryState::Incomplete => ("incomplete", Tone::Warning),
            EntryState::Missing => ("not installed", Tone::Neutral),
        };
        chip(ui, word, tone, false);
        ui.label(mono(format::bytes(row.bytes)));
        if state.removing_model.as_ref() == Some(&row.name) {
            ui.label(secondary("removing"));
        } else if removing.as_ref() == Some(&row.name) {
            confirm_ui(ui, row, removing, commands);
        } else {
            if is_here && !is_fetched(row, state) {
                remove_ui(ui, row, removing, state);
            }
            if !row.is_installed() {
                fetch_ui(ui, row, state, commands);
            } else if row.is_generator {
                choose_ui(ui, row, state, commands);
            }
        }
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            ui.add_space(6.0);
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.add(Label::new(strong(&row.name).size(tokens().text.body - 1.0)).truncate());
            ui.add(Label::new(secondary(format!("{}  ·  {}", row.purpose, row.licence))).truncate());
        });
    });
}

/// Whether it is being fetched.
fn is_fetched(row: &ModelRow, state: &AppState) -> bool {
    state.fetching.as_ref().is_some_and(|fetching| fetching.name == row.name)
}

/// One model at a time goes, and none while an answer is written, which may be by it.
fn remove_ui(ui: &mut Ui, row: &ModelRow, removing: &mut Option<String>, state: &AppState) {
    let is_free = state.removing_model.is_none() && state.chat.running().is_none();
    let remove = ui.add_enabled_ui(is_free, |ui| quiet(ui, "Remove")).inner;
    if remove.accessible_name(format!("Remove {}", row.name)).clicked() {
        *removing = Some(row.name.clone());
    }
}

/// Asks before files go that took long to come.
fn confirm_ui(ui: &mut Ui, row: &ModelRow, removing: &mut Option<String>, commands: &mut Vec<Command>) {
    if quiet(ui, "Keep it").clicked() {
        *removing = None;
    }
    if ui.button("Delete its files").clicked() {
        *removing = None;
        commands.push(Command::RemoveModel(row.name.clone()));
    }
}

/// Fetches the model, or shows how far that is.
fn fetch_ui(ui: &mut Ui, row: &ModelRow, state: &AppState, commands: &mut Vec<Command>) {
    let Some(fetching) = &state.fetching else {
        if ui.button("Fetch").accessible_name(format!("Fetch {}", row.name)).clicked() {
            commands.push(Command::FetchModel(row.name.clone()));
        }
        return;
    };
    if !is_fetched(row, state) {
        return;
    }
    if fetching.cancelling {
        ui.label(secondary("stopping"));
        return;
    }
    if quiet(ui, "Cancel fetch").clicked() {
        commands.push(Command::CancelFetch);
    }
    let bar = ProgressBar::new(fetching.share()).desired_width(120.0).desired_height(4.0).fill(palette(ui).accent);
    ui.add(bar).accessible_name("Fetch progress");
    ui.label(secondary(sentence(fetching)));
}

/// `12 of 35 MB  ·  4.1 MB/s  ·  6 s left`.
fn sentence(fetching: &Fetching) -> String {
    let Some(progress) = &fetching.progress else {
        return "asking for it".to_owned();
    };
    if fetching.is_checking() {
        return "checking its sum".to_owned();
    }
    let total = progress.bytes_total.max(progress.bytes_done);
    let mut parts = vec![format!("{} of {}", format::bytes(progress.bytes_done), format::bytes(total))];
    if fetching.bytes_per_sec >= 1.0 {
        parts.push(format!("{}/s", format::bytes(fetching.bytes_per_sec as u64)));
    }
    if let Some(secs) = fetching.secs_left {
        parts.push(format!("{} left", format::seconds(secs)));
    }
    parts.join("  ·  ")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{FetchPhase, FetchProgress};

    #[test]
    fn a_fetch_reads_as_one_line() {
        let mut fetching = Fetching::new("tiny".to_owned());
        assert_eq!(sentence(&fetching), "asking for it");
        let progress = FetchProgress {
            entry: "tiny".to_owned(),
            number: 1,
            of: 1,
            phase: FetchPhase::Downloading,
            bytes_done: 12_000_000,
            bytes_total: 36_000_000,
        };
        fetching =
            Fetching { progress: Some(progress.clone()), bytes_per_sec: 4_000_000.0, secs_left: Some(6.0), ..fetching };
        let words =
            [format::bytes(12_000_000), format::bytes(36_000_000), format::bytes(4_000_000), format::seconds(6.0)];
        let [done, total, rate, left] = words;
        assert_eq!(sentence(&fetching), format!("{done} of {total}  ·  {rate}/s  ·  {left} left"));
        assert!((fetching.share() - 1.0 / 3.0).abs() < 1e-6);
        fetching.progress = Some(FetchProgress { phase: FetchPhase::Unpacking, ..progress });
        assert_eq!(sentence(&fetching), "checking its sum");
    }
}
