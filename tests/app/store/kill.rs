//! kill -9 at random moments of an ingest: after reopening, what is searchable is what is ready, and an ingest
//! completes.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use outcrop::Library;
use outcrop::store::DocumentStatus;
use tests::outcrop_binary;

use super::fixture::{World, assert_searchable_is_ready, chunks_of, ingest_with, name_of};

const FILES: usize = 50;
const KILLS: u64 = 20;
const CHUNK_SIZE: usize = 100;

/// Every file gets new text, so that every round replaces what is there.
fn write_files(world: &World, round: u64) {
    for file in 0..FILES {
        let line = |line| format!("Line {line} of file {file} in round {round} tells of strata and of time.\n\n");
        world.write(&format!("{file:02}.txt"), &(0..12).map(line).collect::<String>());
    }
}

/// Starts an ingest of a world's documents in a process of its own, by words and not by a model.
pub(crate) fn start_ingest(world: &World, chunk_size: usize) -> Child {
    std::fs::create_dir_all(world.home().join("no-models")).unwrap();
    Command::new(outcrop_binary())
        .args(["--quiet", "--gpu", "off", "ingest", "--size", &chunk_size.to_string(), "--overlap", "0"])
        .arg(world.documents())
        .env("OUTCROP_HOME", world.home())
        .env("OUTCROP_MODELS", world.home().join("no-models"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn ready(library: &Library) -> usize {
    let documents = library.documents().unwrap();
    documents.iter().filter(|document| document.status == DocumentStatus::Ready).count()
}

/// Each ready document holds the text of its file in this round or in an earlier one, whole.
fn assert_whole(library: &Library, world: &World) {
    for document in library.documents().unwrap() {
        if document.status == DocumentStatus::Ready {
            let text = library.extraction(document.id).unwrap().text;
            let lines = text.lines().filter(|line| !line.is_empty()).count();
            assert_eq!(lines, 12, "{:?}", document.path);
            let on_disk = std::fs::read_to_string(world.path(&name_of(&document.path))).unwrap();
            let same_start = |text: &str| text.split(" in round ").next().map(str::to_owned);
            assert_eq!(same_start(&text), same_start(&on_disk));
        }
    }
}

/// Opens the library as soon as its lock is free: a worker that was being started when its parent was killed holds a
/// copy of it until it runs.
pub(crate) fn open_for_writing(world: &World) -> Library {
    let begun = Instant::now();
    loop {
        let library = world.open();
        if !library.is_read_only() || begun.elapsed() > Duration::from_secs(5) {
            return library;
        }
        drop(library);
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Small numbers that look random, the same in every run.
fn scatter(seed: u64) -> u64 {
    let mixed = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33
}

#[test]
fn killed_at_twenty_random_moments_nothing_partial_is_searchable() {
    let world = World::new();
    write_files(&world, 0);
    let started = Instant::now();
    assert!(start_ingest(&world, CHUNK_SIZE).wait().unwrap().success());
    let whole = started.elapsed();
    assert_eq!(ready(&world.open()), FILES);

    let mut interrupted = 0;
    for round in 1..=KILLS {
        write_files(&world, round);
        let mut child = start_ingest(&world, CHUNK_SIZE);
        let share = scatter(round) % 1000;
        std::thread::sleep(whole.mul_f64(share as f64 / 1000.0).max(Duration::from_millis(5)));
        child.kill().unwrap();
        interrupted += usize::from(!child.wait().unwrap().success());

        let library = open_for_writing(&world);
        assert!(!library.is_read_only(), "round {round}: the lock outlived its process");
        assert_searchable_is_ready(&library, "strata");
        assert_whole(&library, &world);
        if round % 5 == 0 {
            let report = ingest_with(&library, &[world.documents()], &chunks_of(CHUNK_SIZE));
            assert!(report.files.iter().all(|file| file.status == DocumentStatus::Ready), "round {round}");
            assert_searchable_is_ready(&library, "strata");
        }
    }
    assert!(interrupted >= KILLS as usize / 2, "only {interrupted} of {KILLS} kills fell into an ingest");

    assert!(start_ingest(&world, CHUNK_SIZE).wait().unwrap().success());
    let library = world.open();
    assert_eq!((ready(&library), library.documents().unwrap().len()), (FILES, FILES));
    assert_searchable_is_ready(&library, "strata");
}
