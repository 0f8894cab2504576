//! The chunks space: the text follows the controls and the plot.

use egui::{Role, Vec2};
use egui_kittest::kittest::Queryable;
use outcrop::chunk::{ChunkerConfig, ChunkerKind, Threshold};
use outcrop::command::Command;

use crate::bench::Bench;

/// A window with `geology.txt` cut by meaning.
fn semantic() -> Bench {
    let mut bench = Bench::filled();
    let document = bench.state().library.listed()[0].id;
    let config = ChunkerConfig {
        kind: ChunkerKind::Semantic,
        size: 2000,
        overlap: 0,
        threshold: Threshold::Fixed(0.2),
        ..ChunkerConfig::default()
    };
    let workbench = bench.harness.state_mut().as_mut().unwrap();
    workbench.push(Command::OpenInChunks { document, byte: None });
    workbench.push(Command::SetChunker(config));
    bench.until(|state| state.lab.result.value().is_some_and(|result| result.config.kind == ChunkerKind::Semantic));
    bench.until(|state| !state.lab.result.is_pending());
    bench
}

fn num_chunks(bench: &Bench) -> usize {
    bench.state().lab.result.value().unwrap().chunks.len()
}

#[test]
fn another_size_cuts_the_text_anew() {
    let mut bench = semantic();
    let before = num_chunks(&bench);
    let workbench = bench.harness.state_mut().as_mut().unwrap();
    let config = ChunkerConfig { kind: ChunkerKind::Sentence, size: 60, overlap: 0, ..ChunkerConfig::default() };
    workbench.push(Command::SetChunker(config));
    bench.until(|state| !state.lab.result.is_pending());
    assert!(num_chunks(&bench) > before);
    bench.harness.get_by_role_and_label(Role::Button, "Chunk 3");
    bench.harness.get_by_role_and_label(Role::Button, "Use for this document");
}

#[test]
fn dragging_the_threshold_recuts_while_it_moves() {
    let mut bench = semantic();
    let before = num_chunks(&bench);
    let line = bench.harness.get_by_role_and_label(Role::Slider, "Threshold line").rect().center();
    bench.harness.drag_at(line);
    bench.harness.step();
    for step in 1..=6 {
        bench.harness.hover_at(line - Vec2::new(0.0, 12.0 * step as f32));
        bench.harness.step();
    }
    bench.until(|state| !state.lab.result.is_pending());
    let during = num_chunks(&bench);
    assert!(during > before, "{before} chunks before, {during} while dragged");
    bench.harness.drop_at(line - Vec2::new(0.0, 72.0));
    bench.until(|state| !state.lab.result.is_pending());
    assert!(matches!(bench.state().lab.config.threshold, Threshold::Fixed(value) if value > 0.2));
    assert_eq!(num_chunks(&bench), during);
}

#[test]
fn arrow_keys_move_the_threshold_too() {
    let mut bench = semantic();
    bench.harness.get_by_role_and_label(Role::Slider, "Threshold line").focus();
    bench.settle();
    bench.harness.key_press(egui::Key::ArrowUp);
    bench.settle();
    bench.until(|state| !state.lab.result.is_pending());
    let Threshold::Fixed(value) = bench.state().lab.config.threshold else { panic!("still automatic") };
    assert!((value - 0.21).abs() < 1e-4, "{value}");
}

#[test]
fn a_click_on_a_chunk_shows_it_with_its_cuts() {
    let mut bench = semantic();
    bench.harness.get_by_role_and_label(Role::Button, "Chunk 2").click();
    bench.settle();
    bench.harness.get_by_label("left cut");
    bench.harness.get_by_role_and_label(Role::Button, "Next").click();
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Label, "Chunk 3");
}

#[test]
fn hovering_the_plot_and_clicking_jumps_in_the_text() {
    let mut bench = semantic();
    let plot = bench.harness.get_by_label("Boundary plot").rect();
    let at = plot.left_center() + Vec2::new(plot.width() * 0.9, plot.height() * 0.4);
    bench.harness.hover_at(at);
    bench.settle();
    bench.harness.drag_at(at);
    bench.harness.drop_at(at);
    bench.settle();
    assert!(bench.state().lab.jump.is_some_and(|jump| jump.byte > 300), "{:?}", bench.state().lab.jump);
}
