//! Messages on top of the window, at the lower right.

use std::time::Instant;

use egui::{Align2, Area, Context, Frame, Id, Margin, Order, Ui, Vec2};

use super::icons::Icon;
use super::theme::{palette, secondary, strong, tokens};
use super::widgets::{icon_button, link};
use crate::command::Command;
use crate::state::{AppState, Notice, NoticeKind, Undo};

/// Draws messages; those whose time is over are dismissed.
pub(super) fn notices_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if state.notices.is_empty() {
        return;
    }
    let offset = Vec2::new(-16.0, -(tokens().space.status_height + 12.0));
    let area = Area::new(Id::unique("notices")).order(Order::Foreground).anchor(Align2::RIGHT_BOTTOM, offset);
    area.show(ui.ctx(), |ui| {
        for (index, notice) in state.notices.iter().enumerate() {
            notice_ui(ui, index, notice, commands);
        }
    });
    expire(ui.ctx(), &state.notices, commands);
}

fn notice_ui(ui: &mut Ui, index: usize, notice: &Notice, commands: &mut Vec<Command>) {
    let colours = palette(ui);
    let ink = if notice.kind == NoticeKind::Error { colours.error } else { colours.ink };
    let frame = Frame::popup(ui.style()).inner_margin(Margin::symmetric(14, 8));
    frame.show(ui, |ui| {
        ui.set_max_width(420.0);
        ui.horizontal(|ui| {
            ui.label(strong(&notice.text).size(tokens().text.secondary).color(ink));
            if let Some(Undo::RestoreDocuments(documents)) = &notice.undo
                && link(ui, "Undo").clicked()
            {
                commands.extend([Command::RestoreDocuments(documents.clone()), Command::DismissNotice(index)]);
            }
            if icon_button(ui, Icon::Close, "Dismiss message").clicked() {
                commands.push(Command::DismissNotice(index));
            }
        });
        if let Some(detail) = &notice.detail {
            ui.label(secondary(detail));
        }
    });
}

/// Dismisses at most one message a frame: positions shift when one goes.
fn expire(ctx: &Context, notices: &[Notice], commands: &mut Vec<Command>) {
    let now = Instant::now();
    let due = notices.iter().position(|notice| notice.expires.is_some_and(|expires| expires <= now));
    if let Some(index) = due {
        commands.push(Command::DismissNotice(index));
    }
    if let Some(next) = notices.iter().filter_map(|notice| notice.expires).min() {
        ctx.request_repaint_after(next.saturating_duration_since(now));
    }
}
