//! Edits by hand, comparisons, the similarity space and export, as a person does them.

use std::path::PathBuf;

use egui::{Role, Vec2};
use egui_kittest::kittest::Queryable;
use outcrop::chunk::{ChunkerConfig, ChunkerKind};
use outcrop::command::Command;
use outcrop::jobs::{ExportFormat, Figure};
use outcrop::similarity::MapLayout;
use outcrop::state::{AppState, SimilarityView, Space};

use crate::bench::Bench;

/// A window with `geology.txt` cut into chunks of a few sentences.
fn opened() -> Bench {
    let mut bench = Bench::filled();
    let document = bench.state().library.listed()[0].id;
    push(&mut bench, Command::OpenInChunks { document, byte: None });
    let config = ChunkerConfig { kind: ChunkerKind::Sentence, size: 150, overlap: 0, ..ChunkerConfig::default() };
    push(&mut bench, Command::SetChunker(config));
    bench.until(|state| {
        let result = state.lab.result.value();
        !state.lab.result.is_pending() && result.is_some_and(|result| result.config.kind == ChunkerKind::Sentence)
    });
    bench
}

fn push(bench: &mut Bench, command: Command) {
    bench.harness.state_mut().as_mut().unwrap().push(command);
}

fn settled(bench: &mut Bench) {
    bench.settle();
    bench.until(|state| !state.lab.result.is_pending() && !state.lab.comparison.is_pending());
}

fn starts(bench: &Bench) -> Vec<usize> {
    bench.state().lab.result.value().unwrap().chunks.iter().map(|chunk| chunk.start).collect()
}

#[test]
fn chunks_are_merged_split_and_put_back() {
    let mut bench = opened();
    let before = starts(&bench);
    assert!(before.len() > 4, "{before:?}");
    bench.harness.get_by_role_and_label(Role::Button, "Chunk 2").click();
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Button, "Merge with next").click();
    settled(&mut bench);
    let mut merged = before.clone();
    merged.remove(2);
    assert_eq!(starts(&bench), merged);
    assert_eq!(bench.state().lab.config.kind, ChunkerKind::Manual);

    bench.harness.get_by_role_and_label(Role::Button, "Chunk 2").click();
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Button, "Split").click();
    settled(&mut bench);
    assert_eq!(starts(&bench).len(), before.len());

    for _ in 0..2 {
        bench.harness.get_by_role_and_label(Role::Button, "Undo").click();
        settled(&mut bench);
    }
    assert_eq!(starts(&bench), before);
    assert_eq!(bench.state().lab.config.kind, ChunkerKind::Sentence);
    bench.harness.get_by_role_and_label(Role::Button, "Redo").click();
    settled(&mut bench);
    assert_eq!(starts(&bench), merged);
}

#[test]
fn a_cut_is_dragged_to_another_sentence() {
    let mut bench = opened();
    let before = starts(&bench);
    let grip = bench.harness.get_by_role_and_label(Role::Splitter, "Cut before chunk 3").rect().center();
    bench.harness.drag_at(grip);
    bench.harness.step();
    for step in 1..=6 {
        bench.harness.hover_at(grip + Vec2::new(-100.0, 9.0 * step as f32));
        bench.harness.step();
    }
    bench.harness.drop_at(grip + Vec2::new(-100.0, 54.0));
    settled(&mut bench);
    let after = starts(&bench);
    assert_eq!(after.len(), before.len());
    assert!(after[2] > before[2] && after[2] < before[3], "{before:?} became {after:?}");
    let segments = &bench.state().lab.result.value().unwrap().segments;
    assert!(segments.contains(&after[2]), "a cut goes to the start of a sentence");
}

#[test]
fn an_edited_chunking_is_stored_with_its_document() {
    let mut bench = opened();
    push(&mut bench, Command::MergeChunks(0));
    settled(&mut bench);
    let edited = starts(&bench);
    bench.harness.get_by_role_and_label(Role::Button, "Use for this document").click();
    bench.until(|state| {
        let record = state.library.listed()[0];
        record.chunker.as_ref().is_some_and(|config| config.kind == ChunkerKind::Manual)
            && record.chunks == edited.len()
    });
}

