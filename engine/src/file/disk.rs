//! Positioned reads and writes on the open file, and the one-writer lock.
//!
//! Must not know what the bytes mean.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// An open file and its path.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
}

impl Disk {
    /// Opens an existing file.
    pub(crate) fn open(path: &Path, is_writable: bool) -> Result<Self, Error> {
        let file = OpenOptions::new().read(true).write(is_writable).open(path).map_err(Error::io("open", path))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Makes a new file, replacing a left-over of the same name.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        let file = options.open(path).map_err(Error::io("create", path))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Length now.
    pub(crate) fn len_bytes(&self) -> Result<u64, Error> {
        Ok(self.file.metadata().map_err(Error::io("measure", &self.path))?.len())
    }

    /// Fails unless the file still has `expected_bytes`.
    pub(crate) fn check_len(&self, expected_bytes: u64) -> Result<(), Error> {
        let found_bytes = self.len_bytes()?;
        if found_bytes < expected_bytes {
            return Err(Error::Truncated { found_bytes, expected_bytes, path: self.path.clone() });
        }
        Ok(())
    }

    /// Makes the file at least this long.
    pub(crate) fn grow(&self, len_bytes: u64) -> Result<(), Error> {
        if self.len_bytes()? < len_bytes {
            self.file.set_len(len_bytes).map_err(Error::io("grow", &self.path))?;
        }
        Ok(())
    }

    /// Fills `buffer` from `offset`.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        read_exact_at(&self.file, buffer, offset).map_err(Error::io("read", &self.path))
    }

    /// Writes all of `bytes` at `offset`.
    pub(crate) fn write_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        write_all_at(&self.file, bytes, offset).map_err(Error::io("write", &self.path))
    }

    /// Waits until everything written is on the device.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(Error::io("sync", &self.path))
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    while !buffer.is_empty() {
        let num_read = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if num_read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[num_read..];
        offset += num_read as u64;
    }
    Ok(())
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let num_written = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        bytes = &bytes[num_written..];
        offset += num_written as u64;
    }
    Ok(())
}

/// Proof that this process is the only writer of a file. Ends when dropped.
///
/// The lock is taken on `<file>.lock` and not on the file itself, which a compaction replaces.
#[derive(Debug)]
pub(crate) struct WriterLock {
    _file: File,
}

impl WriterLock {
    /// Takes the lock or says who is in the way.
    pub(crate) fn acquire(path: &Path) -> Result<Self, Error> {
        let lock_path = sibling(path, ".lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&lock_path).map_err(Error::io("open the lock of", &lock_path))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", &lock_path)(source)),
        }
    }
}

/// The path with `suffix` after the file name.
pub(crate) fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Moves `from` over `to` so that it survives a power cut.
pub(crate) fn rename_durably(from: &Path, to: &Path) -> Result<(), Error> {
    std::fs::rename(from, to).map_err(Error::io("rename to", to))?;
    sync_folder_of(to)
}

#[cfg(unix)]
fn sync_folder_of(path: &Path) -> Result<(), Error> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = File::open(parent).map_err(Error::io("open", parent))?;
    folder.sync_all().map_err(Error::io("sync", parent))
}

#[cfg(not(unix))]
fn sync_folder_of(_path: &Path) -> Result<(), Error> {
    Ok(())
}
