//! What the chat keeps and lets people look into: passages, conversations, notes, citations by the keyboard.

use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable;
use outcrop::answer::PassageFate;
use outcrop::command::Command;
use outcrop::state::{Selection, TurnState};

use crate::bench::Bench;
use crate::chat::{answer, ask, asked, chat_with, type_question};
use crate::model_server::ModelServer;

fn inspected(bench: &Bench) -> Option<&str> {
    match &bench.state().selection {
        Selection::Passage(passage) => Some(&passage.text),
        _ => None,
    }
}

#[test]
fn a_refusal_still_has_its_nearest_passages_when_the_library_is_opened_again() {
    let mut bench = asked("Who won the chess championship in Reykjavik?");
    let kept = bench.state().chat.kept;
    assert!(kept.is_some() && answer(&bench, 0).refused);
    bench.push(Command::ReopenLibrary);
    bench.push(Command::ClearChat);
    bench.until(|state| state.chat.kept == kept && state.chat.turns.len() == 1);
    bench.harness.get_by_label("Nearest passages");
    let nearest = answer(&bench, 0).passages[0].clone();
    bench.harness.get_all_by_label_contains(&nearest.title).next().unwrap().click();
    bench.settle();
    assert_eq!(inspected(&bench), Some(nearest.text.as_str()));
}

#[test]
fn the_passages_of_an_answer_are_listed_with_what_became_of_them() {
    let mut bench = asked("How do I reset the pump?");
    let (found, fates) = {
        let answer = answer(&bench, 0);
        assert_eq!(
            answer.passages.iter().filter(|found| found.fate == PassageFate::Used).count(),
            answer.passages_used
        );
        (answer.passages_found, answer.passages.iter().map(|found| found.fate.text().to_owned()).collect::<Vec<_>>())
    };
    assert!(bench.harness.query_by_label("Why these passages?").is_none());
    let used = answer(&bench, 0).passages_used;
    bench.harness.get_by_label(&format!("{used} of {found} passages used")).click();
    bench.settle();
    bench.harness.get_by_label("Why these passages?");
    assert!(fates.len() >= found, "{fates:?}");
    for fate in fates {
        assert!(bench.harness.query_all_by_label(&fate).next().is_some(), "{fate}");
    }
    bench.harness.get_by_label(&format!("{used} of {found} passages used")).click();
    bench.settle();
    assert!(bench.harness.query_by_label("Why these passages?").is_none());
}

#[test]
fn conversations_are_opened_again_and_removed_once_that_is_confirmed() {
    let mut bench = asked("How do I reset the pump?");
    let first = bench.state().chat.kept;
    bench.harness.get_by_role_and_label(Role::Button, "New conversation").click();
    bench.settle();
    ask(&mut bench, "What does a kettle do?");
    let second = bench.state().chat.kept;
    assert!(first.is_some() && second.is_some() && first != second);

    bench.harness.get_by_role_and_label(Role::Button, "Conversations").click();
    bench.until(|state| state.chat.conversations.value().is_some_and(|kept| kept.len() == 2));
    bench.harness.get_by_role_and_label(Role::Button, "How do I reset the pump?").click();
    bench.until(|state| state.chat.kept == first && !state.chat.shows_conversations);
    assert!(answer(&bench, 0).answer.contains("red button"));

    bench.harness.get_by_role_and_label(Role::Button, "Conversations").click();
    bench.until(|state| state.chat.shows_conversations && !state.chat.conversations.is_pending());
    for is_kept in [true, false] {
        bench.harness.get_by_role_and_label(Role::Button, "Remove “What does a kettle do?”").click();
        bench.settle();
        assert_eq!(bench.state().chat.conversations.value().unwrap().len(), 2, "nothing goes before it is confirmed");
        let choice = if is_kept { "Keep" } else { "Remove for good" };
        bench.harness.get_by_role_and_label(Role::Button, choice).click();
        bench.settle();
    }
    bench.until(|state| state.chat.conversations.value().is_some_and(|kept| kept.len() == 1));
    assert_eq!(bench.state().chat.kept, first, "the one in hand stays");
}

#[test]
fn a_follow_up_that_is_asked_again_leans_on_what_came_before_it() {
    let mut bench = asked("How do I reset the pump?");
    ask(&mut bench, "And how is it cleaned?");
    let before = answer(&bench, 1).standalone.clone();
    assert!(before.as_ref().is_some_and(|asked| asked.contains("pump")), "{before:?}");
    ask(&mut bench, "What does a kettle do?");
    bench.harness.get_all_by_role_and_label(Role::Button, "Ask again").nth(1).unwrap().click();
    bench.settle();
    bench.until(|state| state.chat.turns.len() == 4 && state.chat.running().is_none());
    assert_eq!(answer(&bench, 3).standalone, before, "not on the kettle");
    bench.harness.get_all_by_role_and_label(Role::Button, "Ask again").last().unwrap().click();
    bench.settle();
    bench.until(|state| state.chat.running().is_none());
    assert_eq!(bench.state().chat.turns.len(), 4, "the last answer is written anew in its place");
}

#[test]
fn an_answer_that_is_asked_again_stays_if_the_new_one_is_stopped() {
    let mut bench = asked("How do I reset the pump?");
    let server = ModelServer::saying(&["Hold it "]).then_hanging();
    bench.push(Command::UseModel(Some(server.address())));
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Button, "Ask again").click();
    bench.settle();
    bench.until(|state| state.chat.running().is_some_and(|turn| turn.text.contains("Hold")));
    bench.harness.get_by_role_and_label(Role::Button, "Stop").click();
    bench.settle();
    bench.until(|state| state.chat.running().is_none());
    let kept = bench.state().chat.kept;
    for _ in ["as it is shown", "as it is kept"] {
        assert_eq!(bench.state().chat.turns.len(), 2);
        assert!(answer(&bench, 0).answer.contains("red button") && answer(&bench, 1).is_stopped());
        bench.push(Command::ReopenLibrary);
        bench.push(Command::ClearChat);
        bench.until(|state| state.chat.kept == kept && !state.chat.turns.is_empty());
    }
}

#[test]
fn citations_open_by_the_keyboard_while_the_next_question_is_typed() {
    let mut bench = asked("How do I reset the pump?");
    let quote = answer(&bench, 0).citations[0].quote.clone();
    assert_eq!(answer(&bench, 0).citations[0].marker, 1);
    bench.harness.get_by_label("Question").focus();
    bench.settle();
    bench.harness.key_press_modifiers(Modifiers::ALT, Key::Num1);
    bench.settle();
    assert_eq!(inspected(&bench), Some(quote.as_str()));
    assert_eq!(bench.harness.get_by_label("Question").value().unwrap_or_default(), "");
}

#[test]
fn a_server_that_has_not_begun_is_waited_for_by_name() {
    let server = ModelServer::saying(&[]).then_hanging();
    let mut bench = chat_with(&server.address());
    type_question(&mut bench, "How do I reset the pump?");
    bench.until(|state| state.chat.running().is_some_and(|turn| matches!(turn.state, TurnState::Asked(_))));
    bench.harness.get_by_label(&format!("Waiting for {} …", server.address()));
    bench.harness.get_by_label_contains("passages used  ·  seen ");
    bench.harness.get_by_role_and_label(Role::Button, "Stop").click();
    bench.settle();
    bench.until(|state| state.chat.running().is_none());
}
