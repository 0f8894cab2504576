//! Filters: both legs look at the documents that pass, and at no others, before they choose their best.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use outcrop::extract::{DocumentKind, Extract, ExtractError, Extraction};
use outcrop::retrieve::{Date, SearchMode, SearchOptions};
use outcrop::{CancelToken, Library, LibraryOptions};

use super::fixture::{PlainText, World, found, ingest, mode};

const DAY: Duration = Duration::from_secs(86_400);
const LEGS: [SearchMode; 3] = [SearchMode::Hybrid, SearchMode::Vector, SearchMode::Keyword];

/// Many notes that fit the question better than the one of another kind, folder and age.
fn library() -> (World, Library) {
    let world = World::new();
    for number in 0..150 {
        world.write(&format!("many/note-{number:03}.txt"), &format!("The red pump, the red pump. Number {number}."));
    }
    let odd = world.write("few/odd.md", "# Log\n\nOn a rainy day somebody painted a pump in a colour like red.");
    let file = std::fs::File::options().write(true).open(odd).unwrap();
    file.set_modified(UNIX_EPOCH + 20_000 * DAY).unwrap();
    let library = world.open();
    ingest(&library, &[world.documents()]);
    (world, library)
}

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

#[test]
fn what_passes_is_found_however_many_others_fit_better() {
    let (world, library) = library();
    for leg in LEGS {
        let options = |k| mode(leg, k);
        assert!(found(&library, "red pump", &options(120)).iter().all(|name| name.starts_with("note-")), "{leg:?}");
        // 2024-10-04 is the day 20 000 of the count.
        for filtered in [
            SearchOptions { kinds: vec![DocumentKind::Markdown], ..options(1) },
            SearchOptions { folder: Some(world.path("few")), ..options(1) },
            SearchOptions { folder: Some("few".into()), ..options(1) },
            SearchOptions { before: Some(day("2024-10-05")), ..options(1) },
            SearchOptions { after: Some(day("2024-10-04")), before: Some(day("2024-10-05")), ..options(1) },
        ] {
            assert_eq!(found(&library, "red pump", &filtered), ["odd.md"], "{filtered:?}");
            assert_eq!(library.search("red pump", &filtered).unwrap().searched, 1, "{filtered:?}");
        }
        for filtered in [
            SearchOptions { kinds: vec![DocumentKind::Text], ..options(500) },
            SearchOptions { folder: Some(world.path("many")), ..options(500) },
            SearchOptions { after: Some(day("2024-10-05")), ..options(500) },
        ] {
            let names = found(&library, "red pump", &filtered);
            assert!(names.len() >= 150 && !names.contains(&"odd.md".to_owned()), "{}: {filtered:?}", names.len());
        }
        // Its file is of the first second of that day, which is no longer before it.
        let at_its_day = SearchOptions { before: Some(day("2024-10-04")), ..options(500) };
        assert!(found(&library, "red pump", &at_its_day).is_empty(), "{leg:?}");
        let both = SearchOptions { kinds: vec![DocumentKind::Pdf], folder: Some(world.path("few")), ..options(5) };
        assert!(found(&library, "red pump", &both).is_empty(), "all filters must be passed");
    }
}

#[test]
fn a_file_that_is_gone_has_no_date_and_that_is_said() {
    let (world, library) = library();
    std::fs::remove_file(world.path("few/odd.md")).unwrap();
    let options = SearchOptions { before: Some(day("2024-10-05")), ..mode(SearchMode::Hybrid, 5) };
    let results = library.search("red pump", &options).unwrap();
    assert!(
        results.hits.is_empty() && results.notes.iter().any(|note| note.contains("no date")),
        "{:?}",
        results.notes
    );
    let anytime = mode(SearchMode::Hybrid, 500);
    assert!(found(&library, "red pump", &anytime).contains(&"odd.md".to_owned()), "it is still a document");
    assert!(library.search("red pump", &anytime).unwrap().notes.is_empty());
}

