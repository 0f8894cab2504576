//! What is remembered between runs, as JSON in the home folder.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Space;
use crate::chunk::ChunkerConfig;

/// Light, dark, or as the system says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThemeChoice {
    /// As the system says.
    #[default]
    System,
    /// Ink on paper.
    Light,
    /// The same by night.
    Dark,
}

impl ThemeChoice {
    /// All choices with their words.
    pub const ALL: [(Self, &'static str); 3] = [(Self::System, "System"), (Self::Light, "Light"), (Self::Dark, "Dark")];
}

/// Preferences and the last place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Light, dark or system.
    pub theme: ThemeChoice,
    /// Zoom over the system's own scale, 0.8 to 2.
    pub scale: f32,
    /// The last space.
    pub space: Space,
    /// Inner size of the window in points.
    pub window_size: [f32; 2],
    /// The chunker of documents added from now on.
    pub chunker: ChunkerConfig,
    /// Folders whose changes are read as they come.
    pub followed: Vec<PathBuf>,
    /// The generator's name; `None` takes the best one installed.
    pub model: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: ThemeChoice::System,
            scale: 1.0,
            space: Space::Library,
            window_size: [1280.0, 800.0],
            chunker: ChunkerConfig::default(),
            followed: Vec::new(),
            model: None,
        }
    }
}

impl Settings {
    /// The smallest window that still shows every space whole.
    pub const MIN_WINDOW_SIZE: [f32; 2] = [960.0, 600.0];

    /// Reads settings; whatever is missing, damaged or out of range takes its default.
    pub fn from_json(json: &str) -> Self {
        let mut settings: Self = serde_json::from_str(json).unwrap_or_default();
        let sane = |value: f32, low: f32, high: f32, or: f32| {
            if value.is_finite() { value.clamp(low, high) } else { or }
        };
        settings.scale = sane(settings.scale, 0.8, 2.0, 1.0);
        for axis in 0..2 {
            let (least, usual) = (Self::MIN_WINDOW_SIZE[axis], Self::default().window_size[axis]);
            settings.window_size[axis] = sane(settings.window_size[axis], least, 16_384.0, usual);
        }
        settings
    }

    /// The settings as they are written.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_back_as_they_were() {
        let settings = Settings {
            theme: ThemeChoice::Dark,
            scale: 1.25,
            space: Space::Chat,
            window_size: [1600.0, 900.0],
            followed: vec!["/notes".into()],
            model: Some("extractive".to_owned()),
            ..Settings::default()
        };
        assert_eq!(Settings::from_json(&settings.to_json()), settings);
    }

    #[test]
    fn damage_gives_defaults_and_sizes_stay_sane() {
        assert_eq!(Settings::from_json("{\"theme\": 7"), Settings::default());
        let odd = Settings::from_json("{\"scale\": 90.0, \"window_size\": [1.0, 1e9], \"later\": true}");
        assert_eq!((odd.scale, odd.window_size), (2.0, [960.0, 16_384.0]));
    }
}
