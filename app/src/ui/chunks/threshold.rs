//! The threshold in the boundary plot: a line to drag, or to move with the arrow keys.

use egui::{
    Align2, CursorIcon, EventFilter, FontId, Key, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2,
};
use egui_plot::PlotTransform;

use super::super::theme::{palette, tokens};
use crate::chunk::{ChunkerConfig, Threshold};
use crate::command::Command;
use crate::state::LabResult;

/// How near the pointer must be to take hold of the line.
const GRIP: f32 = 8.0;
/// Thresholds are set in steps of this.
const STEP: f32 = 0.005;

/// The threshold while it is dragged, ahead of the cut that it asked for.
#[derive(Default)]
pub(super) struct ThresholdHandle {
    dragged: Option<f32>,
}

impl ThresholdHandle {
    /// The threshold to draw, if the chunker has one.
    pub(super) fn value(&self, result: &LabResult) -> Option<f32> {
        self.dragged.or(result.threshold).filter(|_| result.config.kind.has_threshold())
    }

    /// Draws the handle on the line; gives whether the pointer is on it.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        transform: &PlotTransform,
        threshold: f32,
        config: &ChunkerConfig,
        commands: &mut Vec<Command>,
    ) -> bool {
        let y = transform.position_from_point_y(f64::from(threshold));
        let frame = transform.frame();
        let grip = Rect::from_x_y_ranges(frame.x_range(), y - GRIP..=y + GRIP).intersect(*frame);
        let response = ui.interact(grip, ui.scope_id().with("threshold"), Sense::click_and_drag());
        response.widget_info(|| {
            let mut info = WidgetInfo::slider(true, f64::from(threshold), "Threshold line");
            info.role = Role::Slider;
            info
        });
        let wanted = dragged_to(&response, transform).or_else(|| stepped(ui, &response, threshold));
        if let Some(wanted) = wanted.filter(|wanted| (wanted - threshold).abs() > STEP / 2.0) {
            let threshold = Threshold::Fixed(wanted);
            commands.push(Command::SetChunker(ChunkerConfig { threshold, ..config.clone() }));
        }
        self.dragged = if response.dragged() { wanted.or(self.dragged) } else { None };
        let rule = Some(config.threshold).filter(|rule| self.dragged.is_none() && !matches!(rule, Threshold::Fixed(_)));
        label(ui, &response, pos2(frame.right() - 4.0, y), threshold, rule);
        response.on_hover_and_drag_cursor(CursorIcon::ResizeVertical).contains_pointer()
    }
}

fn dragged_to(response: &Response, transform: &PlotTransform) -> Option<f32> {
    let at = response.interact_pointer_pos().filter(|_| response.dragged())?;
    let value = transform.value_from_position(at).y as f32;
    Some(((value / STEP).round() * STEP).clamp(0.0, 1.0))
}

/// Arrow keys move the line by a hundredth while it has the focus.
fn stepped(ui: &Ui, response: &Response, threshold: f32) -> Option<f32> {
    if !response.has_focus() {
        return None;
    }
    let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let presses = |key| ui.input(|input| input.num_presses(key)) as f32;
    let steps = presses(Key::ArrowUp) - presses(Key::ArrowDown);
    (steps != 0.0).then(|| (threshold + steps * 0.01).clamp(0.0, 1.0))
}

fn label(ui: &Ui, response: &Response, at: egui::Pos2, threshold: f32, rule: Option<Threshold>) {
    let colours = palette(ui);
    let lit = response.hovered() || response.dragged() || response.has_focus();
    let ground = if lit { colours.accent_strong } else { colours.accent };
    let text = rule.map_or_else(|| format!("{threshold:.2}"), |rule| format!("{rule} {threshold:.2}"));
    let font = FontId::monospace(tokens().text.caption);
    let galley = ui.painter().layout_no_wrap(text, font, colours.on_accent);
    let rect = Align2::RIGHT_CENTER.anchor_size(at, galley.size() + egui::vec2(12.0, 4.0));
    ui.painter().rect_filled(rect, 4.0, ground);
    if response.has_focus() {
        let stroke = Stroke::new(1.5, colours.ink);
        ui.painter().rect_stroke(rect, 4.0, stroke, StrokeKind::Outside);
    }
    ui.painter().galley(rect.center() - galley.size() / 2.0, galley, colours.on_accent);
}
