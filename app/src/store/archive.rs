//! A library in one file and back: a ZIP of the database, the vector files, and a list of both with their BLAKE3.
//!
//! Invariant: an archive is only a claim. It is unpacked beside the libraries, checked member by member against the
//! list, and takes its place in one rename; nothing outside its own folder is ever written.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{LibraryPaths, Store, StoreError};
use crate::progress::CancelToken;

const FORMAT: &str = "outcrop library";
const VERSION: u32 = 1;
const LIST: &str = "archive.json";
/// How an archive begins, as every ZIP does.
const HEAD: &[u8] = b"PK\x03\x04";
const DATABASE: &str = "library.db";
const VECTORS: &str = "vectors/";
const VECTOR_ENDING: &str = ".vec";
/// Between the name of a vector file and the number of its list of deleted rows.
const DELETED: &str = ".vec.deleted-";
/// Largest list that is read.
const MAX_LIST_BYTES: u64 = 1 << 20;
const BUFFER_BYTES: usize = 1 << 20;

/// The list in front of an archive's members.
#[derive(Debug, Serialize, Deserialize)]
struct List {
    format: String,
    version: u32,
    members: Vec<Member>,
}

/// A file of the library.
#[derive(Debug, Serialize, Deserialize)]
struct Member {
    name: String,
    bytes: u64,
    blake3: String,
}

/// What an archive holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ArchiveReport {
    /// Files of the library.
    pub files: usize,
    /// Their bytes, unpacked.
    pub bytes: u64,
}

/// Bytes handled so far and in all.
pub(crate) type OnBytes<'a> = &'a mut dyn FnMut(u64, u64);

impl Store {
    /// Writes the library into one new file. Only the process that may write the library can do it, so that database
    /// and vectors are of one moment.
    pub(crate) fn export(
        &self,
        to: &Path,
        on_bytes: OnBytes<'_>,
        cancel: &CancelToken,
    ) -> Result<ArchiveReport, StoreError> {
        self.expect_writable()?;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let io = |err: &std::io::Error| StoreError::io(to, err);
        let copy = tempfile::tempdir_in(folder).map_err(|err| StoreError::io(folder, &err))?;
        let database = copy.path().join(DATABASE);
        self.database.copy_into(&database)?;
        let mut sources = vec![(DATABASE.to_owned(), database)];
        for fingerprint in self.vectors.fingerprints() {
            sources.extend(vector_files(&self.paths().vectors(&fingerprint))?);
        }
        let mut pass = Pass::over(&sources, on_bytes, cancel)?;
        let list = pass.list(&sources)?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|err| StoreError::io(folder, &err))?;
        pass.pack(file.as_file_mut(), &list, &sources).map_err(|err| refused(to, err))?;
        file.as_file().sync_all().map_err(|err| io(&err))?;
        file.persist(to).map_err(|err| io(&err.error))?;
        Ok(report(&list))
    }
}

/// A file of vectors with what it leans on: the list of the rows that were deleted from it. Codes are made anew.
fn vector_files(path: &Path) -> Result<Vec<(String, PathBuf)>, StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|err| StoreError::io(folder, &err))? {
        let file = entry.map_err(|err| StoreError::io(folder, &err))?.path();
        let name = file.file_name().map(|name| format!("{VECTORS}{}", name.to_string_lossy())).unwrap_or_default();
        let is_its_own = file.to_string_lossy().starts_with(&*path.to_string_lossy());
        if is_its_own && is_member_name(&name) {
            found.push((name, file));
        }
    }
    found.sort();
    Ok(found)
}

