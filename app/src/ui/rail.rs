//! The rail of spaces at the left edge.

use egui::{FontId, Frame, Panel, Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo, pos2};

use super::icons::Icon;
use super::theme::{palette, tokens};
use crate::command::Command;
use crate::state::{AppState, Space};

/// The icon of a space.
pub(super) fn icon(space: Space) -> Icon {
    match space {
        Space::Library => Icon::Library,
        Space::Chunks => Icon::Chunks,
        Space::Similarity => Icon::Similarity,
        Space::Search => Icon::Search,
        Space::Chat => Icon::Chat,
        Space::Models => Icon::Models,
        Space::Settings => Icon::Settings,
    }
}

/// Draws the rail.
pub(super) fn rail_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let frame = Frame::new().fill(palette(ui).surface).inner_margin(egui::Margin::symmetric(8, 12));
    let panel = Panel::left("rail").exact_size(tokens().space.rail_width).resizable(false).frame(frame);
    panel.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        logo_ui(ui);
        for space in Space::ALL {
            if space == Space::Models {
                ui.add_space((ui.available_height() - 2.0 * ITEM_HEIGHT - 4.0).max(0.0));
            }
            if item_ui(ui, space, state.space == space).clicked() {
                commands.push(Command::ShowSpace(space));
            }
        }
    });
}

const ITEM_HEIGHT: f32 = 56.0;

fn logo_ui(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(Vec2::new(ui.available_width(), 48.0), Sense::hover());
    let centre = pos2(rect.center().x, rect.center().y - 2.0);
    Icon::Outcrop.paint(ui.painter(), Icon::square(centre, 30.0), palette(ui).accent);
}

fn item_ui(ui: &mut Ui, space: Space, is_current: bool) -> Response {
    let colours = palette(ui);
    let (rect, response) = ui.allocate_exact_size(Vec2::new(ui.available_width(), ITEM_HEIGHT), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Tab, ui.is_enabled(), is_current, space.title()));
    let ground = if is_current {
        colours.accent_wash
    } else if response.hovered() {
        colours.hover
    } else {
        colours.surface
    };
    ui.painter().rect_filled(rect, 8.0, ground);
    if response.has_focus() {
        let stroke = egui::Stroke::new(1.5, colours.accent);
        ui.painter().rect_stroke(rect, 8.0, stroke, egui::StrokeKind::Inside);
    }
    let ink = if is_current { colours.accent } else { colours.ink_secondary };
    paint_item(ui, rect, space, ink);
    response
}

fn paint_item(ui: &Ui, rect: Rect, space: Space, ink: egui::Color32) {
    let centre = pos2(rect.center().x, rect.top() + 21.0);
    icon(space).paint(ui.painter(), Icon::square(centre, 20.0), ink);
    let font = FontId::proportional(tokens().text.caption);
    let galley = ui.painter().layout_no_wrap(space.title().to_owned(), font, ink);
    let corner = pos2(rect.center().x - galley.size().x / 2.0, rect.top() + 35.0);
    ui.painter().galley(corner, galley, ink);
}
