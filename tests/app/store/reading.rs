//! How a document is read and cut stays with it: options, passwords, chunkers, time-outs, and pictures that are none.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use outcrop::chunk::{ChunkerConfig, ChunkerKind};
use outcrop::extract::{
    Coverage, DocumentKind, Extract, ExtractError, Extraction, PagePicture, PageRequest, Password, ReadOptions,
};
use outcrop::ingest::{IngestOptions, IngestReport};
use outcrop::store::{DocumentRecord, DocumentStatus};
use outcrop::{CancelToken, Library, LibraryOptions};

use super::fixture::{World, assert_searchable_is_ready, ingest_with, status};

/// Reads what its files say of themselves: `LOCKED word` needs that password, `PICTURE` has no text, `SLOW` takes too
/// long. An encoding is written in front of the text.
#[derive(Default)]
struct Reader {
    times: AtomicUsize,
}

impl Extract for Reader {
    fn extract(&self, path: &Path, cancel: &CancelToken) -> Result<Extraction, ExtractError> {
        self.extract_as(path, &ReadOptions::default(), cancel)
    }

    fn extract_as(&self, path: &Path, read: &ReadOptions, _: &CancelToken) -> Result<Extraction, ExtractError> {
        self.times.fetch_add(1, Ordering::Relaxed);
        let path = path.to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut kind = DocumentKind::Text;
        if text.starts_with("PICTURE") {
            return Err(ExtractError::PictureWithoutText { path });
        }
        if text.starts_with("SLOW") {
            return Err(ExtractError::TimedOut { path, detail: "page 1 of 1 took longer than 20 s".to_owned() });
        }
        if text.starts_with("PLAIN") && read.encoding.is_some() {
            return Err(ExtractError::Unsupported { path, found: "binary data".to_owned() });
        }
        if text.starts_with("BAD") {
            return Err(ExtractError::Damaged { path, format: "test".to_owned(), detail: "it is bad".to_owned() });
        }
        if let Some(rest) = text.strip_prefix("LOCKED ") {
            kind = DocumentKind::Pdf;
            let word = rest.split_whitespace().next().unwrap();
            match &read.password {
                None => return Err(ExtractError::PasswordNeeded { path }),
                Some(password) if password.reveal() != word => return Err(ExtractError::PasswordWrong { path }),
                Some(_) => {}
            }
        }
        let text = read.encoding.as_ref().map_or(text.clone(), |encoding| format!("{encoding} strata. {text}"));
        Ok(Extraction { kind, title: None, text, spans: Vec::new(), coverage: Coverage::default(), metadata: None })
    }

    fn draw_page(&self, path: &Path, _: &PageRequest, _: &CancelToken) -> Result<PagePicture, ExtractError> {
        Err(ExtractError::PasswordNeeded { path: path.to_owned() })
    }

    fn draw_locked_page(
        &self,
        _: &Path,
        request: &PageRequest,
        _: &Password,
        _: &CancelToken,
    ) -> Result<PagePicture, ExtractError> {
        Ok(PagePicture { page: request.page, pages: 1, width: 1, height: 1, rgba: vec![0; 4], boxes: Vec::new() })
    }
}

struct Bench {
    world: World,
    library: Library,
    reader: Arc<Reader>,
}

impl Bench {
    fn new() -> Self {
        let (world, reader) = (World::new(), Arc::new(Reader::default()));
        let library = open(&world, &reader);
        Self { world, library, reader }
    }

    fn reopen(self) -> Self {
        let Self { world, library, reader } = self;
        drop(library);
        Self { library: open(&world, &reader), world, reader }
    }

    /// Reads the folder as a follower does: documents keep what they have.
    fn read_folder(&self) -> IngestReport {
        ingest_with(&self.library, &[self.world.documents()], &keeping(ReadOptions::default()))
    }

    fn read(&self, path: PathBuf, options: &IngestOptions) -> IngestReport {
        ingest_with(&self.library, &[path], options)
    }

    fn times(&self) -> usize {
        self.reader.times.load(Ordering::Relaxed)
    }

    fn only(&self) -> DocumentRecord {
        let documents = self.library.documents().unwrap();
        assert_eq!(documents.len(), 1, "{documents:#?}");
        documents.into_iter().next().unwrap()
    }
}

