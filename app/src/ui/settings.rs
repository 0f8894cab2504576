//! The settings space.

use egui::{CentralPanel, Frame, Grid, Margin, Slider, Ui};

use super::followed::followed_ui;
use super::theme::{palette, secondary, strong, title, tokens};
use super::widgets::{format, segmented};
use crate::command::{Command, Entry, entries};
use crate::state::{AppState, ThemeChoice};

/// The zoom while its slider is dragged: it takes effect on release, so that the slider does not move away.
#[derive(Default)]
pub(super) struct SettingsPanel {
    scale: Option<f32>,
}

impl SettingsPanel {
    /// Draws the space.
    pub(super) fn ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        let margin = Margin { left: 24, right: 24, top: 18, bottom: 0 };
        let frame = Frame::new().fill(palette(ui).ground).inner_margin(margin);
        CentralPanel::default().frame(frame).show(ui, |ui| {
            egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                ui.label(title("Settings"));
                ui.add_space(8.0);
                section(ui, "Appearance");
                self.appearance_ui(ui, state, commands);
                section(ui, "Documents");
                facts_ui(ui, &[("New documents are split by", format::chunker(&state.settings.chunker))]);
                section(ui, "Followed folders");
                followed_ui(ui, state, commands);
                section(ui, "This library");
                facts_ui(ui, &library_facts(state));
                section(ui, "Keyboard");
                shortcuts_ui(ui, state);
            });
        });
    }

    fn appearance_ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        grid(ui, "appearance", |ui| {
            ui.label(secondary("Theme"));
            if let Some(theme) = segmented(ui, state.settings.theme, &ThemeChoice::ALL) {
                commands.push(Command::SetTheme(theme));
            }
            ui.end_row();
            let label = ui.label(secondary("Scale"));
            let mut percent = self.scale.unwrap_or(state.settings.scale) * 100.0;
            let slider = Slider::new(&mut percent, 80.0..=200.0).step_by(5.0).suffix(" %").fixed_decimals(0);
            let slider = ui.add(slider).labelled_by(label.id);
            if slider.changed() {
                self.scale = Some(percent / 100.0);
            }
            if let Some(scale) = self.scale.filter(|_| !slider.dragged()) {
                commands.push(Command::SetScale(scale));
                self.scale = None;
            }
            ui.end_row();
        });
    }
}

fn section(ui: &mut Ui, name: &str) {
    ui.add_space(14.0);
    ui.label(strong(name).size(tokens().text.body));
    ui.add_space(2.0);
}

fn grid(ui: &mut Ui, salt: &str, rows: impl FnOnce(&mut Ui)) {
    Grid::new(salt).num_columns(2).min_col_width(200.0).spacing([16.0, 8.0]).show(ui, rows);
}

fn library_facts(state: &AppState) -> Vec<(&'static str, String)> {
    let Some(opened) = state.opened.value() else {
        return vec![("Library", "not open".to_owned())];
    };
    let mut facts = vec![
        ("Home", opened.home.display().to_string()),
        ("Embedder", opened.embedder.clone()),
        ("Vectors are searched on", opened.backend.clone()),
    ];
    facts.extend(opened.embedder_note.clone().map(|note| ("Note", note)));
    if opened.read_only {
        facts.push(("Access", "read only: another process writes to this library".to_owned()));
    }
    facts
}

fn facts_ui(ui: &mut Ui, facts: &[(&str, String)]) {
    let salt = facts.first().map_or("facts", |fact| fact.0);
    grid(ui, salt, |ui| {
        for (name, value) in facts {
            ui.label(secondary(*name));
            ui.add(egui::Label::new(value).wrap().selectable(true));
            ui.end_row();
        }
    });
}

fn shortcuts_ui(ui: &mut Ui, state: &AppState) {
    grid(ui, "shortcuts", |ui| {
        for Entry { title, shortcut, .. } in entries(state) {
            if let Some(shortcut) = shortcut {
                ui.label(secondary(title));
                ui.label(shortcut.label());
                ui.end_row();
            }
        }
    });
}
