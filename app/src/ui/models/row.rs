//! A model: what it is for, whether it is here, and what can be done about that.

use egui::{Align, Label, Layout, ProgressBar, Ui};

use crate::command::Command;
use crate::models::EntryState;
use crate::state::{AppState, Fetching, ModelRow};
use crate::ui::theme::{mono, palette, secondary, strong, tokens};
use crate::ui::widgets::{Tone, chip, format, quiet};

/// Width of the bar of a fetch, and the share of a narrow row that it may take.
const BAR_WIDTH: f32 = 120.0;
const BAR_SHARE: f32 = 0.25;

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
    let fetching = state.fetching.as_ref().filter(|fetching| fetching.name == row.name);
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
            if is_here && fetching.is_none() {
                remove_ui(ui, row, removing, state);
            }
            if !row.is_installed() && row.is_listed {
                fetch_ui(ui, row, state, commands);
            } else if row.is_installed() && row.is_generator {
                choose_ui(ui, row, state, commands);
            }
        }
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            ui.add_space(6.0);
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.add(Label::new(strong(&row.name).size(tokens().text.body - 1.0)).truncate());
            // How far a fetch is takes the place of what is known anyway: beside it the name would have no room.
            let line = fetching.map_or_else(|| format!("{}  ·  {}", row.purpose, row.licence), sentence);
            ui.add(Label::new(secondary(line)).truncate());
        });
    });
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

/// Fetches the model, or shows how far that is and stops it.
fn fetch_ui(ui: &mut Ui, row: &ModelRow, state: &AppState, commands: &mut Vec<Command>) {
    let Some(fetching) = &state.fetching else {
        if ui.button("Fetch").accessible_name(format!("Fetch {}", row.name)).clicked() {
            commands.push(Command::FetchModel(row.name.clone()));
        }
        return;
    };
    if fetching.name != row.name || fetching.cancelling {
        return;
    }
    if quiet(ui, "Cancel fetch").clicked() {
        commands.push(Command::CancelFetch);
    }
    let width = (ui.available_width() * BAR_SHARE).min(BAR_WIDTH);
    let bar = ProgressBar::new(fetching.share()).desired_width(width).desired_height(4.0).fill(palette(ui).accent);
    ui.add(bar).accessible_name("Fetch progress");
}

/// `12 MB of 35 MB  ·  4.1 MB/s  ·  6 s left`.
fn sentence(fetching: &Fetching) -> String {
    if fetching.cancelling {
        return "stopping".to_owned();
    }
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
    use egui::{Context, Pos2, RawInput, Rect, Shape, vec2};

    use super::*;
    use crate::models::{FetchPhase, FetchProgress};
    use crate::ui::theme;

    /// 12 of 36 MB.
    fn progress() -> FetchProgress {
        FetchProgress {
            entry: "tiny".to_owned(),
            number: 1,
            of: 1,
            phase: FetchPhase::Downloading,
            bytes_done: 12_000_000,
            bytes_total: 36_000_000,
        }
    }

    /// The texts of the row in a list of that width, and whether each is cut short.
    fn texts(row: &ModelRow, state: &AppState, width: f32) -> Vec<(String, bool)> {
        let ctx = Context::default();
        theme::install_fonts(&ctx);
        theme::apply(&ctx);
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, vec2(width, 400.0)));
        let output = ctx.run_ui(RawInput { screen_rect, ..RawInput::default() }, |ui| {
            row_ui(ui, row, &mut None, state, &mut Vec::new());
        });
        let shapes = output.shapes.into_iter().map(|clipped| clipped.shape);
        shapes
            .filter_map(|shape| match shape {
                Shape::Text(text) => Some((text.galley.text().to_owned(), text.galley.elided)),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn the_name_of_what_is_fetched_is_not_cut_short() {
        let row = ModelRow {
            name: "qwen2.5-coder-0.5b".to_owned(),
            purpose: "Writes answers  ·  Qwen2.5-Coder 0.5B Instruct, Q4_K_M".to_owned(),
            bytes: 491_000_000,
            memory_bytes: 1_000_000_000,
            licence: "Apache-2.0".to_owned(),
            state: EntryState::Incomplete,
            is_listed: true,
            is_generator: true,
            is_default: false,
        };
        let fetching = Fetching {
            progress: Some(progress()),
            bytes_per_sec: 4_100_000.0,
            secs_left: Some(85.0),
            ..Fetching::new(row.name.clone())
        };
        let state = AppState { fetching: Some(fetching.clone()), ..AppState::default() };
        // The narrowest window, without and with the inspector.
        for width in [820.0, 500.0] {
            let found = texts(&row, &state, width);
            assert!(found.contains(&(row.name.clone(), false)), "{width}: {found:?}");
            assert!(found.iter().any(|(text, _)| *text == sentence(&fetching)), "{width}: {found:?}");
        }
        assert!(texts(&row, &state, 820.0).contains(&(sentence(&fetching), false)));
    }

    #[test]
    fn a_fetch_reads_as_one_line() {
        let mut fetching = Fetching::new("tiny".to_owned());
        assert_eq!(sentence(&fetching), "asking for it");
        let progress = progress();
        fetching =
            Fetching { progress: Some(progress.clone()), bytes_per_sec: 4_000_000.0, secs_left: Some(6.0), ..fetching };
        let words =
            [format::bytes(12_000_000), format::bytes(36_000_000), format::bytes(4_000_000), format::seconds(6.0)];
        let [done, total, rate, left] = words;
        assert_eq!(sentence(&fetching), format!("{done} of {total}  ·  {rate}/s  ·  {left} left"));
        assert!((fetching.share() - 1.0 / 3.0).abs() < 1e-6);
        fetching.progress = Some(FetchProgress { phase: FetchPhase::Unpacking, ..progress });
        assert_eq!(sentence(&fetching), "checking its sum");
        fetching.cancelling = true;
        assert_eq!(sentence(&fetching), "stopping");
    }
}
