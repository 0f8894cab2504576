//! Documents: adding, cancelling, selecting, removing, restoring.

use std::path::{MAIN_SEPARATOR, PathBuf};

use super::Command;
use crate::chunk::ChunkerConfig;
use crate::extract::ReadOptions;
use crate::ingest::IngestOptions;
use crate::jobs::Jobs;
use crate::state::{AppState, FolderState, Selection, SortKey, Space, StatusFilter};
use crate::store::DocumentId;

pub(super) fn run(command: Command, state: &mut AppState, jobs: &mut Jobs) {
    match command {
        Command::ReopenLibrary => {
            state.opened.start();
            jobs.open_library();
        }
        Command::PickFiles => jobs.pick_files(),
        Command::PickFolder => jobs.pick_folder(),
        Command::AddPaths(paths) => add_new(paths, state, jobs),
        Command::FollowFolders(folders) => follow(folders, state, jobs),
        Command::UnfollowFolder(folder) => {
            state.settings.followed.retain(|followed| *followed != folder);
            follow_settings(state, jobs);
            jobs.save_settings(&state.settings);
        }
        Command::AddSamples => jobs.pick_samples(),
        Command::CancelIngest => {
            state.library.cancelling = jobs.cancel_ingest();
            state.library.queued = 0;
            state.library.paused = false;
        }
        Command::PauseIngest(is_paused) => {
            state.library.paused = is_paused;
            jobs.pause_ingest(is_paused);
        }
        Command::SelectDocument { id, extend } => select(id, extend, state),
        Command::SelectAllDocuments => {
            state.library.selected = state.library.listed().iter().map(|record| record.id).collect();
        }
        Command::RemoveDocuments(ids) => remove(&ids, state, jobs),
        Command::RemoveSelected => {
            let ids: Vec<DocumentId> = state.library.selected.iter().copied().collect();
            remove(&ids, state, jobs);
        }
        Command::RestoreDocuments(documents) => {
            for (path, options) in documents {
                ingest(vec![path], options, state, jobs);
            }
        }
        Command::OpenWithPassword { document, password } => {
            read_again(document, ReadOptions { password: Some(password), ..ReadOptions::default() }, state, jobs);
        }
        Command::SetEncoding { document, encoding } => {
            read_again(document, ReadOptions { encoding: Some(encoding), ..ReadOptions::default() }, state, jobs);
        }
        Command::ShowFolder(folder) => {
            state.library.filter = format!("{}{MAIN_SEPARATOR}", folder.display());
            state.library.status_filter = StatusFilter::All;
            state.library.arrange();
            super::run(Command::ShowSpace(Space::Library), state, jobs);
        }
        Command::SortDocuments(key) => sort(key, state),
        Command::FilterDocuments(text) => {
            state.library.filter = text;
            state.library.arrange();
        }
        Command::FilterStatus(filter) => {
            state.library.status_filter = filter;
            state.library.arrange();
        }
        _ => {}
    }
}

/// Queues an ingest of `paths` with the chunker of the settings; documents that are there keep theirs.
fn add_new(paths: Vec<PathBuf>, state: &mut AppState, jobs: &mut Jobs) {
    let options = options(state);
    ingest(paths, options, state, jobs);
}

/// How documents that nobody chose a chunker for are ingested.
fn options(state: &AppState) -> IngestOptions {
    IngestOptions { chunker: state.settings.chunker.clone(), keep_chunkers: true, ..IngestOptions::default() }
}

/// Reads the file of a document again in another way; its chunker stays.
fn read_again(document: DocumentId, read: ReadOptions, state: &mut AppState, jobs: &mut Jobs) {
    if let Some(path) = state.library.document(document).map(|record| record.path.clone()) {
        let options = IngestOptions { read, ..options(state) };
        ingest(vec![path], options, state, jobs);
    }
}

/// Queues an ingest of `paths` with this chunker.
pub(super) fn add(paths: Vec<PathBuf>, chunker: ChunkerConfig, state: &mut AppState, jobs: &mut Jobs) {
    ingest(paths, IngestOptions { chunker, ..IngestOptions::default() }, state, jobs);
}

fn ingest(paths: Vec<PathBuf>, options: IngestOptions, state: &mut AppState, jobs: &mut Jobs) {
    if paths.is_empty() {
        return;
    }
    if jobs.ingest(paths, options) {
        state.library.queued += 1;
        state.library.cancelling = false;
    } else {
        state.tell("The library is not open, or too many ingests are waiting", None);
    }
}

/// Follows folders besides those that are followed already, and reads them.
fn follow(folders: Vec<PathBuf>, state: &mut AppState, jobs: &mut Jobs) {
    for folder in &folders {
        if !state.settings.followed.contains(folder) {
            state.settings.followed.push(folder.clone());
        }
    }
    jobs.save_settings(&state.settings);
    // Changes are followed before the folders are read, so that none falls between the two.
    follow_settings(state, jobs);
    add_new(folders, state, jobs);
}

/// Follows the folders of the settings.
fn follow_settings(state: &AppState, jobs: &Jobs) {
    jobs.follow(state.settings.followed.clone(), options(state));
    look_at_folders(state, jobs);
}

/// Asks how the followed folders are.
pub(super) fn look_at_folders(state: &AppState, jobs: &Jobs) {
    if !state.settings.followed.is_empty() {
        jobs.look_at_folders(state.settings.followed.clone());
    }
}

/// Takes in how the followed folders are; one that is there again is followed again.
pub(super) fn folders_looked_at(found: Vec<(PathBuf, FolderState)>, state: &mut AppState, jobs: &mut Jobs) {
    let was_away = |folder: &PathBuf| state.library.folders.get(folder).is_some_and(|before| !before.is_there());
    let back: Vec<PathBuf> = found
        .iter()
        .filter(|(folder, now)| now.is_there() && was_away(folder))
        .map(|(folder, _)| folder.clone())
        .collect();
    state.library.folders = found.into_iter().collect();
    if !back.is_empty() {
        follow_settings(state, jobs);
        add_new(back, state, jobs);
    }
}

/// Takes up following where the last run ended: what changed since then is read now.
pub(super) fn catch_up(state: &mut AppState, jobs: &mut Jobs) {
    if !state.settings.followed.is_empty() {
        let folders = state.settings.followed.clone();
        follow_settings(state, jobs);
        add_new(folders, state, jobs);
    }
}

fn select(id: DocumentId, extend: bool, state: &mut AppState) {
    let selected = &mut state.library.selected;
    if !extend {
        selected.clear();
        selected.insert(id);
    } else if !selected.remove(&id) {
        selected.insert(id);
    }
    state.selection = match selected.last() {
        Some(last) => Selection::Document(*last),
        None => Selection::Nothing,
    };
}

fn remove(ids: &[DocumentId], state: &mut AppState, jobs: &mut Jobs) {
    let records: Vec<_> = ids.iter().filter_map(|id| state.library.document(*id).cloned()).collect();
    if records.is_empty() {
        return;
    }
    if let Some(documents) = state.library.documents.value_mut() {
        documents.retain(|record| !ids.contains(&record.id));
    }
    state.library.arrange();
    state.library.selected.clear();
    state.selection = Selection::Nothing;
    if state.lab.document.is_some_and(|open| ids.contains(&open)) {
        state.lab = crate::state::LabState { config: state.lab.config.clone(), ..Default::default() };
    }
    jobs.remove_documents(records);
}

fn sort(key: SortKey, state: &mut AppState) {
    let library = &mut state.library;
    library.descending = library.sort == key && !library.descending;
    library.sort = key;
    library.arrange();
}
