//! [`remove`]: a model that is not wanted any more.

use std::path::Path;

use super::{Catalogue, EntryState, ModelError, entries, generators, rerankers};

/// Deletes models from `models_dir`: those of the catalogue, whole or in part, and those that were added, of which the
/// files that they were added from stay.
///
/// # Errors
/// One is not here, and then all stay; or a folder cannot be deleted.
pub fn remove(catalogue: &Catalogue, models_dir: &Path, names: &[String]) -> Result<(), ModelError> {
    let mut here: Vec<String> = entries(catalogue, models_dir)
        .into_iter()
        .filter(|found| found.state != EntryState::Missing)
        .map(|found| found.entry.name)
        .chain(generators(catalogue, models_dir).into_iter().map(|model| model.name))
        .chain(rerankers(models_dir).into_iter().map(|model| model.name))
        .collect();
    here.sort();
    here.dedup();
    if let Some(unknown) = names.iter().find(|name| !here.contains(name)) {
        return Err(ModelError::NotHere { name: unknown.clone(), here });
    }
    names.iter().try_for_each(|name| remove_folder(&models_dir.join(name)))
}

fn remove_folder(folder: &Path) -> Result<(), ModelError> {
    // A folder that is a link is somebody else's: the link goes.
    let is_link = folder.symlink_metadata().map_err(ModelError::io(folder))?.is_symlink();
    let removed = if is_link { std::fs::remove_file(folder) } else { std::fs::remove_dir_all(folder) };
    removed.map_err(ModelError::io(folder))
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
            let names = ["mine".to_owned(), name.to_owned()];
            let err = remove(&catalogue, &models, &names).unwrap_err().to_string();
            assert!(err.contains("here are mine") && models.join("mine").exists(), "{name:?}: {err}");
        }
        remove(&catalogue, &models, &["mine".to_owned()]).unwrap();
        let err = remove(&catalogue, &models, &["mine".to_owned()]).unwrap_err().to_string();
        assert!(err.contains("none is here"), "{err}");
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
        remove(&Catalogue::built_in().unwrap(), &models, &["linked".to_owned()]).unwrap();
        assert!(!models.join("linked").exists() && other.join("other.gguf").exists());
    }
}
