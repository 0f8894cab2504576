//! What the chat says when a model or its server fails, and that the next question in the same window is answered.

use std::path::Path;
use std::time::{Duration, Instant};

use egui::Role;
use egui_kittest::kittest::Queryable;
use outcrop::answer::Answer;
use outcrop::command::Command;
use outcrop::library::Error;
use outcrop::state::{Space, TurnState};
use tests::outcrop_binary;

use crate::bench::Bench;
use crate::model_server::{Fault, ModelServer};
#[cfg(unix)]
use crate::model_support::{TEST_GENERATOR, WatchedWorker, models_with};
use crate::model_support::{place, test_generator_file};

const QUESTION: &str = "How do I reset the pump?";
const PIECES: [&str; 2] = ["Hold the red button for five seconds to reset the pump. ", "Close the lid before."];

/// The chat of `bench` with `model`, nothing asked yet.
fn chat(mut bench: Bench, model: &str) -> Bench {
    bench.push(Command::UseModel(Some(model.to_owned())));
    bench.push(Command::ShowSpace(Space::Chat));
    bench
}

/// Puts a question and waits for its end.
fn ask(bench: &mut Bench) {
    let before = bench.state().chat.turns.len();
    bench.push(Command::Ask(QUESTION.to_owned()));
    bench.until(|state| state.chat.turns.len() > before && state.chat.running().is_none());
}

fn last_answer(bench: &Bench) -> &Answer {
    let turn = bench.state().chat.turns.last().unwrap();
    let TurnState::Done(answer) = &turn.state else { panic!("not answered: {:?}", turn.state) };
    answer
}

fn last_error(bench: &Bench) -> &Error {
    let turn = bench.state().chat.turns.last().unwrap();
    let TurnState::Failed(error) = &turn.state else { panic!("not failed: {:?}", turn.state) };
    error
}

/// The same window gets a whole answer from `model` to the next question.
#[track_caller]
fn assert_next_is_answered(bench: &mut Bench, model: &str) {
    ask(bench);
    let answer = last_answer(bench);
    assert_eq!((answer.model.as_str(), answer.refused), (model, false), "{answer:?}");
    assert!(!answer.answer.is_empty(), "{answer:?}");
    let reason = answer.reason.clone().unwrap_or_default();
    assert!(!reason.contains("process ended") && !reason.contains("broke off"), "{reason}");
}

#[test]
fn a_server_that_hangs_is_stopped_within_a_second_and_asked_again() {
    let server = ModelServer::saying(&PIECES);
    server.failing(Fault::Hang);
    let mut bench = chat(Bench::filled(), &server.address());
    bench.push(Command::Ask(QUESTION.to_owned()));
    bench.until(|state| state.chat.running().is_some_and(|turn| turn.coverage.is_some()));
    let begun = Instant::now();
    bench.harness.get_by_role_and_label(Role::Button, "Stop").click();
    bench.until(|state| state.chat.running().is_none());
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(last_answer(&bench).reason.as_deref(), Some("stopped"));
    bench.harness.get_by_label("stopped");
    assert_next_is_answered(&mut bench, &server.address());
}

#[test]
fn a_question_asked_while_another_answer_is_given_up_is_answered_after_it() {
    let server = ModelServer::saying(&PIECES);
    server.failing(Fault::Hang);
    let mut bench = chat(Bench::filled(), &server.address());
    bench.push(Command::Ask(QUESTION.to_owned()));
    bench.until(|state| state.chat.running().is_some_and(|turn| turn.coverage.is_some()));
    let workbench = bench.harness.state_mut().as_mut().unwrap();
    workbench.push(Command::ClearChat);
    workbench.push(Command::Ask(QUESTION.to_owned()));
    bench.until(|state| !state.chat.turns.is_empty() && state.chat.running().is_none());
    let answer = last_answer(&bench);
    assert!(answer.answer.starts_with("Hold the red button") && answer.reason.is_none(), "{answer:?}");
    assert_eq!(bench.state().chat.turns.len(), 1);
}

#[test]
fn a_server_that_drops_the_connection_leaves_what_it_said_with_the_reason() {
    let server = ModelServer::saying(&PIECES);
    let mut bench = chat(Bench::filled(), &server.address());
    for pieces in [1, 2] {
        server.failing(Fault::Drop(pieces));
        ask(&mut bench);
        let answer = last_answer(&bench);
        assert!(answer.answer.starts_with("Hold the red button"), "{}", answer.answer);
        let reason = answer.reason.clone().unwrap();
        for told in ["broke off", "127.0.0.1", "the connection ended in the middle", "ask again"] {
            assert!(reason.contains(told), "no {told:?} in {reason}");
        }
        bench.harness.get_by_label(&reason);
        assert_next_is_answered(&mut bench, &server.address());
        bench.push(Command::ClearChat);
    }
}

#[test]
fn a_server_that_drops_the_connection_before_a_word_is_an_error() {
    let server = ModelServer::saying(&PIECES);
    server.failing(Fault::Drop(0));
    let mut bench = chat(Bench::filled(), &server.address());
    ask(&mut bench);
    let detail = last_error(&bench).detail.clone();
    assert!(detail.contains("127.0.0.1") && detail.contains("the connection ended in the middle"), "{detail}");
    bench.harness.get_by_label(&detail);
    assert_next_is_answered(&mut bench, &server.address());
}

