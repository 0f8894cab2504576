//! The boundary plot as a self-contained SVG document: similarity of neighbouring segments over the document, the
//! threshold, the cuts, and under them the chunks as layers with their sizes.
//!
//! Start reading at [`BoundaryPlot::to_svg`]. Colours are the light theme of `assets/theme`.

mod chars;
mod comparison;
mod curve;
mod layers;

use super::stats::ChunkStats;
use super::{Chunking, Unit};
use crate::figure::{Anchor, Axis, Canvas, Font, grouped, theme};
use chars::CharIndex;
pub use comparison::{ComparisonPlot, LayerRow};

/// What is plotted.
#[derive(Clone, Copy, Debug)]
pub struct BoundaryPlot<'a> {
    /// Printed over the plot, usually the file's name.
    pub title: &'a str,
    /// The document's text.
    pub text: &'a str,
    /// Its chunks, boundary curve and threshold.
    pub chunking: &'a Chunking,
    /// The size of each chunk, in `unit`.
    pub sizes: &'a [usize],
    /// What sizes are counted in.
    pub unit: Unit,
}

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 560.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 48.0;
const CURVE_TOP: f64 = 92.0;
const CURVE_BOTTOM: f64 = 372.0;
const LAYERS_TOP: f64 = 388.0;
const LAYERS_BOTTOM: f64 = 412.0;
const SIZES_TOP: f64 = 424.0;
const SIZES_BOTTOM: f64 = 496.0;

impl BoundaryPlot<'_> {
    /// Draws the plot.
    pub fn to_svg(&self) -> String {
        let frame = Frame::new(self.text);
        let mut canvas = Canvas::new(WIDTH, HEIGHT, theme().colour("ground"));
        canvas.title(&format!("Boundary plot of {}", self.title));
        self.draw_head(&mut canvas);
        curve::draw(&mut canvas, self, &frame);
        layers::draw(&mut canvas, self, &frame);
        frame.draw_axis(&mut canvas, SIZES_BOTTOM);
        canvas.finish()
    }

    fn draw_head(&self, canvas: &mut Canvas) {
        let ink = Font { size: 20.0, colour: theme().colour("ink"), is_strong: true };
        canvas.text((LEFT, 40.0), Anchor::Start, &ink, self.title);
        let secondary = Font { size: 13.0, colour: theme().colour("ink_secondary"), is_strong: false };
        canvas.text((LEFT, 64.0), Anchor::Start, &secondary, &self.summary());
        curve::draw_legend(canvas, self, (WIDTH - RIGHT, 64.0));
    }

    fn summary(&self) -> String {
        let ChunkStats { count, mean, min, max, .. } = ChunkStats::new(self.sizes);
        let chunks = if count == 1 { "1 chunk".to_owned() } else { format!("{} chunks", grouped(count)) };
        let (mean, min, max) = (grouped(mean.round() as usize), grouped(min), grouped(max));
        format!("{chunks} · mean {mean} {} · smallest {min} · largest {max}", self.unit_name())
    }

    fn unit_name(&self) -> &'static str {
        match self.unit {
            Unit::Chars => "characters",
            Unit::Tokens => "tokens",
        }
    }
}

/// Where positions of the document lie on the drawing.
struct Frame {
    chars: CharIndex,
    position: Axis,
}

impl Frame {
    fn new(text: &str) -> Self {
        let chars = CharIndex::new(text);
        let end = chars.char_at(text, text.len());
        Self { position: Axis::new((0.0, end.max(1) as f64), (LEFT, WIDTH - RIGHT)), chars }
    }

    /// The x of a byte position.
    fn x(&self, text: &str, position: usize) -> f64 {
        self.position.at(self.chars.char_at(text, position) as f64)
    }

    /// The axis of positions, at `y`.
    fn draw_axis(&self, canvas: &mut Canvas, y: f64) {
        let font = Font { size: 12.0, colour: theme().colour("ink_secondary"), is_strong: false };
        canvas.line((LEFT, y), (WIDTH - RIGHT, y), theme().colour("hairline_strong"), 1.0);
        for tick in self.position.ticks(8) {
            let x = self.position.at(tick);
            canvas.line((x, y), (x, y + 5.0), theme().colour("hairline_strong"), 1.0);
            canvas.text((x, y + 20.0), Anchor::Middle, &font, &grouped(tick as usize));
        }
        let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
        canvas.text((middle, y + 44.0), Anchor::Middle, &font, "position in the document, characters");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Boundary, Chunk};

    fn plot_of(title: &str, text: &str, chunking: &Chunking) -> String {
        let sizes: Vec<usize> = chunking.chunks.iter().map(|chunk| chunk.end - chunk.start).collect();
        BoundaryPlot { title, text, chunking, sizes: &sizes, unit: Unit::Chars }.to_svg()
    }

    fn sample() -> Chunking {
        let chunk = |start, end| Chunk { start, end, left_similarity: Some(0.2), right_similarity: Some(0.2) };
        Chunking {
            chunks: vec![chunk(0, 40), chunk(30, 100)],
            boundaries: vec![Boundary { position: 40, similarity: 0.2 }, Boundary { position: 70, similarity: -0.3 }],
            threshold: Some(0.41),
        }
    }

    #[test]
    fn every_part_is_there() {
        let svg = plot_of("notes.md", &"x".repeat(100), &sample());
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
        for part in ["notes.md", "2 chunks", "threshold 0.41", "class=\"curve\"", "class=\"cut\"", "class=\"overlap\""]
        {
            assert!(svg.contains(part), "{part} is missing");
        }
    }

    #[test]
    fn titles_cannot_break_the_document() {
        let svg = plot_of("<script>&\"\u{0}", "text", &Chunking::default());
        assert!(svg.contains("&lt;script&gt;&amp;&quot;"));
        assert!(!svg.contains('\u{0}'));
    }

    #[test]
    fn empty_texts_give_a_plot_without_numbers_gone_wrong() {
        let svg = plot_of("empty.txt", "", &Chunking::default());
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(svg.contains("too little text"));
    }

    #[test]
    fn large_documents_give_small_pictures() {
        let text = "x".repeat(200_000);
        let boundaries = (1..20_000)
            .map(|index| Boundary { position: index * 10, similarity: (index * 7919 % 100) as f32 / 100.0 })
            .collect();
        let chunk = |index: usize| Chunk {
            start: index * 100,
            end: index * 100 + 100,
            left_similarity: Some(0.5),
            right_similarity: Some(0.5),
        };
        let chunking = Chunking { chunks: (0..2000).map(chunk).collect(), boundaries, threshold: Some(0.3) };
        let num_bytes = plot_of("large.txt", &text, &chunking).len();
        assert!(num_bytes < 1_000_000, "{num_bytes}");
    }
}
