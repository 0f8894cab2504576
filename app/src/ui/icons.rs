//! Line icons, drawn from `assets/icons/rail.toml` so that they are crisp at every scale and take any colour.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, pos2};
use serde::Deserialize;

const SOURCE: &str = include_str!("../../../assets/icons/rail.toml");
const GRID: f32 = 24.0;

/// An icon by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Icon {
    Library,
    Chunks,
    Similarity,
    Search,
    Chat,
    Models,
    Settings,
    Plus,
    Folder,
    Document,
    Close,
    Trash,
    Send,
    Stop,
    Check,
    Copy,
    Warning,
    Outcrop,
}

impl Icon {
    const ALL: [Self; 18] = [
        Self::Library,
        Self::Chunks,
        Self::Similarity,
        Self::Search,
        Self::Chat,
        Self::Models,
        Self::Settings,
        Self::Plus,
        Self::Folder,
        Self::Document,
        Self::Close,
        Self::Trash,
        Self::Send,
        Self::Stop,
        Self::Check,
        Self::Copy,
        Self::Warning,
        Self::Outcrop,
    ];

    fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// Draws the icon into `rect` (square) with lines of `colour`.
    pub(crate) fn paint(self, painter: &Painter, rect: Rect, colour: Color32) {
        let scale = rect.width() / GRID;
        let stroke = Stroke::new((1.6 * scale).max(1.1), colour);
        let place = |x: f32, y: f32| -> Pos2 { rect.min + egui::vec2(x, y) * scale };
        let drawing = &drawings()[self as usize];
        for path in &drawing.paths {
            let points = path.chunks_exact(2).map(|pair| place(pair[0], pair[1])).collect();
            painter.add(Shape::line(points, stroke));
        }
        for [x, y, radius] in &drawing.circles {
            painter.circle_stroke(place(*x, *y), radius * scale, stroke);
        }
    }

    /// The icon's square of `side` points, centred on `centre`.
    pub(crate) fn square(centre: Pos2, side: f32) -> Rect {
        Rect::from_center_size(pos2(centre.x, centre.y), egui::Vec2::splat(side))
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Drawing {
    #[serde(default)]
    paths: Vec<Vec<f32>>,
    #[serde(default)]
    circles: Vec<[f32; 3]>,
}

fn drawings() -> &'static [Drawing] {
    static DRAWINGS: OnceLock<Vec<Drawing>> = OnceLock::new();
    DRAWINGS.get_or_init(|| {
        let named: BTreeMap<String, Drawing> =
            toml::from_str(SOURCE).expect("assets/icons/rail.toml is part of the program and tested");
        Icon::ALL.iter().map(|icon| named.get(&icon.name()).cloned().unwrap_or_default()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_icon_is_drawn_within_its_grid() {
        for icon in Icon::ALL {
            let drawing = &drawings()[icon as usize];
            assert!(!drawing.paths.is_empty(), "{icon:?} has no path");
            let numbers = drawing.paths.iter().flatten().chain(drawing.circles.iter().flatten());
            assert!(numbers.clone().all(|number| (0.0..=GRID).contains(number)), "{icon:?}");
            assert!(drawing.paths.iter().all(|path| path.len() % 2 == 0), "{icon:?}");
        }
    }
}
