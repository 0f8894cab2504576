//! Chunks by chunks: light where two are alike. A strip above it shows a query against each chunk.

use std::sync::Arc;

use egui::{
    Align2, ColorImage, FontId, Pos2, Rect, Role, Sense, Stroke, StrokeKind, TextureHandle, TextureOptions, Ui, Vec2,
    WidgetInfo, pos2,
};

use super::super::theme::{palette, ramp, secondary, strong, tokens, untinted};
use super::super::widgets::{export_menu, format};
use crate::command::Command;
use crate::jobs::Figure;
use crate::state::{AppState, HeatResult, QueryAnswer};

const STRIP: f32 = 18.0;

/// The picture on the graphics card, and what it was made from.
#[derive(Default)]
pub(super) struct HeatView {
    texture: Option<(usize, TextureHandle)>,
}

impl HeatView {
    /// Draws the map.
    pub(super) fn ui(&mut self, ui: &mut Ui, heat: &Arc<HeatResult>, state: &AppState, commands: &mut Vec<Command>) {
        head_ui(ui, heat, state);
        let answer = state.similarity.answer.as_deref().filter(|answer| answer.cosines.len() == heat.map.num_rows);
        let room = ui.available_size();
        let side = room.x.min(room.y - if answer.is_some() { STRIP + 8.0 } else { 0.0 } - 22.0).max(120.0);
        if let Some(answer) = answer {
            strip_ui(ui, answer, side);
        }
        let (rect, response) = ui.allocate_exact_size(Vec2::splat(side), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Chunk by chunk similarity"));
        let texture = self.texture(ui, heat);
        let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        ui.painter().image(texture, rect, whole, untinted());
        if let Some((row, column)) = state.similarity.picked {
            mark(ui, rect, heat, row, column);
        }
        if let Some((row, column)) = response.hover_pos().and_then(|at| pair_at(rect, at, heat)) {
            mark(ui, rect, heat, row, column);
            if response.clicked() {
                commands.push(Command::PickPair(row, column));
            }
            let cosine = heat.map.at(row, column).unwrap_or_default();
            let text = format!("chunk {} and {}: {cosine:.3}", row + 1, column + 1);
            response.clone().on_hover_text_at_pointer(text);
        }
        response.context_menu(|ui| export_menu(ui, Figure::HeatMap, commands));
        legend_ui(ui, heat, side);
    }

    fn texture(&mut self, ui: &Ui, heat: &Arc<HeatResult>) -> egui::TextureId {
        let identity = Arc::as_ptr(heat) as usize;
        if let Some((_, texture)) = self.texture.as_ref().filter(|(known, _)| *known == identity) {
            return texture.id();
        }
        let size = [heat.map.across(), heat.map.down()];
        let image = if heat.pixels.is_empty() {
            ColorImage::filled([1, 1], palette(ui).hover)
        } else {
            ColorImage::from_rgb(size, &heat.pixels)
        };
        let texture = ui.ctx().load_texture("heat_map", image, TextureOptions::NEAREST);
        let id = texture.id();
        self.texture = Some((identity, texture));
        id
    }
}

fn head_ui(ui: &mut Ui, heat: &HeatResult, state: &AppState) {
    let name = state.library.document(heat.document).map(|record| record.title.clone()).unwrap_or_default();
    ui.horizontal(|ui| {
        ui.label(strong(name).size(tokens().text.secondary));
        let merged = if heat.map.span > 1 { format!(", {} a cell", heat.map.span) } else { String::new() };
        let words = format!(
            "{}{merged} · compared in {}",
            format::counted(heat.map.num_rows, "chunk"),
            format::millis(heat.compare_ms)
        );
        ui.label(secondary(words));
    });
}

/// The chunks under the pointer, by row and column.
fn pair_at(rect: Rect, at: Pos2, heat: &HeatResult) -> Option<(usize, usize)> {
    let share = (at - rect.min) / rect.size();
    let count = heat.map.num_rows;
    let chunk = |share: f32| ((share * count as f32) as usize).min(count.saturating_sub(1));
    (count > 0 && rect.contains(at)).then(|| (chunk(share.y), chunk(share.x)))
}

/// Lines through a pair, and its cell.
fn mark(ui: &Ui, rect: Rect, heat: &HeatResult, row: usize, column: usize) {
    let count = heat.map.num_rows.max(1) as f32;
    let cell = (rect.width() / count).max(3.0);
    let centre = rect.min + Vec2::new((column as f32 + 0.5) / count, (row as f32 + 0.5) / count) * rect.size();
    let ink = palette(ui).ground;
    let thin = Stroke::new(1.0, ink.gamma_multiply(0.5));
    ui.painter().hline(rect.x_range(), centre.y, thin);
    ui.painter().vline(centre.x, rect.y_range(), thin);
    let square = Rect::from_center_size(centre, Vec2::splat(cell + 2.0));
    ui.painter().rect_stroke(square, 0.0, Stroke::new(1.5, ink), StrokeKind::Outside);
}

/// The query against each chunk, in the colours of the map.
fn strip_ui(ui: &mut Ui, answer: &QueryAnswer, width: f32) {
    let (rect, response) = ui.allocate_exact_size(Vec2::new(width, STRIP), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Question by chunk similarity"));
    let count = answer.cosines.len().max(1);
    let extremes = answer
        .cosines
        .iter()
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &cosine| (low.min(cosine), high.max(cosine)));
    let share = |cosine: f32| (cosine - extremes.0) / (extremes.1 - extremes.0).max(1e-6);
    let columns = (width as usize).clamp(1, count);
    for column in 0..columns {
        let chunks = column * count / columns..((column + 1) * count / columns).max(column * count / columns + 1);
        let best = answer.cosines[chunks].iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let left = rect.left() + column as f32 * width / columns as f32;
        let right = rect.left() + (column + 1) as f32 * width / columns as f32;
        let bar = Rect::from_min_max(pos2(left, rect.top()), pos2(right, rect.bottom()));
        ui.painter().rect_filled(bar, 0.0, ramp(share(best)));
    }
    if let Some(at) = response.hover_pos() {
        let chunk = ((at.x - rect.left()) / width * count as f32) as usize;
        if let Some(cosine) = answer.cosines.get(chunk) {
            response.on_hover_text_at_pointer(format!("question and chunk {}: {cosine:.3}", chunk + 1));
        }
    }
}

/// What the colours mean.
fn legend_ui(ui: &mut Ui, heat: &HeatResult, width: f32) {
    let (rect, _) = ui.allocate_exact_size(Vec2::new(width, 16.0), Sense::hover());
    let bar = Rect::from_center_size(rect.center(), Vec2::new(160.0, 8.0));
    for step in 0..40 {
        let left = bar.left() + step as f32 * 4.0;
        let piece = Rect::from_min_size(pos2(left, bar.top()), Vec2::new(4.5, 8.0));
        ui.painter().rect_filled(piece, 0.0, ramp(step as f32 / 39.0));
    }
    let (low, high) = heat.map.range;
    let font = FontId::monospace(tokens().text.caption);
    let ink = palette(ui).ink_secondary;
    let (left, right) = (pos2(bar.left() - 8.0, bar.center().y), pos2(bar.right() + 8.0, bar.center().y));
    ui.painter().text(left, Align2::RIGHT_CENTER, format!("{low:.2}"), font.clone(), ink);
    ui.painter().text(right, Align2::LEFT_CENTER, format!("{high:.2}"), font, ink);
}
