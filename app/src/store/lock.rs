//! One writer per library: an advisory lock that the system releases when the process ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::StoreError;

/// Held for as long as this process may write the library.
#[derive(Debug)]
pub(crate) struct WriterLock {
    _file: File,
}

impl WriterLock {
    /// Takes the lock; `None` when another process holds it.
    pub(crate) fn take(path: &Path) -> Result<Option<Self>, StoreError> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(|err| StoreError::io(path, &err))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(err)) => Err(StoreError::io(path, &err)),
        }
    }
}
