//! [`leftovers`]: what stopped downloads left that no catalogue lists.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::fetch::{PARTIAL_FOLDER, unfinished};
use super::{Catalogue, HubModel};

/// What stopped downloads of one file left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Name to remove it by: `hub:OWNER/REPO/FILE.gguf`, or the unfinished file's where that does not say what it is.
    pub name: String,
    /// Bytes that are here.
    pub bytes: u64,
    /// The unfinished files, one for each sum that was asked for.
    pub paths: Vec<PathBuf>,
}

/// What stopped downloads left in `models_dir` and no entry of `catalogue` goes on from, by name.
pub fn leftovers(catalogue: &Catalogue, models_dir: &Path) -> Vec<Leftover> {
    let Ok(items) = std::fs::read_dir(models_dir.join(PARTIAL_FOLDER)) else {
        return Vec::new();
    };
    let of_entries: Vec<PathBuf> = catalogue.entries.iter().flat_map(|entry| unfinished(entry, models_dir)).collect();
    let mut paths: Vec<PathBuf> = items
        .filter_map(Result::ok)
        .map(|item| item.path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "partial") && !of_entries.contains(path))
        .collect();
    paths.sort();
    let mut found: BTreeMap<String, Leftover> = BTreeMap::new();
    for path in paths {
        let name = HubModel::name_of(&path).unwrap_or_else(|| file_name(&path));
        let leftover = found.entry(name.clone()).or_insert_with(|| Leftover { name, bytes: 0, paths: Vec::new() });
        leftover.bytes += path.metadata().map_or(0, |meta| meta.len());
        leftover.paths.push(path);
    }
    found.into_values().collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    #[test]
    fn what_no_entry_goes_on_from_is_found_by_name() {
        let models = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::built_in().unwrap();
        assert!(leftovers(&catalogue, models.path()).is_empty());
        let partial = models.path().join(PARTIAL_FOLDER);
        std::fs::create_dir(&partial).unwrap();
        let entry = catalogue.entry("minilm-int8").unwrap();
        let file = entry.files_here()[0];
        let of_entry = format!("{}-{}-{}.partial", entry.name, file.name, &file.sha256[..12]);
        let one = "owner+repo+q4+Tiny.gguf+0123456789ab.partial";
        let other = "owner+repo+q4+Tiny.gguf+unverified.partial";
        for name in [of_entry.as_str(), one, other, "old-0123456789ab.partial", "lock", "x-1.0-py3-none-any.whl"] {
            std::fs::write(partial.join(name), "12345").unwrap();
        }
        let expected = [
            ("hub:owner/repo/q4/Tiny.gguf", 10, vec![partial.join(one), partial.join(other)]),
            ("old-0123456789ab.partial", 5, vec![partial.join("old-0123456789ab.partial")]),
        ];
        let expected = expected.map(|(name, bytes, paths)| Leftover { name: name.to_owned(), bytes, paths });
        assert_eq!(leftovers(&catalogue, models.path()), expected);
    }
}
