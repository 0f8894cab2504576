//! `assets/models.toml`: everything that is fetched has a licence, a size and a checksum.

use toml::{Table, Value};

use crate::tree::{assert_none, full};

fn entries() -> Vec<Table> {
    let text = std::fs::read_to_string(full("assets/models.toml")).unwrap();
    let manifest: Table = text.parse().unwrap();
    let entries = manifest["entry"].as_array().unwrap();
    assert!(!entries.is_empty(), "assets/models.toml lists nothing");
    entries.iter().map(|entry| entry.as_table().unwrap().clone()).collect()
}

fn string<'a>(table: &'a Table, key: &str) -> &'a str {
    table.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn files(entry: &Table) -> Vec<&Table> {
    let files = entry.get("file").and_then(Value::as_array);
    files.into_iter().flatten().filter_map(Value::as_table).collect()
}

#[test]
fn every_entry_names_its_licence_and_has_files() {
    let found: Vec<String> = entries()
        .iter()
        .filter(|entry| string(entry, "licence").is_empty() || files(entry).is_empty())
        .map(|entry| string(entry, "name").to_owned())
        .collect();
    assert_none("an entry of assets/models.toml without licence or files", &found);
}

#[test]
fn every_file_has_a_size_and_a_checksum() {
    let mut found = Vec::new();
    for entry in entries() {
        for file in files(&entry) {
            let bytes = file.get("bytes").and_then(Value::as_integer).unwrap_or_default();
            if bytes <= 0 || !is_sha256(string(file, "sha256")) {
                found.push(format!("{} / {}", string(&entry, "name"), string(file, "name")));
            }
        }
    }
    assert_none("a file of assets/models.toml without its size or its SHA-256 in lower case", &found);
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[test]
fn every_package_is_pinned() {
    let mut found = Vec::new();
    for entry in entries() {
        for file in files(&entry) {
            let parts: Vec<&Table> =
                file.get("part").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table).collect();
            let pinned = !parts.is_empty()
                && parts.iter().all(|part| !string(part, "package").is_empty() && !string(part, "version").is_empty());
            if !pinned {
                found.push(format!("{} / {}", string(&entry, "name"), string(file, "name")));
            }
        }
    }
    assert_none("a file of assets/models.toml whose package has no exact version", &found);
}
