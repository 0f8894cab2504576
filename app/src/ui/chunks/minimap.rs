//! All layers of the document at once, at the text's right edge. A click or drag scrolls there.

use egui::{Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2};

use super::super::theme::{layer, palette};
use crate::state::{LabResult, RowKind};

/// What of the text is in sight.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub(super) top: f32,
    pub(super) height: f32,
}

/// Draws the map into `rect`; gives where to scroll to when it is used.
pub(super) fn minimap_ui(
    ui: &mut Ui,
    rect: Rect,
    result: &LabResult,
    view: View,
    hovered: Option<usize>,
) -> Option<f32> {
    let response = ui.interact(rect, ui.scope_id().with("minimap"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::ScrollBar, true, "Layers of the whole document"));
    let height = result.rows.height.max(1.0);
    let scale = rect.height() / height;
    ui.painter().rect_filled(rect, 0.0, palette(ui).surface);
    layers(ui, rect, result, scale, hovered);
    let seen = Rect::from_min_max(
        pos2(rect.left(), rect.top() + view.top * scale),
        pos2(rect.right(), (rect.top() + (view.top + view.height) * scale).min(rect.bottom())),
    );
    let ink = palette(ui).ink;
    ui.painter().rect(
        seen,
        2.0,
        ink.gamma_multiply(0.10),
        Stroke::new(1.0, ink.gamma_multiply(0.55)),
        StrokeKind::Inside,
    );
    let pointer = response.interact_pointer_pos().filter(|_| response.dragged() || response.clicked())?;
    Some(((pointer.y - rect.top()) / scale - view.height / 2.0).clamp(0.0, height))
}

/// One bar for each chunk; chunks thinner than a pixel share one.
fn layers(ui: &Ui, rect: Rect, result: &LabResult, scale: f32, hovered: Option<usize>) {
    let heads = result.rows.rows.iter().filter(|row| row.kind == RowKind::Header);
    let tops: Vec<(usize, f32)> = heads.map(|row| (row.chunk, rect.top() + row.top * scale)).collect();
    let mut drawn_to = rect.top() - 1.0;
    for (position, (chunk, top)) in tops.iter().enumerate() {
        let bottom = tops.get(position + 1).map_or(rect.bottom(), |next| next.1);
        if bottom - drawn_to < 0.7 {
            continue;
        }
        let is_hovered = hovered == Some(*chunk);
        let bar = Rect::from_min_max(pos2(rect.left() + 3.0, *top), pos2(rect.right() - 3.0, bottom - 0.5));
        let ink = layer(ui, *chunk).edge.gamma_multiply(if is_hovered { 1.0 } else { 0.62 });
        ui.painter().rect_filled(if is_hovered { bar.expand2(egui::vec2(3.0, 0.0)) } else { bar }, 0.0, ink);
        drawn_to = bottom;
    }
}
