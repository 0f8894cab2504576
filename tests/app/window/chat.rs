//! The chat space: a question, its answer, and what it rests on.

use egui::{Key, Role};
use egui_kittest::kittest::Queryable;
use outcrop::answer::Answer;
use outcrop::command::Command;
use outcrop::state::{Selection, Space, TurnState};

use crate::bench::Bench;
use crate::model_server::ModelServer;

/// A chat with `model`, nothing asked yet.
pub(crate) fn chat_with(model: &str) -> Bench {
    let mut bench = Bench::filled();
    let workbench = bench.harness.state_mut().as_mut().unwrap();
    workbench.push(Command::UseModel(Some(model.to_owned())));
    workbench.push(Command::ShowSpace(Space::Chat));
    bench.settle();
    bench
}

pub(crate) fn type_question(bench: &mut Bench, question: &str) {
    bench.harness.get_by_label("Question").type_text(question);
    bench.settle();
    bench.harness.key_press(Key::Enter);
    bench.settle();
}

pub(crate) fn ask(bench: &mut Bench, question: &str) {
    let before = bench.state().chat.turns.len();
    type_question(bench, question);
    bench.until(|state| state.chat.turns.len() > before && state.chat.running().is_none());
}

pub(crate) fn asked(question: &str) -> Bench {
    let mut bench = chat_with("extractive");
    ask(&mut bench, question);
    bench
}

pub(crate) fn answer(bench: &Bench, turn: usize) -> &Answer {
    let TurnState::Done(answer) = &bench.state().chat.turns[turn].state else { panic!("not answered") };
    answer
}

#[test]
fn an_answer_cites_passages_that_open_in_the_inspector() {
    let mut bench = asked("How do I reset the pump?");
    let TurnState::Done(answer) = &bench.state().chat.turns[0].state else { panic!("not answered") };
    assert!(!answer.refused, "{answer:?}");
    assert!(answer.answer.contains("red button"), "{}", answer.answer);
    let marker = format!("{}  ·  geology.txt", answer.citations[0].marker);
    bench.harness.get_by_label_contains("passages used");
    bench.harness.get_by_label_contains(&marker).click();
    bench.settle();
    assert!(matches!(&bench.state().selection, Selection::Passage(passage) if passage.text.contains("red button")));
    bench.harness.get_by_role_and_label(Role::Button, "Open in Chunks");
}

#[test]
fn a_question_beyond_the_library_is_declined_with_the_nearest_passages() {
    let bench = asked("Who won the chess championship in Reykjavik?");
    let TurnState::Done(answer) = &bench.state().chat.turns[0].state else { panic!("not answered") };
    assert!(answer.refused, "{answer:?}");
    bench.harness.get_by_label("The library does not hold an answer");
}

#[test]
fn the_composer_is_empty_after_asking_and_the_chat_can_be_cleared() {
    let mut bench = asked("How do I reset the pump?");
    assert_eq!(bench.harness.get_by_label("Question").value().unwrap_or_default(), "");
    bench.harness.get_by_role_and_label(Role::Button, "New conversation").click();
    bench.settle();
    assert!(bench.state().chat.turns.is_empty());
    bench.harness.get_by_label("Ask your documents");
}

#[test]
fn a_question_that_cannot_be_asked_yet_stays_in_the_composer() {
    let mut bench = chat_with("extractive");
    let workbench = bench.harness.state_mut().as_mut().unwrap();
    workbench.push(Command::RemoveModel("none".to_owned()));
    workbench.push(Command::Ask("How do I reset the pump?".to_owned()));
    bench.settle();
    assert!(bench.state().chat.turns.is_empty());
    assert_eq!(bench.harness.get_by_label("Question").value().unwrap_or_default(), "How do I reset the pump?");
}

#[test]
fn a_citation_opens_its_page_with_the_passage_marked() {
    let mut bench = asked("How do I reset the pump?");
    let marker = format!("{}  ·  geology.txt", answer(&bench, 0).citations[0].marker);
    bench.harness.get_by_label_contains(&marker).click();
    bench.until(|state| state.pages.pictures.value().is_some_and(|pictures| !pictures.is_empty()));
    bench.harness.get_by_label_contains("1 marked line");
    bench.harness.get_by_label_contains("of 9");
}

#[test]
fn a_follow_up_is_searched_for_with_what_it_leans_on() {
    let mut bench = asked("How do I reset the pump?");
    ask(&mut bench, "And how is it cleaned?");
    let standalone = answer(&bench, 1).standalone.clone().unwrap();
    assert!(standalone.contains("pump"), "{standalone}");
    assert!(answer(&bench, 1).answer.contains("valve"), "{}", answer(&bench, 1).answer);
    bench.harness.get_by_label_contains("Searched for: And how is it cleaned?");
}

#[test]
fn a_follow_up_that_is_declined_shows_what_it_was_searched_as() {
    let mut bench = asked("Who won the chess championship in Reykjavik?");
    ask(&mut bench, "And who won it in Oslo?");
    assert!(answer(&bench, 1).refused, "{:?}", answer(&bench, 1));
    bench.harness.get_by_label_contains("Searched for: And who won it in Oslo? (");
}