/// Unpacks an archive as the library at `paths`, which must not be there yet.
pub(crate) fn import(
    from: &Path,
    paths: &LibraryPaths,
    on_bytes: OnBytes<'_>,
    cancel: &CancelToken,
) -> Result<ArchiveReport, StoreError> {
    let libraries = paths.folder().parent().unwrap_or(Path::new("."));
    let io = |path: &Path, err: &std::io::Error| StoreError::io(path, err);
    std::fs::create_dir_all(libraries).map_err(|err| io(libraries, &err))?;
    let file = File::open(from).map_err(|err| not_an_archive(from, &format!("it cannot be opened: {err}")))?;
    let mut archive = ZipArchive::new(file).map_err(|err| not_opened(from, err))?;
    let list = read_list(&mut archive).map_err(|detail| not_an_archive(from, &detail))?;
    let unpacked =
        tempfile::Builder::new().prefix(".import-").tempdir_in(libraries).map_err(|err| io(libraries, &err))?;
    std::fs::create_dir(unpacked.path().join(VECTORS)).map_err(|err| io(unpacked.path(), &err))?;
    let mut pass = Pass { on_bytes, cancel, done: 0, total: list.members.iter().map(|member| member.bytes).sum() };
    for member in &list.members {
        pass.unpack(&mut archive, member, unpacked.path()).map_err(|err| refused(from, err))?;
    }
    // What cannot be opened must not take the library's place.
    for member in list.members.iter().filter(|member| member.name.ends_with(VECTOR_ENDING)) {
        let opened = engine::VectorFile::open_read_only(&unpacked.path().join(&member.name));
        opened.map_err(|err| not_an_archive(from, &format!("{} does not open: {err}", member.name)))?;
    }
    std::fs::rename(unpacked.path(), paths.folder()).map_err(|err| io(paths.folder(), &err))?;
    // The folder has moved to its place: there is nothing left to remove.
    let _ = unpacked.keep();
    Ok(report(&list))
}

fn report(list: &List) -> ArchiveReport {
    ArchiveReport { files: list.members.len(), bytes: list.members.iter().map(|member| member.bytes).sum() }
}

fn not_an_archive(path: &Path, detail: &str) -> StoreError {
    StoreError::Archive { path: path.to_owned(), detail: detail.to_owned() }
}

/// Why a file does not open as an archive. The list of a ZIP's members is its end, which is what a cut takes away.
fn not_opened(path: &Path, err: zip::result::ZipError) -> StoreError {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD.len() as u64).read_to_end(&mut head));
    match err {
        zip::result::ZipError::Io(err) if err.kind() != ErrorKind::UnexpectedEof => StoreError::io(path, &err),
        _ if read.is_ok() && HEAD.starts_with(&head) => cut_short(path),
        err => not_an_archive(path, &format!("it is no file of `outcrop export` ({err})")),
    }
}

fn cut_short(path: &Path) -> StoreError {
    let bytes = path.metadata().map_or(0, |file| file.len());
    let found = format!("the file ends early: its {bytes} bytes stop before the list that an archive ends with");
    not_an_archive(path, &format!("{found}; it was cut short while it was copied or written; export it again"))
}

/// Why a pass over the members ended early.
enum Refusal {
    Cancelled,
    Damaged(String),
    Io(std::io::Error),
}

impl From<std::io::Error> for Refusal {
    fn from(err: std::io::Error) -> Self {
        Self::Io(err)
    }
}

impl From<zip::result::ZipError> for Refusal {
    fn from(err: zip::result::ZipError) -> Self {
        match err {
            zip::result::ZipError::Io(err) => Self::Io(err),
            other => Self::Damaged(other.to_string()),
        }
    }
}

fn refused(path: &Path, refusal: Refusal) -> StoreError {
    match refusal {
        Refusal::Cancelled => not_an_archive(path, "stopped; nothing was changed"),
        Refusal::Damaged(detail) => not_an_archive(path, &detail),
        Refusal::Io(err) if err.kind() == ErrorKind::UnexpectedEof => cut_short(path),
        Refusal::Io(err) => StoreError::io(path, &err),
    }
}

/// One pass over the members, with its progress.
struct Pass<'a> {
    on_bytes: OnBytes<'a>,
    cancel: &'a CancelToken,
    done: u64,
    total: u64,
}

impl<'a> Pass<'a> {
    /// For reading every source twice: once for the list, once into the archive.
    fn over(sources: &[(String, PathBuf)], on_bytes: OnBytes<'a>, cancel: &'a CancelToken) -> Result<Self, StoreError> {
        let mut total = 0;
        for (_, path) in sources {
            total += 2 * path.metadata().map_err(|err| StoreError::io(path, &err))?.len();
        }
        Ok(Self { on_bytes, cancel, done: 0, total })
    }

    fn list(&mut self, sources: &[(String, PathBuf)]) -> Result<List, StoreError> {
        let mut members = Vec::with_capacity(sources.len());
        for (name, path) in sources {
            let mut file = File::open(path).map_err(|err| StoreError::io(path, &err))?;
            let (bytes, blake3) =
                self.copy(&mut file, &mut std::io::sink(), u64::MAX).map_err(|err| refused(path, err))?;
            members.push(Member { name: name.clone(), bytes, blake3 });
        }
        Ok(List { format: FORMAT.to_owned(), version: VERSION, members })
    }

