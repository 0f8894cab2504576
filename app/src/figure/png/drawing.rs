//! Reads an SVG document of [`crate::figure::Canvas`] element by element and draws each.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::coverage::{Ink, Picture, Point};
use super::glyphs::outlines;
use super::{MOST_PIXELS, PngError};

/// Attributes of an element by name.
type Attributes = HashMap<String, String>;

/// Draws a document.
pub(super) fn draw(svg: &str, scale: f32) -> Result<Picture, PngError> {
    let mut reader = Reader::from_str(svg);
    let mut state: Option<State> = None;
    loop {
        match reader.read_event().map_err(|err| PngError(err.to_string()))? {
            Event::Start(element) => {
                let (name, attributes) = read(&element);
                match (&mut state, name.as_str()) {
                    (None, "svg") => state = Some(State::new(&attributes, scale)?),
                    (Some(state), "defs") => state.is_hidden = true,
                    (Some(state), "text") => state.text = Some((attributes, String::new())),
                    (Some(state), _) => state.shape(&name, &attributes),
                    (None, _) => {}
                }
            }
            Event::Empty(element) => {
                let (name, attributes) = read(&element);
                if let Some(state) = &mut state {
                    state.shape(&name, &attributes);
                }
            }
            Event::Text(text) => {
                if let Some((_, words)) = state.as_mut().and_then(|state| state.text.as_mut()) {
                    words.push_str(&text);
                }
            }
            Event::GeneralRef(name) => {
                if let Some((_, words)) = state.as_mut().and_then(|state| state.text.as_mut()) {
                    words.push_str(entity(&name));
                }
            }
            Event::End(element) => {
                if let Some(state) = &mut state {
                    state.end(element.name().as_ref());
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    state.map(|state| state.picture).ok_or_else(|| PngError("there is no <svg> element".to_owned()))
}

/// What the entities of our own escaping stand for.
fn entity(name: &str) -> &'static str {
    match name {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        _ => "",
    }
}

fn read(element: &BytesStart<'_>) -> (String, Attributes) {
    let name = element.name().as_ref().to_owned();
    let pair = |attribute: quick_xml::events::attributes::Attribute<'_>| {
        (attribute.key.as_ref().to_owned(), attribute.value.to_string())
    };
    (name, element.attributes().flatten().map(pair).collect())
}

struct State {
    picture: Picture,
    scale: f32,
    /// Inside definitions, which draw nothing.
    is_hidden: bool,
    /// The text element that is open.
    text: Option<(Attributes, String)>,
}

impl State {
    fn new(attributes: &Attributes, scale: f32) -> Result<Self, PngError> {
        let side = |name| (number(attributes, name).unwrap_or(0.0) * scale).ceil();
        let (width, height) = (side("width"), side("height"));
        let fits = |side: f32| side >= 1.0 && side <= MOST_PIXELS as f32;
        if !fits(width) || !fits(height) {
            return Err(PngError(format!("{width} × {height} pixels, but 1 to {MOST_PIXELS} a side can be drawn")));
        }
        Ok(Self { picture: Picture::new(width as u32, height as u32), scale, is_hidden: false, text: None })
    }

    fn end(&mut self, name: &str) {
        match name {
            "defs" => self.is_hidden = false,
            "text" => {
                if let Some((attributes, words)) = self.text.take() {
                    self.words(&attributes, &words);
                }
            }
            _ => {}
        }
    }

    fn shape(&mut self, name: &str, attributes: &Attributes) {
        if self.is_hidden {
            return;
        }
        let outline = self.outline(name, attributes);
        let is_closed = !matches!(name, "line" | "polyline");
        if let Some(ink) = ink(attributes, "fill").filter(|_| is_closed) {
            self.picture.fill(std::slice::from_ref(&outline), ink);
        }
        if let Some(ink) = ink(attributes, "stroke") {
            let width = number(attributes, "stroke-width").unwrap_or(1.0) * self.scale;
            let dashes: Vec<f32> = numbers(attributes.get("stroke-dasharray").map_or("", String::as_str))
                .iter()
                .map(|dash| dash * self.scale)
                .collect();
            self.picture.fill(&stroke(&outline, is_closed, width, &dashes), ink);
        }
    }

    /// The points of a shape, in pixels.
    fn outline(&self, name: &str, attributes: &Attributes) -> Vec<Point> {
        let value = |name| number(attributes, name).unwrap_or(0.0);
        let points: Vec<Point> = match name {
            "rect" => {
                let (x, y, width, height) = (value("x"), value("y"), value("width"), value("height"));
                vec![(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
            }
            "line" => vec![(value("x1"), value("y1")), (value("x2"), value("y2"))],
            "circle" => circle((value("cx"), value("cy")), value("r")),
            "polyline" | "polygon" => {
                let numbers = numbers(attributes.get("points").map_or("", String::as_str));
                numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
            }
            _ => Vec::new(),
        };
        points.into_iter().map(|(x, y)| (x * self.scale, y * self.scale)).collect()
    }

    fn words(&mut self, attributes: &Attributes, words: &str) {
        let Some(ink) = ink(attributes, "fill") else { return };
        let size = number(attributes, "font-size").unwrap_or(12.0) * self.scale;
        let (mut polygons, width) = outlines(words, size, attributes.contains_key("font-weight"));
        let anchor = match attributes.get("text-anchor").map(String::as_str) {
            Some("middle") => width / 2.0,
            Some("end") => width,
            _ => 0.0,
        };
        // Text that is turned stands at the place of its transform and runs upwards.
        let turned = attributes.get("transform").map(|transform| numbers(transform));
        let (x, y) = match turned.as_deref() {
            Some([x, y, ..]) => (x * self.scale, y * self.scale),
            _ => (
                number(attributes, "x").unwrap_or(0.0) * self.scale,
                number(attributes, "y").unwrap_or(0.0) * self.scale,
            ),
        };
        for point in polygons.iter_mut().flatten() {
            let along = point.0 - anchor;
            *point = if turned.is_some() { (x + point.1, y - along) } else { (x + along, y + point.1) };
        }
        self.picture.fill(&polygons, ink);
    }
}

fn circle((x, y): Point, radius: f32) -> Vec<Point> {
    const CORNERS: usize = 24;
    let corner = |index: usize| {
        let angle = index as f32 * std::f32::consts::TAU / CORNERS as f32;
        (x + radius * angle.cos(), y + radius * angle.sin())
    };
    (0..CORNERS).map(corner).collect()
}

/// The pieces of a line as quadrilaterals that all turn the same way round, with round corners where they meet.
fn stroke(points: &[Point], is_closed: bool, width: f32, dashes: &[f32]) -> Vec<Vec<Point>> {
    let mut polygons = Vec::new();
    let last = if is_closed { points.len() } else { points.len().saturating_sub(1) };
    for index in 0..last {
        let (from, to) = (points[index], points[(index + 1) % points.len()]);
        for (from, to) in dashed(from, to, dashes) {
            polygons.extend(thick(from, to, width));
        }
        if index > 0 && width > 1.5 && dashes.is_empty() {
            polygons.push(circle(from, width / 2.0));
        }
    }
    polygons
}

/// The drawn parts of a piece of a line.
fn dashed(from: Point, to: Point, dashes: &[f32]) -> Vec<(Point, Point)> {
    let length = (to.0 - from.0).hypot(to.1 - from.1);
    let [on, off] = dashes else { return vec![(from, to)] };
    if *on <= 0.0 || *off <= 0.0 || length / (on + off) > 10_000.0 {
        return vec![(from, to)];
    }
    let at = |distance: f32| {
        let share = (distance / length).min(1.0);
        (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
    };
    let count = (length / (on + off)).ceil() as usize;
    (0..count).map(|index| index as f32 * (on + off)).map(|start| (at(start), at(start + on))).collect()
}

fn thick(from: Point, to: Point, width: f32) -> Option<Vec<Point>> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    (length > 0.0).then(|| {
        let (nx, ny) = (-dy / length * width / 2.0, dx / length * width / 2.0);
        vec![(from.0 - nx, from.1 - ny), (to.0 - nx, to.1 - ny), (to.0 + nx, to.1 + ny), (from.0 + nx, from.1 + ny)]
    })
}

fn number(attributes: &Attributes, name: &str) -> Option<f32> {
    attributes.get(name)?.trim().parse().ok()
}

/// Every number of a text, whatever stands between them.
fn numbers(text: &str) -> Vec<f32> {
    let is_part = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-');
    text.split(|letter| !is_part(letter)).filter_map(|part| part.parse().ok()).collect()
}

/// A colour with the opacity that goes with it; `None` where nothing is drawn. Hatching is drawn as a pale ground.
fn ink(attributes: &Attributes, name: &str) -> Option<Ink> {
    let opacity = number(attributes, &format!("{name}-opacity")).unwrap_or(1.0);
    let colour = attributes.get(name)?.as_str();
    let grey = |value: f32| Some(Ink { rgb: [value; 3], opacity });
    match colour {
        "none" | "" => None,
        "white" => grey(255.0),
        "black" => grey(0.0),
        colour if colour.starts_with("url(") => Some(Ink { rgb: [100.0; 3], opacity: 0.28 }),
        colour if colour.starts_with("rgb(") => match numbers(colour).as_slice() {
            [red, green, blue] => Some(Ink { rgb: [*red, *green, *blue], opacity }),
            _ => None,
        },
        colour => {
            let hex = colour.strip_prefix('#')?;
            let channel = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok().map(f32::from);
            Some(Ink { rgb: [channel(0)?, channel(2)?, channel(4)?], opacity })
        }
    }
}
