//! The smallest window: every control is in sight and none lies over another.

use egui::{Rect, Role};
use egui_kittest::kittest::{NodeT, Queryable};
use outcrop::chunk::ChunkerConfig;
use outcrop::command::Command;
use outcrop::state::{Settings, Space};

use crate::bench::Bench;

/// What people press, type into or drag.
const CONTROLS: [Role; 8] = [
    Role::Button,
    Role::CheckBox,
    Role::ComboBox,
    Role::MultilineTextInput,
    Role::RadioButton,
    Role::Slider,
    Role::SpinButton,
    Role::TextInput,
];

/// The controls in front, each with its name and where it stands.
fn controls(bench: &Bench) -> Vec<(String, Rect)> {
    let found = bench.harness.query_all_by(|node| CONTROLS.contains(&node.role()));
    let named = |node: egui_kittest::Node<'_>| {
        let access = node.accesskit_node();
        let name = access.label().or_else(|| access.value()).unwrap_or_default();
        (format!("{:?} {name:?}", access.role()), node.rect())
    };
    found.map(named).collect()
}

/// Pairs that overlap by more than a line's width, and what reaches over the window's edge or under the inspector, which
/// begins at `inspector`.
fn faults(controls: &[(String, Rect)], width: f32, inspector: f32) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, (name, rect)) in controls.iter().enumerate() {
        let edge = if rect.left() < inspector { inspector } else { width };
        if rect.right() > edge + 1.0 || rect.left() < 0.0 {
            faults.push(format!("{name} at {rect:?} is out of sight"));
        }
        for (other, under) in &controls[index + 1..] {
            let shared = rect.intersect(*under);
            if shared.width() > 2.0 && shared.height() > 2.0 {
                faults.push(format!("{name} at {rect:?} and {other} at {under:?} overlap"));
            }
        }
    }
    faults
}

/// Where the inspector's own controls begin.
fn inspector_left(bench: &Bench) -> f32 {
    let left = |label| bench.harness.get_by_role_and_label(Role::Button, label).rect().left();
    left("Open in Chunks").min(left("Remove"))
}

#[test]
fn faults_are_found() {
    let at = |left: f32, right: f32| Rect::from_x_y_ranges(left..=right, 0.0..=20.0);
    let found = |one, other| faults(&[("one".to_owned(), one), ("other".to_owned(), other)], 100.0, 60.0).len();
    assert_eq!(found(at(0.0, 40.0), at(40.0, 60.0)), 0);
    assert_eq!(found(at(0.0, 40.0), at(30.0, 35.0)), 1, "one on the other");
    assert_eq!(found(at(0.0, 40.0), at(50.0, 70.0)), 1, "under the inspector");
    assert_eq!(found(at(0.0, 40.0), at(80.0, 104.0)), 1, "over the edge");
}

#[test]
fn no_control_lies_over_another_or_out_of_sight() {
    let mut bench = Bench::filled();
    let [width, height] = Settings::MIN_WINDOW_SIZE;
    bench.harness.set_size(egui::vec2(width, height));
    let id = bench.state().library.documents.value().unwrap()[0].id;
    bench.push(Command::OpenInChunks { document: id, byte: None });
    bench.until(|state| state.lab.result.value().is_some());
    // Another chunker than the document's, so that it can be kept.
    let other = ChunkerConfig { size: 300, ..bench.state().lab.config.clone() };
    bench.push(Command::SetChunker(other));
    bench.until(|state| state.lab.result.value().is_some_and(|result| result.config.size == 300));
    bench.harness.get_by_role_and_label(Role::Button, "Use for this document");
    let mut faults_found = Vec::new();
    for space in Space::ALL {
        bench.push(Command::ShowSpace(space));
        if space == Space::Search {
            bench.harness.get_by_label("Query").type_text("reset the pump");
            bench.until(|state| !state.search.results.is_pending() && state.search.results.value().is_some());
        }
        if space == Space::Chat {
            bench.push(Command::UseModel(Some("extractive".to_owned())));
            bench.push(Command::Ask("How do I reset the pump?".to_owned()));
            bench.until(|state| !state.chat.turns.is_empty() && state.chat.running().is_none());
        }
        if space == Space::Models {
            bench.until(|state| state.models.value().is_some() && !state.models.is_pending());
        }
        // Chunks and Similarity have panels of their own at the right.
        let can_inspect = !matches!(space, Space::Chunks | Space::Similarity);
        for has_inspector in [false, true].into_iter().take(1 + usize::from(can_inspect)) {
            if has_inspector {
                bench.push(Command::SelectDocument { id, extend: false });
            }
            bench.settle();
            let inspector = if has_inspector { inspector_left(&bench) } else { width };
            let shown = controls(&bench);
            assert!(shown.len() > 2, "{space:?} has controls: {shown:?}");
            let found = faults(&shown, width, inspector);
            faults_found.extend(found.into_iter().map(|fault| format!("{space:?}, {has_inspector}: {fault}")));
        }
        bench.push(Command::Dismiss);
    }
    assert!(faults_found.is_empty(), "{faults_found:#?}");
}
