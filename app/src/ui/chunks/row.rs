//! One row of a layer: the line that opens a chunk, or a line of its text.

use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align, Align2, Color32, CursorIcon, FontId, Label, Layout, Pos2, Rect, Role, Sense, Shape, Stroke, Ui, UiBuilder,
    WidgetInfo, pos2,
};

use super::super::theme::{layer, palette, tokens};
use super::super::widgets::format;
use crate::command::Command;
use crate::state::edits::weakest_place;
use crate::state::{LabResult, RowKind, TextRow};

/// From the layer's left edge to its text, and from its text to the right edge.
pub(super) const TEXT_LEFT: f32 = 20.0;
pub(super) const TEXT_RIGHT: f32 = 16.0;

const EDGE_WIDTH: f32 = 4.0;
/// Room above a chunk's opening line, where the cut is drawn.
const CUT_HEIGHT: f32 = 10.0;
const HATCH_STEP: f32 = 7.0;

/// Draws rows of one cut.
pub(super) struct RowPainter<'a> {
    pub(super) text: &'a str,
    pub(super) result: &'a LabResult,
    pub(super) hovered: Option<usize>,
    pub(super) selected: Option<usize>,
}

/// A cut that is being dragged: the chunk that it opens, where the pointer is, and whether it was let go.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutDrag {
    pub(super) chunk: usize,
    pub(super) pointer: Pos2,
    pub(super) is_over: bool,
}

/// Lets the cut before a chunk be dragged, over the room above its opening line.
pub(super) fn cut_ui(ui: &mut Ui, rect: Rect, chunk: usize) -> Option<CutDrag> {
    if chunk == 0 {
        return None;
    }
    let grip = Rect::from_min_max(pos2(rect.left(), rect.top() - 3.0), pos2(rect.right(), rect.top() + CUT_HEIGHT));
    let response = ui.interact(grip, ui.scope_id().with(("cut", chunk)), Sense::drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Splitter, true, format!("Cut before chunk {}", chunk + 1)));
    if response.hovered() || response.dragged() {
        let y = rect.top() + CUT_HEIGHT / 2.0;
        ui.painter().hline(rect.x_range(), y, Stroke::new(2.0, palette(ui).accent));
    }
    let pointer = response.interact_pointer_pos().filter(|_| response.dragged() || response.drag_stopped());
    let drag = pointer.map(|pointer| CutDrag { chunk, pointer, is_over: response.drag_stopped() });
    response.on_hover_and_drag_cursor(CursorIcon::ResizeVertical);
    drag
}

