//! [`remove`]: a model that is not wanted any more.

use std::path::Path;

use super::{Catalogue, EntryState, ModelError, entries, generators, rerankers};

/// Deletes the model `name` from `models_dir`: one of the catalogue, whole or in part, or one that was added, of which
/// the file that it was added from stays.
///
/// # Errors
/// There is no such model here, or its folder cannot be deleted.
pub fn remove(catalogue: &Catalogue, models_dir: &Path, name: &str) -> Result<(), ModelError> {
    let here: Vec<String> = entries(catalogue, models_dir)
        .into_iter()
        .filter(|found| found.state != EntryState::Missing)
        .map(|found| found.entry.name)
        .chain(generators(catalogue, models_dir).into_iter().map(|model| model.name))
        .chain(rerankers(models_dir).into_iter().map(|model| model.name))
        .collect();
    if !here.iter().any(|known| known == name) {
        let mut known = here;
        known.sort();
        known.dedup();
        return Err(ModelError::UnknownName { name: name.to_owned(), known: known.join(", ") });
    }
    let folder = models_dir.join(name);
    // A folder that is a link is somebody else's: the link goes.
    let is_link = folder.symlink_metadata().map_err(ModelError::io(&folder))?.is_symlink();
    let removed = if is_link { std::fs::remove_file(&folder) } else { std::fs::remove_dir_all(&folder) };
    removed.map_err(ModelError::io(&folder))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    #[test]
    fn what_was_added_goes_and_everything_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (models, other) = (folder.path().join("models"), folder.path().join("other"));
        for place in [models.join("mine"), models.join("empty"), other.clone()] {
            std::fs::create_dir_all(place).unwrap();
        }
        std::fs::write(models.join("mine/mine.gguf"), "x").unwrap();
        std::fs::write(other.join("other.gguf"), "x").unwrap();
        let catalogue = Catalogue::built_in().unwrap();
        for name in ["", ".", "..", "../other", "empty", "Mine", "minilm-int8"] {
            let err = remove(&catalogue, &models, name).unwrap_err().to_string();
            assert!(err.contains("known are mine"), "{name:?}: {err}");
        }
        remove(&catalogue, &models, "mine").unwrap();
        assert!(!models.join("mine").exists() && models.join("empty").exists() && other.join("other.gguf").exists());
    }

    #[cfg(unix)]
    #[test]
    fn of_a_link_the_link_goes() {
        let folder = tempfile::tempdir().unwrap();
        let (models, other) = (folder.path().join("models"), folder.path().join("other"));
        std::fs::create_dir_all(&models).unwrap();
        std::fs::create_dir_all(&other).unwrap();
        std::fs::write(other.join("other.gguf"), "x").unwrap();
        std::os::unix::fs::symlink(&other, models.join("linked")).unwrap();
        remove(&Catalogue::built_in().unwrap(), &models, "linked").unwrap();
        assert!(!models.join("linked").exists() && other.join("other.gguf").exists());
    }
}