#[test]
fn a_document_that_cannot_be_searched_has_no_date_to_miss() {
    let (world, library) = library();
    let secret = world.write("few/secret.txt", "SECRET red pump");
    ingest(&library, std::slice::from_ref(&secret));
    assert_eq!(library.documents().unwrap().len(), 152, "it is listed as encrypted");
    std::fs::remove_file(secret).unwrap();
    let options = SearchOptions { before: Some(day("2024-10-05")), ..mode(SearchMode::Hybrid, 5) };
    let results = library.search("red pump", &options).unwrap();
    assert!(!results.hits.is_empty() && results.notes.is_empty(), "{:?}", results.notes);
}

fn conditions(texts: &[&str]) -> SearchOptions {
    let conditions = texts.iter().map(|text| text.parse().unwrap()).collect();
    SearchOptions { conditions, ..mode(SearchMode::Hybrid, 500) }
}

#[test]
fn documents_are_chosen_by_what_they_say_of_themselves() {
    let world = World::new();
    world.write("a.txt", "author: Ada Petrel\nwritten: 2024-05-31\nThe red pump.");
    world.write("b.txt", "author: Bo Finch\nwritten: 2025-01-02\nThe red pump.");
    world.write("c.txt", "The red pump.");
    let library = world.open();
    ingest(&library, &[world.documents()]);
    for (texts, expected) in [
        (&["author=ada*"][..], &["a.txt"][..]),
        (&["author!=ada*"], &["b.txt", "c.txt"]),
        (&["written>=2024", "written<2025"], &["a.txt"]),
        (&["written"], &["a.txt", "b.txt"]),
        (&["bytes<20"], &["c.txt"]),
        (&["author=ada*", "written>2024"], &[]),
    ] {
        let mut names = found(&library, "red pump", &conditions(texts));
        names.sort();
        assert_eq!(names, expected, "{texts:?}");
    }
    let notes = library.search("red pump", &conditions(&["autor=ada*"])).unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("autor") && note.contains("author")), "{notes:?}");
    let record = &library.documents().unwrap()[0];
    assert_eq!(record.metadata.as_ref().unwrap().values("author"), ["Ada Petrel"]);
}

/// Opens no file any more, as one whose password is not known.
struct Locked;

impl Extract for Locked {
    fn extract(&self, path: &Path, _cancel: &CancelToken) -> Result<Extraction, ExtractError> {
        Err(ExtractError::PasswordNeeded { path: path.to_owned() })
    }
}

/// What a version wrote that kept no properties gets them with the next ingest, and nothing else of it changes.
#[test]
fn a_document_read_before_properties_were_kept_gets_them_once() {
    for can_be_read in [true, false] {
        let world = World::new();
        let file = world.write("a.txt", "author: Ada Petrel\nThe red pump.");
        ingest(&world.open(), std::slice::from_ref(&file));
        let connection = rusqlite::Connection::open(world.database()).unwrap();
        connection.execute("UPDATE documents SET metadata = NULL", []).unwrap();
        drop(connection);
        let extractor: Arc<dyn Extract> = if can_be_read { Arc::new(PlainText) } else { Arc::new(Locked) };
        let library = Library::open(LibraryOptions { extractor: Some(extractor), ..world.options() }).unwrap();
        let notes = library.search("red pump", &conditions(&["author=ada*"])).unwrap().notes;
        assert!(notes.iter().any(|note| note.contains("`outcrop ingest`")), "{notes:?}");
        let before = library.documents().unwrap().remove(0);
        let chunks = library.chunks(before.id).unwrap();
        for _ in 0..2 {
            assert!(ingest(&library, std::slice::from_ref(&file)).files[0].unchanged);
            let after = library.documents().unwrap().remove(0);
            let metadata = after.metadata.clone().expect("it was tried");
            assert_eq!(metadata.values("author").len(), usize::from(can_be_read));
            assert_eq!(outcrop::store::DocumentRecord { metadata: None, ..after }, before);
            assert_eq!(library.chunks(before.id).unwrap(), chunks);
        }
        let found_now = found(&library, "red pump", &conditions(&["author=ada*"]));
        assert_eq!(found_now.len(), usize::from(can_be_read));
    }
}
