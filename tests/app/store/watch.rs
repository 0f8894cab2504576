//! Followed folders: what happens to their files happens to the library, once it is quiet.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use outcrop::extract::{Extract, ExtractError, Extraction};
use outcrop::ingest::IngestReport;
use outcrop::retrieve::SearchMode;
use outcrop::store::{DocumentId, DocumentStatus};
use outcrop::watch::FolderWatch;
use outcrop::{CancelToken, Library, LibraryOptions};

use super::fixture::{PlainText, World, assert_searchable_is_ready, chunks_of, found, ingest, mode, name_of};

/// Longer than any change may take to arrive on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A library that follows the documents folder of a world.
struct Followed {
    world: World,
    library: Arc<Library>,
    reports: Arc<Mutex<Vec<IngestReport>>>,
    _watch: FolderWatch,
}

impl Followed {
    fn new(world: World) -> Self {
        let library = Arc::new(world.open());
        let reports: Arc<Mutex<Vec<IngestReport>>> = Arc::default();
        let folders = vec![world.documents()];
        let (reader, kept, followed) = (Arc::clone(&library), Arc::clone(&reports), folders.clone());
        let watch = FolderWatch::start(&folders, move |changes| {
            let report =
                reader.ingest_changes(&followed, &changes, &chunks_of(80), &|_| {}, &CancelToken::new()).unwrap();
            kept.lock().unwrap().push(report);
        });
        Self { world, library, reports, _watch: watch.unwrap() }
    }

    /// Waits until the ready documents have these names.
    fn wait_for(&self, names: &[&str]) {
        let expected: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.wait_until(&format!("{names:?} are ready"), || {
            self.ready().iter().map(|(name, _)| name.clone()).eq(expected.iter().cloned())
        });
    }

    fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < deadline, "not so after {PATIENCE:?}: {what}; ready: {:?}", self.ready());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Names and ids of the ready documents, by name.
    fn ready(&self) -> Vec<(String, DocumentId)> {
        let documents = self.library.documents().unwrap().into_iter();
        let ready = documents.filter(|document| document.status == DocumentStatus::Ready);
        let mut ready: Vec<_> = ready.map(|document| (name_of(&document.path), document.id)).collect();
        ready.sort();
        ready
    }

    /// How often a file was read.
    fn times_read(&self, name: &str) -> usize {
        let reports = self.reports.lock().unwrap();
        let files = reports.iter().flat_map(|report| &report.files);
        files.filter(|file| name_of(&file.path) == name && !file.unchanged).count()
    }
}

fn text(word: &str) -> String {
    format!("A paragraph on {word} and on strata.\n")
}

#[test]
fn files_that_come_change_move_and_go_do_so_in_the_library() {
    let world = World::new();
    world.write("old.txt", &text("basalt"));
    ingest(&world.open(), &[world.documents()]);
    let followed = Followed::new(world);
    let world = &followed.world;

    world.write("new.txt", &text("granite"));
    world.write("deep/er/leaf.txt", &text("shale"));
    followed.wait_for(&["leaf.txt", "new.txt", "old.txt"]);
    let ids = followed.ready();

    world.write("new.txt", &text("marble"));
    let finds = |word: &str| !found(&followed.library, word, &mode(SearchMode::Keyword, 3)).is_empty();
    followed.wait_until("the edit replaces the text", || finds("marble") && !finds("granite"));

    fs::rename(world.path("old.txt"), world.path("renamed.txt")).unwrap();
    followed.wait_for(&["leaf.txt", "new.txt", "renamed.txt"]);
    assert_eq!(followed.ready()[2].1, ids[2].1, "a renamed file keeps its document");

    fs::remove_file(world.path("new.txt")).unwrap();
    fs::remove_dir_all(world.path("deep")).unwrap();
    followed.wait_for(&["renamed.txt"]);
    assert_searchable_is_ready(&followed.library, "strata");
}

#[test]
fn a_file_that_is_written_slowly_is_read_once() {
    let followed = Followed::new(World::new());
    let path = followed.world.path("slow.txt");
    let mut file = fs::File::create(&path).unwrap();
    for line in 0..25 {
        writeln!(file, "Line {line} on strata.\n").unwrap();
        file.flush().unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    followed.wait_for(&["slow.txt"]);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(followed.times_read("slow.txt"), 1);
    assert!(!found(&followed.library, "24", &mode(SearchMode::Keyword, 3)).is_empty(), "the last line is there");
}

#[test]
fn what_editors_and_downloads_leave_behind_is_no_document() {
    let followed = Followed::new(World::new());
    let world = &followed.world;
    world.write(".gitignore", "built/\n");
    for name in ["~$letter.docx", "film.part", ".hidden.txt", "notes.txt~", "built/out.txt", ".cache/x.txt"] {
        world.write(name, &text("chaff"));
    }
    world.write("finished.part", &text("slate"));
    fs::rename(world.path("finished.part"), world.path("finished.txt")).unwrap();
    followed.wait_for(&["finished.txt"]);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(followed.library.documents().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_folder_that_links_to_itself_is_followed() {
    let world = World::new();
    std::os::unix::fs::symlink(world.documents(), world.path("loop")).unwrap();
    let followed = Followed::new(world);
    followed.world.write("one.txt", &text("gneiss"));
    followed.wait_for(&["one.txt"]);
    assert_eq!(followed.library.documents().unwrap().len(), 1);
}

/// The plain reader, writing to the file that it has just read.
struct Meddler {
    path: std::path::PathBuf,
    edits_left: Mutex<usize>,
}

impl Extract for Meddler {
    fn extract(&self, path: &Path, cancel: &CancelToken) -> Result<Extraction, ExtractError> {
        let extraction = PlainText.extract(path, cancel);
        let mut edits_left = self.edits_left.lock().unwrap();
        if path == self.path && *edits_left > 0 {
            *edits_left -= 1;
            fs::write(path, text("obsidian")).unwrap();
        }
        extraction
    }
}

#[test]
fn an_edit_while_it_is_read_costs_that_file_a_second_reading_and_no_other() {
    let world = World::new();
    let edited = world.write("edited.txt", &text("basalt"));
    world.write("other.txt", &text("granite"));
    let meddler = Arc::new(Meddler { path: edited, edits_left: Mutex::new(1) });
    let library = Library::open(LibraryOptions { extractor: Some(meddler), ..world.options() }).unwrap();
    let report = ingest(&library, &[world.documents()]);
    assert!(report.files.iter().all(|file| file.status == DocumentStatus::Ready), "{report:#?}");
    assert_eq!(found(&library, "obsidian", &mode(SearchMode::Keyword, 3)), ["edited.txt"]);
    assert!(found(&library, "basalt", &mode(SearchMode::Keyword, 3)).is_empty());
    assert_searchable_is_ready(&library, "strata");
}

#[test]
fn many_files_at_once_all_arrive() {
    let followed = Followed::new(World::new());
    let names: Vec<String> = (0..300).map(|number| format!("{number:03}.txt")).collect();
    for name in &names {
        followed.world.write(name, &text(name));
    }
    followed.wait_for(&names.iter().map(String::as_str).collect::<Vec<_>>());
    assert_searchable_is_ready(&followed.library, "strata");
}

#[test]
fn a_folder_that_is_not_there_cannot_be_followed() {
    let world = World::new();
    let err = FolderWatch::start(&[world.path("nowhere")], |_| {}).err().unwrap();
    assert_eq!(err.path, world.path("nowhere"));
}
