//! Documents: adding, cancelling, selecting, removing, restoring.

use std::path::PathBuf;

use super::Command;
use crate::chunk::ChunkerConfig;
use crate::ingest::IngestOptions;
use crate::jobs::Jobs;
use crate::state::{AppState, Selection, SortKey};
use crate::store::DocumentId;

pub(super) fn run(command: Command, state: &mut AppState, jobs: &mut Jobs) {
    match command {
        Command::ReopenLibrary => {
            state.opened.start();
            jobs.open_library();
        }
        Command::PickFiles => jobs.pick_files(),
        Command::PickFolder => jobs.pick_folder(),
        Command::AddPaths(paths) => add(paths, state.settings.chunker.clone(), state, jobs),
        Command::AddSamples => jobs.pick_samples(),
        Command::CancelIngest => {
            state.library.cancelling = jobs.cancel_ingest();
            state.library.queued = 0;
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
            for (path, chunker) in documents {
                add(vec![path], chunker, state, jobs);
            }
        }
        Command::SortDocuments(key) => sort(key, state),
        Command::FilterDocuments(text) => state.library.filter = text,
        Command::FilterStatus(filter) => state.library.status_filter = filter,
        _ => {}
    }
}

/// Queues an ingest of `paths`.
pub(super) fn add(paths: Vec<PathBuf>, chunker: ChunkerConfig, state: &mut AppState, jobs: &mut Jobs) {
    if paths.is_empty() {
        return;
    }
    if jobs.ingest(paths, IngestOptions { chunker, ..IngestOptions::default() }) {
        state.library.queued += 1;
        state.library.cancelling = false;
    } else {
        state.tell("The library is not open, or too many ingests are waiting", None);
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
}
