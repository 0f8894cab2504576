//! Writes SVG elements. Knows nothing of chunks.

use std::fmt::Write as _;

/// A point in pixels.
pub(crate) type Point = (f64, f64);

/// How text is set.
pub(crate) struct Font<'a> {
    pub(crate) size: f64,
    pub(crate) colour: &'a str,
    pub(crate) is_strong: bool,
}

/// Which end of a text stands at its point.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// An SVG document that grows.
pub(crate) struct Canvas {
    svg: String,
}

impl Canvas {
    pub(crate) fn new(width: f64, height: f64, ground: &str) -> Self {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" \
             font-family=\"Inter, 'Helvetica Neue', 'Segoe UI', Arial, 'DejaVu Sans', sans-serif\" \
             style=\"font-variant-numeric: tabular-nums\">\n"
        );
        let mut canvas = Self { svg };
        canvas.rect((0.0, 0.0), (width, height), ground, "");
        canvas
    }

    pub(crate) fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }

    /// What a screen reader says.
    pub(crate) fn title(&mut self, title: &str) {
        self.push(&format!("<title>{}</title>", escaped(title)));
    }

    /// An element as it is. The caller escapes.
    pub(crate) fn push(&mut self, element: &str) {
        self.svg.push_str(element);
        self.svg.push('\n');
    }

    /// `more` holds further attributes.
    pub(crate) fn rect(&mut self, at: Point, size: Point, fill: &str, more: &str) {
        let ((x, y), (width, height)) = (at, (size.0.max(0.0), size.1.max(0.0)));
        self.push(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\" {more}/>"
        ));
    }

    pub(crate) fn line(&mut self, from: Point, to: Point, colour: &str, width: f64) {
        self.styled_line(from, to, &format!("stroke=\"{colour}\" stroke-width=\"{width}\""));
    }

    pub(crate) fn styled_line(&mut self, from: Point, to: Point, style: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.push(&format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>"));
    }

    pub(crate) fn polyline(&mut self, points: &[Point], style: &str) {
        self.push(&format!("<polyline points=\"{}\" {style}/>", joined(points)));
    }

    pub(crate) fn polygon(&mut self, points: &[Point], style: &str) {
        self.push(&format!("<polygon points=\"{}\" {style}/>", joined(points)));
    }

    pub(crate) fn text(&mut self, at: Point, anchor: Anchor, font: &Font<'_>, text: &str) {
        let Font { size, colour, is_strong } = font;
        let weight = if *is_strong { " font-weight=\"600\"" } else { "" };
        self.push(&format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{}\" font-size=\"{size}\" fill=\"{colour}\"{weight}>{}</text>",
            at.0,
            at.1,
            anchor.name(),
            escaped(text)
        ));
    }
}

fn joined(points: &[Point]) -> String {
    let mut joined = String::with_capacity(points.len() * 12);
    for (x, y) in points {
        // Writing to a string does not fail.
        let _ = write!(joined, "{x:.1},{y:.1} ");
    }
    joined
}

/// Text that is safe between tags and in attributes; control characters, which XML forbids, become spaces.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}