impl RowPainter<'_> {
    /// Draws a row into `rect`; gives its chunk when the pointer is over it.
    pub(super) fn ui(&self, ui: &mut Ui, rect: Rect, row: &TextRow, commands: &mut Vec<Command>) -> Option<usize> {
        let chunk = row.chunk + row.num_chunks - 1;
        let clicked = match row.kind {
            RowKind::Header => self.header_ui(ui, rect, chunk, commands),
            RowKind::Text => self.text_ui(ui, rect, row),
        };
        if clicked {
            commands.push(Command::InspectChunk(chunk));
        }
        ui.rect_contains_pointer(rect).then_some(chunk)
    }

    fn header_ui(&self, ui: &mut Ui, rect: Rect, chunk: usize, commands: &mut Vec<Command>) -> bool {
        let mut menu = Vec::new();
        let band = Rect::from_min_max(pos2(rect.left(), rect.top() + CUT_HEIGHT), rect.max);
        let response = ui.interact(band, ui.scope_id().with(("chunk", chunk)), Sense::click());
        response.widget_info(|| {
            let is_selected = self.selected == Some(chunk);
            WidgetInfo::selected(Role::Button, true, is_selected, format!("Chunk {}", chunk + 1))
        });
        response.context_menu(|ui| menu_ui(ui, self.result, chunk, &mut menu));
        self.cut_line(ui, rect, chunk);
        self.ground(ui, band, chunk, 1);
        let colours = palette(ui);
        let caption = FontId::proportional(tokens().text.caption);
        let left = pos2(band.left() + TEXT_LEFT, band.center().y + 1.0);
        let number = ui.painter().text(left, Align2::LEFT_CENTER, chunk + 1, caption.clone(), layer(ui, chunk).edge);
        let facts = self.facts(chunk);
        ui.painter().text(
            pos2(number.right() + 10.0, left.y),
            Align2::LEFT_CENTER,
            facts,
            caption,
            colours.ink_secondary,
        );
        commands.append(&mut menu);
        response.clicked()
    }

    fn facts(&self, chunk: usize) -> String {
        let size = self.result.sizes.get(chunk).copied().unwrap_or_default();
        let unit = format::unit(self.result.config.unit);
        let place = self.result.places.get(chunk).map(String::as_str).unwrap_or_default();
        let gap = if place.is_empty() { "" } else { "  ·  " };
        format!("{} {unit}{gap}{place}", format::count(size))
    }

    /// The cut before a chunk: dark where the meaning changes, pale where it hardly does.
    fn cut_line(&self, ui: &Ui, rect: Rect, chunk: usize) {
        let Some(similarity) = self.result.chunks.get(chunk).and_then(|chunk| chunk.left_similarity) else {
            return;
        };
        let colours = palette(ui);
        let strength = self.result.cut_strength(similarity);
        let ink = colours.cut_weak.lerp_to_gamma(colours.cut_strong, strength);
        let y = rect.top() + CUT_HEIGHT / 2.0;
        let font = FontId::monospace(tokens().text.caption - 1.0);
        let label = ui.painter().layout_no_wrap(format!("{similarity:.2}"), font, colours.ink_secondary);
        let line_end = rect.right() - label.size().x - 8.0;
        ui.painter().hline(rect.left()..=line_end, y, Stroke::new(0.6 + 1.4 * strength, ink));
        ui.painter().galley(pos2(line_end + 8.0, y - label.size().y / 2.0), label, colours.ink_secondary);
    }

    fn text_ui(&self, ui: &mut Ui, rect: Rect, row: &TextRow) -> bool {
        self.ground(ui, rect, row.chunk, row.num_chunks);
        let text = self.text.get(row.bytes.clone()).unwrap_or_default();
        if text.is_empty() {
            return false;
        }
        let format = TextFormat::simple(FontId::proportional(tokens().text.reading), palette(ui).ink);
        let mut job = LayoutJob::single_section(text.replace('\t', "    "), format);
        job.wrap.max_width = f32::INFINITY;
        let inner = Rect::from_min_max(pos2(rect.left() + TEXT_LEFT, rect.top()), rect.max);
        let builder = UiBuilder::new()
            .id_salt(("row", row.bytes.start))
            .max_rect(inner)
            .layout(Layout::left_to_right(Align::Center));
        ui.scope_builder(builder, |ui| ui.add(Label::new(job).selectable(true).extend()).clicked()).inner
    }

    /// Tint and edge of a layer; where layers overlap, both edges and the second one's hatching.
    fn ground(&self, ui: &Ui, rect: Rect, first: usize, num_chunks: usize) {
        let last = first + num_chunks - 1;
        let colours = layer(ui, first);
        let lit = (first..=last).any(|chunk| Some(chunk) == self.hovered || Some(chunk) == self.selected);
        let tint = if lit { colours.tint.lerp_to_gamma(colours.edge, 0.10) } else { colours.tint };
        ui.painter().rect_filled(rect, 0.0, tint);
        let edge = Rect::from_min_size(rect.min, egui::vec2(EDGE_WIDTH, rect.height()));
        ui.painter().rect_filled(edge, 0.0, colours.edge);
        if num_chunks > 1 {
            let second = layer(ui, last).edge;
            hatch(ui, rect, second.gamma_multiply(0.22));
            ui.painter().rect_filled(edge.translate(egui::vec2(EDGE_WIDTH + 1.0, 0.0)), 0.0, second);
        }
    }
}

/// What can be done with a chunk.
fn menu_ui(ui: &mut Ui, result: &LabResult, chunk: usize, commands: &mut Vec<Command>) {
    let last = result.chunks.len().saturating_sub(1);
    let items = [
        ("Merge with the one before", chunk.checked_sub(1).map(Command::MergeChunks)),
        ("Merge with the one after", (chunk < last).then_some(Command::MergeChunks(chunk))),
        ("Split at its weakest place", weakest_place(result, chunk).map(Command::SplitChunk)),
    ];
    for (word, command) in items {
        if ui.add_enabled(command.is_some(), egui::Button::new(word)).clicked() {
            commands.extend(command);
            ui.close();
        }
    }
}

/// Slanted lines over `rect`, in step from row to row.
fn hatch(ui: &Ui, rect: Rect, ink: Color32) {
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let height = rect.height();
    let phase = (rect.top() + rect.left()).rem_euclid(HATCH_STEP);
    let num_lines = ((rect.width() + height) / HATCH_STEP) as usize + 1;
    painter.extend((0..num_lines).map(|step| {
        let x = rect.left() - phase + step as f32 * HATCH_STEP;
        Shape::line_segment([pos2(x, rect.bottom()), pos2(x + height, rect.top())], Stroke::new(1.0, ink))
    }));
}
