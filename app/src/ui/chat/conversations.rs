//! The conversations that a library keeps: one opens by a click, and is deleted after a second one.

use egui::{Align, Layout, ScrollArea, Ui};

use super::super::theme::{secondary, tokens};
use super::super::widgets::{error_block, format, hairline, quiet};
use super::column;
use crate::command::Command;
use crate::state::{ChatState, Loadable};
use crate::store::{ChatId, ChatRecord};

const ROW_HEIGHT: f32 = 44.0;
/// Width of what stands at the right of a row.
const ACTIONS_WIDTH: f32 = 170.0;

/// The list of conversations.
#[derive(Default)]
pub(super) struct Conversations {
    /// The one that is to be deleted once that is confirmed.
    doomed: Option<ChatId>,
}

impl Conversations {
    pub(super) fn ui(&mut self, ui: &mut Ui, chat: &ChatState, commands: &mut Vec<Command>) {
        ui.add_space(10.0);
        if let Some(error) = chat.conversations.error() {
            error_block(ui, error);
        }
        let Some(kept) = chat.conversations.value() else {
            ui.label(secondary("Looking for conversations …"));
            return;
        };
        if kept.is_empty() && matches!(chat.conversations, Loadable::Ready(_)) {
            ui.label(secondary("No conversation is kept yet"));
        }
        ScrollArea::vertical().id_salt("conversations").auto_shrink(false).show_rows(
            ui,
            ROW_HEIGHT,
            kept.len(),
            |ui, rows| {
                column(ui, |ui| {
                    for record in &kept[rows] {
                        ui.push_id(record.id, |ui| self.row_ui(ui, record, chat.kept == Some(record.id), commands));
                    }
                });
            },
        );
    }

    fn row_ui(&mut self, ui: &mut Ui, record: &ChatRecord, is_in_hand: bool, commands: &mut Vec<Command>) {
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.horizontal(|ui| {
            ui.set_height(ROW_HEIGHT - 1.0);
            let width = ui.available_width() - ACTIONS_WIDTH;
            ui.vertical(|ui| {
                ui.set_width(width);
                ui.add_space(3.0);
                let button = egui::Button::new(&record.title).selected(is_in_hand).frame_when_inactive(is_in_hand);
                if ui.add(button.truncate()).clicked() {
                    commands.push(Command::OpenChat(record.id));
                }
                ui.horizontal(|ui| {
                    // Under the title, which stands inside its button.
                    ui.add_space(ui.spacing().button_padding.x);
                    ui.label(secondary(facts(record)).size(tokens().text.caption));
                });
            });
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| self.remove_ui(ui, record, commands));
        });
        hairline(ui);
    }

    fn remove_ui(&mut self, ui: &mut Ui, record: &ChatRecord, commands: &mut Vec<Command>) {
        if self.doomed != Some(record.id) {
            let name = format!("Remove “{}”", record.title);
            if quiet(ui, "Remove").accessible_name(&name).clicked() {
                self.doomed = Some(record.id);
            }
            return;
        }
        if quiet(ui, "Keep").clicked() {
            self.doomed = None;
        }
        if ui.button("Remove for good").clicked() {
            self.doomed = None;
            commands.push(Command::RemoveChat(record.id));
        }
    }
}

/// `2026-05-31 · 4 questions`.
fn facts(record: &ChatRecord) -> String {
    format!("{}  ·  {}", format::day(record.created_secs), format::counted(record.turns, "question"))
}
