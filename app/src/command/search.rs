//! Queries and passages.

use super::Command;
use crate::jobs::{Jobs, PagesRequest, SearchRequest};
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
        Command::SelectHit(index) => select(index, state, jobs),
        Command::Inspect(passage) => inspect(*passage, state, jobs),
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

/// Pixels across a page: sharp on the inspector's greatest width at 125 %.
const PAGE_WIDTH: u32 = 1000;

/// Shows a passage, and the pages that it stands on or the text around it.
fn inspect(passage: Passage, state: &mut AppState, jobs: &Jobs) {
    state.pages.asked += 1;
    state.pages.pictures = Loadable::Idle;
    state.pages.around = None;
    if passage.place.pages.is_some() {
        state.pages.pictures.start();
    }
    jobs.draw_pages(PagesRequest {
        number: state.pages.asked,
        document: passage.document,
        pages: passage.place.pages,
        width: PAGE_WIDTH,
        quote: passage.text.clone(),
        start: passage.start,
        end: passage.end,
    });
    state.selection = Selection::Passage(Box::new(passage));
}

fn select(index: usize, state: &mut AppState, jobs: &Jobs) {
    let Some(results) = state.search.results.value() else {
        return;
    };
    let Some(hit) = results.hits.get(index) else {
        return;
    };
    let passage = Passage::of_hit(hit, &results.query);
    state.search.selected = Some(index);
    inspect(passage, state, jobs);
}
