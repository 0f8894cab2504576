//! Chips: a word on a tinted ground.

use egui::{Color32, FontId, Response, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo};

use crate::ui::theme::{Palette, palette, tokens};

/// What a chip says by its colour. The word says it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// In order.
    Good,
    /// Neither good nor bad.
    Neutral,
    /// Needs attention.
    Warning,
    /// Went wrong.
    Error,
}

impl Tone {
    fn colours(self, palette: &Palette) -> (Color32, Color32) {
        match self {
            Self::Good => (palette.accent, palette.accent_wash),
            Self::Neutral => (palette.ink_secondary, palette.hover),
            Self::Warning => (palette.warning, palette.warning_wash),
            Self::Error => (palette.error, palette.error_wash),
        }
    }
}

/// A chip. Senses clicks when `is_button`.
pub(crate) fn chip(ui: &mut Ui, text: &str, tone: Tone, is_button: bool) -> Response {
    let (ink, wash) = tone.colours(palette(ui));
    let font = FontId::proportional(tokens().text.caption + 0.5);
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, ink);
    let size = Vec2::new(galley.size().x + 14.0, 20.0);
    let sense = if is_button { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let role = if is_button { Role::Button } else { Role::Label };
    response.widget_info(|| WidgetInfo::labeled(role, ui.is_enabled(), text));
    if ui.is_rect_visible(rect) {
        let lit = is_button && (response.hovered() || response.has_focus());
        let stroke = if lit { Stroke::new(1.2, ink) } else { Stroke::NONE };
        ui.painter().rect(rect, 10.0, wash, stroke, StrokeKind::Inside);
        ui.painter().galley(rect.center() - galley.size() / 2.0, galley, ink);
    }
    response
}
