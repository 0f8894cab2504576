//! [`Catalogue`]: the list of what can be installed.

use serde::Deserialize;

use super::ModelError;

const BUILT_IN: &str = include_str!("../../../assets/models.toml");

/// Everything that can be fetched by name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// The entries, in the order of the list.
    #[serde(rename = "entry")]
    pub entries: Vec<Entry>,
}

/// What an entry is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelUse {
    /// A native library.
    Runtime,
    /// Turns texts into vectors.
    Embedder,
    /// Writes answers.
    Generator,
    /// Reads pictures of text.
    Ocr,
}

/// A named group of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelSet {
    /// What the app wants for everyday use.
    Default,
    /// What the tests want.
    Test,
}

/// One thing to install: a folder of files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Name to fetch it by, and of its folder.
    pub name: String,
    /// What it is for.
    #[serde(rename = "use")]
    pub used_for: ModelUse,
    /// Name shown to people.
    pub title: String,
    /// SPDX expression.
    pub licence: String,
    /// Groups it belongs to.
    pub sets: Vec<ModelSet>,
    /// Generators: the highest installed one answers by default; `None` answers only when named.
    #[serde(default)]
    pub rank: Option<u32>,
    /// Memory that the process that runs it needs, in bytes.
    pub memory_bytes: u64,
    /// Embedders: the text of `manifest.toml`.
    #[serde(default)]
    pub manifest: Option<String>,
    /// Its files, for every platform.
    #[serde(rename = "file")]
    pub files: Vec<ModelFile>,
}

/// One file of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    /// Its name in the entry's folder.
    pub name: String,
    /// `os-arch` for native libraries; `None` fits every machine.
    #[serde(default)]
    pub platform: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, lower-case hexadecimal.
    pub sha256: String,
    /// The same bytes on a model hub.
    #[serde(default)]
    pub hub: Option<HubFile>,
    /// Where it comes from; the parts are joined in this order.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
}

/// A file on a model hub.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HubFile {
    /// `owner/name`.
    pub repository: String,
    /// Path in the repository.
    pub file: String,
    /// The commit; `None` takes what is there now, which the sum must fit all the same.
    #[serde(default)]
    pub revision: Option<String>,
}

impl HubFile {
    /// Its names become an address, so they must be plain.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.repository.split('/').count() != 2 {
            return Err(format!("{:?} is no OWNER/REPO", self.repository));
        }
        let names = self.repository.split('/').chain(self.file.split('/')).chain(self.revision.as_deref());
        names.into_iter().try_for_each(check_name)
    }
}

/// A file in a wheel of the Python package index.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The package.
    pub package: String,
    /// Its exact version.
    pub version: String,
    /// The file's path in the wheel.
    pub path: String,
    /// Size of the wheel, about, for the progress display.
    pub wheel_bytes: u64,
    /// Which wheel, where the package has several.
    #[serde(default)]
    pub wheel: Option<WheelTags>,
}

/// Which of a package's wheels to take, whatever machine asks for it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WheelTags {
    /// Platform tag, for example `manylinux_2_28_x86_64`.
    pub platform: String,
    /// Version of `CPython`, where the wheel depends on it.
    #[serde(default)]
    pub python: Option<String>,
}

impl Catalogue {
    /// The list built into the program.
    ///
    /// # Errors
    /// The list is wrong, which a test rules out.
    pub fn built_in() -> Result<Self, ModelError> {
        Self::parse(BUILT_IN)
    }

