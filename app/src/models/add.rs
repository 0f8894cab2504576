//! [`add`]: a model that the user already has.

use std::path::{Path, PathBuf};

use super::reranker::ONNX_FILES;
use super::{ModelError, RerankerModel, check_gguf};

/// Memory for the context and the compute buffers beside the weights.
const OVERHEAD_BYTES: u64 = 300_000_000;

/// Ends the name of a folder whose model is still being copied.
pub(super) const UNFINISHED: &str = ".unfinished";

/// Memory that a generator with weights of that size needs.
pub(super) fn memory_bytes(weights_bytes: u64) -> u64 {
    weights_bytes + OVERHEAD_BYTES
}

/// Adds the model at `path` to `models_dir` and returns the name to ask for it by: a GGUF file, or a folder with a
/// reranker. Files are linked where the file system can, else copied.
///
/// # Errors
/// It is no whole model, a model of that name is there already, or it cannot be copied.
pub fn add(models_dir: &Path, path: &Path) -> Result<String, ModelError> {
    let not_a_model = |detail: &str| ModelError::NotAModel { path: path.to_owned(), detail: detail.to_owned() };
    let real = path.canonicalize().map_err(ModelError::io(path))?;
    let is_folder = real.is_dir();
    if !is_folder && path.extension().is_none_or(|ext| !ext.eq_ignore_ascii_case("gguf")) {
        return Err(not_a_model("a generator (*.gguf) or the folder of a reranker can be added by path"));
    }
    let files = if is_folder { ONNX_FILES.map(|name| path.join(name)).to_vec() } else { vec![path.to_owned()] };
    let check = |folder: Option<&Path>| match (is_folder, folder) {
        (true, folder) => RerankerModel::read(folder.unwrap_or(path)).map(drop),
        (false, None) => check_gguf(path),
        (false, Some(folder)) => check_gguf(&folder.join(path.file_name().unwrap_or_default())),
    };
    check(None)?;
    // What a link leads to may have any name, but `.` has none.
    let stem = if is_folder { path.file_name().or(real.file_name()) } else { path.file_stem() };
    let name = stem.ok_or_else(|| not_a_model("the path names no file"))?.to_string_lossy().to_lowercase();
    let folder = models_dir.join(&name);
    if folder.exists() {
        return Err(not_a_model(&format!("a model named {name:?} is there already")));
    }
    let unfinished = models_dir.join(format!("{name}{UNFINISHED}"));
    let placed = place(&files, &unfinished)
        .and_then(|()| check(Some(&unfinished)))
        .and_then(|()| std::fs::rename(&unfinished, &folder).map_err(ModelError::io(&folder)));
    if placed.is_err() {
        // What is left of it is no model: nothing looks into a folder of that name.
        let _ = std::fs::remove_dir_all(&unfinished);
    }
    placed.map(|()| name)
}

/// Links or copies the files of a model into a new folder; whole when this returns. A file that is a link itself, as in
/// the caches of model hubs, is followed, and keeps its own name.
pub(super) fn place(files: &[PathBuf], folder: &Path) -> Result<(), ModelError> {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(ModelError::io(folder))?;
    for path in files {
        let real = path.canonicalize().map_err(ModelError::io(path))?;
        let target = folder.join(path.file_name().unwrap_or_default());
        if std::fs::hard_link(&real, &target).is_err() {
            std::fs::copy(&real, &target)
                .and_then(|_| std::fs::File::open(&target)?.sync_all())
                .map_err(ModelError::io(&target))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    #[test]
    fn what_is_no_model_is_refused_and_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        for name in ["notes.txt", "fake.gguf"] {
            let path = home.path().join(name);
            std::fs::write(&path, "hello").unwrap();
            let err = add(&home.path().join("models"), &path).unwrap_err();
            assert!(matches!(err, ModelError::NotAModel { .. }), "{err}");
        }
        assert!(!home.path().join("models").exists());
    }

    #[test]
    fn a_folder_with_a_reranker_is_added_whole_and_once() {
        let home = tempfile::tempdir().unwrap();
        let (models, folder) = (home.path().join("models"), home.path().join("MS-Marco"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("model.onnx"), "weights").unwrap();
        std::fs::write(folder.join("manifest.toml"), "kind = 'reranker'\nname = 'M'\nwindow = 512").unwrap();
        let err = add(&models, &folder).unwrap_err().to_string();
        assert!(err.contains("tokenizer.json") && !models.exists(), "{err}");
        std::fs::write(folder.join("tokenizer.json"), "{}").unwrap();
        std::fs::write(folder.join("notes.txt"), "not part of it").unwrap();
        assert_eq!(add(&models, &folder).unwrap(), "ms-marco");
        assert_eq!(std::fs::read_dir(models.join("ms-marco")).unwrap().count(), 3);
        assert!(add(&models, &folder).unwrap_err().to_string().contains("there already"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_keep_their_names() {
        use std::os::unix::fs::symlink;

        let home = tempfile::tempdir().unwrap();
        let (models, blobs) = (home.path().join("models"), home.path().join("blobs"));
        let snapshot = home.path().join("snapshots/Tables");
        std::fs::create_dir_all(&blobs).unwrap();
        std::fs::create_dir_all(&snapshot).unwrap();
        let manifest = "kind = 'reranker'\nname = 'M'\nwindow = 512";
        for (name, text) in [("model.onnx", "weights"), ("tokenizer.json", "{}"), ("manifest.toml", manifest)] {
            std::fs::write(blobs.join(format!("blob-of-{name}")), text).unwrap();
            symlink(format!("../../blobs/blob-of-{name}"), snapshot.join(name)).unwrap();
        }
        let latest = home.path().join("Latest");
        symlink(&snapshot, &latest).unwrap();
        for (path, name) in [(&snapshot, "tables"), (&latest, "latest")] {
            assert_eq!(add(&models, path).unwrap(), name);
            let added = models.join(name);
            for item in std::fs::read_dir(&added).unwrap() {
                assert!(item.unwrap().file_type().unwrap().is_file(), "a link was placed");
            }
            assert_eq!(std::fs::read_to_string(added.join("model.onnx")).unwrap(), "weights");
            assert_eq!(RerankerModel::read(&added).unwrap().title, "M");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_generator_may_be_a_link_to_a_file_of_another_name() {
        let home = tempfile::tempdir().unwrap();
        let (blob, path) = (home.path().join("6f3a"), home.path().join("Tiny.gguf"));
        std::fs::write(&blob, "hello").unwrap();
        std::os::unix::fs::symlink(&blob, &path).unwrap();
        let err = add(&home.path().join("models"), &path).unwrap_err().to_string();
        assert!(err.contains("not a GGUF model"), "it is read: {err}");
    }
}