fn open(world: &World, reader: &Arc<Reader>) -> Library {
    Library::open(LibraryOptions { extractor: Some(reader.clone()), ..world.options() }).unwrap()
}

fn keeping(read: ReadOptions) -> IngestOptions {
    let chunker = ChunkerConfig { size: 80, overlap: 0, ..ChunkerConfig::default() };
    IngestOptions { chunker, keep_chunkers: true, read, ..IngestOptions::default() }
}

fn encoding(label: &str) -> ReadOptions {
    ReadOptions { encoding: Some(label.to_owned()), ..ReadOptions::default() }
}

fn password(text: &str) -> ReadOptions {
    ReadOptions { password: Some(Password::new(text)), ..ReadOptions::default() }
}

#[test]
fn the_encoding_asked_for_stays_until_it_is_taken_back() {
    let mut bench = Bench::new();
    let path = bench.world.write("a.txt", "Chalk and strata.");
    let text = |bench: &Bench| bench.library.extraction(bench.only().id).unwrap().text;
    bench.read_folder();
    bench.read(path.clone(), &keeping(encoding("latin1")));
    assert_eq!(bench.only().read, encoding("windows-1252"), "the name of the encoding is kept");
    assert!(text(&bench).starts_with("latin1"), "{}", text(&bench));
    bench = bench.reopen();
    assert!(bench.read_folder().files[0].unchanged);
    assert_eq!(bench.times(), 2);
    bench.world.write("a.txt", "Flint and strata.");
    bench.read_folder();
    assert!(text(&bench).starts_with("windows-1252 strata. Flint"), "{}", text(&bench));
    bench.read(path, &keeping(encoding("")));
    assert_eq!((text(&bench).as_str(), bench.only().read), ("Flint and strata.", ReadOptions::default()));
    assert_searchable_is_ready(&bench.library, "strata");
    bench.world.write("a.txt", "PLAIN strata.");
    bench.read_folder();
    let refused = bench.read(bench.world.documents(), &keeping(encoding("utf-16le")));
    assert!(refused.files[0].reason.as_deref().unwrap().contains("stays searchable"), "{refused:#?}");
    assert_eq!((bench.only().status, bench.only().read), (DocumentStatus::Ready, ReadOptions::default()));
    assert_searchable_is_ready(&bench.library, "strata");
    let unknown = keeping(encoding("klingon"));
    let err = bench.library.ingest(&[bench.world.documents()], &unknown, &|_| {}, &CancelToken::new()).unwrap_err();
    assert!(err.detail.contains("klingon") && err.detail.contains("UTF-8"), "{err:?}");
}

#[test]
fn a_password_opens_a_document_and_is_kept_by_this_process_alone() {
    let bench = Bench::new();
    let path = bench.world.write("a.pdf", "LOCKED harbour-7 Chalk and strata.");
    bench.read_folder();
    assert_eq!(bench.only().status, DocumentStatus::Encrypted);
    bench.read_folder();
    assert_eq!(bench.times(), 1, "without a password there is nothing to try");
    let wrong = bench.read(bench.world.documents(), &keeping(password("haven-9")));
    let reason = wrong.files[0].reason.clone().unwrap();
    assert_eq!(wrong.files[0].status, DocumentStatus::Encrypted);
    assert!(reason.contains("the password does not fit") && !reason.contains("haven-9"), "{reason}");
    let opened = bench.read(bench.world.documents(), &keeping(password("harbour-7")));
    assert_eq!(opened.files[0].status, DocumentStatus::Ready);
    assert!(!serde_json::to_string(&opened).unwrap().contains("harbour-7"));
    let request = PageRequest { page: 1, width: 64, quote: String::new() };
    let draw = |bench: &Bench| bench.library.draw_page(bench.only().id, &request, &CancelToken::new());
    assert!(draw(&bench).unwrap().is_some());
    bench.world.write("a.pdf", "LOCKED harbour-7 Flint and strata.");
    assert_eq!(bench.read_folder().files[0].status, DocumentStatus::Ready, "the same password opens the next version");
    assert_searchable_is_ready(&bench.library, "strata");

    let bench = bench.reopen();
    assert_eq!(draw(&bench).unwrap_err().title, "The page needs the password");
    assert!(bench.read_folder().files[0].unchanged);
    let wrong = bench.read(bench.world.documents(), &keeping(password("haven-9")));
    assert!(wrong.files[0].reason.as_deref().unwrap().contains("stays searchable"), "{wrong:#?}");
    assert_eq!((bench.only().status, draw(&bench).is_err()), (DocumentStatus::Ready, true));
    bench.read(bench.world.documents(), &keeping(password("harbour-7")));
    assert!(draw(&bench).unwrap().is_some(), "what the hint says works");
    let bench = bench.reopen();
    std::fs::write(&path, "LOCKED secret-word Marl and strata.").unwrap();
    assert_eq!(bench.read_folder().files[0].status, DocumentStatus::Encrypted);
    bench.read(path, &keeping(password("secret-word")));
    drop(bench.library);
    let connection = rusqlite::Connection::open(bench.world.database()).unwrap();
    let kept: String = connection.query_row("SELECT group_concat(read) FROM documents", [], |row| row.get(0)).unwrap();
    assert!(!kept.contains("password") && !kept.contains("secret"), "{kept}");
}

