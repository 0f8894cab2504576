//! Questions and answers.

use super::Command;
use crate::answer::AskOptions;
use crate::jobs::{AnswerRequest, Jobs};
use crate::state::{AppState, Selection, Turn, TurnState};

pub(super) fn run(command: Command, state: &mut AppState, jobs: &mut Jobs) {
    match command {
        Command::Ask(question) => ask(question.trim(), state, jobs),
        Command::StopAnswer => jobs.stop_answer(),
        Command::ClearChat => {
            jobs.stop_answer();
            state.chat.turns.clear();
            state.chat.kept = None;
            state.selection = Selection::Nothing;
        }
        Command::ExportChat(path) => jobs.export_chat(state.chat.answers(), path),
        Command::UseModel(model) => {
            state.settings.model = model;
            jobs.save_settings(&state.settings);
        }
        _ => {}
    }
}

fn ask(question: &str, state: &mut AppState, jobs: &mut Jobs) {
    if question.is_empty() || state.chat.running().is_some() {
        return;
    }
    state.chat.asked += 1;
    let number = state.chat.asked;
    let options =
        AskOptions { model: state.settings.model.clone(), before: state.chat.questions(), ..AskOptions::default() };
    let request = AnswerRequest { number, question: question.to_owned(), options, chat: state.chat.kept };
    if !jobs.ask(request) {
        state.tell("The library is not open yet", None);
        return;
    }
    state.chat.turns.push(Turn {
        number,
        question: question.to_owned(),
        hits: Vec::new(),
        text: String::new(),
        state: TurnState::Searching,
    });
}
