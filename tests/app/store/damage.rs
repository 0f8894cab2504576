//! Damaged files are typed errors that name the file, and what is derived can be made anew.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use outcrop::Library;
use outcrop::retrieve::SearchMode;
use outcrop::store::DocumentStatus;

use super::fixture::{World, assert_searchable_is_ready, chunks_of, found, ingest, ingest_with, mode, status};

fn filled() -> World {
    let world = World::new();
    for (name, word) in [("a.txt", "basalt"), ("b.txt", "granite")] {
        let text: String = (0..8).map(|line| format!("Line {line} on {word} and on strata.\n\n")).collect();
        world.write(name, &text);
    }
    let library = world.open();
    ingest(&library, &[world.documents()]);
    world
}

fn overwrite(path: &Path, offset: u64, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(bytes).unwrap();
}

fn change(world: &World, statement: &str) {
    let connection = rusqlite::Connection::open(world.database()).unwrap();
    connection.pragma_update(None, "foreign_keys", true).unwrap();
    assert!(connection.execute(statement, []).unwrap() > 0, "{statement}");
}

/// The check finds something about `file`, the repair mends it, and the library is whole again.
fn assert_mended(world: &World, file: &Path) {
    let library = world.open();
    let found = library.verify(false).unwrap();
    assert!(!found.is_healthy());
    assert!(found.problems.iter().all(|problem| problem.file == file), "{found:#?}");
    let mended = library.verify(true).unwrap();
    assert!(mended.is_healthy(), "{mended:#?}");
    assert_eq!(mended.problems.len(), found.problems.len());
    assert_searchable_is_ready(&library, "strata");
    drop(library);
    assert_searchable_is_ready(&world.open(), "strata");
}

fn refused(library: &Library) -> outcrop::library::Error {
    library.search("strata", &mode(SearchMode::Vector, 5)).unwrap_err()
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let world = filled();
    for (offset, bytes) in [(0, &b"not a database, surely"[..]), (100, &[0xff; 3000])] {
        let good = std::fs::read(world.database()).unwrap();
        overwrite(&world.database(), offset, bytes);
        let err = world.try_open().err().unwrap();
        assert_eq!(err.title, "Damaged library");
        assert!(err.detail.contains("library.db") && err.hint.is_some(), "{err:?}");
        std::fs::write(world.database(), good).unwrap();
    }
    assert_searchable_is_ready(&world.open(), "strata");
}

#[test]
fn a_foreign_database_is_left_alone() {
    let world = World::new();
    drop(world.open());
    std::fs::remove_file(world.database()).unwrap();
    let other = rusqlite::Connection::open(world.database()).unwrap();
    other.execute_batch("CREATE TABLE recipes (name)").unwrap();
    drop(other);
    let err = world.try_open().err().unwrap();
    assert!(err.detail.contains("not an Outcrop library"), "{err:?}");
}

#[test]
fn damaged_vectors_are_named_and_made_anew() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 4] = [
        ("gone", |path| std::fs::remove_file(path).unwrap()),
        ("wrong magic", |path| {
            overwrite(path, 0, &[0; 64]);
            overwrite(path, 4096, &[0; 64]);
        }),
        ("cut off", |path| std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(70_000).unwrap()),
        ("flipped", |path| overwrite(path, 65_536 + 16, &[0x55; 8])),
    ];
    for (what, damage) in damages {
        let world = filled();
        damage(&world.vectors());
        let library = world.open();
        if what != "flipped" {
            let err = refused(&library);
            assert_eq!(err.title, "Damaged library", "{what}");
            assert!(err.detail.contains("hash-384-v1.vec"), "{what}: {err:?}");
            assert!(library.search("strata", &mode(SearchMode::Keyword, 5)).is_ok(), "{what}");
        }
        drop(library);
        assert_mended(&world, &world.vectors().canonicalize().unwrap_or(world.vectors()));
    }
}

#[test]
fn a_lost_keyword_entry_is_found_and_mended() {
    let world = filled();
    change(&world, "DELETE FROM keywords WHERE rowid = (SELECT min(id) FROM chunks)");
    assert_mended(&world, &world.database());
}

#[test]
fn damaged_text_is_given_up_with_its_reason() {
    let world = filled();
    change(&world, "UPDATE texts SET bytes = zeroblob(length(bytes)) WHERE document = 1");
    let library = world.open();
    assert!(library.extraction(outcrop::store::DocumentId(1)).is_err());
    drop(library);
    assert_mended(&world, &world.database());
    let library = world.open();
    assert_eq!(status(&library, "a.txt"), Some(DocumentStatus::Failed));
    ingest(&library, &[world.documents()]);
    assert_eq!(status(&library, "a.txt"), Some(DocumentStatus::Ready));
    assert_searchable_is_ready(&library, "strata");
}

#[test]
fn chunks_outside_their_text_are_found() {
    let world = filled();
    change(&world, r#"UPDATE chunks SET "end" = 1000000 WHERE position = 2 AND chunking = 1"#);
    assert_mended(&world, &world.database());
}

#[test]
fn damaged_cache_entries_are_embedded_anew() {
    let world = filled();
    change(&world, "UPDATE embeddings SET vector = zeroblob(1536)");
    assert_mended(&world, &world.database());
    let library = world.open();
    ingest_with(&library, &[world.documents()], &chunks_of(300));
    assert_eq!(found(&library, "granite strata", &mode(SearchMode::Vector, 1)), ["b.txt"]);
}

#[test]
fn rows_that_no_chunk_knows_are_forgotten_when_opening() {
    let world = filled();
    change(&world, "DELETE FROM keywords WHERE rowid IN (SELECT id FROM chunks WHERE chunking = 1)");
    change(&world, "DELETE FROM documents WHERE id = 1");
    assert_searchable_is_ready(&world.open(), "strata");
}
