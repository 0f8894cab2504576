//! One card for each chunker: what it is, and what it did.

use egui::{ComboBox, Frame, Grid, Margin, ScrollArea, Ui};

use super::super::super::theme::{layer, mono, palette, secondary, strong, tokens};
use super::super::super::widgets::{export_menu, format, number_field, quiet};
use super::super::toolbar::{LARGEST_SIZE, help, sane};
use super::LETTERS;
use crate::chunk::{ChunkerConfig, ChunkerKind};
use crate::command::Command;
use crate::eval::bootstrap::Interval;
use crate::jobs::Figure;
use crate::state::{AppState, Column, Comparison, LabState};

/// Draws the cards; gives where to scroll to when a difference is asked for.
pub(super) fn cards_ui(ui: &mut Ui, state: &AppState, here: usize, commands: &mut Vec<Command>) -> Option<usize> {
    let comparison = state.lab.comparison.value();
    let jump = head_ui(ui, comparison.map(AsRef::as_ref), here, commands);
    ScrollArea::vertical().id_salt("cards").auto_shrink(false).show(ui, |ui| {
        let configs: Vec<&ChunkerConfig> = std::iter::once(&state.lab.config).chain(&state.lab.others).collect();
        for (index, config) in configs.iter().enumerate() {
            let column = comparison.and_then(|comparison| comparison.columns.get(index));
            card_ui(ui, index, config, column, state, commands);
        }
        questions_ui(ui, state, commands);
        if configs.len() < LabState::MOST_COMPARED && ui.button("Add a chunker").clicked() {
            let used = |kind: &ChunkerKind| configs.iter().all(|config| config.kind != *kind);
            let kind = ChunkerKind::ALL.into_iter().find(used).unwrap_or_default();
            let added = ChunkerConfig { kind, overlap: 0, cuts: Vec::new(), ..state.lab.config.clone() };
            let others = state.lab.others.iter().cloned().chain([added]).collect();
            commands.push(Command::CompareWith(others));
        }
    });
    jump
}

fn head_ui(ui: &mut Ui, comparison: Option<&Comparison>, here: usize, commands: &mut Vec<Command>) -> Option<usize> {
    let comparison = comparison?;
    let differences = comparison.cuts.iter().filter(|mark| !comparison.is_shared(**mark)).count();
    ui.horizontal(|ui| {
        ui.label(strong(format::counted(differences, "difference")).size(tokens().text.secondary));
        let next = ui.add_enabled_ui(differences > 0, |ui| ui.button("Next difference")).inner;
        let jump = next.clicked().then(|| comparison.next_difference(here)).flatten().map(|mark| mark.byte);
        ui.menu_button("Save…", |ui| export_menu(ui, Figure::Comparison, commands));
        jump
    })
    .inner
}

fn card_ui(
    ui: &mut Ui,
    index: usize,
    config: &ChunkerConfig,
    column: Option<&Column>,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    let colours = palette(ui);
    let frame = Frame::new()
        .fill(colours.surface)
        .corner_radius(tokens().space.radius)
        .inner_margin(Margin::symmetric(12, 10))
        .outer_margin(Margin { bottom: 8, ..Margin::ZERO });
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        let mut edited = config.clone();
        ui.horizontal(|ui| {
            ui.label(strong(LETTERS[index]).color(layer(ui, index).edge).size(tokens().text.body));
            kind_ui(ui, index, &mut edited);
            if let Some(size) = number_field(ui, "Size", edited.size, 20..=LARGEST_SIZE) {
                edited.size = size;
            }
            if index > 0 {
                actions_ui(ui, index, state, commands);
            }
        });
        if edited != *config {
            commands.push(replaced(state, index, sane(edited)));
        }
        if let Some(column) = column {
            numbers_ui(ui, index, column);
        }
    });
}

