//! A control with its name before it.

use std::ops::RangeInclusive;

use egui::{DragValue, Response, Ui};

use super::unbroken;
use crate::ui::theme::secondary;

/// A name and the control it belongs to, in a row; the control takes the name for accessibility.
pub(crate) fn field<R>(ui: &mut Ui, name: &str, control: impl FnOnce(&mut Ui) -> R) -> R {
    unbroken(ui, name, |ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let label = ui.label(secondary(name));
        ui.label_inputs_by(label.id, control)
    })
}

/// A number with its name before it, to type or to drag; `Some` when it changed.
pub(crate) fn number_field(ui: &mut Ui, name: &str, value: usize, range: RangeInclusive<usize>) -> Option<usize> {
    let mut edited = value;
    let speed = (*range.end() as f64 / 1000.0).clamp(0.5, 8.0);
    let response: Response = field(ui, name, |ui| ui.add(DragValue::new(&mut edited).range(range).speed(speed)));
    (response.changed() && edited != value).then_some(edited)
}
