//! [`RerankerModel`]: cross-encoders in the models folder, known by the `kind` in their manifest.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ModelError, num_cores};

/// Files of a model that ONNX Runtime runs.
pub(super) const ONNX_FILES: [&str; 3] = ["model.onnx", "tokenizer.json", MANIFEST_FILE];
const MANIFEST_FILE: &str = "manifest.toml";

const MIN_WINDOW_TOKENS: usize = 8;
const MAX_WINDOW_TOKENS: usize = 32_768;
/// Sessions that hold the weights at once, at most.
const MOST_SESSIONS: u64 = 4;
/// Memory for the activations beside the weights.
const OVERHEAD_BYTES: u64 = 100_000_000;

/// What a model in a folder with a manifest does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    /// Turns a text into a vector.
    #[default]
    Embedder,
    /// Reads a question and a passage together and says how well they fit.
    Reranker,
}

/// `manifest.toml` of a reranker, beside its `model.onnx` and `tokenizer.json`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    kind: ModelKind,
    name: String,
    window: usize,
}

/// A cross-encoder that is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RerankerModel {
    /// Name of its folder.
    pub name: String,
    /// Name shown to people.
    pub title: String,
    /// Its folder, with `model.onnx`, `tokenizer.json` and `manifest.toml`.
    pub folder: PathBuf,
    /// Tokens of question and passage together, special ones included.
    pub window: usize,
    /// Size of its files.
    pub bytes: u64,
    /// Memory that it needs, about.
    pub memory_bytes: u64,
}

impl RerankerModel {
    /// The reranker in `folder`.
    ///
    /// # Errors
    /// A file is missing, or the manifest is not a reranker's.
    pub fn read(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join(MANIFEST_FILE);
        let wrong = |detail: String| ModelError::NotAModel { path: path.clone(), detail };
        let text = std::fs::read_to_string(&path).map_err(|err| wrong(err.to_string()))?;
        let manifest: Manifest = toml::from_str(&text).map_err(|err| wrong(err.message().to_owned()))?;
        if manifest.kind != ModelKind::Reranker {
            return Err(wrong("kind is \"embedder\" but \"reranker\" was expected".to_owned()));
        }
        check_window(manifest.window).map_err(wrong)?;
        let mut bytes = 0;
        for name in ONNX_FILES {
            let path = folder.join(name);
            bytes += path.metadata().map_err(ModelError::io(&path))?.len();
        }
        let sessions = (num_cores() as u64).min(MOST_SESSIONS);
        Ok(Self {
            name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            title: manifest.name,
            folder: folder.to_owned(),
            window: manifest.window,
            bytes,
            memory_bytes: bytes.saturating_mul(sessions).saturating_add(OVERHEAD_BYTES),
        })
    }
}

/// Checks how many tokens a model says that it can read.
pub(crate) fn check_window(window: usize) -> Result<(), String> {
    if (MIN_WINDOW_TOKENS..=MAX_WINDOW_TOKENS).contains(&window) {
        return Ok(());
    }
    Err(format!("window is {window} but must be from {MIN_WINDOW_TOKENS} to {MAX_WINDOW_TOKENS}"))
}

/// The rerankers in `models_dir`, by name. The first one is used.
pub fn rerankers(models_dir: &Path) -> Vec<RerankerModel> {
    let Ok(items) = std::fs::read_dir(models_dir) else {
        return Vec::new();
    };
    let is_finished = |folder: &PathBuf| !folder.to_string_lossy().ends_with(super::add::UNFINISHED);
    let folders = items.filter_map(Result::ok).map(|item| item.path()).filter(is_finished);
    let mut found: Vec<RerankerModel> = folders.filter_map(|folder| RerankerModel::read(&folder).ok()).collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    fn folder_with(models: &Path, name: &str, manifest: &str) -> PathBuf {
        let folder = models.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("model.onnx"), "weights").unwrap();
        std::fs::write(folder.join("tokenizer.json"), "{}").unwrap();
        std::fs::write(folder.join(MANIFEST_FILE), manifest).unwrap();
        folder
    }

    #[test]
    fn rerankers_are_told_from_embedders_by_their_manifest() {
        let models = tempfile::tempdir().unwrap();
        folder_with(models.path(), "b", "kind = 'reranker'\nname = 'B'\nwindow = 512");
        folder_with(models.path(), "a", "kind = 'reranker'\nname = 'A'\nwindow = 128");
        folder_with(models.path(), "embedder", "name = 'E'\ndims = 384\nwindow = 256");
        folder_with(models.path(), "c.unfinished", "kind = 'reranker'\nname = 'C'\nwindow = 128");
        let found = rerankers(models.path());
        assert_eq!(found.iter().map(|model| model.title.as_str()).collect::<Vec<_>>(), ["A", "B"]);
        assert!(found[0].bytes > 9 && found[0].memory_bytes > found[0].bytes);
        assert!(rerankers(&models.path().join("none")).is_empty());
    }

    #[test]
    fn what_is_wrong_with_a_reranker_is_named() {
        let models = tempfile::tempdir().unwrap();
        for (manifest, expected) in [
            ("kind = 'embedder'\nname = 'A'\nwindow = 512", "reranker"),
            ("kind = 'reranker'\nname = 'A'\nwindow = 2", "window is 2"),
            ("kind = 'reranker'\nname = 'A'\nwindow = 512\ndims = 3", "dims"),
            ("kind = 'reranker'", "name"),
        ] {
            let err = RerankerModel::read(&folder_with(models.path(), "a", manifest)).unwrap_err().to_string();
            assert!(err.contains(expected) && err.contains("manifest.toml"), "{err}");
        }
        let folder = folder_with(models.path(), "a", "kind = 'reranker'\nname = 'A'\nwindow = 512");
        std::fs::remove_file(folder.join("model.onnx")).unwrap();
        assert!(RerankerModel::read(&folder).unwrap_err().to_string().contains("model.onnx"));
    }
}
