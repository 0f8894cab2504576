//! Buttons in three weights, with or without an icon.

use egui::{Button, Color32, Response, Role, Sense, Stroke, StrokeKind, TextStyle, Ui, Vec2, WidgetInfo};

use crate::ui::icons::Icon;
use crate::ui::theme::{palette, tokens};

/// The one button of a place that goes ahead.
pub(crate) fn primary(ui: &mut Ui, text: &str) -> Response {
    let colours = palette(ui);
    ui.scope(|ui| {
        let widgets = &mut ui.visuals_mut().widgets;
        for (visuals, fill) in [
            (&mut widgets.inactive, colours.accent),
            (&mut widgets.hovered, colours.accent_strong),
            (&mut widgets.active, colours.accent_strong),
            (&mut widgets.noninteractive, colours.accent),
        ] {
            visuals.weak_bg_fill = fill;
            visuals.bg_stroke = Stroke::NONE;
            visuals.fg_stroke.color = colours.on_accent;
        }
        ui.add(Button::new(text))
    })
    .inner
}

/// A button without a frame until the pointer is over it.
pub(crate) fn quiet(ui: &mut Ui, text: &str) -> Response {
    ui.scope(|ui| {
        let colours = palette(ui);
        let widgets = &mut ui.visuals_mut().widgets;
        widgets.inactive.fg_stroke.color = colours.ink_secondary;
        for visuals in [&mut widgets.inactive, &mut widgets.hovered, &mut widgets.active] {
            visuals.bg_stroke = Stroke::NONE;
        }
        ui.add(Button::new(text).frame_when_inactive(false))
    })
    .inner
}

/// Text that acts when clicked.
pub(crate) fn link(ui: &mut Ui, text: &str) -> Response {
    ui.add(egui::Link::new(egui::RichText::new(text).text_style(TextStyle::Small)))
}

/// A square button that shows an icon; `label` is its name for everybody who cannot see it, and its tooltip.
pub(crate) fn icon_button(ui: &mut Ui, icon: Icon, label: &str) -> Response {
    let side = tokens().space.control_height;
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(side), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), label));
    if ui.is_rect_visible(rect) {
        paint_ground(ui, &response, rect);
        let colour = if response.hovered() { palette(ui).ink } else { palette(ui).ink_secondary };
        icon.paint(ui.painter(), Icon::square(rect.center(), 16.0), colour);
    }
    response.on_hover_text(label)
}

/// A framed button with an icon before its text.
pub(crate) fn icon_text_button(ui: &mut Ui, icon: Icon, text: &str) -> Response {
    let colours = palette(ui);
    let font = TextStyle::Button.resolve(ui.style());
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, Color32::PLACEHOLDER);
    let height = tokens().space.control_height;
    let size = Vec2::new(galley.size().x + 40.0, height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), text));
    if ui.is_rect_visible(rect) {
        let visuals = *ui.style().interact(&response);
        ui.painter().rect(rect, visuals.corner_radius, visuals.weak_bg_fill, visuals.bg_stroke, StrokeKind::Inside);
        let centre = egui::pos2(rect.left() + 18.0, rect.center().y);
        icon.paint(ui.painter(), Icon::square(centre, 15.0), colours.ink_secondary);
        let corner = egui::pos2(rect.left() + 30.0, rect.center().y - galley.size().y / 2.0);
        ui.painter().galley(corner, galley, colours.ink);
    }
    response
}

fn paint_ground(ui: &Ui, response: &Response, rect: egui::Rect) {
    let colours = palette(ui);
    let radius = tokens().space.radius;
    if response.is_pointer_button_down_on() {
        ui.painter().rect_filled(rect, radius, colours.pressed);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, radius, colours.hover);
    }
    if response.has_focus() {
        ui.painter().rect_stroke(rect, radius, Stroke::new(1.5, colours.accent), StrokeKind::Inside);
    }
}
