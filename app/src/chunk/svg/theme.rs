//! The light theme of `assets/theme`, as text.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

const SOURCE: &str = include_str!("../../../../assets/theme/outcrop.toml");

/// Colours by name, and those of neighbouring layers.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Theme {
    light: HashMap<String, String>,
    layers: Vec<Layer>,
}

#[derive(Debug, Deserialize)]
struct Layer {
    light: LayerColours,
}

/// The colours of one layer.
#[derive(Debug, Deserialize)]
pub(super) struct LayerColours {
    pub(super) edge: String,
    pub(super) tint: String,
}

/// The theme, parsed once. The file is part of the program and a test reads it.
pub(super) fn theme() -> &'static Theme {
    static THEME: LazyLock<Theme> = LazyLock::new(|| toml::from_str(SOURCE).unwrap_or_default());
    &THEME
}

impl Theme {
    /// A colour by its name.
    pub(super) fn colour(&self, name: &str) -> &str {
        self.light.get(name).map_or("currentColor", String::as_str)
    }

    /// The colours of the chunk with this index; neighbours differ.
    pub(super) fn layer(&self, index: usize) -> (&str, &str) {
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
    }
}
