//! The boundary plot: similarity of neighbouring segments over the document, cuts, and the threshold as a line to
//! drag.

use egui::{Align2, Color32, FontId, Pos2, Rect, Response, Stroke, Ui, pos2};
use egui_plot::{
    AxisHints, FilledArea, GridMark, HLine, Line, LineStyle, Plot, PlotPoint, PlotPoints, PlotTransform, PlotUi,
    Points, Span,
};

use super::super::theme::{layer, palette, secondary, strong, tokens};
use super::super::widgets::{export_menu, format, link, pace_line};
use super::threshold::ThresholdHandle;
use crate::chunk::{Boundary, Chunk};
use crate::command::Command;
use crate::jobs::Figure;
use crate::state::{AppState, LabResult};

/// Widths of a bevelled corner across the plot: below a pixel.
const BEVELS_ACROSS: f64 = 1000.0;
/// Curves with more points are drawn as the mean and the range of equal stretches.
const MOST_POINTS: usize = 480;
const STRETCHES: usize = 160;
/// More cuts than this would hide the curve: then the strip of layers alone shows them.
const MOST_CUTS: usize = 160;
/// Height of the strip of layers at the foot of the plot.
const STRIP_HEIGHT: f32 = 10.0;

/// The plot's own state.
#[derive(Default)]
pub(super) struct PlotView {
    threshold: ThresholdHandle,
}

impl PlotView {
    /// Draws the plot; gives the chunk under the pointer.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        result: &LabResult,
        state: &AppState,
        hovered: Option<usize>,
        commands: &mut Vec<Command>,
    ) -> Option<usize> {
        head_ui(ui, result, state, commands);
        let text_len = state.lab.extraction.value().map_or(1, |extraction| extraction.text.len().max(1));
        let threshold = self.threshold.value(result);
        let height = (ui.available_height() * 0.42).clamp(160.0, 420.0);
        let inks = Inks::of(ui, result, hovered);
        let plot = plot(ui, height, text_len, lowest(&result.curve));
        let shown = plot.show(ui, |plot| {
            if let Some((bytes, ink)) = inks.hovered {
                plot.span(Span::new("", bytes.0..=bytes.1).fill(ink).border_width(0.0));
            }
            if let Some(threshold) = threshold {
                let line = HLine::new("", f64::from(threshold)).stroke(Stroke::new(1.5, inks.accent));
                plot.hline(line.style(LineStyle::dashed_loose()).allow_hover(false));
            }
            let range = plot.plot_bounds().range_x();
            let seen = in_sight(&result.curve, &range);
            if seen.len() <= MOST_POINTS {
                let bevel = (range.end() - range.start()) / BEVELS_ACROSS;
                let curve = PlotPoints::Owned(bevelled(&seen.iter().map(plot_point).collect::<Vec<_>>(), bevel));
                plot.line(Line::new("", curve).stroke(Stroke::new(1.3, inks.curve)).allow_hover(false));
            } else {
                summary(plot, &stretches(seen), inks.curve);
            }
            let cuts = cuts(result);
            let cuts = in_sight(&cuts, &range);
            if cuts.len() <= MOST_CUTS {
                let dots = PlotPoints::Owned(cuts.iter().map(plot_point).collect());
                plot.points(Points::new("", dots).radius(3.0).color(inks.accent).allow_hover(false));
            }
        });
        strip(ui, &shown.transform, result, hovered);
        shown.response.context_menu(|ui| export_menu(ui, Figure::Boundary, commands));
        shown.response.clone().accessible_name("Boundary plot");
        let held = threshold
            .is_some_and(|threshold| self.threshold.ui(ui, &shown.transform, threshold, &state.lab.config, commands));
        point(ui, &shown.response, &shown.transform, result, commands).filter(|_| !held)
    }
}

/// Hovering finds the chunk; a click shows it and scrolls the text there.
fn point(
    ui: &Ui,
    response: &Response,
    transform: &PlotTransform,
    result: &LabResult,
    commands: &mut Vec<Command>,
) -> Option<usize> {
    let at = response.hover_pos()?;
    let byte = transform.value_from_position(at).x.max(0.0) as usize;
    let chunk = result.chunk_at(byte)?;
    if response.clicked() {
        let start = result.chunks.get(chunk).map_or(byte, |chunk| chunk.start);
        commands.extend([Command::JumpTo(start), Command::InspectChunk(chunk)]);
    }
    crosshair(ui, transform, result, byte, at);
    Some(chunk)
}

struct Inks {
    curve: Color32,
    accent: Color32,
    hovered: Option<((f64, f64), Color32)>,
}

