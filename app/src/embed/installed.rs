//! [`open_installed`]: the embedder that this machine has.

use std::path::Path;
use std::sync::Arc;

use super::{Embedder, HashEmbedder, OnnxEmbedder};
use crate::models::{self, Native};

/// Folder of the default embedding model in the models folder.
pub const DEFAULT_MODEL: &str = "minilm-int8";

/// The default model where it is installed, else the hash embedder with a note for people that says why.
pub fn open_installed(models_dir: &Path) -> (Arc<dyn Embedder>, Option<String>) {
    let folder = models_dir.join(DEFAULT_MODEL);
    if !folder.is_dir() {
        let note = "no embedding model is installed, so passages are found by their words and not by meaning; \
                    run `outcrop models fetch` and ingest again"
            .to_owned();
        return (Arc::new(HashEmbedder), Some(note));
    }
    let library = models::library_path(models_dir, Native::OnnxRuntime);
    match OnnxEmbedder::open(&folder, &library) {
        Ok(embedder) => (Arc::new(embedder), None),
        Err(err) => {
            let note = format!(
                "the embedding model does not load, so passages are found by their words and not by meaning ({err})"
            );
            (Arc::new(HashEmbedder), Some(note))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    #[test]
    fn without_a_model_the_hash_embedder_says_so() {
        let empty = tempfile::tempdir().unwrap();
        let (embedder, note) = open_installed(empty.path());
        assert_eq!(embedder.fingerprint(), "hash-384-v1");
        assert!(note.unwrap().contains("outcrop models fetch"));
    }

    #[test]
    fn a_damaged_model_is_named_in_the_note() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(DEFAULT_MODEL);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("manifest.toml"), "dims = 'many'").unwrap();
        let (embedder, note) = open_installed(home.path());
        assert_eq!(embedder.dims(), 384);
        assert!(note.unwrap().contains("manifest.toml"));
    }
}
