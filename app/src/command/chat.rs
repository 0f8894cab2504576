//! Questions and answers, and the conversations that they make.

use super::Command;
use crate::answer::AskOptions;
use crate::jobs::{AnswerRequest, Jobs};
use crate::state::{AppState, Passage, Selection, Space, Turn};
use crate::store::ChatId;

pub(super) fn run(command: Command, state: &mut AppState, jobs: &mut Jobs) {
    match command {
        Command::Ask(question) => ask(question.trim(), state, jobs),
        Command::AskAgain(number) => ask_again(number, state, jobs),
        Command::EditQuestion(number) => edit(number, state, jobs),
        Command::TogglePassages(number) if !state.chat.listed.remove(&number) => {
            state.chat.listed.insert(number);
        }
        Command::OpenCitation(marker) => open_citation(marker, state, jobs),
        Command::StopAnswer => jobs.stop_answer(),
        Command::ClearChat => {
            jobs.stop_answer();
            state.chat.clear();
            state.chat.shows_conversations = false;
            state.selection = Selection::Nothing;
        }
        Command::ShowConversations(is_shown) => show_conversations(is_shown, state, jobs),
        // The one in hand is there, and may have an answer under way.
        Command::OpenChat(chat) if state.chat.kept == Some(chat) && !state.chat.turns.is_empty() => {
            state.chat.shows_conversations = false;
        }
        Command::OpenChat(chat) => {
            state.chat.opening = Some(chat);
            jobs.open_chat(chat);
        }
        Command::RemoveChat(chat) => remove(chat, state, jobs),
        Command::ExportChat(path) => jobs.export_chat(state.chat.answers(), path),
        Command::UseModel(model) => {
            state.settings.model = model;
            jobs.save_settings(&state.settings);
        }
        _ => {}
    }
}

/// Asks what was typed: after the other turns, or in the place of the turn whose question was edited.
fn ask(question: &str, state: &mut AppState, jobs: &Jobs) {
    let before = state.chat.questions(state.chat.edited);
    if let Err(why) = put(question, before, None, state, jobs) {
        state.tell(why, None);
        state.chat.turned_down.push(question.to_owned());
    }
}

/// Asks a turn's question again with the turns before it. An answer to the last one takes its place.
fn ask_again(number: u64, state: &mut AppState, jobs: &Jobs) {
    let Some(turn) = state.chat.turn(number) else { return };
    let question = turn.question.clone();
    let is_last = state.chat.turns.last().is_some_and(|last| last.number == number);
    let before = state.chat.questions(Some(number));
    if let Err(why) = put(&question, before, is_last.then_some(number), state, jobs) {
        state.tell(why, None);
    }
}

/// Asks a question after those before it; its answer takes the place of the turn `replaces`, the last one, once it is there.
/// Says why, if it cannot be asked now.
fn put(
    question: &str,
    before: Vec<String>,
    replaces: Option<u64>,
    state: &mut AppState,
    jobs: &Jobs,
) -> Result<(), String> {
    if question.is_empty() || state.chat.running().is_some() {
        return Ok(());
    }
    if let Some(model) = &state.removing_model {
        return Err(format!("{model} is being removed: ask again in a moment"));
    }
    let number = state.chat.asked + 1;
    let options = AskOptions { model: state.settings.model.clone(), before, ..AskOptions::default() };
    // An attempt that failed was not kept.
    let is_kept = state.chat.turns.last().is_some_and(|turn| turn.answer().is_some());
    let request = AnswerRequest {
        number,
        question: question.to_owned(),
        options,
        chat: state.chat.kept,
        replaces_last: replaces.is_some() && is_kept,
    };
    if !jobs.ask(request) {
        let is_open = state.opened.value().is_some();
        let why = if is_open { "The answers before are still being stopped" } else { "The library is not open yet" };
        return Err(why.to_owned());
    }
    state.chat.asked = number;
    (state.chat.edited, state.chat.opening, state.chat.shows_conversations) = (None, None, false);
    state.chat.turns.push(Turn { replaces, ..Turn::asked(number, question.to_owned()) });
    Ok(())
}

/// Takes a question up to be edited, or gives that up.
fn edit(number: Option<u64>, state: &mut AppState, jobs: &mut Jobs) {
    state.chat.edited = number.filter(|number| state.chat.turn(*number).is_some());
    if state.chat.edited.is_some() {
        state.chat.edits += 1;
        state.chat.shows_conversations = false;
        super::run(Command::ShowSpace(Space::Chat), state, jobs);
    }
}

/// Shows the passage that a marker of the newest answer names.
fn open_citation(marker: u32, state: &mut AppState, jobs: &mut Jobs) {
    let Some(answer) = state.chat.last_answer() else { return };
    let Some(citation) = answer.citations.iter().find(|citation| citation.marker == marker) else { return };
    let passage = Passage::of_citation(citation, &answer.question);
    super::run(Command::ShowSpace(Space::Chat), state, jobs);
    super::run(Command::Inspect(Box::new(passage)), state, jobs);
}

fn show_conversations(is_shown: bool, state: &mut AppState, jobs: &mut Jobs) {
    state.chat.shows_conversations = is_shown;
    if is_shown && state.opened.value().is_some() {
        super::run(Command::ShowSpace(Space::Chat), state, jobs);
        state.chat.conversations.start();
        jobs.list_chats();
    }
}

/// Deletes a conversation. The one in hand begins anew.
fn remove(chat: ChatId, state: &mut AppState, jobs: &Jobs) {
    if state.chat.kept == Some(chat) {
        jobs.stop_answer();
        state.chat.clear();
    }
    state.chat.conversations.start();
    jobs.remove_chat(chat);
}