    fn pack(&mut self, to: &mut File, list: &List, sources: &[(String, PathBuf)]) -> Result<(), Refusal> {
        let mut archive = ZipWriter::new(BufWriter::new(to));
        let packed = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
        archive.start_file(LIST, packed)?;
        archive.write_all(&serde_json::to_vec_pretty(list).map_err(std::io::Error::other)?)?;
        for ((name, path), member) in sources.iter().zip(&list.members) {
            // Floats do not pack.
            let method =
                if name.starts_with(VECTORS) { CompressionMethod::Stored } else { CompressionMethod::Deflated };
            archive.start_file(name.as_str(), packed.compression_method(method))?;
            let (_, blake3) = self.copy(&mut File::open(path)?, &mut archive, u64::MAX)?;
            if blake3 != member.blake3 {
                return Err(Refusal::Damaged(format!("{name} changed while it was read; try again")));
            }
        }
        archive.finish()?.flush()?;
        Ok(())
    }

    fn unpack(&mut self, archive: &mut ZipArchive<File>, member: &Member, folder: &Path) -> Result<(), Refusal> {
        let mut packed = archive.by_name(&member.name)?;
        let mut file = File::create(folder.join(&member.name))?;
        let (bytes, blake3) = self.copy(&mut packed, &mut file, member.bytes)?;
        if bytes != member.bytes || blake3 != member.blake3 {
            return Err(Refusal::Damaged(format!(
                "{} is not what the archive's list says ({bytes} bytes with BLAKE3 {blake3}, expected {} with {})",
                member.name, member.bytes, member.blake3
            )));
        }
        file.sync_all()?;
        Ok(())
    }

    /// Copies at most one byte more than `expected`, which is enough to see that there are too many; gives how many
    /// there were, and their BLAKE3.
    fn copy(&mut self, from: &mut dyn Read, to: &mut dyn Write, expected: u64) -> Result<(u64, String), Refusal> {
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut from = from.take(expected.saturating_add(1));
        let mut bytes = 0;
        loop {
            if self.cancel.is_cancelled() {
                return Err(Refusal::Cancelled);
            }
            let read = from.read(&mut buffer)?;
            if read == 0 {
                return Ok((bytes, hasher.finalize().to_hex().to_string()));
            }
            hasher.update(&buffer[..read]);
            to.write_all(&buffer[..read])?;
            bytes += read as u64;
            self.done += read as u64;
            (self.on_bytes)(self.done, self.total);
        }
    }
}

fn read_list(archive: &mut ZipArchive<File>) -> Result<List, String> {
    let member = archive.by_name(LIST).map_err(|_| format!("it has no {LIST}, so `outcrop export` did not make it"))?;
    let list: List = serde_json::from_reader(member.take(MAX_LIST_BYTES)).map_err(|err| format!("{LIST}: {err}"))?;
    if list.format != FORMAT {
        return Err(format!("it is of format {:?}, expected {FORMAT:?}", list.format));
    }
    if list.version > VERSION {
        return Err(format!("it has version {}, this Outcrop knows {VERSION} at most; update Outcrop", list.version));
    }
    if let Some(odd) = list.members.iter().find(|member| !is_member_name(&member.name)) {
        return Err(format!("{:?} is no file of a library", odd.name));
    }
    if !list.members.iter().any(|member| member.name == DATABASE) {
        return Err(format!("it has no {DATABASE}"));
    }
    Ok(list)
}

/// The names that [`Store::export`] gives, and nothing that could lead elsewhere.
fn is_member_name(name: &str) -> bool {
    let without_ending = |name: &'_ str| match name.split_once(DELETED) {
        Some((start, number)) => number.parse::<u64>().is_ok().then_some(start.len()),
        None => name.strip_suffix(VECTOR_ENDING).map(str::len),
    };
    let fingerprint = name.strip_prefix(VECTORS).and_then(|name| without_ending(name).map(|length| &name[..length]));
    name == DATABASE
        || fingerprint.is_some_and(|name| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stay_inside_the_library() {
        for name in ["library.db", "vectors/onnx-384-1f.vec", "vectors/onnx-384-1f.vec.deleted-12"] {
            assert!(is_member_name(name), "{name}");
        }
        for name in
            ["vectors/a.vec.deleted-", "vectors/a.vec.deleted-x", "vectors/../a.vec.deleted-1", "vectors/a.vec.codes"]
        {
            assert!(!is_member_name(name), "{name}");
        }
        for name in ["", "../library.db", "vectors/../x.vec", "vectors/.vec", "vectors/a/b.vec", "/library.db", "x"] {
            assert!(!is_member_name(name), "{name}");
        }
    }
}
