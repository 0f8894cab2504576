//! What is in the models folder.

use std::path::{Path, PathBuf};

use super::catalogue::{Catalogue, Entry, ModelUse};
use super::fetch::unfinished;
use super::stamp::Stamp;

/// A native library of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// Runs the embedding models.
    OnnxRuntime,
    /// Reads PDF files.
    Pdfium,
}

/// Where a native library is, or would be, in `models_dir`.
pub fn library_path(models_dir: &Path, library: Native) -> PathBuf {
    let (entry, stem) = match library {
        Native::OnnxRuntime => ("onnxruntime", "onnxruntime"),
        Native::Pdfium => ("pdfium", "pdfium"),
    };
    let (before, after) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    models_dir.join(entry).join(format!("{before}{stem}{after}"))
}

/// Whether an entry can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// Every file is there as it was verified.
    Installed,
    /// Nothing of it is there.
    Missing,
    /// Some files are missing, unfinished, or changed after they were verified; fetching again puts it right.
    Incomplete,
}

/// An entry of the catalogue with its state here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledEntry {
    /// The entry.
    pub entry: Entry,
    /// Whether it can be used.
    pub state: EntryState,
    /// Its folder.
    pub folder: PathBuf,
}

/// Every entry of `catalogue` with its state in `models_dir`. Looks at sizes and times only.
pub fn entries(catalogue: &Catalogue, models_dir: &Path) -> Vec<InstalledEntry> {
    let entries = catalogue.entries.iter();
    entries
        .map(|entry| {
            let folder = models_dir.join(&entry.name);
            InstalledEntry { state: state(entry, &folder, models_dir), entry: entry.clone(), folder }
        })
        .collect()
}

fn state(entry: &Entry, folder: &Path, models_dir: &Path) -> EntryState {
    let files = entry.files_here();
    let stamp = Stamp::read(folder);
    if !files.is_empty() && files.iter().all(|file| stamp.holds(folder, file)) {
        return EntryState::Installed;
    }
    let is_begun =
        files.iter().any(|file| folder.join(&file.name).exists()) || !unfinished(entry, models_dir).is_empty();
    if is_begun { EntryState::Incomplete } else { EntryState::Missing }
}

/// A generator model that is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratorModel {
    /// Name to ask for it by.
    pub name: String,
    /// Name shown to people.
    pub title: String,
    /// The GGUF file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Memory that its process needs.
    pub memory_bytes: u64,
    /// The highest one answers by default; `None` answers only when named.
    pub rank: Option<u32>,
}

/// Models that the user added come before the catalogue's.
const ADDED_RANK: u32 = 100;

/// Generator models in `models_dir`, the one that answers by default first.
pub fn generators(catalogue: &Catalogue, models_dir: &Path) -> Vec<GeneratorModel> {
    let mut models: Vec<GeneratorModel> = entries(catalogue, models_dir)
        .iter()
        .filter(|found| found.entry.used_for == ModelUse::Generator)
        .filter(|found| found.state == EntryState::Installed)
        .filter_map(known_generator)
        .chain(added_generators(catalogue, models_dir))
        .collect();
    models.sort_by(|a, b| b.rank.cmp(&a.rank).then_with(|| a.name.cmp(&b.name)));
    models
}

fn known_generator(found: &InstalledEntry) -> Option<GeneratorModel> {
    let file = found.entry.files_here().first().copied()?;
    Some(GeneratorModel {
        name: found.entry.name.clone(),
        title: found.entry.title.clone(),
        path: found.folder.join(&file.name),
        bytes: file.bytes,
        memory_bytes: found.entry.memory_bytes,
        rank: found.entry.rank,
    })
}

/// Folders that are in no catalogue and hold one GGUF file.
fn added_generators(catalogue: &Catalogue, models_dir: &Path) -> Vec<GeneratorModel> {
    let Ok(items) = std::fs::read_dir(models_dir) else {
        return Vec::new();
    };
    items
        .filter_map(Result::ok)
        .filter_map(|item| {
            let name = item.file_name().to_str()?.to_owned();
            let is_known =
                catalogue.entries.iter().any(|entry| entry.name == name) || name.ends_with(super::add::UNFINISHED);
            let path = (!is_known).then(|| only_gguf(&item.path())).flatten()?;
            let bytes = path.metadata().ok()?.len();
            Some(GeneratorModel {
                title: name.clone(),
                name,
                path,
                bytes,
                memory_bytes: super::add::memory_bytes(bytes),
                rank: Some(ADDED_RANK),
            })
        })
        .collect()
}

fn only_gguf(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let mut models = files
        .map(|item| item.path())
        .filter(|path| path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("gguf")));
    let first = models.next()?;
    models.next().is_none().then_some(first)
}
