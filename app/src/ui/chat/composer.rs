//! Where a question is typed. Enter asks, Shift and Enter make a new line; Esc stops, as everywhere.

use egui::{Frame, Key, KeyboardShortcut, Margin, Modifiers, Sense, Stroke, TextEdit, Ui, Vec2};

use super::super::icons::Icon;
use super::super::theme::{palette, secondary, tokens};
use crate::command::Command;
use crate::state::AppState;

/// The question in hand.
#[derive(Default)]
pub(super) struct Composer {
    question: String,
    /// Questions that could not be asked and were taken back.
    taken_back: usize,
    was_front: bool,
    /// Questions that were taken up to be edited.
    edits: u64,
}

impl Composer {
    pub(super) fn leave(&mut self) {
        self.was_front = false;
    }

    /// Takes up the question that is to be edited, once.
    fn take_up_edit(&mut self, state: &AppState) {
        if self.edits == state.chat.edits {
            return;
        }
        self.edits = state.chat.edits;
        if let Some(turn) = state.chat.edited.and_then(|number| state.chat.turn(number)) {
            turn.question.clone_into(&mut self.question);
            self.was_front = false;
        }
    }

    pub(super) fn ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        self.take_up_edit(state);
        self.take_back(state);
        let colours = palette(ui);
        let running = state.chat.running().is_some();
        let frame = Frame::new()
            .fill(colours.raised)
            .stroke(Stroke::new(1.0, colours.hairline_strong))
            .corner_radius(10.0)
            .inner_margin(Margin { left: 12, right: 6, top: 6, bottom: 6 });
        frame.show(ui, |ui| {
            ui.horizontal(|ui| {
                self.edit_ui(ui, running, commands);
                // What is typed after everything was deleted is another question.
                if state.chat.edited.is_some() && self.question.is_empty() && !running {
                    commands.push(Command::EditQuestion(None));
                }
                if running {
                    if round_button(ui, Icon::Stop, "Stop", true).clicked() {
                        commands.push(Command::StopAnswer);
                    }
                } else if round_button(ui, Icon::Send, "Ask", !self.question.trim().is_empty()).clicked() {
                    self.ask(commands);
                }
            });
        });
        ui.add_space(2.0);
        let model = state.generator_name();
        let keys = if running { "Esc stops" } else { "Enter asks  ·  Shift+Enter new line" };
        ui.label(secondary(format!("{keys}  ·  {model}")).size(tokens().text.caption));
    }

    fn edit_ui(&mut self, ui: &mut Ui, running: bool, commands: &mut Vec<Command>) {
        let enter = ui.input(|input| input.key_pressed(Key::Enter) && !input.modifiers.shift);
        let edit = TextEdit::multiline(&mut self.question)
            .hint_text("Ask a question about your documents")
            .font(egui::FontId::proportional(tokens().text.body))
            .desired_rows(1)
            .desired_width(ui.available_width() - 48.0)
            .return_key(KeyboardShortcut::new(Modifiers::SHIFT, Key::Enter))
            .frame(Frame::new().inner_margin(Margin::symmetric(2, 6)));
        let edit = ui.add(edit).accessible_name("Question");
        if !self.was_front {
            self.was_front = true;
            edit.request_focus();
        }
        if enter && !running && (edit.has_focus() || edit.lost_focus()) {
            self.ask(commands);
            edit.request_focus();
        }
    }

    fn ask(&mut self, commands: &mut Vec<Command>) {
        let question = self.question.trim().to_owned();
        if !question.is_empty() {
            commands.push(Command::Ask(question));
            self.question.clear();
        }
    }

    /// A question that could not be asked stays where it was typed.
    fn take_back(&mut self, state: &AppState) {
        let turned_down = &state.chat.turned_down;
        if self.taken_back != turned_down.len() {
            self.taken_back = turned_down.len();
            if let Some(question) = turned_down.last().filter(|_| self.question.is_empty()) {
                self.question.clone_from(question);
            }
        }
    }
}

fn round_button(ui: &mut Ui, icon: Icon, label: &str, enabled: bool) -> egui::Response {
    let colours = palette(ui);
    let sense = if enabled { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(32.0), sense);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, enabled, label));
    let ground = match (enabled, response.hovered()) {
        (false, _) => colours.hover,
        (true, false) => colours.accent,
        (true, true) => colours.accent_strong,
    };
    ui.painter().circle_filled(rect.center(), 15.0, ground);
    let ink = if enabled { colours.on_accent } else { colours.ink_faint };
    icon.paint(ui.painter(), Icon::square(rect.center(), 17.0), ink);
    response.on_hover_text(label)
}