    /// Reads a list.
    ///
    /// # Errors
    /// It is not TOML, a field is missing or unknown, or a name or sum is malformed.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let catalogue: Self = toml::from_str(text).map_err(|err| ModelError::Catalogue(err.to_string()))?;
        for entry in &catalogue.entries {
            entry.check().map_err(ModelError::Catalogue)?;
        }
        Ok(catalogue)
    }

    /// The entry of that name.
    ///
    /// # Errors
    /// There is none; the message lists all names.
    pub fn entry(&self, name: &str) -> Result<&Entry, ModelError> {
        let found = self.entries.iter().find(|entry| entry.name == name);
        found.ok_or_else(|| ModelError::UnknownName { name: name.to_owned(), known: self.names().join(", ") })
    }

    /// Names of the entries that a hub has whole.
    pub(super) fn on_hub(&self) -> Vec<&str> {
        let entries = self.entries.iter().filter(|entry| entry.files.iter().all(|file| file.hub.is_some()));
        entries.map(|entry| entry.name.as_str()).collect()
    }

    /// Names of the entries of a set.
    pub fn set(&self, set: ModelSet) -> Vec<String> {
        let entries = self.entries.iter();
        entries.filter(|entry| entry.sets.contains(&set)).map(|entry| entry.name.clone()).collect()
    }

    fn names(&self) -> Vec<&str> {
        self.entries.iter().map(|entry| entry.name.as_str()).collect()
    }
}

impl Entry {
    /// The files that this machine needs.
    pub fn files_here(&self) -> Vec<&ModelFile> {
        let here = platform();
        let fits = |file: &&ModelFile| file.platform.as_ref().is_none_or(|platform| *platform == here);
        self.files.iter().filter(fits).collect()
    }

    /// Bytes on disk once installed here.
    pub fn bytes(&self) -> u64 {
        self.files_here().iter().map(|file| file.bytes).sum()
    }

    /// Bytes to download, about.
    pub fn download_bytes(&self) -> u64 {
        let files = self.files_here();
        let parts = files.iter().flat_map(|file| &file.parts);
        parts.map(|part| part.wheel_bytes).sum()
    }

    /// Bytes to download from a hub.
    pub(super) fn hub_bytes(&self) -> u64 {
        self.files_here().iter().filter(|file| file.hub.is_some()).map(|file| file.bytes).sum()
    }

    fn check(&self) -> Result<(), String> {
        check_name(&self.name)?;
        for file in &self.files {
            check_name(&file.name)?;
            let is_sum =
                file.sha256.len() == 64 && file.sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            if !is_sum || file.parts.is_empty() {
                return Err(format!("{} of {} has no sum or no source", file.name, self.name));
            }
            file.hub.as_ref().map_or(Ok(()), HubFile::check)?;
        }
        Ok(())
    }
}

/// Names become paths, so they must stay in their folder.
fn check_name(name: &str) -> Result<(), String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.is_empty() || name.starts_with('.') || !name.bytes().all(plain) {
        return Err(format!("{name:?} is not a file name of letters, digits, '-', '_' and '.'"));
    }
    Ok(())
}

/// This machine, as `os-arch`.
pub(super) fn platform() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    #[test]
    fn the_built_in_list_is_sound() {
        let catalogue = Catalogue::built_in().unwrap();
        let mut names = catalogue.names();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), catalogue.entries.len(), "a name is there twice");
        for set in [ModelSet::Default, ModelSet::Test] {
            assert!(catalogue.set(set).contains(&"minilm-int8".to_owned()));
        }
    }

    #[test]
    fn native_libraries_are_offered_for_the_usual_machines() {
        let catalogue = Catalogue::built_in().unwrap();
        for name in ["onnxruntime", "pdfium"] {
            let files = &catalogue.entry(name).unwrap().files;
            for platform in ["linux-x86_64", "linux-aarch64", "macos-aarch64", "windows-x86_64"] {
                let fits = |file: &&ModelFile| file.platform.as_deref() == Some(platform);
                assert_eq!(files.iter().filter(fits).count(), 1, "{name} {platform}");
            }
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let err = Catalogue::built_in().unwrap().entry("gpt").unwrap_err();
        assert!(err.to_string().contains("qwen2.5-coder-0.5b"), "{err}");
    }

    #[test]
    fn names_that_leave_their_folder_are_refused() {
        for name in ["", "..", "../x", "a/b", ".hidden", "a\\b"] {
            assert!(check_name(name).is_err(), "{name}");
        }
        assert!(check_name("SmolLM2-135M-Instruct.Q4_1.gguf").is_ok());
    }
}