#[test]
fn a_question_that_stands_by_itself_is_answered_after_one_about_something_else() {
    let mut bench = asked("How do I reset the pump?");
    ask(&mut bench, "What is the capital of Peru?");
    assert!(answer(&bench, 1).refused);
    for question in ["How do I reset the pump?", "Reset pump?"] {
        ask(&mut bench, question);
        let answer = answer(&bench, bench.state().chat.turns.len() - 1);
        assert!(!answer.refused && answer.answer.contains("red button"), "{question}: {answer:?}");
    }
}

#[test]
fn a_summary_after_another_question_is_of_the_documents() {
    let mut bench = asked("How do I reset the pump?");
    ask(&mut bench, "Summarise this document");
    assert_eq!(answer(&bench, 1).standalone, None);
}

#[test]
fn the_conversation_is_kept_and_exported_as_markdown() {
    let mut bench = asked("How do I reset the pump?");
    let file = std::env::temp_dir().join(format!("outcrop-chat-{}.md", std::process::id()));
    bench.harness.state_mut().as_mut().unwrap().push(Command::ExportChat(Some(file.clone())));
    bench.until(|state| state.notices.iter().any(|notice| notice.text.contains("Written to")));
    let markdown = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(markdown.contains("## How do I reset the pump?") && markdown.contains("[1] geology.txt"), "{markdown}");

    let kept = bench.state().chat.kept;
    assert!(kept.is_some());
    bench.harness.state_mut().as_mut().unwrap().push(Command::ReopenLibrary);
    bench.harness.state_mut().as_mut().unwrap().push(Command::ClearChat);
    bench.until(|state| state.chat.kept == kept && state.chat.turns.len() == 1);
    assert!(answer(&bench, 0).answer.contains("red button"));
}

#[test]
fn what_no_passage_supports_is_marked() {
    let server = ModelServer::saying(&["Hold the red button for nine ", "seconds to reset the pump."]);
    let mut bench = chat_with(&server.address());
    ask(&mut bench, "How do I reset the pump?");
    let answer = answer(&bench, 0);
    assert!(answer.answer.contains("pump. [?]"), "{}", answer.answer);
    assert_eq!((answer.sentences_checked, answer.unsupported.len()), (1, 1));
    assert!(answer.unsupported[0].reason.contains('9'), "{:?}", answer.unsupported);
    bench.harness.get_by_label_contains("[?] “Hold the red button for nine seconds");
}

#[test]
fn an_answer_streams_and_stops_when_told_to() {
    stops(|bench| bench.harness.get_by_role_and_label(Role::Button, "Stop").click());
}

#[test]
fn esc_stops_an_answer_while_the_next_question_is_typed() {
    stops(|bench| {
        bench.harness.get_by_label("Question").focus();
        bench.settle();
        bench.harness.key_press(Key::Escape);
    });
}

fn stops(stop: impl FnOnce(&mut Bench)) {
    let server = ModelServer::saying(&["Hold the red button ", "for five seconds"]).then_hanging();
    let mut bench = chat_with(&server.address());
    type_question(&mut bench, "How do I reset the pump?");
    bench.until(|state| state.chat.running().is_some_and(|turn| turn.text.contains("button")));
    stop(&mut bench);
    bench.settle();
    bench.until(|state| state.chat.running().is_none());
    let answer = answer(&bench, 0);
    assert!(answer.answer.starts_with("Hold the red button"), "{}", answer.answer);
    assert_eq!(answer.reason.as_deref(), Some("stopped"));
}

#[test]
fn a_model_is_switched_between_two_questions() {
    let server = ModelServer::saying(&["Hold the red button for five seconds to reset the pump."]);
    let mut bench = asked("How do I reset the pump?");
    bench.harness.state_mut().as_mut().unwrap().push(Command::UseModel(Some(server.address())));
    bench.settle();
    ask(&mut bench, "How do I reset the pump?");
    assert_eq!(answer(&bench, 0).model, "extractive");
    assert_eq!(answer(&bench, 1).model, server.address());
    assert!(answer(&bench, 1).unsupported.is_empty(), "{:?}", answer(&bench, 1));
}

#[test]
fn a_server_that_is_gone_is_an_error_and_the_chat_goes_on() {
    let address = ModelServer::saying(&[]).address();
    let mut bench = chat_with("http://127.0.0.1:9/v1#x");
    ask(&mut bench, "How do I reset the pump?");
    assert!(matches!(&bench.state().chat.turns[0].state, TurnState::Failed(_)), "{address}");
    bench.harness.get_by_role_and_label(Role::Button, "Answer without a model").click();
    bench.settle();
    bench.until(|state| state.chat.turns[0].answer().is_some());
    assert!(answer(&bench, 0).answer.contains("red button"));
    assert_eq!(bench.state().chat.turns.len(), 1, "it takes the place of the one that failed");
}
