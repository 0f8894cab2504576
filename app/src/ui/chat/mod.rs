//! The chat space: questions, streamed answers, and the passages they rest on.

mod composer;
mod markdown;
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
}

impl ChatPanel {
    /// Draws the space.
    pub(super) fn ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        let ground = palette(ui).ground;
        let foot = Frame::new().fill(ground).inner_margin(Margin { left: 24, right: 24, top: 8, bottom: 16 });
        Panel::bottom("composer").frame(foot).show_separator_line(false).show(ui, |ui| {
            column(ui, |ui| self.composer.ui(ui, state, commands));
        });
        let margin = Margin { left: 24, right: 24, top: 18, bottom: 0 };
        CentralPanel::default().frame(Frame::new().fill(ground).inner_margin(margin)).show(ui, |ui| {
            head_ui(ui, state, commands);
            if state.chat.turns.is_empty() {
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

    fn turns_ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        let area = ScrollArea::vertical().id_salt("turns").auto_shrink(false).stick_to_bottom(true);
        area.show(ui, |ui| {
            column(ui, |ui| {
                for turn in &state.chat.turns {
                    let action = ui.push_id(turn.number, |ui| turn::turn_ui(ui, turn, &mut self.markdown, commands));
                    if let Some(turn::Action::Edit) = action.inner {
                        self.composer.edit(&turn.question);
                    }
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
