//! What an empty library shows: one sentence, a drop area, the samples.

use egui::{Align, Layout, Rect, Shape, Stroke, Ui, UiBuilder, Vec2};

use super::super::icons::Icon;
use super::super::theme::{palette, secondary, title, tokens};
use super::super::widgets::{icon_text_button, primary};
use crate::command::Command;

const SIZE: Vec2 = Vec2::new(560.0, 300.0);

pub(super) fn first_run_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    let room = ui.available_rect_before_wrap();
    let rect = Rect::from_center_size(room.center() - Vec2::new(0.0, 24.0), SIZE.min(room.size()));
    let dropping = ui.input(|input| !input.raw.hovered_files.is_empty());
    let colours = palette(ui);
    let (ink, ground) =
        if dropping { (colours.accent, colours.accent_wash) } else { (colours.hairline_strong, colours.ground) };
    ui.painter().rect_filled(rect, 12.0, ground);
    dashed(ui, rect, Stroke::new(1.5, ink));
    let inner = UiBuilder::new().max_rect(rect.shrink(24.0)).layout(Layout::top_down(Align::Center));
    ui.scope_builder(inner, |ui| {
        ui.add_space(20.0);
        let (icon, _) = ui.allocate_exact_size(Vec2::splat(48.0), egui::Sense::hover());
        Icon::Outcrop.paint(ui.painter(), icon, colours.accent);
        ui.add_space(8.0);
        ui.label(title("Drop documents here to ask questions about them"));
        ui.label(secondary(
            "PDF, Office, EPUB, mail, Markdown, HTML, CSV, text and code. Nothing leaves this machine.",
        ));
        ui.add_space(14.0);
        buttons_ui(ui, commands);
    });
}

fn buttons_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    ui.allocate_ui_with_layout(
        Vec2::new(396.0, tokens().space.control_height),
        Layout::left_to_right(Align::Center),
        |ui| {
            if primary(ui, "Try the samples").clicked() {
                commands.push(Command::AddSamples);
            }
            if icon_text_button(ui, Icon::Plus, "Choose files…").clicked() {
                commands.push(Command::PickFiles);
            }
            if icon_text_button(ui, Icon::Folder, "Choose folder…").clicked() {
                commands.push(Command::PickFolder);
            }
        },
    );
}

fn dashed(ui: &Ui, rect: Rect, stroke: Stroke) {
    let corners = [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom(), rect.left_top()];
    ui.painter().extend(Shape::dashed_line(&corners, stroke, 6.0, 5.0));
}
