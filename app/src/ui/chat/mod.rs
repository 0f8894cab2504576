//! The chat space: questions, streamed answers, and the passages they rest on.

mod composer;
mod conversations;
mod footer;
mod markdown;
mod passages;
mod turn;

use egui::{Align, CentralPanel, Frame, Layout, Margin, Panel, ScrollArea, Ui};

use super::icons::Icon;
use super::theme::{palette, secondary, title};
use super::widgets::{empty_state, quiet};
use crate::command::Command;
use crate::state::AppState;

/// Widest column of questions and answers.
const COLUMN_WIDTH: f32 = 760.0;

/// The chat space.
#[derive(Default)]
pub(super) struct ChatPanel {
    composer: composer::Composer,
    markdown: markdown::Markdown,
    conversations: conversations::Conversations,
    /// Whether there was no turn in the frame before, and whether conversations were listed.
    before: (bool, bool),
}

impl ChatPanel {
    /// Draws the space.
    pub(super) fn ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        self.go_to_composer(state);
        let ground = palette(ui).ground;
        let foot = Frame::new().fill(ground).inner_margin(Margin { left: 24, right: 24, top: 8, bottom: 16 });
        Panel::bottom("composer").frame(foot).show_separator_line(false).show(ui, |ui| {
            column(ui, |ui| self.composer.ui(ui, state, commands));
        });
        let margin = Margin { left: 24, right: 24, top: 18, bottom: 0 };
        CentralPanel::default().frame(Frame::new().fill(ground).inner_margin(margin)).show(ui, |ui| {
            head_ui(ui, state, commands);
            if state.chat.shows_conversations {
                self.conversations.ui(ui, &state.chat, commands);
            } else if state.chat.turns.is_empty() {
                nothing_ui(ui);
            } else {
                self.turns_ui(ui, state, commands);
            }
        });
    }

    /// The space went to the back: the composer takes the focus when it comes back.
    pub(super) fn leave(&mut self) {
        self.composer.leave();
    }

    /// The next question is typed where another conversation begins, or one was opened.
    fn go_to_composer(&mut self, state: &AppState) {
        let (was_empty, was_listing) = self.before;
        let (is_empty, is_listing) = (state.chat.turns.is_empty(), state.chat.shows_conversations);
        if (is_empty && !was_empty) || (was_listing && !is_listing) {
            self.composer.leave();
        }
        self.before = (is_empty, is_listing);
    }

    fn turns_ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        let area = ScrollArea::vertical().id_salt("turns").auto_shrink(false).stick_to_bottom(true);
        area.show(ui, |ui| {
            column(ui, |ui| {
                for turn in &state.chat.turns {
                    let is_listed = state.chat.listed.contains(&turn.number);
                    ui.push_id(turn.number, |ui| turn::turn_ui(ui, turn, is_listed, &mut self.markdown, commands));
                }
                ui.add_space(12.0);
            });
        });
    }
}

/// A column of reading width in the middle.
fn column<R>(ui: &mut Ui, contents: impl FnOnce(&mut Ui) -> R) -> R {
    let width = ui.available_width().min(COLUMN_WIDTH);
    let left = ((ui.available_width() - width) / 2.0).floor();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.add_space(left);
        ui.vertical(|ui| {
            ui.set_width(width);
            ui.spacing_mut().item_spacing.x = 8.0;
            contents(ui)
        })
        .inner
    })
    .inner
}

fn head_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.label(title("Chat"));
        ui.label(secondary("answers rest on your documents only"));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let is_listing = state.chat.shows_conversations;
            if quiet(ui, if is_listing { "Back to the chat" } else { "Conversations" }).clicked() {
                commands.push(Command::ShowConversations(!is_listing));
            }
            if state.chat.turns.is_empty() {
                return;
            }
            if quiet(ui, "New conversation").clicked() {
                commands.push(Command::ClearChat);
            }
            if quiet(ui, "Export…").clicked() {
                commands.push(Command::ExportChat(None));
            }
        });
    });
}

fn nothing_ui(ui: &mut Ui) {
    let help =
        "Each sentence carries the passage it comes from. If the library does not hold the answer, you are told.";
    empty_state(ui, Icon::Chat, "Ask your documents", help, |_| {});
}