#[test]
fn a_server_that_sends_rubbish_is_named_and_the_window_lives() {
    let server = ModelServer::saying(&PIECES);
    let mut bench = chat(Bench::filled(), &server.address());
    for rubbish in [
        "SSH-2.0-OpenSSH\r\n",
        "HTTP/1.1 200 OK\r\n\r\n<html>\n",
        "\u{0}\u{1}\u{2}\n",
        "HTTP/1.1 200 OK\r\n\r\ndata: {\"choices\"\n",
    ] {
        server.failing(Fault::Say(rubbish));
        ask(&mut bench);
        let detail = last_error(&bench).detail.clone();
        assert!(detail.contains("127.0.0.1") && detail.contains("not the protocol"), "{rubbish:?}: {detail}");
        bench.harness.get_by_label(&detail);
        assert_next_is_answered(&mut bench, &server.address());
        bench.push(Command::ClearChat);
    }
}

#[test]
fn rubbish_in_the_middle_leaves_what_was_said_before_it() {
    let server = ModelServer::saying(&PIECES);
    server.failing(Fault::SayThen("<html>\n"));
    let mut bench = chat(Bench::filled(), &server.address());
    ask(&mut bench);
    let answer = last_answer(&bench);
    assert!(answer.answer.starts_with("Hold the red button"), "{}", answer.answer);
    let reason = answer.reason.clone().unwrap();
    assert!(reason.contains("not the protocol") && reason.contains("ask again"), "{reason}");
    bench.harness.get_by_label(&reason);
    assert_next_is_answered(&mut bench, &server.address());
}

/// The message of a turn whose worker was killed: that of an error, or the reason under what was written of the answer.
/// `None` where the answer was whole before.
#[cfg(unix)]
fn message(bench: &Bench) -> Option<String> {
    match &bench.state().chat.turns.last().unwrap().state {
        TurnState::Failed(error) => Some(error.detail.clone()),
        TurnState::Done(answer) => answer.reason.clone().filter(|reason| reason.contains("process ended")),
        state => panic!("not ended: {state:?}"),
    }
}

/// Asks until a worker that is killed once `is_there` was still at its answer.
#[cfg(unix)]
fn killed_in_mid_answer(bench: &mut Bench, worker: &WatchedWorker, is_there: impl Fn(&TurnState) -> bool) -> String {
    for _ in 0..5 {
        let before = bench.state().chat.turns.len();
        bench.push(Command::Ask(QUESTION.to_owned()));
        bench.until(|state| {
            let turn = state.chat.turns.get(before);
            turn.is_some_and(|turn| is_there(&turn.state) || !turn.is_running())
        });
        worker.kill();
        bench.until(|state| state.chat.running().is_none());
        if let Some(message) = message(bench) {
            return message;
        }
        bench.push(Command::ClearChat);
    }
    panic!("five answers were whole before their worker was killed");
}

#[cfg(unix)]
#[test]
fn a_model_that_is_killed_in_mid_answer_is_a_message_and_the_next_question_is_answered() {
    let worker = WatchedWorker::new();
    let bench = Bench::with_generators(models_with(TEST_GENERATOR), worker.program());
    let mut bench = chat(bench, TEST_GENERATOR);
    let moments: [fn(&TurnState) -> bool; 2] =
        [|state| matches!(state, TurnState::Reading { .. }), |state| matches!(state, TurnState::Writing)];
    for is_there in moments {
        let message = killed_in_mid_answer(&mut bench, &worker, is_there);
        for told in ["the model's process ended", "killed", "ask again"] {
            assert!(message.contains(told), "no {told:?} in {message}");
        }
        bench.harness.get_by_label(&message);
        assert_next_is_answered(&mut bench, TEST_GENERATOR);
        bench.push(Command::ClearChat);
    }
}

/// The test generator's file, cut in the middle.
fn write_cut(target: &Path) {
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    std::fs::copy(test_generator_file(), target).unwrap();
    let file = std::fs::File::options().write(true).open(target).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
}

#[test]
fn where_the_only_model_is_cut_the_window_says_so_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("models");
    write_cut(&models.join("mine/mine.gguf"));
    let mut bench = Bench::with_generators(models.clone(), outcrop_binary());
    bench.push(Command::ShowSpace(Space::Chat));
    ask(&mut bench);
    let detail = last_error(&bench).detail.clone();
    for told in ["the model is cut off", "mine.gguf", "fetch or add it again"] {
        assert!(detail.contains(told), "no {told:?} in {detail}");
    }
    bench.harness.get_by_label(&detail);
    bench.harness.get_by_role_and_label(Role::Button, "Answer without a model").click();
    bench.settle();
    bench.until(|state| state.chat.turns[0].answer().is_some());
    assert!(last_answer(&bench).answer.contains("red button"));

    place(&test_generator_file(), &models.join("whole/whole.gguf"));
    bench.push(Command::UseModel(Some("whole".to_owned())));
    assert_next_is_answered(&mut bench, "whole");
}
