//! A long document costs no more to draw than a short one.

use std::time::{Duration, Instant};

use egui::Vec2;
use outcrop::chunk::{ChunkerConfig, ChunkerKind, Threshold};
use outcrop::command::Command;
use outcrop::progress::CancelToken;
use outcrop::similarity::HeatMap;

use crate::bench::{Bench, long_text};

/// Pages of the document, at 2 000 characters each.
const PAGES: usize = 300;

/// Twice what a person takes for at once: the test runs on machines that have other things to do.
const CHANGE: Duration = Duration::from_millis(400);

/// A frame at sixty a second.
const FRAME: Duration = Duration::from_millis(16);

#[test]
fn three_hundred_pages_are_drawn_in_a_few_milliseconds() {
    let mut bench = Bench::empty();
    bench.write("long.txt", &long_text(PAGES));
    bench.drop_files(&["long.txt"]);
    bench.until(|state| state.library.totals().0 == 1 && state.library.ingest.is_none());
    let document = bench.state().library.listed()[0].id;
    let config = ChunkerConfig {
        kind: ChunkerKind::Semantic,
        threshold: Threshold::Fixed(0.25),
        overlap: 0,
        min_size: 400,
        ..ChunkerConfig::default()
    };
    let workbench = bench.harness.state_mut().as_mut().unwrap();
    workbench.push(Command::OpenInChunks { document, byte: None });
    workbench.push(Command::SetChunker(config.clone()));
    bench.until(|state| state.lab.result.value().is_some_and(|result| !result.curve.is_empty()));
    bench.until(|state| !state.lab.result.is_pending());

    let scroll = timed(&mut bench, |bench, step| {
        bench.harness.hover_at(egui::pos2(400.0, 400.0));
        bench.harness.event(egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: Vec2::new(0.0, -300.0 - step as f32),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Wheel,
            modifiers: egui::Modifiers::NONE,
        });
    });
    let drag = timed(&mut bench, |bench, step| {
        let threshold = Threshold::Fixed(0.2 + 0.01 * step as f32);
        let workbench = bench.harness.state_mut().as_mut().unwrap();
        workbench.push(Command::SetChunker(ChunkerConfig { threshold, ..config.clone() }));
    });
    let result = bench.state().lab.result.value().unwrap();
    eprintln!(
        "{PAGES} pages, {} rows, {} chunks: {scroll:.2?} a frame while scrolling, {drag:.2?} while dragging, cut in {:.1} ms",
        result.rows.rows.len(),
        result.chunks.len(),
        result.cut_ms,
    );
    assert!(scroll < FRAME && drag < FRAME, "scrolling {scroll:?}, dragging {drag:?}");
    for kind in ChunkerKind::ALL.into_iter().filter(|kind| *kind != ChunkerKind::Code) {
        let change = (0..4).map(|round| changed(&mut bench, kind, &config, round)).min().unwrap();
        eprintln!("{kind}: {change:.1?} from the choice to the picture");
        assert!(change < CHANGE, "{kind}: {change:?}");
    }
}

/// Rows of a large heat map, as many numbers a row as the default model's.
const ROWS: usize = 5000;
const DIMS: usize = 384;

#[test]
fn five_thousand_chunks_are_compared_in_moments_and_stopped_at_once() {
    let row = |row: usize| (0..DIMS).map(move |axis| ((row * 31 + axis * 17) as f32 * 0.618).sin() * 0.072);
    let rows: Vec<f32> = (0..ROWS).flat_map(row).collect();
    let begun = Instant::now();
    let map = HeatMap::compute(&rows, DIMS, &CancelToken::new(), &|_| {}).unwrap();
    let took = begun.elapsed();
    eprintln!("{ROWS} rows of {DIMS} compared in {took:.2?}");
    assert!(map.num_rows == ROWS && took < Duration::from_secs(10), "{took:?}");

    let cancel = CancelToken::new();
    let stopped = std::sync::Mutex::new(None);
    let none = HeatMap::compute(&rows, DIMS, &cancel, &|_| {
        stopped.lock().unwrap().get_or_insert_with(Instant::now);
        cancel.cancel();
    });
    let waited = stopped.lock().unwrap().unwrap().elapsed();
    assert!(none.is_none() && waited < Duration::from_secs(1), "{waited:?}");
}

/// Time from choosing a chunker to its picture, vectors known.
fn changed(bench: &mut Bench, kind: ChunkerKind, config: &ChunkerConfig, round: usize) -> Duration {
    let wanted = ChunkerConfig { kind, size: config.size + round, min_size: 0, ..config.clone() };
    let begun = Instant::now();
    bench.harness.state_mut().as_mut().unwrap().push(Command::SetChunker(wanted.clone()));
    while !bench.state().lab.result.value().is_some_and(|result| result.config == wanted) {
        bench.harness.step();
    }
    begun.elapsed()
}

/// Least time of logic and drawing over sixty frames: what the work takes when nothing else is in the way.
fn timed(bench: &mut Bench, mut act: impl FnMut(&mut Bench, usize)) -> Duration {
    let frame = |step| {
        act(bench, step);
        let begun = Instant::now();
        bench.harness.step();
        begun.elapsed()
    };
    (0..60).map(frame).min().unwrap()
}
