//! The document under the knife.

use std::sync::Arc;

use super::Command;
use crate::chunk::{ChunkerConfig, ChunkerKind};
use crate::jobs::{Jobs, LabRequest};
use crate::state::{AppState, Edits, Jump, LabState, Loadable, Passage, Selection, Space, edits};
use crate::store::{DocumentId, DocumentStatus};

pub(super) fn run(command: Command, state: &mut AppState, jobs: &mut Jobs) {
    match command {
        Command::OpenInChunks { document, byte } => {
            open(document, state, jobs);
            if let Some(byte) = byte {
                jump(byte, state);
            }
            super::run(Command::ShowSpace(Space::Chunks), state, jobs);
        }
        Command::SetChunker(config) => set_chunker(config, state, jobs),
        Command::SetRowMetrics(metrics) => {
            jobs.set_row_metrics(metrics);
            recut(state, jobs);
        }
        Command::ComputeCurve => {
            state.lab.curve_wanted = true;
            recut(state, jobs);
        }
        Command::StopEmbedding => stop_embedding(state, jobs),
        Command::JumpTo(byte) => jump(byte, state),
        Command::InspectChunk(index) => inspect(index, state),
        Command::MergeChunks(_) | Command::SplitChunk(_) | Command::MoveCut { .. } => edit(&command, state, jobs),
        Command::UndoEdit => step(Edits::undo, state, jobs),
        Command::RedoEdit => step(Edits::redo, state, jobs),
        Command::CompareWith(others) => {
            state.lab.others = others;
            state.lab.others.truncate(LabState::MOST_COMPARED - 1);
            recut(state, jobs);
        }
        Command::AddQuestion(question) => {
            state.lab.questions.push(question);
            keep_questions(state, jobs);
        }
        Command::RemoveQuestion(index) if index < state.lab.questions.len() => {
            state.lab.questions.remove(index);
            keep_questions(state, jobs);
        }
        Command::Export { figure, format, path } => super::export::export(figure, format, path, state, jobs),
        Command::UseChunkerForDocument => store(state, jobs),
        Command::UseChunkerForNew => {
            state.settings.chunker = state.lab.config.clone();
            jobs.save_settings(&state.settings);
            state.tell("New documents will be split this way", None);
        }
        _ => {}
    }
}

/// Keeps the questions and asks them anew.
fn keep_questions(state: &mut AppState, jobs: &mut Jobs) {
    if let (Some(document), Some(extraction)) = (state.lab.document, state.lab.extraction.value()) {
        jobs.keep_questions(document, Arc::clone(extraction), state.lab.questions.clone());
    }
    if state.lab.is_comparing() {
        recut(state, jobs);
    }
}

/// Goes back to the last chunking there is, or to a chunker that needs no vectors.
fn stop_embedding(state: &mut AppState, jobs: &mut Jobs) {
    jobs.stop_cutting();
    let lab = &mut state.lab;
    lab.embedding = None;
    lab.curve_wanted = false;
    lab.others.clear();
    lab.result.stop();
    lab.comparison = Loadable::Idle;
    // What needs vectors would begin to embed again at once.
    let before = lab.result.value().map(|result| result.config.clone());
    lab.config = before.filter(|config| !config.kind.needs_vectors()).unwrap_or_default();
    recut(state, jobs);
}

/// A change of the chunker that leaves an edited chunking can be taken back.
fn set_chunker(config: ChunkerConfig, state: &mut AppState, jobs: &mut Jobs) {
    let before = std::mem::replace(&mut state.lab.config, config);
    if before.kind == ChunkerKind::Manual && state.lab.config.kind != ChunkerKind::Manual {
        state.lab.edits.push(before);
    }
    recut(state, jobs);
}

/// Edits the newest chunking, which the window shows.
fn edit(command: &Command, state: &mut AppState, jobs: &mut Jobs) {
    let (Some(extraction), Some(result)) = (state.lab.extraction.value(), state.lab.result.value()) else {
        return;
    };
    let text = &extraction.text;
    let edited = match *command {
        Command::MergeChunks(index) => edits::merged(text, result, index),
        Command::SplitChunk(byte) => edits::split(result, byte),
        Command::MoveCut { index, byte } => edits::moved(text, result, index, byte),
        _ => None,
    };
    if let Some(config) = edited {
        let before = std::mem::replace(&mut state.lab.config, config);
        state.lab.edits.push(before);
        recut(state, jobs);
    }
}

