//! Schema versions: newer ones are refused, and the library that version 1 wrote still opens.

use std::fs::File;
use std::path::Path;

use outcrop::retrieve::SearchMode;
use outcrop::store::DocumentStatus;

use super::fixture::{World, found, mode};

#[test]
fn a_newer_library_is_refused_with_what_to_do() {
    let world = World::new();
    drop(world.open());
    let connection = rusqlite::Connection::open(world.database()).unwrap();
    connection.pragma_update(None, "user_version", 1000).unwrap();
    drop(connection);
    let err = world.try_open().err().unwrap();
    assert_eq!((err.title.as_str(), err.hint.as_deref()), ("Newer library", Some("update Outcrop")));
    assert!(err.detail.contains("1000"), "{err:?}");
}

/// Unpacks a library that an earlier version wrote; see the README beside them.
fn unpack(archive: &str, to: &Path) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/libraries").join(archive);
    zip::ZipArchive::new(File::open(path).unwrap()).unwrap().extract(to).unwrap();
}

#[test]
fn the_libraries_of_earlier_versions_open_whole() {
    for version in [1, 2] {
        let world = World::new();
        unpack(&format!("v{version}.zip"), &world.home().join("libraries/default"));
        let library = world.open();
        let mut documents = library.documents().unwrap();
        documents.sort_by_key(|document| document.title.clone());
        let statuses: Vec<_> = documents.iter().map(|document| document.status).collect();
        assert_eq!(statuses, [DocumentStatus::Ready, DocumentStatus::Failed, DocumentStatus::Ready]);
        assert!(documents.iter().all(|document| document.read.is_empty() && document.metadata.is_none()));
        let kept = world.home().join(format!("libraries/default/library.v{version}.db"));
        assert!(kept.is_file(), "the older database is kept beside it");
        let report = library.verify(false).unwrap();
        assert!(report.problems.is_empty(), "{:#?}", report.problems);
        assert_eq!((report.documents, report.chunks), (3, 4));
        for leg in [SearchMode::Keyword, SearchMode::Vector, SearchMode::Hybrid] {
            assert_eq!(found(&library, "limestone fossils", &mode(leg, 1)), ["limestone.md"]);
        }
    }
}
