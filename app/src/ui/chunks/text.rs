//! The text in rows, as layers. Only visible rows are built, so that length costs nothing.

use std::sync::Arc;

use egui::{FontId, Rect, ScrollArea, Ui, Vec2, pos2};

use super::super::theme::{palette, tokens};
use super::{minimap, row};
use crate::command::Command;
use crate::extract::Extraction;
use crate::state::edits::nearest_place;
use crate::state::{AppState, LabResult, RowKind, RowMetrics, Selection};

/// Room at the left of the layers, and between the text and the minimap.
pub(super) const MARGIN: f32 = 24.0;
const MINIMAP_WIDTH: f32 = 14.0;
const NARROWEST_ROW: f32 = 280.0;

/// Scroll position and what rows were last measured for.
#[derive(Default)]
pub(super) struct TextView {
    measured: Option<RowMetrics>,
    width: f32,
    /// First byte in sight and how far its row is scrolled out, to stay in place when the text is cut anew.
    anchor: Option<(usize, f32)>,
    cut_number: usize,
    granted_jump: u64,
    wanted_offset: Option<f32>,
}

impl TextView {
    /// Tells the lab how wide rows are when fonts, zoom or width changed.
    pub(super) fn measure(&mut self, ui: &Ui, commands: &mut Vec<Command>) {
        let metrics = metrics(ui, self.width);
        if self.measured.as_ref() != Some(&metrics) {
            commands.push(Command::SetRowMetrics(Arc::new(metrics.clone())));
            self.measured = Some(metrics);
        }
    }

    /// Draws the text; gives the chunk under the pointer.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        extraction: &Extraction,
        result: &LabResult,
        state: &AppState,
        hovered: Option<usize>,
        commands: &mut Vec<Command>,
    ) -> Option<usize> {
        let room = ui.available_rect_before_wrap();
        self.width = (room.width() / 8.0).floor() * 8.0;
        let map = Rect::from_min_max(pos2(room.right() - MINIMAP_WIDTH, room.top()), room.max);
        let offset = self.offset(result, state, room.height());
        let mut area = ScrollArea::vertical().id_salt("chunk_text").auto_shrink(false);
        area = area.scroll_bar_visibility(egui::scroll_area::ScrollBarVisibility::AlwaysHidden);
        if let Some(offset) = offset {
            area = area.vertical_scroll_offset(offset);
        }
        let selected = selected_chunk(state, result);
        let output = area.show_viewport(ui, |ui, viewport| {
            let painter = row::RowPainter { text: &extraction.text, result, hovered, selected };
            rows_ui(ui, viewport, &painter, commands)
        });
        let (hovered_row, drag) = output.inner;
        self.follow_drag(ui, drag, extraction, result, commands);
        let top = output.state.clamped_offset().y;
        self.remember(result, top);
        let view = minimap::View { top, height: room.height() };
        self.wanted_offset = minimap::minimap_ui(ui, map, result, view, hovered);
        hovered_row
    }

    /// Shows where a dragged cut would go, the start of the nearest sentence, and puts it there when it is let go.
    fn follow_drag(
        &self,
        ui: &Ui,
        drag: Option<(row::CutDrag, f32)>,
        extraction: &Extraction,
        result: &LabResult,
        commands: &mut Vec<Command>,
    ) {
        let Some((drag, origin)) = drag else { return };
        let rows = &result.rows;
        let row = rows.rows.get(rows.row_at(drag.pointer.y - origin));
        let target = row.and_then(|row| {
            let from_left = drag.pointer.x - ui.max_rect().left() - MARGIN - row::TEXT_LEFT;
            let line = extraction.text.get(row.bytes.clone())?;
            let metrics = self.measured.as_ref()?;
            nearest_place(result, drag.chunk, row.bytes.start + metrics.byte_at(line, from_left))
        });
        if let Some(byte) = target {
            let y = origin + rows.top_of(byte);
            let stroke = egui::Stroke::new(2.0, palette(ui).accent);
            let left = ui.max_rect().left() + MARGIN;
            ui.painter().hline(left..=left + band_width(ui.max_rect().width()), y, stroke);
            if drag.is_over {
                commands.push(Command::MoveCut { index: drag.chunk, byte });
            }
        }
    }

    /// Where to scroll to, if not just on: a jump, the minimap, or the same place in a new cut.
    fn offset(&mut self, result: &LabResult, state: &AppState, height: f32) -> Option<f32> {
        let identity = std::ptr::from_ref(result) as usize;
        let is_new_cut = std::mem::replace(&mut self.cut_number, identity) != identity;
        if let Some(jump) = state.lab.jump.filter(|jump| jump.number != self.granted_jump) {
            self.granted_jump = jump.number;
            return Some((result.rows.top_of(jump.byte) - height * 0.15).max(0.0));
        }
        if let Some(offset) = self.wanted_offset.take() {
            return Some(offset);
        }
        let (byte, inset) = self.anchor.filter(|_| is_new_cut)?;
        Some((result.rows.top_of(byte) + inset).max(0.0))
    }

    fn remember(&mut self, result: &LabResult, top: f32) {
        let first = result.rows.rows.get(result.rows.row_at(top));
        self.anchor = first.map(|row| (row.bytes.start, top - result.rows.top_of(row.bytes.start)));
    }
}

