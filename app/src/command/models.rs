//! Models: what is here, what is fetched, what is added.

use super::Command;
use crate::jobs::{Event, Jobs, stays_loaded};
use crate::library::Error;
use crate::state::{AppState, Fetching};

pub(super) fn run(command: Command, state: &mut AppState, jobs: &mut Jobs) {
    match command {
        Command::ListModels => list(state, jobs),
        // One at a time: two would share the line and the folder of what is unfinished.
        Command::FetchModel(name) if state.fetching.is_none() => {
            state.fetching = Some(Fetching::new(name.clone()));
            jobs.fetch_model(name);
        }
        Command::CancelFetch => {
            if let Some(fetching) = &mut state.fetching {
                fetching.cancelling = true;
            }
            jobs.cancel_fetch();
        }
        Command::PickModel { is_folder } => jobs.pick_model(is_folder),
        Command::AddModel(path) => jobs.add_model(path),
        // It may be the one that writes; the window offers it only while none does.
        Command::RemoveModel(_) if state.chat.running().is_some() => {
            state.tell("An answer is being written: stop it first", None);
        }
        Command::RemoveModel(name) if state.removing_model.is_none() => {
            state.removing_model = Some(name.clone());
            jobs.remove_model(name);
        }
        _ => {}
    }
}

pub(super) fn list(state: &mut AppState, jobs: &mut Jobs) {
    state.models.start();
    jobs.list_models();
}

/// Takes what the jobs report of models.
pub(super) fn apply(event: Event, state: &mut AppState, jobs: &mut Jobs) {
    match event {
        Event::ModelsListed { number, outcome, memory } if jobs.is_newest_listing(number) => {
            state.models.finish(outcome);
            state.memory = memory;
        }
        Event::FetchProgressed(fetching) => {
            if let Some(shown) = &mut state.fetching {
                *shown = Fetching { cancelling: shown.cancelling, ..fetching };
            }
        }
        Event::FetchEnded { name, outcome } => fetch_ended(&name, outcome, state, jobs),
        Event::ModelPicked(path) => super::run(Command::AddModel(path), state, jobs),
        Event::ModelAdded(Ok(name)) => {
            state.tell(format!("Added {name}"), None);
            list(state, jobs);
        }
        Event::ModelRemoved { name, outcome: Ok(()) } => {
            state.removing_model = None;
            if state.settings.model.as_ref() == Some(&name) {
                super::run(Command::UseModel(None), state, jobs);
            }
            let rows = state.models.value().map(Vec::as_slice).unwrap_or_default();
            let is_in_use = rows.iter().any(|row| row.name == name && row.is_installed() && stays_loaded(&name));
            let when = if is_in_use { "; Outcrop does without it once it is opened again" } else { "" };
            state.tell(format!("Removed {name}{when}"), None);
            list(state, jobs);
        }
        Event::ModelRemoved { outcome: Err(error), .. } => {
            state.removing_model = None;
            state.report(&error);
            list(state, jobs);
        }
        Event::ModelAdded(Err(error)) => state.report(&error),
        _ => {}
    }
}

fn fetch_ended(name: &str, outcome: Result<(), Error>, state: &mut AppState, jobs: &mut Jobs) {
    let was_stopped = state.fetching.take().is_some_and(|fetching| fetching.cancelling);
    match outcome {
        Ok(()) => {
            let is_missed = state.opened.value().is_some_and(|opened| opened.embedder_note.is_some());
            let next = if is_missed { "; open Outcrop again to embed with it" } else { "" };
            state.tell(format!("Installed {name}{next}"), None);
        }
        Err(error) if was_stopped => state.tell(error.detail, None),
        Err(error) => state.report(&error),
    }
    list(state, jobs);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::jobs::JobsOptions;
    use crate::library::LibraryOptions;
    use crate::state::MemoryNeeds;

    #[test]
    fn an_older_listing_does_not_replace_a_newer_one() {
        let home = tempfile::tempdir().unwrap();
        let library = LibraryOptions {
            home: Some(home.path().to_owned()),
            models: Some(home.path().join("models")),
            ..LibraryOptions::default()
        };
        let wake = Arc::new(|_: Duration| ());
        let mut jobs = Jobs::new(JobsOptions { library, ..JobsOptions::default() }, wake);
        let mut state = AppState::default();
        list(&mut state, &mut jobs);
        list(&mut state, &mut jobs);
        let mut listed = |number: u64| {
            let memory = MemoryNeeds { vectors_bytes: number, ..MemoryNeeds::default() };
            apply(Event::ModelsListed { number, outcome: Ok(Vec::new()), memory }, &mut state, &mut jobs);
            (state.models.is_pending(), state.memory.vectors_bytes)
        };
        assert_eq!(listed(1), (true, 0), "the newer one is on its way");
        assert_eq!(listed(2), (false, 2));
        assert_eq!(listed(1), (false, 2), "late, and stale");
    }
}
