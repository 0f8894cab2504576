//! The lower half: chunks as layers, overlaps hatched, and their sizes as bars.

use super::{BoundaryPlot, Frame, LAYERS_BOTTOM, LAYERS_TOP, LEFT, SIZES_BOTTOM, SIZES_TOP};
use crate::chunk::Chunk;
use crate::figure::{Anchor, Canvas, Font, grouped, theme};

/// A layer this wide has room for its number.
const LABEL_WIDTH: f64 = 26.0;
/// Narrower bars touch.
const GAP_WIDTH: f64 = 4.0;

pub(super) fn draw(canvas: &mut Canvas, plot: &BoundaryPlot<'_>, frame: &Frame) {
    draw_hatch(canvas);
    let largest = plot.sizes.iter().copied().max().unwrap_or(0);
    for (index, (chunk, &size)) in plot.chunking.chunks.iter().zip(plot.sizes).enumerate() {
        let span = (frame.x(plot.text, chunk.start), frame.x(plot.text, chunk.end));
        draw_layer(canvas, index, span);
        let next = plot.chunking.chunks.get(index + 1);
        let bar_end = next.map_or(span.1, |next| frame.x(plot.text, next.start).min(span.1));
        draw_size(canvas, index, (span.0, bar_end), size as f64 / largest.max(1) as f64);
    }
    for pair in plot.chunking.chunks.windows(2) {
        draw_overlap(canvas, plot, frame, pair);
    }
    draw_labels(canvas, plot, frame);
    draw_size_axis(canvas, plot, largest);
}

fn draw_hatch(canvas: &mut Canvas) {
    canvas.push(&format!(
        "<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"5\" stroke=\"{}\" \
         stroke-width=\"1.5\" stroke-opacity=\"0.55\"/></pattern></defs>",
        theme().colour("ink_secondary")
    ));
}

fn draw_layer(canvas: &mut Canvas, index: usize, (from, to): (f64, f64)) {
    let (edge, tint) = theme().layer(index);
    let height = LAYERS_BOTTOM - LAYERS_TOP;
    canvas.rect((from, LAYERS_TOP), (to - from, height), tint, "");
    canvas.rect((from, LAYERS_TOP), ((to - from).min(2.5), height), edge, "");
}

fn draw_size(canvas: &mut Canvas, index: usize, (from, to): (f64, f64), share: f64) {
    let (edge, _) = theme().layer(index);
    let height = (share * (SIZES_BOTTOM - SIZES_TOP)).max(1.0);
    let width = if to - from > GAP_WIDTH { to - from - 1.0 } else { to - from };
    canvas.rect((from, SIZES_BOTTOM - height), (width, height), edge, "fill-opacity=\"0.6\"");
}

fn draw_overlap(canvas: &mut Canvas, plot: &BoundaryPlot<'_>, frame: &Frame, pair: &[Chunk]) {
    let [left, right] = pair else {
        return;
    };
    if right.start < left.end {
        let (from, to) = (frame.x(plot.text, right.start), frame.x(plot.text, left.end));
        let size = (to - from, LAYERS_BOTTOM - LAYERS_TOP);
        canvas.rect((from, LAYERS_TOP), size, "url(#hatch)", "class=\"overlap\"");
    }
}

/// Numbers of the chunks that have room for one, counted from 1.
fn draw_labels(canvas: &mut Canvas, plot: &BoundaryPlot<'_>, frame: &Frame) {
    let font = Font { size: 11.5, colour: theme().colour("ink"), is_strong: false };
    for (index, chunk) in plot.chunking.chunks.iter().enumerate() {
        let (from, to) = (frame.x(plot.text, chunk.start), frame.x(plot.text, chunk.end));
        if to - from >= LABEL_WIDTH {
            let middle = (f64::midpoint(from, to), LAYERS_BOTTOM - 8.0);
            canvas.text(middle, Anchor::Middle, &font, &(index + 1).to_string());
        }
    }
}

fn draw_size_axis(canvas: &mut Canvas, plot: &BoundaryPlot<'_>, largest: usize) {
    let font = Font { size: 12.0, colour: theme().colour("ink_secondary"), is_strong: false };
    canvas.text((LEFT - 12.0, LAYERS_BOTTOM - 8.0), Anchor::End, &font, "chunks");
    if largest > 0 {
        canvas.text((LEFT - 12.0, SIZES_TOP + 8.0), Anchor::End, &font, &grouped(largest));
    }
    canvas.text((LEFT - 12.0, SIZES_BOTTOM), Anchor::End, &font, "0");
    let middle = f64::midpoint(SIZES_TOP, SIZES_BOTTOM);
    canvas.push(&format!(
        "<text transform=\"translate(22 {middle:.1}) rotate(-90)\" text-anchor=\"middle\" font-size=\"12\" \
         fill=\"{}\">{}</text>",
        font.colour,
        plot.unit_name()
    ));
}