/// Draws the rows in sight; gives the chunk under the pointer, and a cut that is dragged with where the text begins.
fn rows_ui(
    ui: &mut Ui,
    viewport: Rect,
    painter: &row::RowPainter<'_>,
    commands: &mut Vec<Command>,
) -> (Option<usize>, Option<(row::CutDrag, f32)>) {
    let rows = &painter.result.rows;
    let width = ui.available_width();
    ui.set_min_size(Vec2::new(width, rows.height + viewport.height() * 0.3));
    let origin = ui.max_rect().min;
    let band = band_width(width);
    let (mut hovered, mut drag) = (None, None);
    for position in rows.visible(viewport.top(), viewport.bottom()) {
        let row = &rows.rows[position];
        let bottom = rows.rows.get(position + 1).map_or(rows.height, |next| next.top);
        let min = pos2(origin.x + MARGIN, origin.y + row.top);
        let rect = Rect::from_min_size(min, Vec2::new(band, bottom - row.top));
        hovered = hovered.or(painter.ui(ui, rect, row, commands));
        if row.kind == RowKind::Header {
            drag = drag.or(row::cut_ui(ui, rect, row.chunk + row.num_chunks - 1));
        }
    }
    (hovered, drag.map(|drag| (drag, origin.y)))
}

/// Width of a layer: the reading width, or what the window leaves.
pub(super) fn band_width(available: f32) -> f32 {
    let room = available - 2.0 * MARGIN - MINIMAP_WIDTH;
    room.min(tokens().space.reading_width + row::TEXT_LEFT + row::TEXT_RIGHT).max(NARROWEST_ROW)
}

fn selected_chunk(state: &AppState, result: &LabResult) -> Option<usize> {
    match &state.selection {
        Selection::Passage(passage) if Some(passage.document) == state.lab.document => result.chunk_at(passage.start),
        _ => None,
    }
}

fn metrics(ui: &Ui, width: f32) -> RowMetrics {
    let text = &tokens().text;
    let font = FontId::proportional(text.reading);
    let mut ascii = [0.0; 128];
    let (narrow, wide) = ui.fonts_mut(|fonts| {
        for (code, advance) in ascii.iter_mut().enumerate().skip(32) {
            *advance = fonts.glyph_width(&font, code as u8 as char);
        }
        (fonts.glyph_width(&font, 'о'), text.reading)
    });
    let room = if width > 0.0 { width } else { tokens().space.reading_width * 1.5 };
    RowMetrics {
        ascii,
        narrow,
        wide,
        row_width: band_width(room) - row::TEXT_LEFT - row::TEXT_RIGHT,
        text_height: text.reading_line,
        header_height: text.layer_header_line,
    }
}
