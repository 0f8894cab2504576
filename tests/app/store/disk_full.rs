//! A disk that takes no more at any moment of an ingest: a clear error, and nothing that was there is lost.

use std::process::{Command, Output, Stdio};

use tests::outcrop_binary;

use super::fixture::{World, assert_searchable_is_ready, chunks_of, found, ingest_with, mode};

const CHUNK_SIZE: usize = 100;

/// Runs an ingest that may let no file grow beyond `kib`: every later write fails, as on a full disk.
fn ingest_within(world: &World, kib: u64) -> Output {
    // The signal that comes with the limit is ignored, so that the writes fail instead.
    let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", kib * 2);
    Command::new("sh")
        .args(["-c", &script, "sh"])
        .arg(outcrop_binary())
        .args(["--quiet", "--gpu", "off", "ingest", "--size", &CHUNK_SIZE.to_string(), "--overlap", "0"])
        .arg(world.documents())
        .env("OUTCROP_HOME", world.home())
        .env("OUTCROP_MODELS", world.home().join("no-models"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn write_files(world: &World, round: u64) {
    for file in 0..30 {
        let line = |line| format!("Line {line} of file {file} in round {round} tells of strata and of time.\n\n");
        world.write(&format!("{file:02}.txt"), &(0..12).map(line).collect::<String>());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let world = World::new();
    write_files(&world, 0);
    ingest_with(&world.open(), &[world.documents()], &chunks_of(CHUNK_SIZE));

    let mut failures = 0;
    for (round, kib) in (1..).zip([16, 64, 200, 400, 600, 900, 1300]) {
        write_files(&world, round);
        let output = ingest_within(&world, kib);
        if !output.status.success() {
            failures += 1;
            let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(1), "with {kib} KiB: {said}");
            assert!(said.contains("error: "), "with {kib} KiB: {said}");
        }
        let library = world.open();
        assert_searchable_is_ready(&library, "strata");
        // Whatever came through, every file is still found, in its old text or in its new one.
        let hits = found(&library, "strata", &mode(outcrop::retrieve::SearchMode::Keyword, 10_000));
        let files: std::collections::BTreeSet<String> = hits.into_iter().collect();
        assert_eq!(files.len(), 30, "with {kib} KiB");
    }
    assert!(failures >= 3, "only {failures} ingests met the full disk");

    let library = world.open();
    let report = ingest_with(&library, &[world.documents()], &chunks_of(CHUNK_SIZE));
    assert!(report.files.iter().all(|file| file.reason.is_none()), "{report:#?}");
    assert_searchable_is_ready(&library, "strata");
}