impl Inks {
    fn of(ui: &Ui, result: &LabResult, hovered: Option<usize>) -> Self {
        let colours = palette(ui);
        let stretch = hovered.and_then(|chunk| Some((chunk, result.chunks.get(chunk)?)));
        let hovered = stretch
            .map(|(index, chunk)| ((chunk.start as f64, chunk.end as f64), layer(ui, index).edge.gamma_multiply(0.20)));
        Self { curve: colours.ink_secondary, accent: colours.accent, hovered }
    }
}

fn head_ui(ui: &mut Ui, result: &LabResult, state: &AppState, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.label(strong("Boundary").size(tokens().text.secondary));
        if let Some(pace) = &state.lab.embedding {
            if pace_line(ui, "embedding", pace, "segments") {
                commands.push(Command::StopEmbedding);
            }
        } else if result.curve.is_empty() && result.num_segments > 1 {
            ui.label(secondary("cosine of neighbouring sentences"));
            if link(ui, "Compute the curve").clicked() {
                commands.push(Command::ComputeCurve);
            }
        } else {
            let sentence = format!("cosine of {} neighbouring sentences", format::count(result.num_segments));
            ui.label(secondary(sentence));
        }
    });
}

fn plot<'a>(ui: &Ui, height: f32, text_len: usize, lowest: f64) -> Plot<'a> {
    let colours = palette(ui);
    let font = FontId::monospace(tokens().text.caption - 1.0);
    let characters = |mark: GridMark, _: &std::ops::RangeInclusive<f64>| match mark.value {
        value if value < 0.0 => String::new(),
        value if value >= 1000.0 => format!("{:.0}k", value / 1000.0),
        value => format!("{value:.0}"),
    };
    let similarity = |mark: GridMark, _: &std::ops::RangeInclusive<f64>| format!("{:.2}", mark.value);
    Plot::new("boundary_plot")
        .height(height)
        .allow_drag([false, false])
        .allow_zoom([true, false])
        .allow_scroll([true, false])
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag([false, false])
        .show_x(false)
        .show_y(false)
        .show_crosshair(false)
        .show_background(false)
        .set_margin_fraction(egui::Vec2::new(0.01, 0.08))
        .include_x(0.0)
        .include_x(text_len as f64)
        .include_y(lowest)
        .include_y(1.0)
        .grid_spacing(30.0..=90.0)
        .grid_color(colours.hairline)
        .grid_fade(0.2)
        .y_grid_spacer(egui_plot::uniform_grid_spacer(|_| [1.0, 0.5, 0.25]))
        .custom_x_axes(vec![
            AxisHints::new_x()
                .formatter(characters)
                .label_spacing(egui::Rangef::new(40.0, 60.0))
                .tick_label_color(colours.ink_faint)
                .tick_label_font(font.clone()),
        ])
        .custom_y_axes(vec![
            AxisHints::new_y()
                .formatter(similarity)
                .label_spacing(egui::Rangef::new(18.0, 24.0))
                .tick_label_color(colours.ink_faint)
                .tick_label_font(font)
                .min_thickness(28.0),
        ])
}

fn lowest(curve: &[Boundary]) -> f64 {
    curve.iter().fold(0.0, |lowest, boundary| f64::from(boundary.similarity).min(lowest))
}

fn plot_point(boundary: &Boundary) -> PlotPoint {
    PlotPoint::new(boundary.position as f64, f64::from(boundary.similarity))
}

/// The boundaries within `range`, with one more at each side.
fn in_sight<'a>(curve: &'a [Boundary], range: &std::ops::RangeInclusive<f64>) -> &'a [Boundary] {
    let from = curve.partition_point(|boundary| (boundary.position as f64) < *range.start()).saturating_sub(1);
    let to = curve.partition_point(|boundary| boundary.position as f64 <= *range.end()) + 1;
    &curve[from.min(curve.len())..to.min(curve.len()).max(from.min(curve.len()))]
}

/// A stretch of a curve that has too many points to draw.
struct Stretch {
    middle: f64,
    low: f64,
    mean: f64,
    high: f64,
}

fn stretches(curve: &[Boundary]) -> Vec<Stretch> {
    let stretch = |points: &[Boundary]| {
        let similarities = || points.iter().map(|boundary| f64::from(boundary.similarity));
        let count = points.len() as f64;
        Stretch {
            middle: points.iter().map(|boundary| boundary.position as f64).sum::<f64>() / count,
            low: similarities().fold(f64::INFINITY, f64::min),
            mean: similarities().sum::<f64>() / count,
            high: similarities().fold(f64::NEG_INFINITY, f64::max),
        }
    };
    curve.chunks(curve.len().div_ceil(STRETCHES).max(1)).map(stretch).collect()
}

