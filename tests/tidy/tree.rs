//! The files of the tree, as git sees them, and what may lie at its top.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The names that the tree may have at its top, beside dotfiles.
const TOP_LEVEL: [&str; 15] = [
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "Makefile",
    "README.md",
    "app",
    "assets",
    "benches",
    "deny.toml",
    "engine",
    "rustfmt.toml",
    "shaders",
    "tests",
];

/// A text file of the tree.
pub(crate) struct SourceFile {
    /// Path from the top, with `/`.
    pub(crate) path: String,
    /// All of it.
    pub(crate) text: String,
}

impl SourceFile {
    /// `path:line` of a byte of the text, for messages.
    pub(crate) fn at(&self, byte: usize) -> String {
        let line = self.text[..byte].matches('\n').count() + 1;
        format!("{}:{line}", self.path)
    }
}

/// The top of the tree.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Every file that git tracks or would add, by its path from the top.
pub(crate) fn paths() -> Vec<String> {
    let listing = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root())
        .output()
        .expect("tidy asks git for the list of files");
    assert!(listing.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listing.stderr));
    let mut paths: Vec<String> = listing
        .stdout
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| String::from_utf8(name.to_vec()).expect("file names are UTF-8"))
        .filter(|name| root().join(name).is_file())
        .collect();
    paths.sort();
    assert!(paths.len() > 50, "git lists only {} files", paths.len());
    paths
}

/// Every text file whose path ends in one of `extensions` (all of them for an empty list).
pub(crate) fn files(extensions: &[&str]) -> Vec<SourceFile> {
    paths()
        .into_iter()
        .filter(|path| extensions.is_empty() || extensions.iter().any(|ext| path.ends_with(&format!(".{ext}"))))
        .filter_map(|path| {
            let text = std::fs::read_to_string(full(&path)).ok()?;
            Some(SourceFile { path, text })
        })
        .collect()
}

/// The place on disk of a path from the top.
pub(crate) fn full(path: &str) -> PathBuf {
    root().join(path)
}

/// Fails with every line of `found` under `rule`.
#[track_caller]
pub(crate) fn assert_none(rule: &str, found: &[String]) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

#[test]
fn only_known_names_lie_at_the_top() {
    let found: Vec<String> = paths()
        .into_iter()
        .filter(|path| {
            let top = path.split('/').next().unwrap_or(path);
            !top.starts_with('.') && !TOP_LEVEL.contains(&top)
        })
        .collect();
    assert_none("the names at the top of the tree are fixed; find a place below one of them", &found);
}
