//! Queries and passages.

use super::Command;
use crate::jobs::{Jobs, SearchRequest};
use crate::state::{AppState, Loadable, Passage, Selection};

pub(super) fn run(command: Command, state: &mut AppState, jobs: &mut Jobs) {
    match command {
        Command::Search(query) => {
            state.search.query = query;
            search(state, jobs);
        }
        Command::SetSearchOptions(options) => {
            state.search.options = options;
            search(state, jobs);
        }
        Command::SelectHit(index) => select(index, state),
        Command::Inspect(passage) => state.selection = Selection::Passage(passage),
        _ => {}
    }
}

/// Searches again, for example after the library changed.
pub(super) fn search(state: &mut AppState, jobs: &mut Jobs) {
    state.search.asked += 1;
    state.search.selected = None;
    if state.search.query.trim().is_empty() {
        state.search.results = Loadable::Idle;
        return;
    }
    state.search.results.start();
    jobs.search(SearchRequest {
        number: state.search.asked,
        query: state.search.query.clone(),
        options: state.search.options.clone(),
    });
}

fn select(index: usize, state: &mut AppState) {
    let Some(results) = state.search.results.value() else {
        return;
    };
    let Some(hit) = results.hits.get(index) else {
        return;
    };
    let passage = Passage::of_hit(hit, &results.query);
    state.search.selected = Some(index);
    state.selection = Selection::Passage(Box::new(passage));
}