#[test]
fn a_document_keeps_its_chunker_through_a_failure() {
    let mut bench = Bench::new();
    let path = bench.world.write("a.txt", "Chalk and strata. Flint and strata.");
    let sentences = ChunkerConfig { kind: ChunkerKind::Sentence, size: 90, overlap: 0, ..ChunkerConfig::default() };
    let chosen = IngestOptions { chunker: sentences.clone(), ..IngestOptions::default() };
    bench.read(path, &chosen);
    bench.world.write("a.txt", "BAD");
    assert_eq!(bench.read_folder().files[0].status, DocumentStatus::Failed);
    bench = bench.reopen();
    bench.world.write("a.txt", "Marl and strata. Chalk and strata.");
    assert_eq!(bench.read_folder().files[0].status, DocumentStatus::Ready);
    assert_eq!(bench.only().chunker, Some(sentences.clone()));

    // So does one that failed from the start; where nothing was chosen the chunker for new documents is taken.
    let never = bench.world.write("never.txt", "BAD");
    let unchosen = bench.world.write("unchosen.txt", "BAD");
    bench.read(never.clone(), &chosen);
    bench.read_folder();
    for path in [never, unchosen] {
        std::fs::write(path, "Loam and strata.").unwrap();
    }
    bench.read_folder();
    let chunkers: Vec<_> = bench.library.documents().unwrap().into_iter().map(|found| found.chunker.unwrap()).collect();
    assert_eq!(chunkers, [sentences.clone(), sentences, keeping(ReadOptions::default()).chunker]);
    assert_searchable_is_ready(&bench.library, "strata");
}

#[test]
fn cuts_by_hand_outlive_a_failure_and_their_loss_is_told() {
    let bench = Bench::new();
    let text = "Chalk and strata. Flint and strata. Marl and strata.";
    let path = bench.world.write("a.txt", text);
    let by_hand = ChunkerConfig { kind: ChunkerKind::Manual, cuts: vec![18], ..ChunkerConfig::default() };
    bench.read(path, &IngestOptions { chunker: by_hand.clone(), ..IngestOptions::default() });
    bench.world.write("a.txt", "BAD");
    let failed = bench.read_folder();
    assert_eq!((failed.files[0].status, &failed.files[0].notes), (DocumentStatus::Failed, &Vec::new()));
    bench.world.write("a.txt", text);
    let back = bench.read_folder();
    assert_eq!((bench.only().chunker, bench.only().chunks), (Some(by_hand), 2));
    assert!(back.files[0].notes.is_empty());
    bench.world.write("a.txt", "Loam and strata. Chalk and strata. Flint and strata. Marl and strata.");
    let changed = bench.read_folder();
    assert!(changed.files[0].notes[0].contains("cuts made by hand are lost"), "{changed:#?}");
    assert_eq!(bench.only().chunker, Some(keeping(ReadOptions::default()).chunker));
    assert!(bench.read_folder().files[0].notes.is_empty(), "it is told once");
    assert_searchable_is_ready(&bench.library, "strata");
}