fn step(step: impl FnOnce(&mut Edits, ChunkerConfig) -> Option<ChunkerConfig>, state: &mut AppState, jobs: &mut Jobs) {
    let current = state.lab.config.clone();
    if let Some(config) = step(&mut state.lab.edits, current) {
        state.lab.config = config;
        recut(state, jobs);
    }
}

/// Opens the selected document, else the first searchable one, when none is open.
pub(super) fn open_default(state: &mut AppState, jobs: &mut Jobs) {
    if state.lab.document.is_some() {
        return;
    }
    let selected = state.library.selected.first().copied();
    let mut listed = state.library.listed().into_iter();
    let first = || listed.find(|record| record.status == DocumentStatus::Ready).map(|record| record.id);
    if let Some(document) = selected.or_else(first) {
        open(document, state, jobs);
    }
}

/// Asks for a chunking of the document in hand with the chunker in hand.
pub(super) fn recut(state: &mut AppState, jobs: &mut Jobs) {
    let Some(document) = state.lab.document else {
        return;
    };
    state.lab.asked += 1;
    state.lab.result.start();
    if state.lab.is_comparing() {
        state.lab.comparison.start();
    } else {
        state.lab.comparison = Loadable::Idle;
    }
    let file_name = state.library.document(document).and_then(|record| record.path.file_name());
    jobs.cut(LabRequest {
        number: state.lab.asked,
        document,
        file_name: file_name.map(|name| name.to_string_lossy().into_owned()),
        config: state.lab.config.clone(),
        others: state.lab.others.clone(),
        questions: state.lab.questions.clone(),
        library_version: state.library.version,
        curve_wanted: state.lab.curve_wanted,
    });
}

fn open(document: DocumentId, state: &mut AppState, jobs: &mut Jobs) {
    if state.lab.document != Some(document) {
        let stored: Option<ChunkerConfig> = state.library.document(document).and_then(|record| record.chunker.clone());
        state.lab.config = stored.unwrap_or_else(|| state.lab.config.clone());
        state.lab.document = Some(document);
        state.lab.curve_wanted = false;
        state.lab.edits.clear();
        state.lab.questions.clear();
        state.lab.comparison = Loadable::Idle;
        state.lab.extraction = Loadable::Pending { previous: None };
        state.lab.result = Loadable::Idle;
    }
    recut(state, jobs);
}

fn jump(byte: usize, state: &mut AppState) {
    let number = state.lab.jump.map_or(0, |jump| jump.number) + 1;
    state.lab.jump = Some(Jump { number, byte });
}

fn inspect(index: usize, state: &mut AppState) {
    let lab = &state.lab;
    let (Some(extraction), Some(result)) = (lab.extraction.value(), lab.result.value()) else {
        return;
    };
    let (Some(chunk), Some(document)) = (result.chunks.get(index), lab.document) else {
        return;
    };
    let record = state.library.document(document);
    let passage = Passage {
        document,
        title: record.map(|record| record.title.clone()).unwrap_or_default(),
        path: record.map(|record| record.path.clone()).unwrap_or_default(),
        text: extraction.text.get(chunk.start..chunk.end).unwrap_or_default().to_owned(),
        place: extraction.place(chunk.start..chunk.end),
        start: chunk.start,
        end: chunk.end,
        index: Some(index),
        tokens: None,
        score: None,
        scores: crate::retrieve::HitScores::default(),
        query: String::new(),
    };
    state.selection = Selection::Passage(Box::new(passage));
}

fn store(state: &mut AppState, jobs: &mut Jobs) {
    let Some(record) = state.lab.document.and_then(|id| state.library.document(id)) else {
        return;
    };
    let path = record.path.clone();
    let config = state.lab.config.clone();
    super::library::add(vec![path], config, state, jobs);
}
