//! What a space shows when it has nothing to show.

use egui::{Align, Layout, Ui, Vec2};

use crate::ui::icons::Icon;
use crate::ui::theme::{palette, secondary, title, tokens};

/// An icon, one sentence, one line of help and room for buttons, in the middle of what is left.
pub(crate) fn empty_state(ui: &mut Ui, icon: Icon, sentence: &str, help: &str, actions: impl FnOnce(&mut Ui)) {
    let space = &tokens().space;
    let room = ui.available_height();
    ui.with_layout(Layout::top_down(Align::Center), |ui| {
        ui.add_space((room * 0.5 - 120.0).max(space.xl));
        let (rect, _) = ui.allocate_exact_size(Vec2::splat(44.0), egui::Sense::hover());
        icon.paint(ui.painter(), rect, palette(ui).ink_faint);
        ui.add_space(space.s);
        ui.label(title(sentence));
        ui.label(secondary(help));
        ui.add_space(space.m);
        actions(ui);
    });
}
