//! One choice among few, all in sight.

use egui::{Frame, Margin, Response, Role, Sense, Stroke, TextStyle, Ui, Vec2, WidgetInfo};

use super::unbroken;
use crate::ui::theme::{palette, tokens};

/// Shows `choices` side by side; gives the one that was clicked.
pub(crate) fn segmented<T: Copy + PartialEq>(ui: &mut Ui, current: T, choices: &[(T, &str)]) -> Option<T> {
    let colours = palette(ui);
    let frame = Frame::new().fill(colours.hover).corner_radius(tokens().space.radius).inner_margin(Margin::same(2));
    let words: Vec<&str> = choices.iter().map(|(_, word)| *word).collect();
    let draw = |ui: &mut Ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.spacing_mut().interact_size.y = tokens().space.control_height - 4.0;
        let choose = |ui: &mut Ui| {
            let mut clicked = None;
            for (value, word) in choices {
                if choice(ui, word, *value == current).clicked() {
                    clicked = Some(*value);
                }
            }
            clicked.filter(|value| *value != current)
        };
        ui.horizontal(choose).inner
    };
    unbroken(ui, words, |ui| frame.show(ui, draw).inner)
}

fn choice(ui: &mut Ui, word: &str, is_current: bool) -> Response {
    let colours = palette(ui);
    let font = TextStyle::Button.resolve(ui.style());
    let galley = ui.painter().layout_no_wrap(word.to_owned(), font, colours.ink);
    let size = Vec2::new(galley.size().x + 20.0, tokens().space.control_height - 4.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, ui.is_enabled(), is_current, word));
    let radius = tokens().space.radius - 1.0;
    if is_current {
        let stroke = Stroke::new(1.0, colours.hairline);
        ui.painter().rect(rect, radius, colours.raised, stroke, egui::StrokeKind::Inside);
    }
    if response.has_focus() {
        ui.painter().rect_stroke(rect, radius, Stroke::new(1.5, colours.accent), egui::StrokeKind::Inside);
    }
    let lit = is_current || response.hovered();
    let ink = if lit { colours.ink } else { colours.ink_secondary };
    ui.painter().galley_with_override_text_color(rect.center() - galley.size() / 2.0, galley, ink);
    response
}
