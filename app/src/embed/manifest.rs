//! [`Manifest`]: how the model in a folder turns text into a vector.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::EmbedError;
use crate::models::{ModelKind, check_window};

/// File name in the model's folder.
pub(super) const MANIFEST_FILE: &str = "manifest.toml";

const MAX_DIMS: usize = 8192;

/// How token vectors become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean over all tokens.
    #[default]
    Mean,
    /// The vector of the first token.
    Cls,
}

/// What becomes of text beyond a model's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LongTexts {
    /// The mean of the vectors of all windows.
    #[default]
    Average,
    /// Their mean, each window counting half of the one before it: what a text begins with says most of what it is
    /// about.
    Leading,
    /// The vector of the first window alone.
    First,
}

/// `manifest.toml` beside a model's `model.onnx` and `tokenizer.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// What the model does.
    #[serde(default)]
    pub kind: ModelKind,
    /// Name shown to people.
    pub name: String,
    /// Dimensions of a vector.
    pub dims: usize,
    /// Tokens of one forward pass, special tokens included.
    pub window: usize,
    /// How token vectors become one.
    #[serde(default)]
    pub pooling: Pooling,
    /// What becomes of text beyond the window.
    #[serde(default)]
    pub long_texts: LongTexts,
    /// Put before a query.
    #[serde(default)]
    pub query_prefix: String,
    /// Put before a passage.
    #[serde(default)]
    pub passage_prefix: String,
}

impl Manifest {
    /// Reads and checks the manifest in a model's folder.
    ///
    /// # Errors
    /// The file is missing, is not TOML, has unknown or missing fields, or a number is out of range.
    pub fn read(folder: &Path) -> Result<Self, EmbedError> {
        let path = folder.join(MANIFEST_FILE);
        let text =
            std::fs::read_to_string(&path).map_err(|err| EmbedError::Load(format!("{err}: {}", path.display())))?;
        let manifest: Self =
            toml::from_str(&text).map_err(|err| EmbedError::Load(format!("{}: {}", err.message(), path.display())))?;
        manifest.check().map_err(|detail| EmbedError::Load(format!("{detail}: {}", path.display())))?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        if !(1..=MAX_DIMS).contains(&self.dims) {
            return Err(format!("dims is {} but must be from 1 to {MAX_DIMS}", self.dims));
        }
        if self.kind != ModelKind::Embedder {
            return Err("kind is \"reranker\" but \"embedder\" was expected".to_owned());
        }
        check_window(self.window)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    fn read(text: &str) -> Result<Manifest, EmbedError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(MANIFEST_FILE), text).unwrap();
        Manifest::read(folder.path())
    }

    #[test]
    fn defaults_fill_what_is_left_out() {
        let manifest = read("name = 'm'\ndims = 384\nwindow = 256").unwrap();
        assert_eq!(manifest.pooling, Pooling::Mean);
        assert_eq!(manifest.query_prefix, "");
    }

    #[test]
    fn wrong_manifests_say_what_is_wrong() {
        for (text, expected) in [
            ("name = 'm'\ndims = 0\nwindow = 256", "dims is 0"),
            ("name = 'm'\ndims = 4\nwindow = 2", "window is 2"),
            ("name = 'm'\ndims = 4\nwindow = 256\ntypo = 1", "typo"),
            ("kind = 'reranker'\nname = 'm'\ndims = 4\nwindow = 256", "embedder"),
            ("name = 'm'", "dims"),
        ] {
            let err = read(text).unwrap_err().to_string();
            assert!(err.contains(expected) && err.contains("manifest.toml"), "{err}");
        }
    }

    #[test]
    fn a_missing_manifest_names_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let err = Manifest::read(folder.path()).unwrap_err().to_string();
        assert!(err.contains("manifest.toml"), "{err}");
    }
}
