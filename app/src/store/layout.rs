//! Where the files of a library are.
//!
//! ```text
//! <home>/libraries/<name>/library.db                  SQLite, the authority
//! <home>/libraries/<name>/library.lock                held by the one writer
//! <home>/libraries/<name>/vectors/<fingerprint>.vec   one file per embedding model; beside it
//!                                  ….vec.deleted-N    the rows that were deleted from it
//!                                  ….vec.codes        int8 codes, made anew where they are missing
//! ```

use std::path::{Path, PathBuf};

use super::StoreError;

const MAX_NAME_CHARS: usize = 64;

/// The paths of one library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryPaths {
    folder: PathBuf,
}

impl LibraryPaths {
    /// Paths of the library called `name` under `home`.
    ///
    /// # Errors
    /// The name cannot be a folder's name.
    pub fn new(home: &Path, name: &str) -> Result<Self, StoreError> {
        if !is_library_name(name) {
            return Err(StoreError::Name { found: name.to_owned() });
        }
        Ok(Self { folder: home.join("libraries").join(name) })
    }

    /// The library's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The SQLite database.
    pub fn database(&self) -> PathBuf {
        self.folder.join("library.db")
    }

    /// The writer's lock file.
    pub fn lock_file(&self) -> PathBuf {
        self.folder.join("library.lock")
    }

    /// The folder of the vector files.
    pub fn vectors_folder(&self) -> PathBuf {
        self.folder.join("vectors")
    }

    /// The vector file of one embedding model.
    pub fn vectors(&self, fingerprint: &str) -> PathBuf {
        self.vectors_folder().join(format!("{fingerprint}.vec"))
    }
}

fn is_library_name(name: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    !name.is_empty()
        && name.chars().count() <= MAX_NAME_CHARS
        && !name.starts_with('.')
        && name.trim() == name
        && !name.ends_with('.')
        && name.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside_the_home() {
        for name in ["", ".", "..", "a/b", "a\\b", ".hidden", " a", "a.", "a\0b", "a:b"] {
            assert!(!is_library_name(name), "{name:?}");
        }
        for name in ["default", "notes 2026", "研究", "v1.2-x_y"] {
            assert!(is_library_name(name), "{name:?}");
        }
    }
}
