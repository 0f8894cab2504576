//! The light theme of `assets/theme`, as text.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

const SOURCE: &str = include_str!("../../../assets/theme/outcrop.toml");

/// Colours by name, and those of neighbouring layers.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Theme {
    light: HashMap<String, String>,
    layers: Vec<Layer>,
    similarity: Ramp,
}

#[derive(Debug, Default, Deserialize)]
struct Ramp {
    stops: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Layer {
    light: LayerColours,
}

/// The colours of one layer.
#[derive(Debug, Deserialize)]
pub(crate) struct LayerColours {
    pub(crate) edge: String,
    pub(crate) tint: String,
}

/// The theme, parsed once. The file is part of the program and a test reads it.
pub(crate) fn theme() -> &'static Theme {
    static THEME: LazyLock<Theme> = LazyLock::new(|| toml::from_str(SOURCE).unwrap_or_default());
    &THEME
}

impl Theme {
    /// A colour by its name.
    pub(crate) fn colour(&self, name: &str) -> &str {
        self.light.get(name).map_or("currentColor", String::as_str)
    }

    /// Red, green and blue of the colours of similarity, from unlike to like.
    pub(crate) fn similarity_stops(&self) -> Vec<[f32; 3]> {
        let channel = |hex: &str, at: usize| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let stop = |hex: &String| Some([1, 3, 5].map(|at| channel(hex, at).map(f32::from)));
        let whole = |stop: [Option<f32>; 3]| Some([stop[0]?, stop[1]?, stop[2]?]);
        self.similarity.stops.iter().filter_map(stop).filter_map(whole).collect()
    }

    /// The colours of the chunk with this index; neighbours differ.
    pub(crate) fn layer(&self, index: usize) -> (&str, &str) {
        let layer = self.layers.get(index % self.layers.len().max(1)).map(|layer| &layer.light);
        layer.map_or(("currentColor", "none"), |layer| (&layer.edge, &layer.tint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_theme_has_every_colour_that_is_drawn() {
        let drawn = [
            "ground",
            "ink",
            "ink_secondary",
            "ink_faint",
            "hairline",
            "hairline_strong",
            "accent",
            "accent_wash",
            "warning",
            "cut_strong",
        ];
        for name in drawn {
            assert_ne!(theme().colour(name), "currentColor", "{name}");
        }
        assert!(theme().layers.len() >= 2);
        assert_eq!(theme().similarity_stops().len(), theme().similarity.stops.len());
        assert!(theme().similarity_stops().len() >= 2);
    }
}