#[test]
fn pictures_without_text_in_a_folder_are_passed_over_and_remembered() {
    let mut bench = Bench::new();
    let photo = bench.world.write("photo.png", "PICTURE of a dog");
    bench.world.write("a.txt", "Chalk and strata.");
    for _ in 0..3 {
        let report = bench.read_folder();
        assert_eq!((report.without_text, report.files.len()), (vec![photo.clone()], 1));
        assert_eq!(bench.only().status, DocumentStatus::Ready);
        bench = bench.reopen();
    }
    assert_eq!(bench.times(), 2, "each file was read once");
    let named = bench.read(photo.clone(), &keeping(ReadOptions::default()));
    assert!(named.files[0].reason.as_deref().unwrap().contains("no text was found in the picture"));
    assert_eq!(status(&bench.library, "photo.png"), Some(DocumentStatus::Failed));
    assert_eq!(bench.read_folder().without_text, std::slice::from_ref(&photo), "its folder does not fail for it");
    bench.world.write("photo.png", "Flint and strata, on a sign");
    let report = bench.read_folder();
    assert!(report.without_text.is_empty() && report.files.iter().all(|file| file.status == DocumentStatus::Ready));
    bench.world.write("photo.png", "PICTURE of a cat");
    let turned = bench.read_folder();
    assert_eq!(turned.files[1].status, DocumentStatus::Failed, "a document that was lost is told of, once");
    assert_eq!(bench.read_folder().without_text.len(), 1);
    assert_searchable_is_ready(&bench.library, "strata");

    let changed = bench.world.write("second.png", "PICTURE of a hill");
    bench.read_folder();
    bench.world.write("second.png", "Marl and strata, on a sign");
    bench.read_folder();
    assert_eq!(status(&bench.library, "second.png"), Some(DocumentStatus::Ready));
    std::fs::remove_file(changed).unwrap();
    bench.read_folder();
    assert_eq!(status(&bench.library, "second.png"), None);
}

#[test]
fn a_time_out_is_tried_again_a_few_times() {
    let bench = Bench::new();
    let path = bench.world.write("a.txt", "SLOW strata.");
    let tries: Vec<usize> = (0..6).map(|_| (bench.read_folder(), bench.times()).1).collect();
    assert_eq!(tries, [1, 2, 3, 3, 3, 3]);
    assert!(bench.only().reason.unwrap().contains("try 3 of 3"));
    bench.read(path, &keeping(ReadOptions::default()));
    assert!(bench.only().reason.unwrap().contains("try 1 of 3"), "a file that is named begins anew");
    bench.world.write("a.txt", "SLOW other strata.");
    bench.read_folder();
    assert!(bench.only().reason.unwrap().contains("try 1 of 3"), "and so does one that changed");
    bench.world.write("a.txt", "BAD");
    let before = bench.times();
    bench.read_folder();
    bench.read_folder();
    assert_eq!(bench.times(), before + 1, "what is bad is not tried again");
}

#[test]
fn what_was_read_stays_searchable_while_a_time_out_is_tried_again() {
    let bench = Bench::new();
    bench.world.write("a.txt", "Chalk and strata.");
    bench.read_folder();
    bench.world.write("a.txt", "SLOW strata.");
    for _ in 0..2 {
        let report = bench.read_folder();
        assert!(report.files[0].reason.as_deref().unwrap().contains("stays searchable"), "{report:#?}");
        assert_eq!((bench.only().status, bench.only().chunks), (DocumentStatus::Ready, 1));
        assert_searchable_is_ready(&bench.library, "strata");
    }
    bench.read_folder();
    assert_eq!(bench.only().status, DocumentStatus::Failed);
    assert!(bench.only().reason.unwrap().contains("try 3 of 3"));
    assert_searchable_is_ready(&bench.library, "strata");
}

#[test]
fn cuts_by_hand_are_not_put_into_another_text_of_the_same_bytes() {
    let bench = Bench::new();
    let path = bench.world.write("a.txt", "Chalk and strata. Flint and strata.");
    let by_hand = ChunkerConfig { kind: ChunkerKind::Manual, cuts: vec![18], ..ChunkerConfig::default() };
    bench.read(path, &IngestOptions { chunker: by_hand, ..IngestOptions::default() });
    let other = bench.read(bench.world.documents(), &keeping(encoding("utf-8")));
    assert!(other.files[0].notes[0].contains("cuts made by hand are lost"), "{other:#?}");
    assert_searchable_is_ready(&bench.library, "strata");
}
