//! Spaces, palette, messages, preferences.

use super::Command;
use crate::jobs::Jobs;
use crate::state::{AppState, Selection, Space};

pub(super) fn run(command: Command, state: &mut AppState, jobs: &mut Jobs) {
    match command {
        Command::ShowSpace(space) => show(space, state, jobs),
        Command::TogglePalette => state.palette_open = !state.palette_open,
        Command::Dismiss => dismiss(state, jobs),
        Command::Report(error) => state.report(&error),
        Command::DismissNotice(index) if index < state.notices.len() => {
            state.notices.remove(index);
        }
        Command::SetTheme(theme) => {
            state.settings.theme = theme;
            jobs.save_settings(&state.settings);
        }
        Command::SetScale(scale) => {
            state.settings.scale = scale.clamp(0.8, 2.0);
            jobs.save_settings(&state.settings);
        }
        Command::RememberWindowSize(size) => {
            state.settings.window_size = size;
            jobs.save_settings(&state.settings);
        }
        _ => {}
    }
}

fn show(space: Space, state: &mut AppState, jobs: &mut Jobs) {
    state.palette_open = false;
    if state.space == space {
        return;
    }
    state.space = space;
    state.selection = Selection::Nothing;
    state.settings.space = space;
    jobs.save_settings(&state.settings);
    match space {
        Space::Models => super::models::list(state, jobs),
        Space::Settings => super::library::look_at_folders(state, jobs),
        Space::Similarity => super::similarity::refresh(state, jobs),
        Space::Chunks => super::chunks::open_default(state, jobs),
        _ => {}
    }
}

fn dismiss(state: &mut AppState, jobs: &Jobs) {
    if state.palette_open {
        state.palette_open = false;
    } else if state.space == Space::Chat && state.chat.running().is_some() {
        jobs.stop_answer();
    } else if state.space == Space::Chat && state.chat.shows_conversations {
        state.chat.shows_conversations = false;
    } else if state.selection != Selection::Nothing {
        state.selection = Selection::Nothing;
    } else {
        state.library.selected.clear();
    }
}
