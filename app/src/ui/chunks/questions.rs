//! Writing a question on a passage: sentences of the selected chunk are marked, and the question typed.

use std::collections::BTreeSet;

use egui::{Align2, ScrollArea, TextEdit, Ui, Vec2, Window};

use super::super::theme::{secondary, strong, tokens};
use super::super::widgets::{format, primary, quiet};
use crate::chunk::Chunk;
use crate::command::Command;
use crate::extract::Extraction;
use crate::state::{AppState, LabResult, LabelledQuestion};

/// Width of the form.
const FORM_WIDTH: f32 = 560.0;

/// What is being written.
#[derive(Default)]
pub(super) struct QuestionForm {
    text: String,
    /// Starts of the marked sentences.
    marked: BTreeSet<usize>,
    is_open: bool,
}

impl QuestionForm {
    /// Draws the form and how many questions there are.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        extraction: &Extraction,
        result: &LabResult,
        chunk: &Chunk,
        state: &AppState,
        commands: &mut Vec<Command>,
    ) {
        let help = "Write a question with its passage; the comparison then shows which chunker finds it";
        if quiet(ui, "Ask about it").on_hover_text(help).clicked() {
            self.is_open = !self.is_open;
        }
        if !state.lab.questions.is_empty() {
            ui.label(secondary(format::counted(state.lab.questions.len(), "question")));
        }
        if self.is_open {
            let window = Window::new("Question").collapsible(false).resizable(false).title_bar(false);
            let window = window.anchor(Align2::CENTER_CENTER, Vec2::ZERO).default_width(FORM_WIDTH);
            window.show(ui.ctx(), |ui| {
                ui.set_max_width(FORM_WIDTH);
                self.form_ui(ui, extraction, result, chunk, commands);
            });
        }
    }

    fn form_ui(
        &mut self,
        ui: &mut Ui,
        extraction: &Extraction,
        result: &LabResult,
        chunk: &Chunk,
        commands: &mut Vec<Command>,
    ) {
        ui.label(strong("Which sentences answer it?").size(tokens().text.secondary));
        let sentences = sentences(result, chunk);
        ScrollArea::vertical().id_salt("sentences").max_height(320.0).show(ui, |ui| {
            for (start, end) in &sentences {
                let text = extraction.text.get(*start..*end).unwrap_or_default().trim().replace('\n', " ");
                let mut is_marked = self.marked.contains(start);
                let label = egui::RichText::new(text).size(tokens().text.secondary);
                if ui.checkbox(&mut is_marked, label).changed() {
                    self.marked.retain(|marked| marked != start);
                    self.marked.extend(is_marked.then_some(*start));
                }
            }
        });
        let field = ui.add(TextEdit::singleline(&mut self.text).hint_text("A question…").desired_width(f32::INFINITY));
        field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Question on the passage"));
        let marked = || sentences.iter().filter(|(start, _)| self.marked.contains(start));
        let ends = marked().next().zip(marked().next_back());
        let is_whole = ends.is_some() && !self.text.trim().is_empty();
        let add = ui
            .horizontal(|ui| {
                if quiet(ui, "Cancel").clicked() {
                    self.is_open = false;
                }
                ui.add_enabled_ui(is_whole, |ui| primary(ui, "Add question")).inner
            })
            .inner;
        if let Some(((start, _), (_, end))) = ends.filter(|_| add.clicked()) {
            let end = start + extraction.text.get(*start..*end).unwrap_or_default().trim_end().len();
            let text = std::mem::take(&mut self.text).trim().to_owned();
            commands.push(Command::AddQuestion(LabelledQuestion { text, start: *start, end }));
            self.marked.clear();
            self.is_open = false;
        }
    }
}

/// Sentences that begin in a chunk, with where they end.
fn sentences(result: &LabResult, chunk: &Chunk) -> Vec<(usize, usize)> {
    let first = result.segments.partition_point(|&start| start < chunk.start);
    let after = result.segments.partition_point(|&start| start < chunk.end);
    let starts = &result.segments[first..after];
    let ends = starts.iter().skip(1).copied().chain([chunk.end]);
    starts.iter().copied().zip(ends).collect()
}
