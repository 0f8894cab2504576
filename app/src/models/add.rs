//! [`add`]: a model that the user already has.

use std::path::Path;

use super::{ModelError, check_gguf};

/// Memory for the context and the compute buffers beside the weights.
const OVERHEAD_BYTES: u64 = 300_000_000;

/// Ends the name of a folder whose model is still being copied.
pub(super) const UNFINISHED: &str = ".unfinished";

/// Memory that a generator with weights of that size needs.
pub(super) fn memory_bytes(weights_bytes: u64) -> u64 {
    weights_bytes + OVERHEAD_BYTES
}

/// Adds the GGUF model at `path` to `models_dir` and returns the name to ask for it by. The file is linked
/// where the file system can, else copied.
///
/// # Errors
/// The file is not a whole GGUF model, a model of that name is there already, or it cannot be copied.
pub fn add(models_dir: &Path, path: &Path) -> Result<String, ModelError> {
    let not_a_model = |detail: &str| ModelError::NotAModel { path: path.to_owned(), detail: detail.to_owned() };
    let is_gguf = path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("gguf"));
    if !is_gguf {
        return Err(not_a_model("only GGUF generator models (*.gguf) can be added by path"));
    }
    check_gguf(path)?;
    let (Some(stem), Some(file_name)) = (path.file_stem(), path.file_name()) else {
        return Err(not_a_model("the path names no file"));
    };
    let name = stem.to_string_lossy().to_lowercase();
    let folder = models_dir.join(&name);
    if folder.exists() {
        return Err(not_a_model(&format!("a model named {name:?} is there already")));
    }
    let unfinished = models_dir.join(format!("{name}{UNFINISHED}"));
    let placed = place(path, &unfinished, Path::new(file_name))
        .and_then(|()| std::fs::rename(&unfinished, &folder).map_err(ModelError::io(&folder)));
    if placed.is_err() {
        // What is left of it is no model: nothing looks into a folder of that name.
        let _ = std::fs::remove_dir_all(&unfinished);
    }
    placed.map(|()| name)
}

/// Links or copies the model into a new folder; whole when this returns.
fn place(path: &Path, folder: &Path, file_name: &Path) -> Result<(), ModelError> {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(ModelError::io(folder))?;
    let target = folder.join(file_name);
    if std::fs::hard_link(path, &target).is_ok() {
        return Ok(());
    }
    std::fs::copy(path, &target).and_then(|_| std::fs::File::open(&target)?.sync_all()).map_err(ModelError::io(&target))
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
}
