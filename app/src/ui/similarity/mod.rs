//! The similarity space: the chunks of a document against each other and against a query, or the library as a map.

mod heat;
mod map;
mod pair;

use egui::{Align, CentralPanel, Frame, Layout, Margin, Panel, TextEdit, Ui};

use super::icons::Icon;
use super::theme::{palette, secondary, title};
use super::widgets::{empty_state, error_block, export_menu, format, pending_line, quiet, segmented};
use crate::command::Command;
use crate::jobs::Figure;
use crate::similarity::MapLayout;
use crate::state::{AppState, SimilarityView, Space};

/// The similarity space.
#[derive(Default)]
pub(super) struct SimilarityPanel {
    heat: heat::HeatView,
    map: map::MapView,
    query: String,
    /// The query that the field showed last, to follow one that came from elsewhere.
    known_query: String,
}

impl SimilarityPanel {
    /// Draws the space.
    pub(super) fn ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        if self.known_query != state.similarity.query {
            self.known_query.clone_from(&state.similarity.query);
            self.query.clone_from(&state.similarity.query);
        }
        self.head_ui(ui, state, commands);
        pair::pair_ui(ui, state, commands);
        let frame =
            Frame::new().fill(palette(ui).ground).inner_margin(Margin { left: 24, right: 16, top: 4, bottom: 12 });
        CentralPanel::default().frame(frame).show(ui, |ui| match state.similarity.view {
            SimilarityView::Heat => self.heat_ui(ui, state, commands),
            SimilarityView::Map => self.map_ui(ui, state, commands),
        });
    }

    fn head_ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        let frame =
            Frame::new().fill(palette(ui).ground).inner_margin(Margin { left: 24, right: 16, top: 18, bottom: 8 });
        Panel::top("similarity_head").frame(frame).show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.label(title("Similarity"));
                ui.add_space(8.0);
                let views = [(SimilarityView::Heat, "Chunks"), (SimilarityView::Map, "Map")];
                if let Some(view) = segmented(ui, state.similarity.view, &views) {
                    commands.push(Command::ShowSimilarity(view));
                }
                if state.similarity.view == SimilarityView::Map {
                    let layouts = [(MapLayout::Pca, "PCA"), (MapLayout::Umap, "UMAP")];
                    if let Some(layout) = segmented(ui, state.similarity.layout, &layouts) {
                        commands.push(Command::LayOutMap(layout));
                    }
                }
                let field = TextEdit::singleline(&mut self.query).hint_text("Compare a question…").desired_width(300.0);
                let response = ui.add(field);
                response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Question to compare"));
                if response.lost_focus() && self.query.trim() != state.similarity.query {
                    commands.push(Command::CompareQuery(self.query.clone()));
                }
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let figure = match state.similarity.view {
                        SimilarityView::Heat => Figure::HeatMap,
                        SimilarityView::Map => Figure::Projection,
                    };
                    ui.menu_button("Save…", |ui| export_menu(ui, figure, commands));
                    progress_ui(ui, state, commands);
                });
            });
        });
    }

    fn heat_ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        if let Some(error) = state.similarity.heat.error() {
            error_block(ui, error);
        }
        match state.similarity.heat.value() {
            Some(heat) => self.heat.ui(ui, heat, state, commands),
            None if state.similarity.heat.is_pending() || state.lab.document.is_some() => {
                pending_line(ui, "Comparing the chunks of the document");
            }
            None => nothing_ui(ui, commands),
        }
    }

    fn map_ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        if let Some(error) = state.similarity.map.error() {
            error_block(ui, error);
        }
        match state.similarity.map.value() {
            Some(map) if !map.passages.is_empty() => self.map.ui(ui, map, state, commands),
            Some(_) => nothing_ui(ui, commands),
            None => {
                pending_line(ui, "Drawing the map of the library");
            }
        }
    }
}

/// How far a comparison is, and how to stop it.
fn progress_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if let Some(pace) = &state.similarity.progress {
        if quiet(ui, "Stop").clicked() {
            commands.push(Command::StopComparing);
        }
        ui.label(secondary(format::pace("", pace, "")));
    }
}

fn nothing_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    let help = "Add documents first, then see which passages are alike.";
    empty_state(ui, Icon::Similarity, "Nothing to compare", help, |ui| {
        if ui.button("Go to Library").clicked() {
            commands.push(Command::ShowSpace(Space::Library));
        }
    });
}
