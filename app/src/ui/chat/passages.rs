//! The passages found for an answer: each with its rank, its score, where it stands and what became of it.

use egui::{Align, Frame, Layout, Margin, RichText, Ui, Vec2};

use super::super::theme::{mono, palette, secondary, strong, tokens};
use super::super::widgets::{Tone, chip, format};
use crate::answer::{Answer, Citation, FoundPassage, PassageFate};
use crate::command::Command;
use crate::state::Passage;

/// Nearest passages shown with a refusal.
const NEAREST: usize = 4;
const ROW_HEIGHT: f32 = 22.0;
const RANK_WIDTH: f32 = 24.0;
const SCORE_WIDTH: f32 = 48.0;
const FATE_WIDTH: f32 = 150.0;
/// Width of a letter in a chip, on the average.
const LETTER_WIDTH: f32 = 6.6;

/// Every passage found, then those that the search left out.
pub(super) fn passages_ui(ui: &mut Ui, answer: &Answer, commands: &mut Vec<Command>) {
    let frame = Frame::new()
        .fill(palette(ui).raised)
        .corner_radius(tokens().space.radius)
        .inner_margin(Margin::symmetric(12, 8));
    frame.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.label(strong("Why these passages?").size(tokens().text.secondary));
        for (index, found) in answer.passages.iter().enumerate() {
            let is_first_left_out = found.rank.is_none() && index > 0 && answer.passages[index - 1].rank.is_some();
            if is_first_left_out {
                ui.label(secondary("Left out by the search").size(tokens().text.caption));
            }
            ui.push_id(index, |ui| row_ui(ui, found, &answer.question, commands));
        }
    });
}

fn row_ui(ui: &mut Ui, found: &FoundPassage, question: &str, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let or_none = |text: Option<String>| mono(text.unwrap_or_else(|| "–".to_owned()));
        cell(ui, RANK_WIDTH, or_none(found.rank.map(|rank| rank.to_string())));
        cell(ui, SCORE_WIDTH, or_none(found.score.map(|score| format!("{score:.3}"))));
        let colours = palette(ui);
        let ink = if found.fate == PassageFate::Used { colours.accent } else { colours.ink_secondary };
        cell(ui, FATE_WIDTH, RichText::new(found.fate.text()).size(tokens().text.secondary).color(ink));
        let passage = Passage::of_found(found, question);
        open_chip(ui, passage, commands);
    });
}

fn cell(ui: &mut Ui, width: f32, text: RichText) {
    let layout = Layout::left_to_right(Align::Center);
    ui.allocate_ui_with_layout(Vec2::new(width, ROW_HEIGHT), layout, |ui| {
        ui.set_width(width);
        ui.add(egui::Label::new(text).truncate());
    });
}

/// A chip that opens the passage, as long as there is room.
fn open_chip(ui: &mut Ui, passage: Passage, commands: &mut Vec<Command>) {
    let place = format::place(&passage.place);
    let whole = format!("{}  ·  {place}", passage.title);
    let whole = whole.trim_end_matches("  ·  ");
    let room = ((ui.available_width() - 20.0) / LETTER_WIDTH).max(8.0) as usize;
    let mut short: String = whole.chars().take(room).collect();
    if short.len() < whole.len() {
        short.push('…');
    }
    if chip(ui, &short, Tone::Neutral, true).on_hover_text(whole).clicked() {
        commands.push(Command::Inspect(Box::new(passage)));
    }
}

/// The passages nearest to a question that was declined.
pub(super) fn nearest_ui(ui: &mut Ui, answer: &Answer, commands: &mut Vec<Command>) {
    let found = answer.passages.iter().filter(|found| found.rank.is_some()).take(NEAREST);
    let mut nearest: Vec<Passage> = found.map(|found| Passage::of_found(found, &answer.question)).collect();
    if nearest.is_empty() {
        // Earlier versions kept no more than what is cited.
        let cited = |citation: &Citation| Passage::of_citation(citation, &answer.question);
        nearest.extend(answer.citations.iter().take(NEAREST).map(cited));
    }
    if !nearest.is_empty() {
        ui.label(secondary("Nearest passages"));
    }
    for (index, passage) in nearest.into_iter().enumerate() {
        ui.push_id(("nearest", index), |ui| {
            ui.horizontal(|ui| {
                let score = match (passage.scores.vector, passage.score) {
                    (Some(cosine), _) => Some(format!("cosine {cosine:.2}")),
                    (None, score) => score.map(|score| format!("score {score:.2}")),
                };
                if let Some(score) = score {
                    ui.label(secondary(score));
                }
                open_chip(ui, passage, commands);
            });
        });
    }
}
