//! The library as a map: every passage a point in the colour of its document, a question and what is nearest to it
//! marked.

use egui::{Pos2, Rect, Role, ScrollArea, Sense, Shape, Stroke, Ui, Vec2, WidgetInfo, pos2};

use super::super::theme::{layer, palette, secondary};
use super::super::widgets::{export_menu, format};
use crate::command::Command;
use crate::jobs::Figure;
use crate::similarity::{MapLayout, Point};
use crate::state::{AppState, MapResult};

const RADIUS: f32 = 3.2;
const LEGEND_WIDTH: f32 = 200.0;
/// How near the pointer must be to a point, in points of the screen.
const REACH: f32 = 14.0;

/// What is under the pointer, and what it draws.
#[derive(Default)]
pub(super) struct MapView {
    /// The document whose points stand out.
    lit: Option<usize>,
    /// The line that is being drawn around points.
    line: Vec<Point>,
}

impl MapView {
    /// Draws the map and its legend.
    pub(super) fn ui(&mut self, ui: &mut Ui, map: &MapResult, state: &AppState, commands: &mut Vec<Command>) {
        let left_out = match map.left_out {
            0 => String::new(),
            number => format!(" · {} more are left out", format::count(number)),
        };
        let by = match map.projection.layout {
            MapLayout::Pca => "by their first two principal components: like lies near like",
            MapLayout::Umap => "by their neighbours (UMAP): groups are true, distances between them are not",
        };
        let passages = format::counted(map.passages.len(), "passage");
        let words = format!("{passages} {by}; draw around some to list them{left_out}");
        ui.label(secondary(words));
        let room = ui.available_rect_before_wrap();
        let legend = Rect::from_min_max(pos2(room.right() - LEGEND_WIDTH, room.top()), room.max);
        let field = Rect::from_min_max(room.min, pos2(legend.left() - 16.0, room.bottom()));
        let hovered = legend_ui(ui, legend, map);
        self.points_ui(ui, field, map, state, commands);
        if hovered != self.lit {
            self.lit = hovered;
            ui.ctx().request_repaint();
        }
    }

    fn points_ui(&mut self, ui: &mut Ui, field: Rect, map: &MapResult, state: &AppState, commands: &mut Vec<Command>) {
        let response = ui.allocate_rect(field, Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Map of the library"));
        let painter = ui.painter().with_clip_rect(field);
        let points = &map.projection.points;
        let shapes = points.iter().zip(&map.projection.groups).map(|(point, group)| {
            let is_pale = self.lit.is_some_and(|lit| lit != *group);
            let ink = layer(ui, *group).edge.gamma_multiply(if is_pale { 0.15 } else { 0.8 });
            Shape::circle_filled(on_screen(field, *point), RADIUS, ink)
        });
        painter.extend(shapes.collect::<Vec<_>>());
        let colours = palette(ui);
        if let Some(answer) = &state.similarity.answer {
            let question = answer.place.map(|place| on_screen(field, place));
            for hit in answer.hits.iter().filter_map(|&hit| points.get(hit)) {
                let at = on_screen(field, *hit);
                painter.circle_stroke(at, RADIUS + 3.0, Stroke::new(1.5, colours.accent));
                if let Some(question) = question {
                    painter.line_segment([question, at], Stroke::new(0.8, colours.accent.gamma_multiply(0.5)));
                }
            }
            if let Some(at) = question {
                let diamond = [(0.0, -8.0), (8.0, 0.0), (0.0, 8.0), (-8.0, 0.0)].map(|(x, y)| at + Vec2::new(x, y));
                painter.add(Shape::convex_polygon(diamond.to_vec(), colours.accent, Stroke::new(1.5, colours.ground)));
            }
        }
        if let Some(picked) = state.similarity.picked_passage.and_then(|index| points.get(index)) {
            painter.circle_stroke(on_screen(field, *picked), RADIUS + 3.0, Stroke::new(2.0, colours.ink));
        }
        for place in state.similarity.encircled.iter().filter_map(|&index| points.get(index)) {
            painter.circle_stroke(on_screen(field, *place), RADIUS + 1.5, Stroke::new(1.2, colours.ink));
        }
        self.draw_around(ui, field, &response, map, commands);
        point(ui, field, &response, map, commands);
        response.context_menu(|ui| export_menu(ui, Figure::Projection, commands));
    }
}

impl MapView {
    /// A line drawn with the pointer; what is inside it is listed when the button comes up.
    fn draw_around(
        &mut self,
        ui: &Ui,
        field: Rect,
        response: &egui::Response,
        map: &MapResult,
        commands: &mut Vec<Command>,
    ) {
        let button = egui::PointerButton::Primary;
        if response.drag_started_by(button) {
            // It counts as drawing only once the pointer has moved, but begins where the button went down.
            let start = ui.input(|input| input.pointer.press_origin());
            self.line = start.map(|at| on_map(field, at)).into_iter().collect();
        }
        if response.dragged_by(button)
            && let Some(at) = response.interact_pointer_pos()
        {
            self.line.push(on_map(field, at));
        }
        if response.drag_stopped_by(button) {
            commands.push(Command::EncirclePassages(map.projection.inside(&self.line)));
            self.line.clear();
        }
        let drawn = self.line.iter().map(|place| on_screen(field, *place)).collect();
        ui.painter().add(Shape::closed_line(drawn, Stroke::new(1.5, palette(ui).accent)));
    }
}

/// Names the point under the pointer; a click shows it.
fn point(ui: &Ui, field: Rect, response: &egui::Response, map: &MapResult, commands: &mut Vec<Command>) {
    let Some(at) = response.hover_pos() else { return };
    let reach = REACH / (0.48 * field.width().min(field.height()));
    let Some(index) = map.projection.nearest(on_map(field, at), reach) else { return };
    let place = on_screen(field, map.projection.points[index]);
    ui.painter().circle_stroke(place, RADIUS + 2.0, Stroke::new(1.5, palette(ui).ink));
    if response.clicked() {
        commands.push(Command::PickPassage(index));
    }
    let start: String = map.passages[index].text.trim().chars().take(140).collect();
    response.clone().on_hover_text_at_pointer(start);
}

/// The names of the documents; gives the one under the pointer.
fn legend_ui(ui: &mut Ui, rect: Rect, map: &MapResult) -> Option<usize> {
    let mut hovered = None;
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(rect));
    ScrollArea::vertical().id_salt("map_legend").auto_shrink(false).show(&mut child, |ui| {
        for (index, name) in map.projection.names.iter().enumerate() {
            let row = ui.horizontal(|ui| {
                let (dot, _) = ui.allocate_exact_size(Vec2::splat(10.0), Sense::hover());
                ui.painter().circle_filled(dot.center(), 4.5, layer(ui, index).edge);
                ui.add(egui::Label::new(secondary(name.clone())).truncate());
            });
            if row.response.contains_pointer() {
                hovered = Some(index);
            }
        }
    });
    hovered
}

fn on_screen(field: Rect, point: Point) -> Pos2 {
    let half = 0.48 * field.width().min(field.height());
    field.center() + Vec2::new(point.x, -point.y) * half
}

fn on_map(field: Rect, at: Pos2) -> Point {
    let half = 0.48 * field.width().min(field.height());
    let from_centre = (at - field.center()) / half;
    Point { x: from_centre.x, y: -from_centre.y }
}
