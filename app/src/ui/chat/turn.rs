//! One question with its answer.

use egui::{Frame, Label, Margin, Ui};

use super::super::theme::{palette, secondary, strong, tokens};
use super::super::widgets::{Tone, chip, error_block, format, quiet};
use super::markdown::Markdown;
use crate::answer::{Answer, Citation};
use crate::command::Command;
use crate::retrieve::SearchHit;
use crate::state::{Passage, Turn, TurnState};

/// The generator that quotes passages and needs no model.
const EXTRACTIVE: &str = "extractive";
/// Nearest passages shown with a refusal.
const NEAREST: usize = 4;

/// What a turn asks of the chat.
pub(super) enum Action {
    /// The question is to be edited.
    Edit,
}

pub(super) fn turn_ui(
    ui: &mut Ui,
    turn: &Turn,
    markdown: &mut Markdown,
    commands: &mut Vec<Command>,
) -> Option<Action> {
    ui.add_space(10.0);
    question_ui(ui, &turn.question);
    ui.add_space(2.0);
    state_ui(ui, turn, markdown, commands);
    if turn.is_running() { None } else { actions_ui(ui, turn, commands) }
}

/// Copy, ask again, edit.
fn actions_ui(ui: &mut Ui, turn: &Turn, commands: &mut Vec<Command>) -> Option<Action> {
    let mut action = None;
    ui.horizontal(|ui| {
        if !turn.text.is_empty() && quiet(ui, "Copy answer").clicked() {
            ui.ctx().copy_text(turn.text.clone());
        }
        if quiet(ui, "Ask again").clicked() {
            commands.push(Command::Ask(turn.question.clone()));
        }
        if quiet(ui, "Edit question").clicked() {
            action = Some(Action::Edit);
        }
    });
    action
}

fn state_ui(ui: &mut Ui, turn: &Turn, markdown: &mut Markdown, commands: &mut Vec<Command>) {
    match &turn.state {
        TurnState::Searching => waiting_ui(ui, "Looking for passages"),
        TurnState::Loading(name) => waiting_ui(ui, &format!("Loading {name}")),
        TurnState::Reading { read_tokens, prompt_tokens } => {
            let (read, all) = (format::count(*read_tokens), format::counted(*prompt_tokens, "token"));
            waiting_ui(ui, &format!("Reading the passages: {read} of {all}"));
        }
        TurnState::Writing => {
            answer_text_ui(ui, &turn.text, &[], &turn.question, markdown, commands);
            waiting_ui(ui, "Writing");
        }
        TurnState::Done(answer) if answer.refused => refusal_ui(ui, answer, &turn.hits, commands),
        TurnState::Done(answer) => answer_ui(ui, answer, markdown, commands),
        TurnState::Failed(error) => {
            if !turn.text.is_empty() {
                answer_text_ui(ui, &turn.text, &[], &turn.question, markdown, commands);
            }
            error_block(ui, error);
            if quiet(ui, "Answer without a model").clicked() {
                let extractive = Command::UseModel(Some(EXTRACTIVE.to_owned()));
                commands.extend([extractive, Command::Ask(turn.question.clone())]);
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
    footer_ui(ui, answer);
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

fn refusal_ui(ui: &mut Ui, answer: &Answer, hits: &[SearchHit], commands: &mut Vec<Command>) {
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
    if !hits.is_empty() {
        ui.label(secondary("Nearest passages"));
    }
    for hit in hits.iter().take(NEAREST) {
        nearest_ui(ui, hit, &answer.question, commands);
    }
    footer_ui(ui, answer);
}

fn nearest_ui(ui: &mut Ui, hit: &SearchHit, question: &str, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let text = format!("{}  ·  {}", hit.title, format::place(&hit.chunk.place));
        if chip(ui, text.trim_end_matches("  ·  "), Tone::Neutral, true).clicked() {
            commands.push(Command::Inspect(Box::new(Passage::of_hit(hit, question))));
        }
        let (name, score) = match hit.scores.vector {
            Some(cosine) => ("cosine", cosine),
            None => ("score", hit.score),
        };
        ui.label(secondary(format!("{name} {score:.2}")));
    });
}

/// `Qwen 0.5B · 7 of 12 passages · search 12 ms · first token 0.8 s · 4.2 s in all`.
fn footer_ui(ui: &mut Ui, answer: &Answer) {
    let times = answer.took_ms;
    let mut parts = vec![format!("{} of {} passages used", answer.passages_used, answer.passages_found)];
    if answer.passages_searched > 0 {
        let searched = format::count(answer.passages_searched);
        parts.push(format!("seen {} of {searched} chunks", format::count(answer.passages_used)));
    }
    if !answer.refused {
        parts.insert(0, answer.model.clone());
    }
    parts.push(format!("search {}", format::millis(times.retrieve)));
    parts.extend(times.first_token.map(|first| format!("first token {}", format::millis(first))));
    parts.push(format!("{} in all", format::millis(times.total)));
    if answer.answer_tokens > 0 {
        parts.push(format::counted(answer.answer_tokens, "token"));
    }
    if answer.markers_dropped > 0 {
        parts.push(format!("{} dropped", format::counted(answer.markers_dropped, "false marker")));
    }
    ui.label(secondary(parts.join("  ·  ")).size(tokens().text.caption));
}
