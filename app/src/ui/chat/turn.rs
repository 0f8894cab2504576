//! One question with its answer.

use egui::{Frame, Label, Margin, Ui};

use super::super::theme::{palette, secondary, strong, tokens};
use super::super::widgets::{Tone, chip, error_block, format, quiet};
use super::footer::{coverage_ui, footer_ui};
use super::markdown::Markdown;
use super::passages::{nearest_ui, passages_ui};
use crate::answer::{Answer, Citation};
use crate::command::Command;
use crate::state::{Passage, Turn, TurnState};

/// The generator that quotes passages and needs no model.
const EXTRACTIVE: &str = "extractive";
/// Draws a turn; `is_listed` says whether its passages are listed.
pub(super) fn turn_ui(ui: &mut Ui, turn: &Turn, is_listed: bool, markdown: &mut Markdown, commands: &mut Vec<Command>) {
    ui.add_space(10.0);
    question_ui(ui, &turn.question);
    ui.add_space(2.0);
    state_ui(ui, turn, markdown, commands);
    if let Some(answer) = turn.answer() {
        end_ui(ui, turn.number, answer, is_listed, commands);
    } else if let Some(coverage) = turn.coverage {
        coverage_ui(ui, coverage);
    }
    if !turn.is_running() {
        actions_ui(ui, turn, commands);
    }
}

/// What stands under every answer and refusal.
fn end_ui(ui: &mut Ui, number: u64, answer: &Answer, is_listed: bool, commands: &mut Vec<Command>) {
    for note in answer.notes.iter().filter(|note| answer.reason.as_ref() != Some(note)) {
        ui.add(Label::new(secondary(note)).wrap().selectable(true));
    }
    if footer_ui(ui, answer, is_listed) {
        commands.push(Command::TogglePassages(number));
    }
    if is_listed {
        passages_ui(ui, answer, commands);
    }
}

/// Copy, ask again, edit.
fn actions_ui(ui: &mut Ui, turn: &Turn, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        if !turn.text.is_empty() && quiet(ui, "Copy answer").clicked() {
            ui.ctx().copy_text(turn.text.clone());
        }
        if quiet(ui, "Ask again").clicked() {
            commands.push(Command::AskAgain(turn.number));
        }
        if quiet(ui, "Edit question").clicked() {
            commands.push(Command::EditQuestion(Some(turn.number)));
        }
    });
}

fn state_ui(ui: &mut Ui, turn: &Turn, markdown: &mut Markdown, commands: &mut Vec<Command>) {
    match &turn.state {
        TurnState::Searching => waiting_ui(ui, "Looking for passages"),
        TurnState::Asked(name) => waiting_ui(ui, &format!("Waiting for {name}")),
        TurnState::Loading(name) => waiting_ui(ui, &format!("Loading {name}")),
        TurnState::Reading { read_tokens, prompt_tokens } => {
            let (read, all) = (format::count(*read_tokens), format::counted(*prompt_tokens, "token"));
            waiting_ui(ui, &format!("Reading the passages: {read} of {all}"));
        }
        TurnState::Writing => {
            answer_text_ui(ui, &turn.text, &[], &turn.question, markdown, commands);
            waiting_ui(ui, "Writing");
        }
        TurnState::Done(answer) if answer.refused => refusal_ui(ui, answer, commands),
        TurnState::Done(answer) => answer_ui(ui, answer, markdown, commands),
        TurnState::Failed(error) => {
            if !turn.text.is_empty() {
                answer_text_ui(ui, &turn.text, &[], &turn.question, markdown, commands);
            }
            error_block(ui, error);
            if quiet(ui, "Answer without a model").clicked() {
                let extractive = Command::UseModel(Some(EXTRACTIVE.to_owned()));
                commands.extend([extractive, Command::AskAgain(turn.number)]);
            }
        }
    }
}

fn question_ui(ui: &mut Ui, question: &str) {
    let frame = Frame::new().fill(palette(ui).hover).corner_radius(10.0).inner_margin(Margin::symmetric(14, 9));
    frame.show(ui, |ui| {
        let text = strong(question).size(tokens().text.body);
        ui.add(Label::new(text).wrap().selectable(true));
    });
}

fn waiting_ui(ui: &mut Ui, sentence: &str) {
    ui.label(secondary(format!("{sentence} …")));
}

fn answer_text_ui(
    ui: &mut Ui,
    text: &str,
    citations: &[Citation],
    question: &str,
    markdown: &mut Markdown,
    commands: &mut Vec<Command>,
) {
    let markers: Vec<u32> = citations.iter().map(|citation| citation.marker).collect();
    let clicked = ui.scope(|ui| markdown.ui(ui, text, &markers)).inner;
    if let Some(citation) = citations.iter().find(|citation| Some(citation.marker) == clicked) {
        commands.push(Command::Inspect(Box::new(Passage::of_citation(citation, question))));
    }
}

/// What a follow-up was taken to mean.
fn searched_for_ui(ui: &mut Ui, answer: &Answer) {
    if let Some(standalone) = &answer.standalone {
        ui.add(Label::new(secondary(format!("Searched for: {standalone}"))).wrap().selectable(true));
    }
}

fn answer_ui(ui: &mut Ui, answer: &Answer, markdown: &mut Markdown, commands: &mut Vec<Command>) {
    searched_for_ui(ui, answer);
    answer_text_ui(ui, &answer.answer, &answer.citations, &answer.question, markdown, commands);
    if let Some(reason) = &answer.reason {
        ui.label(secondary(reason).color(palette(ui).warning));
    }
    for doubtful in &answer.unsupported {
        let text = format!("[?] “{}”: {}", doubtful.sentence, doubtful.reason);
        ui.add(Label::new(secondary(text).color(palette(ui).warning)).wrap().selectable(true));
    }
    ui.horizontal_wrapped(|ui| {
        for citation in &answer.citations {
            let response = chip(ui, &chip_text(citation), Tone::Good, true);
            if response.on_hover_text(&citation.quote).clicked() {
                commands.push(Command::Inspect(Box::new(Passage::of_citation(citation, &answer.question))));
            }
        }
    });
}

/// `1 · handbook.pdf · p. 7`.
fn chip_text(citation: &Citation) -> String {
    let passage = Passage::of_citation(citation, "");
    let place = format::place(&passage.place);
    let gap = if place.is_empty() { "" } else { "  ·  " };
    let text = format!("{}  ·  {}{gap}{place}", citation.marker, passage.title);
    let mut short: String = text.chars().take(72).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn refusal_ui(ui: &mut Ui, answer: &Answer, commands: &mut Vec<Command>) {
    searched_for_ui(ui, answer);
    let colours = palette(ui);
    let frame = Frame::new()
        .fill(colours.warning_wash)
        .corner_radius(tokens().space.radius)
        .inner_margin(Margin::symmetric(14, 10));
    frame.show(ui, |ui| {
        ui.label(strong("The library does not hold an answer").size(tokens().text.body).color(colours.warning));
        let reason = answer.reason.as_deref().unwrap_or(&answer.answer);
        ui.add(Label::new(reason).wrap());
    });
    nearest_ui(ui, answer, commands);
}
