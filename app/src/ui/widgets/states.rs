//! Lines and blocks for what is pending or went wrong, and hairlines.

use egui::{Frame, Margin, Response, Sense, Stroke, Ui, Vec2};

use super::{format, link};
use crate::library::Error;
use crate::state::Pace;
use crate::ui::theme::{palette, secondary, strong, tokens};

/// A one-pixel line over the whole width, without space around it.
pub(crate) fn hairline(ui: &mut Ui) {
    let size = Vec2::new(ui.available_width(), 1.0);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let stroke = Stroke::new(1.0, palette(ui).hairline);
    ui.painter().hline(rect.x_range(), rect.center().y, stroke);
}

/// A short upright line between groups of controls in a row.
pub(crate) fn vertical_hairline(ui: &mut Ui) {
    let size = Vec2::new(1.0, tokens().space.control_height - 8.0);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let stroke = Stroke::new(1.0, palette(ui).hairline_strong);
    ui.painter().vline(rect.center().x, rect.y_range(), stroke);
}

/// A sentence about work under way.
pub(crate) fn pending_line(ui: &mut Ui, sentence: &str) -> Response {
    ui.label(secondary(sentence))
}

/// How far counted work is, at what rate and for how long still, with a way to stop it; gives whether that was clicked.
pub(crate) fn pace_line(ui: &mut Ui, verb: &str, pace: &Pace, things: &str) -> bool {
    ui.label(secondary(format::pace(verb, pace, things)));
    link(ui, "Stop").clicked()
}

/// An error in full: what, why, what to do. Its text can be selected.
pub(crate) fn error_block(ui: &mut Ui, error: &Error) {
    let colours = palette(ui);
    let frame = Frame::new()
        .fill(colours.error_wash)
        .corner_radius(tokens().space.radius)
        .inner_margin(Margin::symmetric(14, 10));
    frame.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        ui.label(strong(&error.title).color(colours.error));
        ui.label(&error.detail);
        if let Some(hint) = &error.hint {
            ui.label(secondary(hint));
        }
    });
}