/// The range of the curve as a band, its mean as a line.
fn summary(plot: &mut PlotUi<'_>, stretches: &[Stretch], ink: Color32) {
    let column = |of: fn(&Stretch) -> f64| stretches.iter().map(of).collect::<Vec<f64>>();
    let (across, low, high) =
        (column(|stretch| stretch.middle), column(|stretch| stretch.low), column(|stretch| stretch.high));
    let band = FilledArea::new("", &across, &low, &high).fill_color(ink.gamma_multiply(0.22)).stroke(Stroke::NONE);
    plot.add(band.allow_hover(false));
    let mean = stretches.iter().map(|stretch| PlotPoint::new(stretch.middle, stretch.mean)).collect();
    plot.line(Line::new("", PlotPoints::Owned(mean)).stroke(Stroke::new(1.3, ink)).allow_hover(false));
}

/// Every corner as two, `width` apart: the painter mitres corners, and the mitre of an acute one is a long wedge.
fn bevelled(points: &[PlotPoint], width: f64) -> Vec<PlotPoint> {
    let corners = points.iter().flat_map(|point| [point.x - width / 2.0, point.x + width / 2.0].map(|x| (x, point.y)));
    corners.map(|(x, y)| PlotPoint::new(x, y)).collect()
}

/// Where chunks begin, on the curve.
fn cuts(result: &LabResult) -> Vec<Boundary> {
    let cut = |chunk: &Chunk| Some(Boundary { position: chunk.start, similarity: chunk.left_similarity? });
    result.chunks.iter().skip(1).filter_map(cut).collect()
}

/// The layers along the foot of the plot.
fn strip(ui: &Ui, transform: &PlotTransform, result: &LabResult, hovered: Option<usize>) {
    let frame = *transform.frame();
    let painter = ui.painter().with_clip_rect(frame);
    let mut drawn_to = frame.left() - 1.0;
    for (index, chunk) in result.chunks.iter().enumerate() {
        let left = transform.position_from_point_x(chunk.start as f64);
        let right = transform.position_from_point_x(chunk.end as f64);
        if right < drawn_to + 0.7 || left > frame.right() {
            continue;
        }
        let height = if hovered == Some(index) { STRIP_HEIGHT * 1.6 } else { STRIP_HEIGHT };
        let bar = Rect::from_min_max(pos2(left, frame.bottom() - height), pos2(right - 0.5, frame.bottom()));
        painter.rect_filled(bar, 0.0, layer(ui, index).edge);
        drawn_to = right;
    }
}

/// A thin line at the pointer with the similarity of the nearest boundary.
fn crosshair(ui: &Ui, transform: &PlotTransform, result: &LabResult, byte: usize, at: Pos2) {
    let colours = palette(ui);
    let frame = transform.frame();
    ui.painter().vline(at.x, frame.y_range(), Stroke::new(1.0, colours.hairline_strong));
    let after = result.curve.partition_point(|boundary| boundary.position < byte);
    let Some(boundary) = result.curve.get(after).or(result.curve.last()) else { return };
    let font = FontId::monospace(tokens().text.caption);
    let text = format!("{:.2}", boundary.similarity);
    let (anchor, x) =
        if at.x > frame.center().x { (Align2::RIGHT_TOP, at.x - 5.0) } else { (Align2::LEFT_TOP, at.x + 5.0) };
    ui.painter().text(pos2(x, frame.top() + 2.0), anchor, text, font, colours.ink_secondary);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(len: usize) -> Vec<Boundary> {
        let wave = |position: usize| Boundary { position, similarity: (position as f32 * 0.7).sin() };
        (0..len).map(wave).collect()
    }

    #[test]
    fn a_summary_holds_the_whole_curve() {
        let long = curve(20_000);
        let stretches = stretches(&long);
        assert!(stretches.len() <= STRETCHES && stretches.windows(2).all(|pair| pair[0].middle < pair[1].middle));
        assert!(stretches.iter().all(|stretch| stretch.low <= stretch.mean && stretch.mean <= stretch.high));
        let lowest = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
        let all = lowest(&mut long.iter().map(|boundary| f64::from(boundary.similarity)));
        assert!((lowest(&mut stretches.iter().map(|stretch| stretch.low)) - all).abs() < 1e-9);
    }

    #[test]
    fn only_the_stretch_in_sight_is_drawn() {
        let long = curve(1000);
        let seen = in_sight(&long, &(100.0..=110.0));
        assert!(seen.len() == 13 && seen[0].position == 99, "{seen:?}");
        assert!(in_sight(&[], &(0.0..=1.0)).is_empty());
        assert!(in_sight(&long, &(5000.0..=6000.0)).len() <= 1);
    }
}
