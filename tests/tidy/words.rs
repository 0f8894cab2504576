//! What no tracked file may say: paths of the machine it was written on, and hosts of package registries.

use crate::tree::{SourceFile, assert_none, files};

/// Folders that exist on one machine only. Written in two halves so that this file does not say them.
const MACHINE_FOLDERS: [&str; 3] = [concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/fa", "rm/")];

/// Registries are reached through their clients, which know the hosts.
const REGISTRY_HOSTS: [&str; 6] = [
    concat!("pythonhos", "ted.org"),
    concat!("pypi", ".org"),
    concat!("npmjs", ".org"),
    concat!("static.cra", "tes.io"),
    concat!("index.cra", "tes.io"),
    concat!("deb.deb", "ian.org"),
];

/// Text files but for the lock file, whose package sources are Cargo's own.
fn texts() -> Vec<SourceFile> {
    files(&[]).into_iter().filter(|file| file.path != "Cargo.lock").collect()
}

/// Whether a path starts here, and is not the tail of a longer one or of a word.
fn starts_path(text: &str, byte: usize) -> bool {
    !text[..byte]
        .ends_with(|before: char| before.is_alphanumeric() || matches!(before, '_' | '.' | '-' | '}' | '>' | '*'))
}

#[test]
fn no_path_of_one_machine() {
    let mut found = Vec::new();
    for file in texts() {
        for folder in MACHINE_FOLDERS {
            let paths = file.text.match_indices(folder).filter(|(byte, _)| starts_path(&file.text, *byte));
            found.extend(paths.map(|(byte, _)| format!("{}: {folder}", file.at(byte))));
        }
    }
    assert_none("a path of one machine", &found);
}

#[test]
fn no_registry_host() {
    let mut found = Vec::new();
    for file in texts() {
        for host in REGISTRY_HOSTS {
            found.extend(file.text.match_indices(host).map(|(byte, _)| format!("{}: {host}", file.at(byte))));
        }
    }
    assert_none("name the package, not the host it comes from", &found);
}
