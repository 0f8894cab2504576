//! The typed form of `assets/theme/outcrop.toml`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use egui::Color32;
use serde::Deserialize;

const SOURCE: &str = include_str!("../../../../assets/theme/outcrop.toml");

/// The tokens of the window, parsed once.
pub(crate) fn tokens() -> &'static Tokens {
    static TOKENS: OnceLock<Tokens> = OnceLock::new();
    TOKENS.get_or_init(|| Tokens::parse(SOURCE).expect("assets/theme/outcrop.toml is part of the program and tested"))
}

macro_rules! palette {
    ($($name:ident),* $(,)?) => {
        /// The colours of one theme, by their use.
        #[derive(Clone, Debug)]
        pub(crate) struct Palette { $(pub(crate) $name: Color32),* }

        impl Palette {
            fn from_table(table: &BTreeMap<String, String>) -> Result<Self, String> {
                Ok(Self { $($name: named_colour(table, stringify!($name))?),* })
            }
        }
    };
}

palette!(
    ground,
    surface,
    raised,
    hover,
    pressed,
    hairline,
    hairline_strong,
    ink,
    ink_secondary,
    ink_faint,
    accent,
    accent_strong,
    accent_wash,
    on_accent,
    warning,
    warning_wash,
    error,
    error_wash,
    selection,
    mark,
    shadow,
    cut_weak,
    cut_strong,
);

/// The colours of one layer of text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layer {
    /// The line at the left, and its mark in plots.
    pub(crate) edge: Color32,
    /// The ground behind the text.
    pub(crate) tint: Color32,
}

/// Distances in points.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Space {
    pub(crate) hair: f32,
    pub(crate) xs: f32,
    pub(crate) s: f32,
    pub(crate) m: f32,
    pub(crate) l: f32,
    pub(crate) xl: f32,
    pub(crate) radius: f32,
    pub(crate) rail_width: f32,
    pub(crate) inspector_width: f32,
    pub(crate) status_height: f32,
    pub(crate) control_height: f32,
    pub(crate) reading_width: f32,
    pub(crate) row_height: f32,
}

/// Font sizes and line heights in points.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Type {
    pub(crate) body: f32,
    pub(crate) control: f32,
    pub(crate) secondary: f32,
    pub(crate) caption: f32,
    pub(crate) title: f32,
    pub(crate) mono: f32,
    pub(crate) reading: f32,
    pub(crate) reading_line: f32,
    pub(crate) layer_header_line: f32,
}

/// Durations.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Motion {
    pub(crate) quick_secs: f32,
}

/// All tokens.
#[derive(Debug)]
pub(crate) struct Tokens {
    light: Palette,
    dark: Palette,
    layers: Vec<[Layer; 2]>,
    pub(crate) space: Space,
    pub(crate) text: Type,
    pub(crate) motion: Motion,
}

#[derive(Deserialize)]
struct Document {
    light: BTreeMap<String, String>,
    dark: BTreeMap<String, String>,
    layers: Vec<LayerEntry>,
    space: Space,
    r#type: Type,
    motion: Motion,
}

#[derive(Deserialize)]
struct LayerEntry {
    light: BTreeMap<String, String>,
    dark: BTreeMap<String, String>,
}

impl Tokens {
    fn parse(source: &str) -> Result<Self, String> {
        let document: Document = toml::from_str(source).map_err(|err| err.to_string())?;
        let layers = document.layers.iter().map(|entry| Ok([layer_from(&entry.light)?, layer_from(&entry.dark)?]));
        Ok(Self {
            light: Palette::from_table(&document.light)?,
            dark: Palette::from_table(&document.dark)?,
            layers: layers.collect::<Result<_, String>>()?,
            space: document.space,
            text: document.r#type,
            motion: document.motion,
        })
    }

    pub(crate) fn palette(&self, dark: bool) -> &Palette {
        if dark { &self.dark } else { &self.light }
    }

    pub(crate) fn layer(&self, dark: bool, index: usize) -> Layer {
        self.layers[index % self.layers.len()][usize::from(dark)]
    }
}

fn layer_from(table: &BTreeMap<String, String>) -> Result<Layer, String> {
    Ok(Layer { edge: named_colour(table, "edge")?, tint: named_colour(table, "tint")? })
}

fn named_colour(table: &BTreeMap<String, String>, name: &str) -> Result<Color32, String> {
    let hex = table.get(name).ok_or_else(|| format!("the colour {name:?} is missing"))?;
    colour(hex)
}

#[expect(clippy::disallowed_methods, reason = "this is where tokens become colours")]
fn colour(hex: &str) -> Result<Color32, String> {
    Color32::from_hex(hex).map_err(|err| format!("{hex:?} is not a colour: {err:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance contrast after WCAG 2.
    fn contrast(one: Color32, other: Color32) -> f32 {
        let luminance = |colour: Color32| {
            let linear = egui::Rgba::from(colour);
            0.2126 * linear.r() + 0.7152 * linear.g() + 0.0722 * linear.b()
        };
        let (low, high) = (luminance(one).min(luminance(other)), luminance(one).max(luminance(other)));
        (high + 0.05) / (low + 0.05)
    }

    #[test]
    fn text_is_readable_on_every_ground() {
        for dark in [false, true] {
            let colours = tokens().palette(dark);
            let grounds = [colours.ground, colours.surface, colours.raised, colours.hover];
            for ground in grounds {
                assert!(contrast(colours.ink, ground) > 7.0);
                assert!(contrast(colours.ink_secondary, ground) > 4.5);
                assert!(contrast(colours.ink_faint, ground) > 2.7);
            }
            assert!(contrast(colours.on_accent, colours.accent) > 4.5);
            assert!(contrast(colours.warning, colours.warning_wash) > 4.5);
            assert!(contrast(colours.error, colours.error_wash) > 4.0);
        }
    }

    #[test]
    fn neighbouring_layers_differ_in_lightness() {
        for dark in [false, true] {
            for index in 0..6 {
                let (here, next) = (tokens().layer(dark, index), tokens().layer(dark, index + 1));
                assert!(contrast(here.edge, next.edge) > 1.2, "layer {index}, dark {dark}");
                assert!(contrast(tokens().palette(dark).ink, here.tint) > 7.0);
            }
        }
    }

    #[test]
    fn a_missing_colour_is_named() {
        let broken = SOURCE.replacen("ground = ", "grounds = ", 1);
        let err = Tokens::parse(&broken).unwrap_err();
        assert!(err.contains("ground"), "{err}");
    }
}
