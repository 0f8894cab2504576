//! A group of controls that a wrapped row moves to its next line as a whole.

use egui::{AsIdSalt, Ui};

/// Draws `content` in a row. In a wrapped layout the row begins a new line where it does not fit behind what is there,
/// by the width that it took when it was last drawn: a row inside a row has no width before. `key` names it among its
/// siblings.
pub(crate) fn unbroken<R>(ui: &mut Ui, key: impl AsIdSalt, content: impl FnOnce(&mut Ui) -> R) -> R {
    if !ui.layout().main_wrap() {
        return ui.horizontal(content).inner;
    }
    let id = ui.scope_id().with(("unbroken", key));
    let known: Option<f32> = ui.data(|data| data.get_temp(id));
    let is_first = ui.cursor().left() <= ui.max_rect().left();
    if !is_first && known.is_none_or(|width| width > room(ui)) {
        ui.end_row();
    }
    let offered = room(ui);
    let drawn = ui.horizontal(content);
    let taken = drawn.response.rect.width();
    // Controls make themselves narrower where there is little room: then the wider one that is known holds.
    let width = if taken < offered { taken } else { known.map_or(taken, |known| known.max(taken)) };
    if known != Some(width) {
        ui.data_mut(|data| data.insert_temp(id, width));
        ui.request_discard("a row's width was not known");
        if !ui.will_discard() {
            ui.request_repaint();
        }
    }
    drawn.inner
}

/// Width left in the line. A group wider than its line stretches the layout, but not what can be seen.
fn room(ui: &Ui) -> f32 {
    ui.available_size_before_wrap().x.min(ui.clip_rect().right() - ui.cursor().left())
}

#[cfg(test)]
mod tests {
    use egui::{Context, Rect, pos2, vec2};

    use super::*;

    /// The line of each group of these widths in a row of the width, by a window that has drawn others before.
    fn lines(ctx: &Context, widths: &[f32], available: f32) -> Vec<usize> {
        let mut tops = Vec::new();
        let screen_rect = Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(available, 400.0)));
        let _ = ctx.run_ui(egui::RawInput { screen_rect, ..Default::default() }, |ui| {
            tops.clear();
            ui.spacing_mut().item_spacing = vec2(10.0, 5.0);
            ui.horizontal_wrapped(|ui| {
                for (index, width) in widths.iter().enumerate() {
                    let place = unbroken(ui, index, |ui| ui.allocate_space(vec2(*width, 20.0)).1.min);
                    tops.push(place.y as i32);
                }
            });
        });
        let mut found = tops.clone();
        found.dedup();
        tops.iter().filter_map(|top| found.iter().position(|line| line == top)).collect()
    }

    #[test]
    fn what_does_not_fit_begins_a_line_and_what_fits_stays() {
        for (widths, available, expected) in [
            ([100.0, 100.0, 100.0], 321.0, [0, 0, 0]),
            ([100.0, 100.0, 100.0], 300.0, [0, 0, 1]),
            ([100.0, 100.0, 100.0], 90.0, [0, 1, 2]),
            ([20.0, 200.0, 20.0], 215.0, [0, 1, 2]),
            ([300.0, 140.0, 140.0], 250.0, [0, 1, 2]),
        ] {
            assert_eq!(lines(&Context::default(), &widths, available), expected, "{widths:?} in {available}");
        }
    }

    #[test]
    fn a_group_that_shrinks_goes_back_to_its_line() {
        let ctx = Context::default();
        assert_eq!(lines(&ctx, &[100.0, 150.0], 200.0), [0, 1]);
        assert_eq!(lines(&ctx, &[100.0, 50.0], 200.0), [0, 0]);
        assert_eq!(lines(&ctx, &[100.0, 150.0], 200.0), [0, 1]);
    }
}
