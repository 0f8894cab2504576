//! Which files an ingest reads.
//!
//! A file that was named is always taken. Folders are walked with what `.gitignore` and `.ignore` say; hidden files
//! and what editors and browsers leave behind are passed over. Links are followed, loops and files met twice are not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use crate::progress::CancelToken;

/// A file to ingest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedFile {
    /// Absolute path.
    pub path: PathBuf,
    /// Size in bytes; 0 when it cannot be read.
    pub bytes: u64,
    /// Whether the user named it, rather than a folder it is in.
    pub is_named: bool,
}

/// Lists the files of `paths`, in the order given and by name within a folder. A named path that does not exist is
/// listed too, so that reading it tells why.
pub fn scan(paths: &[PathBuf], cancel: &CancelToken) -> Vec<ScannedFile> {
    let mut files = Vec::new();
    let mut seen = BTreeSet::new();
    for path in paths {
        let path = absolute(path);
        if path.is_dir() {
            walk(&path, cancel, &mut seen, &mut files);
        } else {
            take(path, true, &mut seen, &mut files);
        }
    }
    files
}

fn walk(folder: &Path, cancel: &CancelToken, seen: &mut BTreeSet<PathBuf>, files: &mut Vec<ScannedFile>) {
    let walker =
        WalkBuilder::new(folder).require_git(false).follow_links(true).sort_by_file_name(std::cmp::Ord::cmp).build();
    for entry in walker {
        if cancel.is_cancelled() {
            return;
        }
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                if !is_left_behind(entry.path()) {
                    take(entry.into_path(), false, seen, files);
                }
            }
            Ok(_) => {}
            Err(err) => tracing::warn!("passed over while looking for files: {err}"),
        }
    }
}

fn take(path: PathBuf, is_named: bool, seen: &mut BTreeSet<PathBuf>, files: &mut Vec<ScannedFile>) {
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    if seen.insert(real) {
        let bytes = path.metadata().map_or(0, |metadata| metadata.len());
        files.push(ScannedFile { path, bytes, is_named });
    }
}

/// The path under which a library keeps a file: the same one however the file is named.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().map(plain).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// Windows gives `\\?\C:\…`, which few programs show or take.
fn plain(path: PathBuf) -> PathBuf {
    let is_drive = |rest: &str| rest.as_bytes().get(1) == Some(&b':');
    let plain =
        path.to_str().and_then(|text| text.strip_prefix(r"\\?\")).filter(|rest| is_drive(rest)).map(PathBuf::from);
    plain.unwrap_or(path)
}

fn is_left_behind(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_lock = name.starts_with("~$") || name.starts_with(".~lock.") || name.starts_with('#');
    let is_partial = [".tmp", ".temp", ".swp", ".swo", ".part", ".partial", ".crdownload", ".download"]
        .iter()
        .any(|ending| name.ends_with(ending));
    let is_system = matches!(name.as_str(), "thumbs.db" | "desktop.ini" | "ehthumbs.db");
    is_lock || is_partial || is_system || name.ends_with('~')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure is the test's message")]

    use super::*;

    fn names(root: &Path, paths: &[PathBuf]) -> Vec<String> {
        scan(paths, &CancelToken::new())
            .into_iter()
            .map(|file| file.path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/"))
            .collect()
    }

    fn tree(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, file).unwrap();
        }
        (folder, root)
    }

    #[test]
    fn folders_are_walked_without_what_is_left_behind() {
        let (_folder, root) = tree(&[
            "b.md",
            "a.txt",
            "deep/er/c.txt",
            ".hidden/x.txt",
            ".dot",
            "~$a.docx",
            "a.txt~",
            "x.tmp",
            "y.crdownload",
            "built/out.txt",
        ]);
        std::fs::write(root.join(".gitignore"), "built/\n").unwrap();
        assert_eq!(names(&root, std::slice::from_ref(&root)), ["a.txt", "b.md", "deep/er/c.txt"]);
    }

    #[test]
    fn named_files_are_always_taken_and_once() {
        let (_folder, root) = tree(&["a.txt", ".dot", "built/out.txt"]);
        std::fs::write(root.join(".gitignore"), "built/\n").unwrap();
        let paths = ["built/out.txt", ".dot", "missing.pdf", "a.txt"].map(|name| root.join(name));
        let expected = ["built/out.txt", ".dot", "missing.pdf", "a.txt"];
        assert_eq!(names(&root, &paths), expected);
        let mut again = paths.to_vec();
        again.push(root.clone());
        again.push(root.join("built/../a.txt"));
        assert_eq!(names(&root, &again), expected);
    }

    #[cfg(unix)]
    #[test]
    fn deep_long_and_foreign_names_are_taken() {
        use std::os::unix::ffi::OsStrExt;

        let deep = format!("{}leaf.txt", "level/".repeat(30));
        let long = format!("{}.txt", "n".repeat(250));
        let (_folder, root) = tree(&[&deep, &long, "Größe 東京 🪨.md", "nested \n line.txt"]);
        std::fs::write(root.join(std::ffi::OsStr::from_bytes(b"caf\xe9.txt")), "latin").unwrap();
        let found = scan(std::slice::from_ref(&root), &CancelToken::new());
        assert_eq!(found.len(), 5);
        assert!(found.iter().all(|file| file.path.is_file() && file.bytes > 0), "{found:?}");
    }

    #[cfg(unix)]
    #[test]
    fn link_loops_end() {
        let (_folder, root) = tree(&["a/one.txt", "b/two.txt"]);
        std::os::unix::fs::symlink(&root, root.join("a/up")).unwrap();
        std::os::unix::fs::symlink(root.join("a/one.txt"), root.join("b/same.txt")).unwrap();
        assert_eq!(names(&root, std::slice::from_ref(&root)), ["a/one.txt", "b/two.txt"]);
    }
}
