//! What can be installed and what is; fetching by name and adding by path.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{Event, Jobs, Outbox, Worker, dialog, guarded, spawn};
use crate::library::{Error, Library, LibraryOptions, home_folder};
use crate::models::{
    self, EntryState, FetchProgress, GeneratorModel, InstalledEntry, Leftover, ModelError, ModelSource, ModelUse,
    RerankerModel,
};
use crate::progress::{CancelToken, Rate};
use crate::state::{Fetching, MemoryNeeds, ModelRow};
use crate::store::LibraryPaths;

/// Bytes that are there this soon were there before: an earlier fetch left them.
const WAS_THERE: Duration = Duration::from_millis(300);

/// The fetch under way, and the listing that was asked for last.
#[derive(Default)]
pub(super) struct Handle {
    fetch: Option<Fetch>,
    listing: u64,
}

impl Jobs {
    /// Looks up what is installed. Listings may end in another order than they were asked for in; the newest counts.
    pub fn list_models(&mut self) {
        self.models.listing += 1;
        list(self.options.library.clone(), self.models.listing, self.outbox.clone());
    }

    /// Whether no newer listing of models than that one was asked for.
    pub(crate) fn is_newest_listing(&self, number: u64) -> bool {
        number == self.models.listing
    }

    /// Fetches a model by its name, in place of the fetch before it.
    pub fn fetch_model(&mut self, name: String) {
        self.models.fetch = None;
        self.models.fetch = Some(Fetch::start(self.options.library.clone(), name, self.outbox.clone()));
    }

    /// Stops the fetch; what was downloaded is kept.
    pub fn cancel_fetch(&self) {
        if let Some(fetch) = &self.models.fetch {
            fetch.cancel();
        }
    }

    /// Asks for a model in the system's dialog: a GGUF file, or the folder of a reranker.
    pub fn pick_model(&self, is_folder: bool) {
        dialog::pick_model(is_folder, self.outbox.clone());
    }

    /// Adds a model by its path.
    pub fn add_model(&self, path: PathBuf) {
        add(self.options.library.clone(), path, self.outbox.clone());
    }

    /// Deletes a model's files, or what a stopped download left.
    pub fn remove_model(&self, name: String) {
        let library = self.workers.as_ref().map(|workers| Arc::clone(&workers.library));
        remove(library, self.options.library.clone(), name, self.outbox.clone());
    }
}

/// Whether the program keeps what it loaded of the model of that name until it ends.
pub(crate) fn stays_loaded(name: &str) -> bool {
    [crate::embed::DEFAULT_MODEL, "onnxruntime"].contains(&name)
}

fn list(options: LibraryOptions, number: u64, outbox: Outbox) {
    spawn("list-models", move || {
        let outcome = guarded(|| rows(&options));
        let memory = needs(&options, outcome.as_deref().unwrap_or_default());
        outbox.send(Event::ModelsListed { number, outcome, memory });
    });
}

/// Adds a model that the person has.
fn add(options: LibraryOptions, path: PathBuf, outbox: Outbox) {
    spawn("add-model", move || {
        let add = || models::add(&folder(&options)?, &path).map_err(|err| Error::new("Not added", err.to_string()));
        outbox.send(Event::ModelAdded(guarded(add)));
    });
}

fn remove(library: Option<Arc<Library>>, options: LibraryOptions, name: String, outbox: Outbox) {
    spawn("remove-model", move || {
        let remove = || {
            // Its process holds the files, and their space, if it answered last.
            if let Some(library) = &library {
                library.unload_model(&name);
            }
            let catalogue = source(&options)?.catalogue;
            models::remove(&catalogue, &folder(&options)?, std::slice::from_ref(&name))
                .map_err(|err| Error::new("Not removed", err.to_string()))
        };
        let outcome = guarded(remove);
        outbox.send(Event::ModelRemoved { name, outcome });
    });
}

/// A fetch on a thread of its own; it stops when the handle goes, and what was downloaded is kept.
struct Fetch {
    cancel: CancelToken,
    worker: Worker,
}

impl Fetch {
    fn start(options: LibraryOptions, name: String, outbox: Outbox) -> Self {
        let cancel = CancelToken::new();
        let token = cancel.clone();
        let worker = Worker::start("fetch-model", move || {
            let outcome = guarded(|| fetch(&options, &name, &outbox, &token));
            outbox.send(Event::FetchEnded { name, outcome });
        });
        Self { cancel, worker }
    }

    fn cancel(&self) {
        self.cancel.cancel();
    }
}

impl Drop for Fetch {
    fn drop(&mut self) {
        self.cancel.cancel();
        self.worker.join();
    }
}

