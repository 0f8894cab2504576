//! The spaces on the rail.

use serde::{Deserialize, Serialize};

/// A space of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// The documents.
    #[default]
    Library,
    /// One document and its chunks.
    Chunks,
    /// What lies near what.
    Similarity,
    /// Passages for a query.
    Search,
    /// Questions and answers.
    Chat,
    /// What is installed.
    Models,
    /// Preferences.
    Settings,
}

impl Space {
    /// All spaces, in the order of the rail.
    pub const ALL: [Self; 7] =
        [Self::Library, Self::Chunks, Self::Similarity, Self::Search, Self::Chat, Self::Models, Self::Settings];

    /// The word on the rail.
    pub fn title(self) -> &'static str {
        match self {
            Self::Library => "Library",
            Self::Chunks => "Chunks",
            Self::Similarity => "Similarity",
            Self::Search => "Search",
            Self::Chat => "Chat",
            Self::Models => "Models",
            Self::Settings => "Settings",
        }
    }
}