#[test]
fn chunkers_are_compared_side_by_side() {
    let mut bench = opened();
    bench.harness.get_by_role_and_label(Role::Button, "Compare").click();
    settled(&mut bench);
    bench.harness.get_by_role_and_label(Role::Button, "Add a chunker").click();
    settled(&mut bench);
    let comparison = bench.state().lab.comparison.value().unwrap().clone();
    assert_eq!(comparison.columns.len(), 3);
    let starts: Vec<Vec<usize>> =
        comparison.columns.iter().map(|column| column.chunks.iter().map(|chunk| chunk.start).collect()).collect();
    for mark in &comparison.cuts {
        for (index, starts) in starts.iter().enumerate() {
            assert_eq!(mark.has(index), starts.contains(&mark.byte));
        }
    }
    bench.harness.get_by_role_and_label(Role::Button, "Next difference").click();
    bench.settle();
    bench.harness.get_all_by_role_and_label(Role::Button, "Remove").next().unwrap().click();
    settled(&mut bench);
    assert_eq!(bench.state().lab.others.len(), 1);
    bench.harness.get_by_role_and_label(Role::Button, "End comparison").click();
    settled(&mut bench);
    assert!(bench.state().lab.comparison.value().is_none());
    bench.harness.get_by_label("Boundary plot");
}

#[test]
fn a_click_on_the_heat_map_shows_both_texts() {
    let mut bench = opened();
    push(&mut bench, Command::ShowSpace(Space::Similarity));
    bench.until(|state| state.similarity.heat.value().is_some());
    let map = bench.harness.get_by_label("Chunk by chunk similarity").rect();
    let at = map.min + map.size() * Vec2::new(0.9, 0.1);
    bench.harness.hover_at(at);
    bench.settle();
    bench.harness.drag_at(at);
    bench.harness.drop_at(at);
    bench.settle();
    let (row, column) = bench.state().similarity.picked.unwrap();
    assert!(row < column, "{row} {column}");
    bench.harness.get_by_role_and_label(Role::Label, &format!("Chunk {}", row + 1));
    bench.harness.get_by_role_and_label(Role::Label, &format!("Chunk {}", column + 1));

    push(&mut bench, Command::CompareQuery("pump button".to_owned()));
    bench.until(|state| state.similarity.answer.is_some());
    bench.harness.get_by_label("Question by chunk similarity");
}

#[test]
fn the_library_becomes_a_map_with_the_question_on_it() {
    let mut bench = opened();
    push(&mut bench, Command::ShowSpace(Space::Similarity));
    push(&mut bench, Command::ShowSimilarity(SimilarityView::Map));
    bench.until(|state| state.similarity.map.value().is_some());
    let map = bench.state().similarity.map.value().unwrap().clone();
    assert_eq!(map.passages.len(), bench.state().library.totals().1);
    push(&mut bench, Command::CompareQuery("granite".to_owned()));
    bench.until(|state| state.similarity.answer.is_some());
    let answer = bench.state().similarity.answer.clone().unwrap();
    assert!(answer.place.is_some() && map.passages[answer.hits[0]].text.to_lowercase().contains("granite"));
    push(&mut bench, Command::PickPassage(answer.hits[0]));
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Button, "Open in Chunks");

    let field = bench.harness.get_by_label("Map of the library").rect();
    let corners = [field.left_top(), field.right_top(), field.right_bottom(), field.left_bottom()];
    bench.harness.drag_at(corners[0] + egui::vec2(2.0, 2.0));
    for corner in
        [corners[1] - egui::vec2(2.0, -2.0), corners[2] - egui::vec2(2.0, 2.0), corners[3] + egui::vec2(2.0, -2.0)]
    {
        bench.harness.hover_at(corner);
        bench.settle();
    }
    bench.harness.drop_at(corners[3] + egui::vec2(2.0, -2.0));
    bench.settle();
    assert_eq!(bench.state().similarity.encircled.len(), map.passages.len());
    bench.harness.get_by_label(&format!("{} passages", map.passages.len()));
    bench.harness.get_by_role_and_label(Role::Button, "Clear").click();
    bench.settle();
    assert!(bench.state().similarity.encircled.is_empty());

    bench.harness.get_by_role_and_label(Role::RadioButton, "UMAP").click();
    let layout = |state: &AppState| state.similarity.map.value().map(|map| map.projection.layout);
    bench.until(|state| layout(state) == Some(MapLayout::Umap) && !state.similarity.map.is_pending());
    bench.until(|state| state.similarity.answer.as_ref().is_some_and(|answer| answer.place.is_some()));
    let umap = bench.state().similarity.map.value().unwrap().clone();
    assert!(umap.passages == map.passages && umap.projection.points != map.projection.points);
    bench.harness.get_by_label_contains("UMAP): groups are true");
}

