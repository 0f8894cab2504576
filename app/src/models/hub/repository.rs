//! [`HubModel`]: a generator that no catalogue lists, named by its repository.

use std::path::{Path, PathBuf};

use super::answer::failed;
use super::{ModelHub, Wanted};
use crate::models::add::{UNFINISHED, place};
use crate::models::catalogue::{Catalogue, HubFile};
use crate::models::fetch::{FetchPhase, FetchProgress, Workplace};
use crate::models::{ModelError, check_gguf, unpack};
use crate::progress::CancelToken;

const PREFIX: &str = "hub:";
/// Stands between the parts of a partial file's name; none of them has it.
const SEPARATOR: &str = "+";

/// What a file that no catalogue lists is checked by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verified {
    /// Its SHA-256, lower-case hexadecimal.
    BySum(String),
    /// Nothing: the user takes what comes.
    Not,
}

impl Verified {
    /// By a sum as people paste it.
    ///
    /// # Errors
    /// It is no SHA-256.
    pub fn by_sum(text: &str) -> Result<Self, ModelError> {
        let text = text.trim();
        let sum = text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase();
        if sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Self::BySum(sum));
        }
        Err(ModelError::HubName(format!("{text:?} is no SHA-256, which has 64 hexadecimal digits")))
    }

    fn sum(&self) -> Option<&str> {
        match self {
            Self::BySum(sum) => Some(sum),
            Self::Not => None,
        }
    }
}

/// A GGUF file in a repository of a hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubModel {
    file: HubFile,
    name: String,
}

impl HubModel {
    /// Whether a model's name means a file of a hub.
    pub fn is_hub_name(name: &str) -> bool {
        name.starts_with(PREFIX)
    }

