//! Several chunkings of one text as layers under each other, cuts that not all share marked.

use super::{Frame, LEFT, RIGHT, WIDTH, grouped};
use crate::chunk::Chunk;
use crate::chunk::stats::ChunkStats;
use crate::figure::{Anchor, Canvas, Font, theme};

/// One chunking.
#[derive(Clone, Copy, Debug)]
pub struct LayerRow<'a> {
    /// The chunker's name.
    pub name: &'a str,
    /// Its chunks.
    pub chunks: &'a [Chunk],
    /// Their sizes.
    pub sizes: &'a [usize],
}

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonPlot<'a> {
    /// Printed over the layers.
    pub title: &'a str,
    /// The text that all of them cut.
    pub text: &'a str,
    /// The chunkings.
    pub rows: &'a [LayerRow<'a>],
}

const TOP: f64 = 84.0;
const ROW: f64 = 74.0;
const LAYER: f64 = 30.0;

impl ComparisonPlot<'_> {
    /// Draws the layers.
    pub fn to_svg(&self) -> String {
        let bottom = TOP + ROW * self.rows.len() as f64;
        let mut canvas = Canvas::new(WIDTH, bottom + 70.0, theme().colour("ground"));
        canvas.title(&format!("Chunkers on {}", self.title));
        let frame = Frame::new(self.text);
        let ink = Font { size: 20.0, colour: theme().colour("ink"), is_strong: true };
        canvas.text((LEFT, 40.0), Anchor::Start, &ink, self.title);
        for (index, row) in self.rows.iter().enumerate() {
            self.draw_row(&mut canvas, &frame, row, TOP + ROW * index as f64);
        }
        frame.draw_axis(&mut canvas, bottom);
        canvas.finish()
    }

    fn draw_row(&self, canvas: &mut Canvas, frame: &Frame, row: &LayerRow<'_>, top: f64) {
        let name = Font { size: 13.0, colour: theme().colour("ink"), is_strong: true };
        canvas.text((LEFT, top + 8.0), Anchor::Start, &name, row.name);
        let ChunkStats { count, mean, min, max, .. } = ChunkStats::new(row.sizes);
        let numbers = format!(
            "{} chunks · mean {} · {}–{}",
            grouped(count),
            grouped(mean.round() as usize),
            grouped(min),
            grouped(max)
        );
        let secondary = Font { size: 12.0, colour: theme().colour("ink_secondary"), is_strong: false };
        canvas.text((WIDTH - RIGHT, top + 8.0), Anchor::End, &secondary, &numbers);
        let layer_top = top + 18.0;
        for (index, chunk) in row.chunks.iter().enumerate() {
            let (edge, tint) = theme().layer(index);
            let (from, to) = (frame.x(self.text, chunk.start), frame.x(self.text, chunk.end));
            canvas.rect((from, layer_top), (to - from, LAYER), tint, "");
            canvas.rect((from, layer_top), ((to - from).min(2.5), LAYER), edge, "");
        }
        for chunk in row.chunks.iter().skip(1).filter(|chunk| !self.is_shared(chunk.start)) {
            let x = frame.x(self.text, chunk.start);
            let style = format!("class=\"difference\" stroke=\"{}\" stroke-width=\"2\"", theme().colour("accent"));
            canvas.styled_line((x, layer_top - 4.0), (x, layer_top + LAYER + 4.0), &style);
        }
    }

    /// Whether every chunking cuts here.
    fn is_shared(&self, cut: usize) -> bool {
        self.rows.iter().all(|row| row.chunks.binary_search_by_key(&cut, |chunk| chunk.start).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_of_one_alone_are_marked() {
        let chunk = |start, end| Chunk { start, end, left_similarity: None, right_similarity: None };
        let (one, other) = ([chunk(0, 10), chunk(10, 30)], [chunk(0, 10), chunk(10, 20), chunk(20, 30)]);
        let row = |name, chunks| LayerRow { name, chunks, sizes: &[10, 10] };
        let rows = [row("fixed", &one[..]), row("semantic", &other[..])];
        let svg = ComparisonPlot { title: "a.txt", text: &"x".repeat(30), rows: &rows }.to_svg();
        assert_eq!(svg.matches("class=\"difference\"").count(), 1);
        assert!(svg.contains("semantic") && !svg.contains("NaN"));
    }
}