#[test]
fn embedding_for_a_curve_can_be_stopped() {
    let mut bench = opened();
    let before = bench.state().lab.result.value().unwrap().config.clone();
    bench.write("long.txt", &crate::bench::long_text(40));
    bench.drop_files(&["long.txt"]);
    bench.until(|state| state.library.documents.value().is_some_and(|all| all.iter().any(|one| one.chunks > 60)));
    bench.until(|state| state.library.ingest.is_none());
    let listed = bench.state().library.listed();
    let document = listed.iter().find(|record| record.chunks > 60).unwrap().id;
    push(&mut bench, Command::OpenInChunks { document, byte: None });
    bench.until(|state| !state.lab.result.is_pending() && state.lab.result.value().is_some());

    bench.hold_embedder(true);
    push(&mut bench, Command::SetChunker(ChunkerConfig { kind: ChunkerKind::Cluster, ..before }));
    bench.until(|state| state.lab.embedding.is_some());
    bench.harness.get_all_by_role_and_label(Role::Link, "Stop").next().unwrap().click();
    bench.settle();
    bench.until(|state| !state.lab.result.is_pending() && state.lab.embedding.is_none());
    let lab = &bench.state().lab;
    assert!(lab.config.kind != ChunkerKind::Cluster && lab.result.value().unwrap().config == lab.config);

    bench.hold_embedder(false);
    push(&mut bench, Command::ComputeCurve);
    bench.until(|state| state.lab.result.value().is_some_and(|result| !result.curve.is_empty()));
}

#[test]
fn figures_are_written_in_every_format() {
    let mut bench = opened();
    push(
        &mut bench,
        Command::CompareWith(vec![ChunkerConfig { kind: ChunkerKind::Fixed, ..ChunkerConfig::default() }]),
    );
    settled(&mut bench);
    push(&mut bench, Command::ShowSpace(Space::Similarity));
    bench.until(|state| state.similarity.heat.value().is_some());
    push(&mut bench, Command::ShowSimilarity(SimilarityView::Map));
    bench.until(|state| state.similarity.map.value().is_some());
    let folder = tempfile::tempdir().unwrap();
    for figure in [Figure::Boundary, Figure::Comparison, Figure::HeatMap, Figure::Projection] {
        for (format, word) in ExportFormat::ALL {
            let path: PathBuf = folder.path().join(format!("{figure:?}.{}", word.to_lowercase()));
            push(&mut bench, Command::Export { figure, format, path: Some(path.clone()) });
            bench.until(|_| path.exists() && std::fs::metadata(&path).is_ok_and(|file| file.len() > 0));
            let bytes = std::fs::read(&path).unwrap();
            let is_right = match format {
                ExportFormat::Svg => bytes.starts_with(b"<svg"),
                ExportFormat::Png => bytes.starts_with(b"\x89PNG"),
                ExportFormat::Csv => String::from_utf8_lossy(&bytes).lines().count() > 2,
                ExportFormat::Json => serde_json::from_slice::<serde_json::Value>(&bytes).is_ok(),
            };
            assert!(is_right, "{figure:?} as {word}");
        }
    }
}

#[test]
fn a_question_on_a_passage_is_kept_and_asked_of_every_chunker() {
    let mut bench = opened();
    bench.harness.get_by_role_and_label(Role::Button, "Chunk 2").click();
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Button, "Ask about it").click();
    bench.settle();
    bench.harness.get_all_by_role(Role::CheckBox).next().unwrap().click();
    bench.settle();
    bench.harness.get_by_label("Question on the passage").focus();
    bench.settle();
    bench.harness.get_by_label("Question on the passage").type_text("What resists the weather?");
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Button, "Add question").click();
    bench.settle();
    let question = bench.state().lab.questions[0].clone();
    let result = bench.state().lab.result.value().unwrap().clone();
    assert_eq!((question.text.as_str(), question.start), ("What resists the weather?", result.chunks[1].start));

    bench.harness.get_by_role_and_label(Role::Button, "Compare").click();
    settled(&mut bench);
    let comparison = bench.state().lab.comparison.value().unwrap().clone();
    assert!(comparison.columns.iter().all(|column| column.scores.is_some_and(|scores| scores.recall <= 1.0)));
    bench.harness.get_by_role_and_label(Role::Button, "Remove question").click();
    settled(&mut bench);
    assert!(bench.state().lab.questions.is_empty());
    let comparison = bench.state().lab.comparison.value().unwrap();
    assert!(comparison.columns.iter().all(|column| column.scores.is_none()));
}
