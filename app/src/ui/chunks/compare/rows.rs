//! The text with a gutter of layers for each chunker. Only visible rows are built.

use egui::text::{LayoutJob, TextFormat};
use egui::{Align2, FontId, Rect, Role, ScrollArea, Sense, Stroke, Ui, Vec2, WidgetInfo, pos2};

use super::super::super::theme::{layer, palette, tokens};
use super::super::text::MARGIN;
use super::LETTERS;
use crate::extract::Extraction;
use crate::state::{Comparison, CutMark, RowKind, TextRow};

const GUTTER: f32 = 14.0;
const GAP: f32 = 4.0;

/// Scroll position.
#[derive(Default)]
pub(super) struct Rows {
    first_byte: usize,
    wanted_byte: Option<usize>,
}

impl Rows {
    /// The first byte in sight.
    pub(super) fn first_byte(&self) -> usize {
        self.first_byte
    }

    /// Scrolls to a byte in the next frame.
    pub(super) fn jump_to(&mut self, byte: usize) {
        self.wanted_byte = Some(byte);
    }

    /// Draws the text.
    pub(super) fn ui(&mut self, ui: &mut Ui, extraction: &Extraction, comparison: &Comparison) {
        let rows = &comparison.rows;
        letters_ui(ui, comparison.columns.len());
        let mut area = ScrollArea::vertical().id_salt("compared_text").auto_shrink(false);
        if let Some(byte) = self.wanted_byte.take() {
            area = area.vertical_scroll_offset((rows.top_of(byte) - 2.0).max(0.0));
            self.first_byte = byte;
        }
        let output = area.show_viewport(ui, |ui, viewport| {
            ui.set_min_size(Vec2::new(ui.available_width(), rows.height + viewport.height() * 0.3));
            let origin = ui.max_rect().min;
            for position in rows.visible(viewport.top(), viewport.bottom()) {
                let row = &rows.rows[position];
                let bottom = rows.rows.get(position + 1).map_or(rows.height, |next| next.top);
                let min = pos2(origin.x + MARGIN, origin.y + row.top);
                let size = Vec2::new(ui.max_rect().width() - 2.0 * MARGIN, bottom - row.top);
                row_ui(ui, Rect::from_min_size(min, size), row, extraction, comparison);
            }
        });
        let top = output.state.clamped_offset().y + 4.0;
        self.first_byte = rows.rows.get(rows.row_at(top)).map_or(0, |row| row.bytes.start);
    }
}

/// The letter of each chunker over its gutter.
fn letters_ui(ui: &mut Ui, num_columns: usize) {
    let (rect, _) = ui.allocate_exact_size(Vec2::new(ui.available_width(), LETTERS_HEIGHT), Sense::hover());
    let font = FontId::monospace(tokens().text.caption);
    for (index, letter) in LETTERS.iter().take(num_columns).enumerate() {
        let x = rect.left() + MARGIN + index as f32 * (GUTTER + GAP) + GUTTER / 2.0;
        let at = pos2(x, rect.center().y);
        ui.painter().text(at, Align2::CENTER_CENTER, letter, font.clone(), palette(ui).ink_secondary);
    }
}

const LETTERS_HEIGHT: f32 = 20.0;

fn row_ui(ui: &mut Ui, rect: Rect, row: &TextRow, extraction: &Extraction, comparison: &Comparison) {
    for (index, column) in comparison.columns.iter().enumerate() {
        // Above a cut the layer before it goes on.
        let before = if row.kind == RowKind::Header { row.bytes.start.saturating_sub(1) } else { row.bytes.start };
        let middle = if row.kind == RowKind::Header { rect.center().y } else { rect.top() };
        let left = rect.left() + index as f32 * (GUTTER + GAP);
        for (byte, top, bottom) in [(before, rect.top(), middle), (row.bytes.start, middle, rect.bottom())] {
            if let Some(chunk) = column.chunk_at(byte) {
                let band = Rect::from_min_max(pos2(left, top), pos2(left + GUTTER, bottom));
                ui.painter().rect_filled(band, 0.0, layer(ui, chunk).edge.gamma_multiply(0.72));
            }
        }
    }
    let text_left = rect.left() + comparison.columns.len() as f32 * (GUTTER + GAP) + 12.0;
    match row.kind {
        RowKind::Header => {
            let cut = comparison.cuts.binary_search_by_key(&row.bytes.start, |mark| mark.byte);
            if let Some(mark) = cut.ok().and_then(|at| comparison.cuts.get(at)) {
                cut_ui(ui, rect, text_left, *mark, comparison);
            }
        }
        RowKind::Text => {
            let text = extraction.text.get(row.bytes.clone()).unwrap_or_default();
            let format = TextFormat::simple(FontId::proportional(tokens().text.reading), palette(ui).ink);
            let mut job = LayoutJob::single_section(text.replace('\t', "    "), format);
            job.wrap.max_width = f32::INFINITY;
            let galley = ui.painter().layout_job(job);
            let y = rect.center().y - galley.size().y / 2.0;
            ui.painter().galley(pos2(text_left, y), galley, palette(ui).ink);
        }
    }
}

/// A cut: a hairline where all share it, else a line in the accent with the letters of those who cut.
fn cut_ui(ui: &mut Ui, rect: Rect, text_left: f32, mark: CutMark, comparison: &Comparison) {
    let colours = palette(ui);
    let y = rect.center().y;
    for index in (0..comparison.columns.len()).filter(|index| mark.has(*index)) {
        let left = rect.left() + index as f32 * (GUTTER + GAP);
        let notch = Rect::from_min_max(pos2(left, y - 1.5), pos2(left + GUTTER, y + 1.5));
        ui.painter().rect_filled(notch, 0.0, colours.ground);
    }
    if comparison.is_shared(mark) {
        ui.painter().hline(text_left..=rect.right(), y, Stroke::new(1.0, colours.hairline));
        return;
    }
    let letters: Vec<&str> =
        LETTERS.iter().enumerate().filter(|(index, _)| mark.has(*index)).map(|(_, letter)| *letter).collect();
    let letters = letters.join(" ");
    let response = ui.interact(rect, ui.scope_id().with(("difference", mark.byte)), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("Cut of {letters} alone")));
    let font = FontId::monospace(tokens().text.caption);
    let label = ui.painter().layout_no_wrap(letters, font, colours.accent);
    let line_end = (text_left + tokens().space.reading_width).min(rect.right() - label.size().x - 8.0);
    ui.painter().hline(text_left..=line_end, y, Stroke::new(1.5, colours.accent));
    let at = Align2::LEFT_CENTER.anchor_size(pos2(line_end + 8.0, y), label.size());
    ui.painter().galley(at.min, label, colours.accent);
}
