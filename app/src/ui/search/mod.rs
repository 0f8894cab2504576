//! The search space: a query, how to search, and the passages found with every score by its name.

mod filters;
mod hits;
mod options;
pub(super) mod snippet;
mod why;

use egui::{CentralPanel, Frame, Margin, TextEdit, Ui};

use super::icons::Icon;
use super::theme::{palette, secondary, title, tokens};
use super::widgets::{empty_state, error_block, format, hairline, quiet};
use crate::command::Command;
use crate::state::AppState;
use crate::store::DocumentStatus;

/// The search space.
#[derive(Default)]
pub(super) struct SearchPanel {
    query: String,
    was_front: bool,
    shows_why: bool,
    filters: filters::FilterRow,
}

impl SearchPanel {
    /// Draws the space.
    pub(super) fn ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        let margin = Margin { left: 24, right: 24, top: 18, bottom: 0 };
        let frame = Frame::new().fill(palette(ui).ground).inner_margin(margin);
        CentralPanel::default().frame(frame).show(ui, |ui| {
            ui.label(title("Search"));
            ui.add_space(2.0);
            self.query_ui(ui, state, commands);
            options::options_ui(ui, &mut self.filters, state, commands);
            ui.add_space(2.0);
            self.summary_ui(ui, state, commands);
            hairline(ui);
            match state.search.results.value() {
                Some(results) if self.shows_why => why::why_ui(ui, results, commands),
                _ => results_ui(ui, state, commands),
            }
        });
        self.was_front = true;
    }

    /// The space went to the back: the query takes the focus when it comes back.
    pub(super) fn leave(&mut self) {
        self.was_front = false;
    }

    fn query_ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        if self.query != state.search.query {
            self.query.clone_from(&state.search.query);
        }
        let edit = TextEdit::singleline(&mut self.query)
            .hint_text("Words, a phrase or a question")
            .font(egui::FontId::proportional(tokens().text.body + 1.0))
            .margin(Margin::symmetric(12, 9))
            .desired_width(f32::INFINITY);
        let edit = ui.add(edit).accessible_name("Query");
        if !self.was_front {
            edit.request_focus();
        }
        if edit.changed() {
            commands.push(Command::Search(self.query.clone()));
        }
        let hits = state.search.results.value().map_or(0, |results| results.hits.len());
        if edit.has_focus() && hits > 0 {
            arrow_keys(ui, state.search.selected, hits, commands);
        }
    }

    fn summary_ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        let Some(results) = state.search.results.value() else {
            return;
        };
        ui.horizontal_wrapped(|ui| {
            let found = format::counted(results.hits.len(), "passage");
            let took = format::millis(results.took_ms);
            let is_pending = state.search.options.rerank && state.search.results.is_pending();
            let reranked = match &results.reranked_by {
                None if is_pending => "  ·  ranking again …".to_owned(),
                by => by.as_ref().map(|by| format!("  ·  ranked again by {by}")).unwrap_or_default(),
            };
            ui.label(secondary(format!("{found}  ·  {took}  ·  vectors on {}{reranked}", results.backend)));
            if !results.considered.is_empty() {
                let word = if self.shows_why { "Show the passages" } else { "Why these?" };
                if quiet(ui, word).clicked() {
                    self.shows_why = !self.shows_why;
                }
            }
        });
        for note in &results.notes {
            ui.label(secondary(note).color(palette(ui).warning));
        }
        if results.without_vectors > 0 {
            missing_vectors_ui(ui, results.without_vectors, state, commands);
        }
    }
}

/// Says that the model was changed since passages were embedded, and offers to embed them with it; they stay searchable
/// by their words meanwhile.
fn missing_vectors_ui(ui: &mut Ui, missing: usize, state: &AppState, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let passages = format::counted(missing, "passage");
        ui.label(secondary(format!("{passages} with vectors of another model: found by words alone")));
        let documents = state.library.documents.value().map(Vec::as_slice).unwrap_or_default();
        if quiet(ui, "Embed again").clicked() {
            let ready = documents.iter().filter(|document| document.status == DocumentStatus::Ready);
            commands.push(Command::AddPaths(ready.map(|document| document.path.clone()).collect()));
        }
    });
}

/// Arrow keys walk through the hits while the query keeps the focus.
fn arrow_keys(ui: &Ui, selected: Option<usize>, hits: usize, commands: &mut Vec<Command>) {
    let pressed = |key| ui.input(|input| input.key_pressed(key));
    let next = match selected {
        _ if pressed(egui::Key::ArrowDown) => selected.map_or(0, |index| (index + 1).min(hits - 1)),
        Some(index) if pressed(egui::Key::ArrowUp) => index.saturating_sub(1),
        _ => return,
    };
    commands.push(Command::SelectHit(next));
}

fn results_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if let Some(error) = state.search.results.error() {
        error_block(ui, error);
    }
    match state.search.results.value() {
        Some(results) if results.hits.is_empty() && !state.search.results.is_pending() => {
            let help = "Try other words, or a lower minimum score.";
            empty_state(ui, Icon::Search, "No passage was found", help, |_| {});
        }
        Some(results) => hits::hits_ui(ui, results, state.search.selected, commands),
        None if state.search.query.is_empty() => {
            let help = "Hits show the words they share with the query and every score that ranked them.";
            empty_state(ui, Icon::Search, "Find passages by words and by meaning", help, |_| {});
        }
        None => {}
    }
}
