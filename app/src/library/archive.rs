//! A library in one file and back: [`Library::export`] and [`Library::import`].

use std::path::Path;

use super::{DEFAULT_NAME, Error, Library, LibraryOptions, home_folder};
use crate::progress::CancelToken;
use crate::store::{self, ArchiveReport, LibraryPaths, StoreError};

impl Library {
    /// Writes the library with its vectors into one file, which takes its name when it is whole. `on_bytes` gets the
    /// bytes handled so far and in all. The documents' own files are not part of it; their text is.
    ///
    /// # Errors
    /// Another process holds the library, the file cannot be written, or `cancel` was set.
    pub fn export(
        &self,
        to: &Path,
        on_bytes: &mut dyn FnMut(u64, u64),
        cancel: &CancelToken,
    ) -> Result<ArchiveReport, Error> {
        Ok(self.store.export(to, on_bytes, cancel)?)
    }

    /// Makes the library that `options` name out of a file that [`Library::export`] wrote, and opens it. An empty
    /// library of that name is replaced.
    ///
    /// # Errors
    /// A library of that name holds something, the file is damaged or of a newer version, the folder cannot be
    /// written, or `cancel` was set. Nothing is changed then.
    pub fn import(
        from: &Path,
        options: LibraryOptions,
        on_bytes: &mut dyn FnMut(u64, u64),
        cancel: &CancelToken,
    ) -> Result<(Self, ArchiveReport), Error> {
        let home = home_folder(options.home.clone())?;
        let paths = LibraryPaths::new(&home, options.name.as_deref().unwrap_or(DEFAULT_NAME))?;
        if paths.database().exists() {
            remove_if_empty(&options, &paths)?;
        }
        let report = store::import_archive(from, &paths, on_bytes, cancel)?;
        Ok((Self::open(options)?, report))
    }
}

fn remove_if_empty(options: &LibraryOptions, paths: &LibraryPaths) -> Result<(), Error> {
    let library = Library::open(options.clone())?;
    library.store.expect_writable()?;
    if !library.documents()?.is_empty() || !library.chats()?.is_empty() {
        return Err(StoreError::Exists { path: paths.folder().to_owned() }.into());
    }
    drop(library);
    std::fs::remove_dir_all(paths.folder()).map_err(|err| StoreError::io(paths.folder(), &err).into())
}
