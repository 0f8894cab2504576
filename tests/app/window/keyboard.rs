//! Everything is reachable by keyboard, and what was chosen is remembered.

use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable;
use outcrop::state::{Space, ThemeChoice};

use crate::bench::Bench;

#[test]
fn spaces_have_digits() {
    let mut bench = Bench::filled();
    let digits = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7];
    for (space, digit) in Space::ALL.into_iter().zip(digits).rev() {
        bench.harness.key_press_modifiers(Modifiers::COMMAND, digit);
        bench.settle();
        assert_eq!(bench.state().space, space);
    }
}

#[test]
fn the_palette_finds_and_runs_commands() {
    let mut bench = Bench::empty();
    bench.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    bench.settle();
    bench.harness.get_by_label("Command").type_text("theme dark");
    bench.settle();
    bench.harness.get_by_role_and_label(Role::MenuItem, "Theme: dark");
    bench.harness.key_press(Key::Enter);
    bench.settle();
    assert_eq!(bench.state().settings.theme, ThemeChoice::Dark);
    assert!(!bench.state().palette_open);
}

#[test]
fn escape_closes_what_is_on_top() {
    let mut bench = Bench::filled();
    bench.harness.get_by_role_and_label(Role::Row, "kettles.txt").click();
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Button, "Close inspector");
    bench.harness.key_press(Key::Escape);
    bench.settle();
    assert!(bench.harness.query_by_role_and_label(Role::Button, "Close inspector").is_none());
}

#[test]
fn tab_reaches_the_rail_and_names_what_it_reaches() {
    let mut bench = Bench::empty();
    for _ in 0..2 {
        bench.harness.key_press(Key::Tab);
        bench.settle();
    }
    let focused = Space::ALL.iter().find(|space| {
        bench.harness.query_by_role_and_label(Role::Tab, space.title()).is_some_and(|node| node.is_focused())
    });
    assert!(focused.is_some());
}
