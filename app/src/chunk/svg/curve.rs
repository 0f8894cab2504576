//! The upper half: similarity over position, the threshold and the cuts.

use super::{BoundaryPlot, CURVE_BOTTOM, CURVE_TOP, Frame, LAYERS_TOP, LEFT, RIGHT, WIDTH};
use crate::figure::{Anchor, Axis, Canvas, Font, Point, theme};

/// With more points than this the curve is drawn as its mean and its range for each column.
const MOST_POINTS: usize = 500;
/// Columns of a summarised curve.
const COLUMNS: usize = 360;
/// With more cuts than this their marks get smaller.
const MANY_CUTS: usize = 80;

pub(super) fn draw(canvas: &mut Canvas, plot: &BoundaryPlot<'_>, frame: &Frame) {
    let similarity = similarity_axis(plot);
    draw_grid(canvas, &similarity);
    if plot.chunking.boundaries.is_empty() {
        let font = Font { size: 13.0, colour: theme().colour("ink_faint"), is_strong: false };
        let middle = (f64::midpoint(LEFT, WIDTH - RIGHT), f64::midpoint(CURVE_TOP, CURVE_BOTTOM));
        canvas.text(middle, Anchor::Middle, &font, "no curve: too little text, or no vectors were given");
        return;
    }
    draw_cut_lines(canvas, plot, frame);
    let points: Vec<Point> = plot
        .chunking
        .boundaries
        .iter()
        .map(|boundary| (frame.x(plot.text, boundary.position), similarity.at(f64::from(boundary.similarity))))
        .collect();
    if points.len() <= MOST_POINTS {
        draw_points(canvas, &points);
    } else {
        draw_columns(canvas, &points);
    }
    draw_threshold(canvas, plot, &similarity);
    draw_cut_marks(canvas, plot, frame, &similarity);
}

/// From 0, or the next quarter under the lowest similarity, to 1.
fn similarity_axis(plot: &BoundaryPlot<'_>) -> Axis {
    let lowest = plot.chunking.boundaries.iter().map(|boundary| boundary.similarity).fold(0.0, f32::min);
    let low = (f64::from(lowest) * 4.0).floor() / 4.0;
    Axis::new((low, 1.0), (CURVE_BOTTOM, CURVE_TOP))
}

fn draw_grid(canvas: &mut Canvas, similarity: &Axis) {
    let font = Font { size: 12.0, colour: theme().colour("ink_secondary"), is_strong: false };
    for quarter in -4..=4 {
        let value = f64::from(quarter) / 4.0;
        let y = similarity.at(value);
        if y > CURVE_BOTTOM + 0.5 {
            continue;
        }
        let colour = if quarter == 0 { "hairline_strong" } else { "hairline" };
        canvas.line((LEFT, y), (WIDTH - RIGHT, y), theme().colour(colour), 1.0);
        canvas.text((LEFT - 12.0, y + 4.0), Anchor::End, &font, &format!("{value:.2}"));
    }
    let middle = f64::midpoint(CURVE_TOP, CURVE_BOTTOM);
    canvas.push(&format!(
        "<text transform=\"translate(22 {middle:.1}) rotate(-90)\" text-anchor=\"middle\" font-size=\"12\" \
         fill=\"{}\">similarity of neighbours</text>",
        font.colour
    ));
}

fn draw_points(canvas: &mut Canvas, points: &[Point]) {
    let accent = theme().colour("accent");
    let style =
        format!("class=\"curve\" fill=\"none\" stroke=\"{accent}\" stroke-width=\"1.5\" stroke-linejoin=\"round\"");
    canvas.polyline(points, &style);
    if points.len() <= 120 {
        for (x, y) in points {
            canvas.push(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\" fill=\"{accent}\"/>"));
        }
    }
}

/// The range of the curve as a band, its mean as a line.
fn draw_columns(canvas: &mut Canvas, points: &[Point]) {
    let columns: Vec<Column> = columns(points);
    let upper = columns.iter().map(|column| (column.x, column.top));
    let lower = columns.iter().rev().map(|column| (column.x, column.bottom));
    let band: Vec<Point> = upper.chain(lower).collect();
    canvas.polygon(&band, &format!("class=\"range\" fill=\"{}\"", theme().colour("accent_wash")));
    let mean: Vec<Point> = columns.iter().map(|column| (column.x, column.mean)).collect();
    let style = format!("class=\"curve\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.25\"", theme().colour("accent"));
    canvas.polyline(&mean, &style);
}

