//! The chat space: a question, its answer, and what it rests on.

use egui::{Key, Role};
use egui_kittest::kittest::Queryable;
use outcrop::command::Command;
use outcrop::state::{Selection, Space, TurnState};

use crate::bench::Bench;

fn asked(question: &str) -> Bench {
    let mut bench = Bench::filled();
    let workbench = bench.harness.state_mut().as_mut().unwrap();
    workbench.push(Command::UseModel(Some("extractive".to_owned())));
    workbench.push(Command::ShowSpace(Space::Chat));
    bench.settle();
    bench.harness.get_by_label("Question").type_text(question);
    bench.settle();
    bench.harness.key_press(Key::Enter);
    bench.settle();
    bench.until(|state| !state.chat.turns.is_empty() && state.chat.running().is_none());
    bench
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
    bench.harness.get_by_role_and_label(Role::Button, "Clear chat").click();
    bench.settle();
    assert!(bench.state().chat.turns.is_empty());
    bench.harness.get_by_label("Ask your documents");
}
