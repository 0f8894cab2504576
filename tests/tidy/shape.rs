//! The shape of source files: their headers, their size, their names.

use crate::scan::{code_of, find_word};
use crate::tree::{SourceFile, assert_none, files};

/// Most lines of a file: past this it has more than one job.
const FILE_LINES: usize = 500;

/// Most lines of a `mod.rs`, which holds the module's doc, its re-exports and its main types.
const MOD_LINES: usize = 320;

/// The attribute of a test that does not run. Written in two halves so that this file does not say it.
const SKIPPED: &str = concat!("#[ign", "ore");

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 10] =
    ["common", "core", "helper", "helpers", "manager", "misc", "shared", "util", "utils", "stuff"];

fn sources() -> Vec<SourceFile> {
    files(&["rs"])
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".rs").unwrap_or(name)
}

#[test]
fn every_file_starts_with_its_header() {
    let found: Vec<String> = sources()
        .into_iter()
        .filter(|file| {
            let header = file.text.lines().next().unwrap_or_default();
            !header.starts_with("//! ") || header.len() < "//! ".len() + 12
        })
        .map(|file| file.path)
        .collect();
    assert_none("a Rust file starts with `//!` and a sentence that says what it owns", &found);
}

#[test]
fn files_have_one_job() {
    let found: Vec<String> = sources()
        .into_iter()
        .map(|file| (file.text.lines().count(), file.path))
        .filter(|(lines, path)| *lines > if stem(path) == "mod" { MOD_LINES } else { FILE_LINES })
        .map(|(lines, path)| format!("{path}: {lines} lines"))
        .collect();
    assert_none(&format!("a file has at most {FILE_LINES} lines and a mod.rs at most {MOD_LINES}: split it"), &found);
}

#[test]
fn names_say_what_is_inside() {
    let found: Vec<String> = sources()
        .into_iter()
        .map(|file| file.path)
        .filter(|path| path.trim_end_matches(".rs").split('/').any(|part| EMPTY_NAMES.contains(&part)))
        .collect();
    assert_none("name the file after what it owns", &found);
}

#[test]
fn no_file_repeats_the_name_of_its_folder() {
    let found: Vec<String> = sources()
        .into_iter()
        .map(|file| file.path)
        .filter(|path| path.rsplit('/').nth(1).is_some_and(|folder| folder == stem(path)))
        .collect();
    assert_none("`foo/foo.rs`: what it holds belongs into `foo/mod.rs` or deserves a name", &found);
}

#[test]
fn nothing_is_left_unfinished_or_skipped() {
    let mut found = Vec::new();
    for file in sources() {
        let code = code_of(&file.text);
        for name in ["todo", "unimplemented"] {
            let calls = find_word(&code, name).into_iter().filter(|byte| code[byte + name.len()..].starts_with('!'));
            found.extend(calls.map(|byte| format!("{}: {name}!", file.at(byte))));
        }
        found.extend(code.match_indices(SKIPPED).map(|(byte, _)| format!("{}: an ignored test", file.at(byte))));
    }
    assert_none("finish it, or leave it out and write an issue", &found);
}

#[test]
fn printing_is_left_to_the_command_line() {
    let mut found = Vec::new();
    for file in sources().iter().filter(|file| is_library(&file.path)) {
        let code = code_of(&file.text);
        for name in ["dbg", "print", "println"] {
            let calls = find_word(&code, name).into_iter().filter(|byte| code[byte + name.len()..].starts_with('!'));
            found.extend(calls.map(|byte| format!("{}: {name}!", file.at(byte))));
        }
    }
    assert_none("only `app/src/cli` writes to stdout", &found);
}

fn is_library(path: &str) -> bool {
    (path.starts_with("app/src/") || path.starts_with("engine/src/")) && !path.starts_with("app/src/cli/")
}