    /// Reads `hub:OWNER/REPO/FILE.gguf`; the file may lie in a folder of the repository.
    ///
    /// # Errors
    /// It is no such name.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let wrong = |detail: String| ModelError::HubName(format!("{detail}; expected hub:OWNER/REPO/FILE.gguf"));
        let mut parts = text.strip_prefix(PREFIX).unwrap_or(text).splitn(3, '/');
        let (Some(owner), Some(repository), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(wrong(format!("{text:?} names no file of a repository")));
        };
        let file = HubFile { repository: format!("{owner}/{repository}"), file: path.to_owned(), revision: None };
        file.check().map_err(wrong)?;
        let path = Path::new(path);
        if !path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("gguf")) {
            return Err(wrong(format!("{text:?} is no .gguf file")));
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        Ok(Self { file, name })
    }

    /// The name that the model has once it is here.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn file_name(&self) -> &str {
        self.file.file.rsplit('/').next().unwrap_or_default()
    }

    /// Where the file is kept until it is whole. Its name says which file it is and of which sum.
    fn partial(&self, folder: &Path, verified: &Verified) -> PathBuf {
        let sum = verified.sum().map_or("unverified", |sum| &sum[..12]);
        let HubFile { repository, file, .. } = &self.file;
        let name = format!("{repository}/{file}").replace('/', SEPARATOR);
        folder.join(format!("{name}{SEPARATOR}{sum}.partial"))
    }

    /// The `hub:` name of what a partial file is a part of; `None` where the file's name does not say.
    pub(in crate::models) fn name_of(partial: &Path) -> Option<String> {
        let (name, _) = partial.file_stem()?.to_str()?.rsplit_once(SEPARATOR)?;
        let name = format!("{PREFIX}{}", name.replace(SEPARATOR, "/"));
        Self::parse(&name).is_ok().then_some(name)
    }

    /// Downloads the model into `models_dir`, checks it, and returns its SHA-256.
    ///
    /// # Errors
    /// A model of that name is there or in `catalogue`, the hub does not give the file, its sum is wrong, it is no whole
    /// GGUF model, or `cancel` was set.
    pub fn fetch(
        &self,
        hub: &ModelHub,
        catalogue: &Catalogue,
        models_dir: &Path,
        verified: &Verified,
        on_progress: &mut dyn FnMut(&FetchProgress),
        cancel: &CancelToken,
    ) -> Result<String, ModelError> {
        let folder = models_dir.join(&self.name);
        if folder.exists() || catalogue.entry(&self.name).is_ok() {
            let detail = format!("a model named {:?} is there already, or in the list of models", self.name);
            return Err(ModelError::NotAModel { path: folder, detail });
        }
        let workplace = Workplace::open(models_dir, cancel)?;
        let partial = self.partial(&workplace.folder, verified);
        let mut progress = FetchProgress {
            entry: self.name.clone(),
            number: 1,
            of: 1,
            phase: FetchPhase::Downloading,
            bytes_done: 0,
            bytes_total: 0,
        };
        let wanted = Wanted { file: &self.file, bytes: None, goes_on: verified.sum().is_some() };
        let mut on_bytes = |bytes, size: Option<u64>| {
            progress.bytes_done = bytes;
            progress.bytes_total = size.unwrap_or(bytes);
            on_progress(&progress);
        };
        hub.download(wanted, &partial, &mut on_bytes, cancel)?;
        progress.phase = FetchPhase::Unpacking;
        on_progress(&progress);
        let sum = self.check(hub, &partial, verified, cancel).inspect_err(|err| {
            if *err != ModelError::Cancelled {
                // Wrong for good: the next fetch must not start from it.
                drop(std::fs::remove_file(&partial));
            }
        })?;
        self.install(&partial, models_dir)?;
        progress.phase = FetchPhase::Done;
        on_progress(&progress);
        Ok(sum)
    }

    fn check(
        &self,
        hub: &ModelHub,
        partial: &Path,
        verified: &Verified,
        cancel: &CancelToken,
    ) -> Result<String, ModelError> {
        let found = unpack::digest(partial, cancel)?;
        if let Some(expected) = verified.sum()
            && expected != found.sha256
        {
            return Err(ModelError::WrongSum {
                file: self.file_name().to_owned(),
                expected: expected.to_owned(),
                found: found.sha256,
                found_bytes: found.bytes,
            });
        }
        check_gguf(partial).map_err(|err| match err {
            // The file goes; what the user can look at is what was asked for.
            ModelError::NotAModel { detail, .. } => failed(&hub.url(&self.file), detail),
            err => err,
        })?;
        Ok(found.sha256)
    }

    /// Gives the whole model its place, at once.
    fn install(&self, partial: &Path, models_dir: &Path) -> Result<(), ModelError> {
        let folder = models_dir.join(&self.name);
        let unfinished = models_dir.join(format!("{}{UNFINISHED}", self.name));
        place(&[], &unfinished)?;
        let target = unfinished.join(self.file_name());
        let placed = std::fs::rename(partial, &target)
            .map_err(ModelError::io(&target))
            .and_then(|()| std::fs::rename(&unfinished, &folder).map_err(ModelError::io(&folder)));
        if placed.is_ok() {
            unpack::sync_folder(models_dir);
        }
        placed
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    #[test]
    fn names_are_read() {
        let model = HubModel::parse("hub:Some-Org/Tiny.Model-GGUF/q4/Tiny-Q4_K_M.gguf").unwrap();
        assert_eq!((model.name(), model.file_name()), ("tiny-q4_k_m", "Tiny-Q4_K_M.gguf"));
        assert_eq!(
            (model.file.repository.as_str(), model.file.file.as_str()),
            ("Some-Org/Tiny.Model-GGUF", "q4/Tiny-Q4_K_M.gguf")
        );
    }

    #[test]
    fn names_of_no_file_are_refused() {
        for text in [
            "hub:",
            "hub:a",
            "hub:a/b",
            "hub:a/b/",
            "hub:a/b/c.bin",
            "hub:../b/c.gguf",
            "hub:a/b/../c.gguf",
            "hub:a/b/c d.gguf",
            "hub:a//c.gguf",
            "hub:a/b/.gguf",
        ] {
            let err = HubModel::parse(text).unwrap_err().to_string();
            assert!(err.contains("hub:OWNER/REPO/FILE.gguf"), "{text}: {err}");
        }
    }

    #[test]
    fn a_partial_file_says_what_it_is_a_part_of() {
        let name = "hub:Some-Org/Tiny.Model-GGUF/q4/Tiny-Q4_K_M.gguf";
        let model = HubModel::parse(name).unwrap();
        let folder = Path::new("models/.partial");
        let paths = [Verified::BySum("ab".repeat(32)), Verified::Not].map(|verified| model.partial(folder, &verified));
        assert_ne!(paths[0], paths[1], "what came unverified is not gone on from");
        for path in paths {
            assert_eq!(path.parent(), Some(folder));
            assert_eq!(HubModel::name_of(&path).as_deref(), Some(name));
        }
        for other in ["tiny-tiny.gguf-abababababab.partial", "a+b+c.bin+abababababab.partial", "lock"] {
            assert_eq!(HubModel::name_of(&folder.join(other)), None, "{other}");
        }
    }

    #[test]
    fn sums_are_read_as_people_paste_them() {
        let sum = "AB".repeat(32);
        assert_eq!(Verified::by_sum(&format!(" sha256:{sum}\n")).unwrap(), Verified::BySum("ab".repeat(32)));
        for wrong in ["", "ab", &"g".repeat(64)] {
            assert!(Verified::by_sum(wrong).is_err(), "{wrong}");
        }
    }
}