fn kind_ui(ui: &mut Ui, index: usize, config: &mut ChunkerConfig) {
    let combo =
        ComboBox::from_id_salt(("compared", index)).selected_text(format::chunker_word(config.kind)).width(104.0);
    let response = combo.show_ui(ui, |ui| {
        for kind in ChunkerKind::ALL {
            ui.selectable_value(&mut config.kind, kind, format::chunker_word(kind)).on_hover_text(help(kind));
        }
    });
    response.response.accessible_name(format!("Chunker {}", LETTERS[index]));
}

fn actions_ui(ui: &mut Ui, index: usize, state: &AppState, commands: &mut Vec<Command>) {
    let mut others = state.lab.others.clone();
    if quiet(ui, "Use").on_hover_text("Make it the chunker in hand").clicked() {
        let chosen = std::mem::replace(&mut others[index - 1], state.lab.config.clone());
        commands.extend([Command::SetChunker(chosen), Command::CompareWith(others)]);
    } else if quiet(ui, "Remove").clicked() {
        others.remove(index - 1);
        commands.push(Command::CompareWith(others));
    }
}

/// The command that puts a changed configuration in its place.
fn replaced(state: &AppState, index: usize, config: ChunkerConfig) -> Command {
    match index.checked_sub(1) {
        None => Command::SetChunker(config),
        Some(other) => {
            let mut others = state.lab.others.clone();
            others[other] = config;
            Command::CompareWith(others)
        }
    }
}

fn numbers_ui(ui: &mut Ui, index: usize, column: &Column) {
    let stats = &column.stats;
    let agreement = column.agreement;
    Grid::new(("numbers", index)).num_columns(4).spacing([16.0, 4.0]).show(ui, |ui| {
        let pair = |ui: &mut Ui, name: &str, value: String| {
            ui.label(secondary(name));
            ui.label(mono(value));
        };
        pair(ui, "chunks", format::count(stats.count));
        pair(
            ui,
            format::unit(column.config.unit),
            format!("{}–{}", format::count(stats.min), format::count(stats.max)),
        );
        ui.end_row();
        pair(ui, "mean", format!("{:.0}", stats.mean));
        pair(ui, "cut in", format::millis(column.cut_ms));
        ui.end_row();
        if let Some(cohesion) = column.cohesion {
            pair(ui, "alike inside", format!("{:.2}", cohesion.inside));
            pair(ui, "at cuts", format!("{:.2}", cohesion.at_cuts));
            ui.end_row();
        }
        if let Some(scores) = column.scores {
            pair(ui, "recall", format!("{:.0} %", 100.0 * scores.recall));
            pair(ui, "IoU", format!("{:.1} %", 100.0 * scores.iou));
            ui.end_row();
            if index > 0 {
                pair(ui, "over A", points(scores.recall_over_first));
                pair(ui, "over A", points(scores.iou_over_first));
                ui.end_row();
            }
        }
        if index > 0 {
            pair(ui, "same as A", format!("{:.0} %", 100.0 * agreement.share()));
            pair(ui, "only here", format!("{} / {}", agreement.own, agreement.missing));
            ui.end_row();
        }
    });
}

/// A difference in percentage points with its interval; a star where it is real.
fn points(interval: Interval) -> String {
    let Interval { mean, low, high } = interval;
    let star = if interval.is_real() { " *" } else { "" };
    format!("{:+.0} [{:+.0}, {:+.0}]{star}", 100.0 * mean, 100.0 * low, 100.0 * high)
}

/// The questions that the chunkers are asked.
fn questions_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if state.lab.questions.is_empty() {
        let help = "Write questions on passages in the Chunks view, and see here which chunker finds them.";
        ui.label(secondary(help));
        return;
    }
    ui.label(strong(format::counted(state.lab.questions.len(), "question")).size(tokens().text.secondary));
    for (index, question) in state.lab.questions.iter().enumerate() {
        ui.horizontal(|ui| {
            if quiet(ui, "Remove question").clicked() {
                commands.push(Command::RemoveQuestion(index));
            }
            ui.add(egui::Label::new(secondary(question.text.clone())).truncate());
        });
    }
}