fn fetch(options: &LibraryOptions, name: &str, outbox: &Outbox, cancel: &CancelToken) -> Result<(), Error> {
    let ModelSource { catalogue, wheels } = source(options)?;
    let rate = Rate::default();
    let mut there_before = 0;
    let mut on_progress = |progress: &FetchProgress| {
        if rate.elapsed() < WAS_THERE {
            there_before = progress.bytes_done;
        }
        let got = progress.bytes_done.saturating_sub(there_before) as usize;
        let wanted = progress.bytes_total.saturating_sub(there_before) as usize;
        outbox.send_growth(Event::FetchProgressed(Fetching {
            progress: Some(progress.clone()),
            bytes_per_sec: rate.per_sec(got),
            secs_left: rate.secs_left(got, wanted),
            ..Fetching::new(name.to_owned())
        }));
    };
    let names = [name.to_owned()];
    models::fetch_with(&catalogue, wheels.as_ref(), &folder(options)?, &names, &mut on_progress, cancel).map_err(
        |err| Error::new(if err == ModelError::Cancelled { "Stopped" } else { "Not fetched" }, err.to_string()),
    )
}

fn source(options: &LibraryOptions) -> Result<ModelSource, Error> {
    let built_in =
        || ModelSource::built_in().map_err(|err| Error::new("The list of models is damaged", err.to_string()));
    options.model_source.clone().map_or_else(built_in, Ok)
}

fn folder(options: &LibraryOptions) -> Result<PathBuf, Error> {
    let home = home_folder(options.home.clone())?;
    Ok(models::folder(options.models.as_deref(), &home))
}

fn rows(options: &LibraryOptions) -> Result<Vec<ModelRow>, Error> {
    let (folder, catalogue) = (folder(options)?, source(options)?.catalogue);
    let listed = models::entries(&catalogue, &folder);
    let mut rows: Vec<ModelRow> = listed.iter().map(listed_row).collect();
    let known: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let generators = models::generators(&catalogue, &folder);
    let best = generators.first().map(|model| model.name.clone());
    rows.extend(generators.into_iter().filter(|model| !known.contains(&model.name)).map(added_row));
    rows.extend(models::rerankers(&folder).into_iter().map(reranker_row));
    rows.extend(models::leftovers(&catalogue, &folder).into_iter().map(leftover_row));
    for row in &mut rows {
        row.is_default = Some(&row.name) == best.as_ref();
    }
    rows.sort_by_key(|row| !row.is_installed());
    Ok(rows)
}

/// What answering needs beside the generator, and what is free.
fn needs(options: &LibraryOptions, rows: &[ModelRow]) -> MemoryNeeds {
    let embedder = rows.iter().find(|row| row.is_installed() && row.name == crate::embed::DEFAULT_MODEL);
    let paths = home_folder(options.home.clone()).ok().and_then(|home| {
        LibraryPaths::new(&home, options.name.as_deref().unwrap_or(crate::library::DEFAULT_NAME)).ok()
    });
    MemoryNeeds {
        embedder_bytes: embedder.map_or(0, |row| row.memory_bytes),
        vectors_bytes: paths.map_or(0, |paths| files_bytes(&paths.vectors_folder())),
        free_bytes: models::available_memory_bytes(),
    }
}

fn files_bytes(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
}

fn listed_row(found: &InstalledEntry) -> ModelRow {
    let entry = &found.entry;
    ModelRow {
        name: entry.name.clone(),
        purpose: format!("{}  ·  {}", purpose(entry.used_for), entry.title),
        bytes: entry.bytes(),
        memory_bytes: entry.memory_bytes,
        licence: entry.licence.clone(),
        state: found.state,
        is_listed: true,
        is_generator: entry.used_for == ModelUse::Generator,
        is_default: false,
    }
}

fn added_row(model: GeneratorModel) -> ModelRow {
    ModelRow {
        name: model.name,
        purpose: format!("Writes answers  ·  {}", model.title),
        bytes: model.bytes,
        memory_bytes: model.memory_bytes,
        licence: "added by you".to_owned(),
        state: EntryState::Installed,
        is_listed: false,
        is_generator: true,
        is_default: false,
    }
}

fn reranker_row(model: RerankerModel) -> ModelRow {
    ModelRow {
        name: model.name,
        purpose: format!("Ranks passages again  ·  {}", model.title),
        bytes: model.bytes,
        memory_bytes: model.memory_bytes,
        licence: "added by you".to_owned(),
        state: EntryState::Installed,
        is_listed: false,
        is_generator: false,
        is_default: false,
    }
}

fn leftover_row(left: Leftover) -> ModelRow {
    ModelRow {
        name: left.name,
        purpose: "What a stopped download left".to_owned(),
        bytes: left.bytes,
        memory_bytes: 0,
        licence: "asked for on the command line".to_owned(),
        state: EntryState::Incomplete,
        is_listed: false,
        is_generator: false,
        is_default: false,
    }
}

fn purpose(used_for: ModelUse) -> &'static str {
    match used_for {
        ModelUse::Generator => "Writes answers",
        ModelUse::Embedder => "Turns text into vectors",
        ModelUse::Ocr => "Reads scanned pages",
        ModelUse::Runtime => "Native library",
    }
}