struct Column {
    x: f64,
    top: f64,
    bottom: f64,
    mean: f64,
}

fn columns(points: &[Point]) -> Vec<Column> {
    let width = (WIDTH - RIGHT - LEFT) / COLUMNS as f64;
    let column = |point: &Point| ((point.0 - LEFT) / width) as usize;
    points
        .chunk_by(|a, b| column(a) == column(b))
        .map(|points| Column {
            x: points.iter().map(|point| point.0).sum::<f64>() / points.len() as f64,
            top: points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min),
            bottom: points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max),
            mean: points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64,
        })
        .collect()
}

fn draw_threshold(canvas: &mut Canvas, plot: &BoundaryPlot<'_>, similarity: &Axis) {
    let Some(threshold) = plot.chunking.threshold else {
        return;
    };
    let y = similarity.at(f64::from(threshold));
    canvas.styled_line((LEFT, y), (WIDTH - RIGHT, y), &threshold_style());
    let font = Font { size: 12.0, colour: theme().colour("warning"), is_strong: true };
    canvas.text((WIDTH - RIGHT + 8.0, y + 4.0), Anchor::Start, &font, &format!("{threshold:.2}"));
}

/// Position, and similarity where it is known, of each chunk's start but the first.
fn cuts<'a>(plot: &'a BoundaryPlot<'_>) -> impl Iterator<Item = (usize, Option<f32>)> + 'a {
    plot.chunking.chunks.iter().skip(1).map(|chunk| (chunk.start, chunk.left_similarity))
}

/// A weak cut (similar on both sides) is pale, a strong one dark.
fn opacity(similarity: Option<f32>) -> f32 {
    1.0 - 0.8 * similarity.unwrap_or(0.5).clamp(0.0, 1.0)
}

fn draw_cut_lines(canvas: &mut Canvas, plot: &BoundaryPlot<'_>, frame: &Frame) {
    let colour = theme().colour("cut_strong");
    let width = if plot.chunking.chunks.len() > MANY_CUTS { 0.5 } else { 1.0 };
    for (position, similarity) in cuts(plot) {
        let x = frame.x(plot.text, position);
        let opacity = opacity(similarity) * 0.35;
        let style =
            format!("class=\"cut\" stroke=\"{colour}\" stroke-opacity=\"{opacity:.2}\" stroke-width=\"{width}\"");
        canvas.styled_line((x, CURVE_TOP), (x, LAYERS_TOP), &style);
    }
}

/// Triangles that point at the curve where it is cut.
fn draw_cut_marks(canvas: &mut Canvas, plot: &BoundaryPlot<'_>, frame: &Frame, similarity: &Axis) {
    let half = if plot.chunking.chunks.len() > MANY_CUTS { 2.5 } else { 5.0 };
    for (position, value) in cuts(plot) {
        let y = similarity.at(f64::from(value.unwrap_or(1.0))).max(CURVE_TOP + 12.0);
        draw_mark(canvas, (frame.x(plot.text, position), y - 2.0), half, opacity(value));
    }
}

fn draw_mark(canvas: &mut Canvas, tip: Point, half: f64, opacity: f32) {
    let (x, y) = tip;
    let corners = [(x - half, y - 1.6 * half), (x + half, y - 1.6 * half), (x, y)];
    let style = format!("fill=\"{}\" fill-opacity=\"{opacity:.2}\"", theme().colour("cut_strong"));
    canvas.polygon(&corners, &style);
}

/// What the marks mean, ending at `at`.
pub(super) fn draw_legend(canvas: &mut Canvas, plot: &BoundaryPlot<'_>, at: Point) {
    let font = Font { size: 13.0, colour: theme().colour("ink_secondary"), is_strong: false };
    let (right, y) = at;
    let cut_x = right - 240.0;
    draw_mark(canvas, (cut_x, y), 5.0, 1.0);
    canvas.text((cut_x + 12.0, y), Anchor::Start, &font, "cut, dark where the meaning changes");
    if let Some(threshold) = plot.chunking.threshold {
        let threshold_x = cut_x - 172.0;
        let style = threshold_style();
        canvas.styled_line((threshold_x, y - 4.0), (threshold_x + 28.0, y - 4.0), &style);
        canvas.text((threshold_x + 38.0, y), Anchor::Start, &font, &format!("threshold {threshold:.2}"));
    }
}

fn threshold_style() -> String {
    let colour = theme().colour("warning");
    format!("class=\"threshold\" stroke=\"{colour}\" stroke-width=\"1.25\" stroke-dasharray=\"6 4\"")
}
