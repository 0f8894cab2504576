//! Recall over `IoU` as a picture: each row a point with its 95 % intervals, the published rows beside them.

use super::anchors::{ANCHORS, Anchor};
use super::report::ChunkingRow;
use crate::figure::{Anchor as TextAnchor, Axis, Canvas, Font, theme};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 620.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 40.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = HEIGHT - 64.0;

/// Draws the rows; each has its number in the table (from 1) beside its point.
pub fn recall_over_iou(rows: &[ChunkingRow], title: &str) -> String {
    let mut canvas = Canvas::new(WIDTH, HEIGHT, theme().colour("ground"));
    canvas.title(title);
    let axes = Axes::around(rows);
    draw_head(&mut canvas, title);
    axes.draw(&mut canvas);
    for anchor in &ANCHORS {
        draw_anchor(&mut canvas, &axes, anchor);
    }
    for (index, row) in rows.iter().enumerate() {
        draw_row(&mut canvas, &axes, index, row);
    }
    canvas.finish()
}

struct Axes {
    iou: Axis,
    recall: Axis,
}

impl Axes {
    fn around(rows: &[ChunkingRow]) -> Self {
        let iou = rows.iter().flat_map(|row| [row.iou_interval.0, row.iou_interval.1]);
        let recall = rows.iter().flat_map(|row| [row.recall_interval.0, row.recall_interval.1]);
        let iou = bounds(iou.chain(ANCHORS.iter().map(|anchor| anchor.iou)));
        let recall = bounds(recall.chain(ANCHORS.iter().map(|anchor| anchor.recall)));
        Self { iou: Axis::new(iou, (LEFT, WIDTH - RIGHT)), recall: Axis::new(recall, (BOTTOM, TOP)) }
    }

    fn draw(&self, canvas: &mut Canvas) {
        let font = Font { size: 12.0, colour: theme().colour("ink_secondary"), is_strong: false };
        for tick in self.recall.ticks(8) {
            let y = self.recall.at(tick);
            canvas.line((LEFT, y), (WIDTH - RIGHT, y), theme().colour("hairline"), 1.0);
            canvas.text((LEFT - 10.0, y + 4.0), TextAnchor::End, &font, &format!("{tick:.0}"));
        }
        for tick in self.iou.ticks(10) {
            let x = self.iou.at(tick);
            canvas.line((x, TOP), (x, BOTTOM), theme().colour("hairline"), 1.0);
            canvas.text((x, BOTTOM + 20.0), TextAnchor::Middle, &font, &format!("{tick:.0}"));
        }
        let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
        canvas.text((middle, BOTTOM + 44.0), TextAnchor::Middle, &font, "IoU of what was retrieved, %");
        canvas.text((LEFT - 10.0, TOP - 12.0), TextAnchor::Start, &font, "recall of the excerpts, %");
    }
}

/// Whole numbers around the values, a little apart from them.
fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    ((low - 0.5).floor().max(0.0), (high + 0.5).ceil().min(100.0))
}

fn draw_head(canvas: &mut Canvas, title: &str) {
    let ink = Font { size: 20.0, colour: theme().colour("ink"), is_strong: true };
    canvas.text((LEFT - 10.0, 36.0), TextAnchor::Start, &ink, title);
    let font = Font { size: 13.0, colour: theme().colour("ink_secondary"), is_strong: false };
    let mut x = WIDTH - RIGHT;
    for (label, mode) in
        [("published", None), ("hybrid", Some("hybrid")), ("keyword", Some("keyword")), ("vector", Some("vector"))]
    {
        canvas.text((x, 36.0), TextAnchor::End, &font, label);
        x -= 8.0 * label.len() as f64 + 14.0;
        match mode {
            Some(mode) => dot(canvas, (x, 31.5), ink_of(mode)),
            None => diamond(canvas, (x, 31.5)),
        }
        x -= 20.0;
    }
}

fn ink_of(mode: &str) -> &'static str {
    let layer = match mode.split(' ').next() {
        Some("vector") => 0,
        Some("keyword") => 1,
        _ => 2,
    };
    theme().layer(layer).0
}

fn dot(canvas: &mut Canvas, (x, y): (f64, f64), ink: &str) {
    canvas.push(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{ink}\"/>"));
}

fn diamond(canvas: &mut Canvas, (x, y): (f64, f64)) {
    let corners = [(x - 5.0, y), (x, y - 5.0), (x + 5.0, y), (x, y + 5.0)];
    let style = format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"", theme().colour("ink"));
    canvas.polygon(&corners, &style);
}

fn draw_anchor(canvas: &mut Canvas, axes: &Axes, anchor: &Anchor) {
    let at = (axes.iou.at(anchor.iou), axes.recall.at(anchor.recall));
    diamond(canvas, at);
    let font = Font { size: 11.0, colour: theme().colour("ink_secondary"), is_strong: false };
    canvas.text((at.0 + 9.0, at.1 + 4.0), TextAnchor::Start, &font, anchor.name);
}

fn draw_row(canvas: &mut Canvas, axes: &Axes, index: usize, row: &ChunkingRow) {
    let ink = ink_of(&row.mode);
    let (x, y) = (axes.iou.at(row.iou_mean), axes.recall.at(row.recall_mean));
    let bar = format!("stroke=\"{ink}\" stroke-opacity=\"0.35\" stroke-width=\"1.25\"");
    canvas.styled_line((axes.iou.at(row.iou_interval.0), y), (axes.iou.at(row.iou_interval.1), y), &bar);
    canvas.styled_line((x, axes.recall.at(row.recall_interval.0)), (x, axes.recall.at(row.recall_interval.1)), &bar);
    dot(canvas, (x, y), ink);
    let font = Font { size: 11.0, colour: theme().colour("ink"), is_strong: true };
    canvas.text((x - 8.0, y - 6.0), TextAnchor::End, &font, &(index + 1).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::chunking::ChunkScores;
    use crate::eval::report::ChunkingLabel;

    #[test]
    fn every_row_and_every_published_one_is_drawn() {
        let scores = vec![ChunkScores { recall: 0.8, precision: 0.1, iou: 0.07, precision_omega: 0.3 }; 4];
        let label = |mode: &str| ChunkingLabel { mode: mode.to_owned(), ..ChunkingLabel::default() };
        let rows = [ChunkingRow::new(label("vector"), scores.clone()), ChunkingRow::new(label("hybrid 0.5"), scores)];
        let svg = recall_over_iou(&rows, "a <set>");
        assert!(svg.contains("a &lt;set&gt;") && svg.contains("cluster-semantic 250") && !svg.contains("NaN"));
        assert_eq!(svg.matches("<circle").count(), 3 + rows.len());
    }
}
