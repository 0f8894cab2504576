//! Comparing chunks, and the map.

use std::sync::Arc;

use super::Command;
use crate::jobs::{Event, Jobs, SimilarityTask};
use crate::state::{AppState, MapResult, Pace, SimilarityView};

pub(super) fn run(command: Command, state: &mut AppState, jobs: &mut Jobs) {
    match command {
        Command::ShowSimilarity(view) => {
            state.similarity.view = view;
            refresh(state, jobs);
        }
        Command::LayOutMap(layout) => {
            state.similarity.layout = layout;
            draw_map(state, jobs);
        }
        Command::PickPair(row, column) => state.similarity.picked = Some((row, column)),
        Command::PickPassage(index) => state.similarity.picked_passage = Some(index),
        Command::EncirclePassages(passages) => {
            state.similarity.picked_passage = None;
            state.similarity.encircled = passages;
        }
        Command::CompareQuery(query) => {
            query.trim().clone_into(&mut state.similarity.query);
            compare_query(state, jobs);
        }
        Command::StopComparing => {
            jobs.stop_comparing();
            state.similarity.progress = None;
            state.similarity.heat.stop();
            state.similarity.map.stop();
        }
        _ => {}
    }
}

/// Computes what the view in front shows, unless it is there already.
pub(super) fn refresh(state: &mut AppState, jobs: &mut Jobs) {
    match state.similarity.view {
        SimilarityView::Heat => compare_chunks(state, jobs),
        SimilarityView::Map => draw_map(state, jobs),
    }
}

fn compare_chunks(state: &mut AppState, jobs: &mut Jobs) {
    super::chunks::open_default(state, jobs);
    let lab = &state.lab;
    let (Some(document), Some(extraction), Some(chunks)) = (lab.document, lab.extraction.value(), lab.result.value())
    else {
        return;
    };
    let is_shown = |chunks| state.similarity.heat.value().is_some_and(|heat| Arc::ptr_eq(&heat.chunks, chunks));
    if is_shown(chunks) || lab.result.is_pending() {
        return;
    }
    let task = SimilarityTask::Heat { document, extraction: Arc::clone(extraction), chunks: Arc::clone(chunks) };
    state.similarity.picked = None;
    // The job does one thing at a time: what was under way is given up.
    state.similarity.map.stop();
    state.similarity.heat.start();
    put(task, state, jobs);
}

fn draw_map(state: &mut AppState, jobs: &mut Jobs) {
    let library_version = state.library.version;
    let layout = state.similarity.layout;
    let is_it = |map: &Arc<MapResult>| map.library_version == library_version && map.projection.layout == layout;
    if state.similarity.map.value().is_some_and(is_it) {
        jobs.stop_comparing();
        state.similarity.progress = None;
        state.similarity.heat.stop();
        state.similarity.map.stop();
        compare_query(state, jobs);
        return;
    }
    if state.library.documents.value().is_none() {
        return;
    }
    state.similarity.picked_passage = None;
    state.similarity.encircled.clear();
    state.similarity.heat.stop();
    state.similarity.map.start();
    put(SimilarityTask::Map { library_version, layout }, state, jobs);
}

fn compare_query(state: &mut AppState, jobs: &mut Jobs) {
    let similarity = &mut state.similarity;
    if similarity.query.is_empty() {
        similarity.answer = None;
        return;
    }
    if similarity.heat.is_pending() || similarity.map.is_pending() {
        return;
    }
    let task = SimilarityTask::Query {
        query: similarity.query.clone(),
        heat: similarity.heat.value().cloned(),
        map: similarity.map.value().cloned(),
    };
    put(task, state, jobs);
}

fn put(task: SimilarityTask, state: &mut AppState, jobs: &mut Jobs) {
    state.similarity.asked += 1;
    state.similarity.progress = None;
    jobs.compare(state.similarity.asked, task);
}

/// Takes what the job reports into the state; stale reports are left out.
pub(super) fn apply(event: Event, state: &mut AppState, jobs: &mut Jobs) {
    let newest = state.similarity.asked;
    match event {
        Event::SimilarityProgressed { number, done, total } if number == newest => {
            state.similarity.progress = Pace::step(state.similarity.progress, done, total);
        }
        Event::HeatCompared { number, outcome } if number == newest => {
            state.similarity.progress = None;
            state.similarity.heat.finish(outcome);
            compare_query(state, jobs);
        }
        Event::Mapped { number, outcome } if number == newest => {
            state.similarity.progress = None;
            state.similarity.map.finish(outcome);
            state.similarity.encircled.clear();
            // Where the question lay on the map before says nothing of this one.
            state.similarity.answer = None;
            compare_query(state, jobs);
        }
        Event::QueryCompared { number, outcome } if number == newest => match outcome {
            Ok(answer) => state.similarity.answer = Some(answer),
            Err(error) => state.report(&error),
        },
        _ => {}
    }
}
