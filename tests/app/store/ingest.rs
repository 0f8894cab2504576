//! Ingestion: what is skipped, replaced, renamed, refused, stopped and shared between instances.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use outcrop::answer::{Answer, AnswerTimes};
use outcrop::embed::{EmbedError, Embedder, HashEmbedder, TextRole, TokenVectors};
use outcrop::extract::{Extract, ExtractError, Extraction};
use outcrop::ingest::IngestOptions;
use outcrop::progress::{IngestPhase, IngestProgress};
use outcrop::retrieve::SearchMode;
use outcrop::store::DocumentStatus;
use outcrop::{CancelToken, Library};

use super::fixture::{
    PlainText, World, assert_searchable_is_ready, chunks_of, found, ingest, ingest_with, mode, name_of, status,
};

/// The hash embedder, counting texts and slow where asked to be.
#[derive(Default)]
struct Counting {
    texts: AtomicUsize,
    pause: Duration,
}

impl Embedder for Counting {
    fn name(&self) -> &str {
        HashEmbedder.name()
    }

    fn fingerprint(&self) -> &str {
        HashEmbedder.fingerprint()
    }

    fn dims(&self) -> usize {
        HashEmbedder.dims()
    }

    fn count_tokens(&self, text: &str) -> usize {
        HashEmbedder.count_tokens(text)
    }

    fn window_tokens(&self) -> usize {
        HashEmbedder.window_tokens()
    }

    fn embed(
        &self,
        texts: &[&str],
        role: TextRole,
        cancel: &CancelToken,
        on_done: &mut dyn FnMut(usize),
    ) -> Result<Vec<f32>, EmbedError> {
        for _ in texts {
            if cancel.is_cancelled() {
                return Err(EmbedError::Cancelled);
            }
            std::thread::sleep(self.pause);
        }
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        HashEmbedder.embed(texts, role, cancel, on_done)
    }

    fn token_vectors(&self, _: &[&str], _: TextRole, _: &CancelToken) -> Result<Option<Vec<TokenVectors>>, EmbedError> {
        Ok(None)
    }
}

fn counting(world: &World, pause: Duration) -> (Library, Arc<Counting>) {
    let embedder = Arc::new(Counting { pause, ..Counting::default() });
    let mut options = world.options();
    options.embedder = Some(embedder.clone());
    (Library::open(options).unwrap(), embedder)
}

fn lines(word: &str, count: usize) -> String {
    (0..count).map(|line| format!("Line {line} tells of {word} and of strata below it.\n\n")).collect()
}

#[test]
fn unchanged_files_are_skipped_and_changed_ones_replaced() {
    let world = World::new();
    world.write("a.txt", &lines("basalt", 5));
    world.write("b.txt", &lines("granite", 5));
    let (library, embedder) = counting(&world, Duration::ZERO);
    let first = ingest(&library, &[world.documents()]);
    assert!(first.files.iter().all(|file| file.status == DocumentStatus::Ready && !file.unchanged));
    let embedded = embedder.texts.load(Ordering::Relaxed);

    world.write("b.txt", &lines("marble", 4));
    let second = ingest(&library, &[world.documents()]);
    let outcomes: Vec<_> = second.files.iter().map(|file| (file.unchanged, file.document)).collect();
    assert_eq!(outcomes, [(true, first.files[0].document), (false, first.files[1].document)]);
    assert_eq!(second.files[0].chunks, first.files[0].chunks);
    assert_eq!(embedder.texts.load(Ordering::Relaxed), embedded + second.files[1].chunks);
    assert!(found(&library, "granite", &mode(SearchMode::Keyword, 10)).is_empty());
    assert_eq!(found(&library, "marble", &mode(SearchMode::Keyword, 10)), ["b.txt"; 4]);
    assert_searchable_is_ready(&library, "strata");
}

#[test]
fn a_renamed_file_keeps_its_document() {
    let world = World::new();
    let old = world.write("old.txt", &lines("basalt", 3));
    let library = world.open();
    let first = ingest(&library, &[world.documents()]);
    std::fs::rename(old, world.path("new.txt")).unwrap();
    let second = ingest(&library, &[world.documents()]);
    assert_eq!(second.files[0].document, first.files[0].document);
    assert!(second.files[0].unchanged);
    let documents = library.documents().unwrap();
    assert_eq!(documents.len(), 1);
    assert_eq!((name_of(&documents[0].path).as_str(), documents[0].title.as_str()), ("new.txt", "new.txt"));
    assert_eq!(found(&library, "basalt", &mode(SearchMode::Keyword, 1)), ["new.txt"]);
}

#[test]
fn the_same_bytes_at_two_paths_are_embedded_once() {
    let world = World::new();
    let text = format!("# Quarry\n\n{}", lines("basalt", 6));
    world.write("one.md", &text);
    world.write("two.md", &text);
    let (library, embedder) = counting(&world, Duration::ZERO);
    let report = ingest(&library, &[world.documents()]);
    assert_eq!(library.documents().unwrap().len(), 2);
    assert_eq!(embedder.texts.load(Ordering::Relaxed), report.files[0].chunks);
    assert_searchable_is_ready(&library, "strata");
}

#[test]
fn another_chunker_chunks_anew_and_back_again_costs_no_embedding() {
    let world = World::new();
    world.write("a.txt", &lines("basalt", 12));
    let (library, embedder) = counting(&world, Duration::ZERO);
    let small = ingest_with(&library, &[world.documents()], &chunks_of(60)).files[0].chunks;
    let large = ingest_with(&library, &[world.documents()], &chunks_of(300)).files[0].chunks;
    assert!(large < small, "{large} chunks of 300, {small} of 60");
    let embedded = embedder.texts.load(Ordering::Relaxed);
    let again = ingest_with(&library, &[world.documents()], &chunks_of(60));
    assert_eq!((again.files[0].chunks, again.files[0].unchanged), (small, false));
    assert_eq!(embedder.texts.load(Ordering::Relaxed), embedded);
    assert_searchable_is_ready(&library, "strata");
}

#[test]
fn files_that_give_no_text_say_why() {
    let world = World::new();
    world.write("blank.txt", " \n");
    world.write("locked.txt", "SECRET");
    std::fs::write(world.path("photo.bin"), [0xff, 0xfe, 0x00]).unwrap();
    world.write("good.txt", &lines("basalt", 1));
    let library = world.open();
    let report = ingest(&library, &[world.documents(), world.path("missing.txt")]);
    let outcomes: Vec<_> = report.files.iter().map(|file| (name_of(&file.path), file.status)).collect();
    let expected = [
        ("blank.txt", DocumentStatus::Failed),
        ("good.txt", DocumentStatus::Ready),
        ("locked.txt", DocumentStatus::Encrypted),
        ("missing.txt", DocumentStatus::Failed),
    ];
    assert_eq!(outcomes, expected.map(|(name, status)| (name.to_owned(), status)));
    assert!(report.files.iter().all(|file| (file.status == DocumentStatus::Ready) == file.reason.is_none()));
    assert_eq!(report.skipped.iter().map(|path| name_of(path)).collect::<Vec<_>>(), ["photo.bin"]);
    assert_eq!(status(&library, "photo.bin"), None);
    assert_eq!(status(&library, "missing.txt"), None);

    let named = ingest(&library, &[world.path("photo.bin")]);
    assert_eq!(named.files[0].status, DocumentStatus::Failed);
    assert!(named.files[0].reason.as_deref().unwrap().contains("binary data"));
    assert_searchable_is_ready(&library, "strata");
}

/// The plain reader, counting how often it is asked.
#[derive(Default)]
struct CountingReader(AtomicUsize);

impl Extract for CountingReader {
    fn extract(&self, path: &Path, cancel: &CancelToken) -> Result<Extraction, ExtractError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        PlainText.extract(path, cancel)
    }
}

#[test]
fn a_file_that_gives_no_text_is_read_again_only_when_it_changes_or_is_named() {
    let world = World::new();
    let path = world.write("blank.txt", " \n");
    let reader = Arc::new(CountingReader::default());
    let library =
        Library::open(outcrop::LibraryOptions { extractor: Some(reader.clone()), ..world.options() }).unwrap();
    let times_read = || reader.0.load(Ordering::Relaxed);
    let first = ingest(&library, &[world.documents()]);
    for _ in 0..20 {
        let again = ingest(&library, &[world.documents()]);
        assert_eq!((again.files[0].status, &again.files[0].reason), (DocumentStatus::Failed, &first.files[0].reason));
    }
    assert_eq!((times_read(), library.documents().unwrap().len()), (1, 1));
    ingest(&library, &[path]);
    assert_eq!(times_read(), 2, "a named file is read again");
    world.write("blank.txt", &lines("basalt", 2));
    assert_eq!(ingest(&library, &[world.documents()]).files[0].status, DocumentStatus::Ready);
    assert_eq!(times_read(), 3);
}

#[test]
fn documents_whose_files_are_gone_are_forgotten_with_their_folder_only() {
    let world = World::new();
    let other = world.write("other/kept.txt", &lines("marble", 2));
    let gone = world.write("notes/gone.txt", &lines("basalt", 2));
    let stays = world.write("notes/stays.txt", &lines("granite", 2));
    let library = world.open();
    ingest(&library, &[world.documents()]);
    std::fs::remove_file(&gone).unwrap();
    std::fs::remove_file(&other).unwrap();
    // Another file says nothing about those that are gone, and neither does another folder.
    assert_eq!(ingest(&library, &[stays]).removed, Vec::<std::path::PathBuf>::new());
    assert_eq!(ingest(&library, &[world.path("notes")]).removed, [gone]);
    assert!(found(&library, "basalt", &mode(SearchMode::Keyword, 3)).is_empty());
    assert_eq!(found(&library, "marble", &mode(SearchMode::Keyword, 1)), ["kept.txt"]);
    assert_searchable_is_ready(&library, "strata");
}

#[test]
fn a_paused_ingest_waits_and_goes_on() {
    let world = World::new();
    for file in 0..4 {
        world.write(&format!("{file}.txt"), &lines("basalt", 3));
    }
    let library = world.open();
    let cancel = CancelToken::new();
    let (done, times_paused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let on_progress = |progress: &IngestProgress| {
        done.store(progress.files_done, Ordering::Relaxed);
        if progress.phase == IngestPhase::Embedding && times_paused.fetch_add(1, Ordering::Relaxed) == 0 {
            cancel.set_paused(true);
        }
    };
    std::thread::scope(|scope| {
        let ingest =
            scope.spawn(|| library.ingest(&[world.documents()], &chunks_of(80), &on_progress, &cancel).unwrap());
        while !cancel.is_paused() {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(400));
        assert_eq!(done.load(Ordering::Relaxed), 0, "nothing is finished while it is paused");
        cancel.set_paused(false);
        assert_eq!(ingest.join().unwrap().files.len(), 4);
    });
    assert_searchable_is_ready(&library, "strata");
}

#[test]
fn a_document_that_turns_bad_is_no_longer_searchable() {
    let world = World::new();
    let path = world.write("a.txt", &lines("basalt", 3));
    let library = world.open();
    ingest(&library, &[world.documents()]);
    std::fs::write(&path, "SECRET").unwrap();
    ingest(&library, &[world.documents()]);
    assert_eq!(status(&library, "a.txt"), Some(DocumentStatus::Encrypted));
    assert_searchable_is_ready(&library, "strata");
    // A file that is gone is no news about its text.
    std::fs::write(&path, lines("basalt", 2)).unwrap();
    ingest(&library, std::slice::from_ref(&path));
    std::fs::remove_file(&path).unwrap();
    let report = ingest(&library, &[path]);
    assert_eq!(report.files[0].status, DocumentStatus::Failed);
    assert_eq!(status(&library, "a.txt"), Some(DocumentStatus::Ready));
    assert_searchable_is_ready(&library, "strata");
}

#[test]
fn cancelling_ends_within_a_second_and_leaves_nothing_partial() {
    let world = World::new();
    for file in 0..6 {
        world.write(&format!("{file}.txt"), &lines("basalt", 400));
    }
    let (library, _) = counting(&world, Duration::from_millis(1));
    let (cancel, cancelled_at) = (CancelToken::new(), Mutex::new(None));
    let on_progress = |progress: &IngestProgress| {
        if progress.files_done >= 1 && progress.phase == IngestPhase::Embedding && !cancel.is_cancelled() {
            cancel.cancel();
            *cancelled_at.lock().unwrap() = Some(Instant::now());
        }
    };
    let report = library.ingest(&[world.documents()], &chunks_of(60), &on_progress, &cancel).unwrap();
    let took = cancelled_at.lock().unwrap().unwrap().elapsed();
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(report.cancelled);
    let statuses: Vec<_> = report.files.iter().map(|file| file.status).collect();
    let ready = statuses.iter().take_while(|status| **status == DocumentStatus::Ready).count();
    assert!((1..6).contains(&ready), "{statuses:?}");
    assert!(statuses[ready..].iter().all(|status| *status == DocumentStatus::Cancelled), "{statuses:?}");
    assert_searchable_is_ready(&library, "strata");

    let report = ingest_with(&library, &[world.documents()], &chunks_of(60));
    assert!(report.files.iter().all(|file| file.status == DocumentStatus::Ready));
    assert_searchable_is_ready(&library, "strata");
}

#[test]
fn progress_counts_up_to_all_files() {
    let world = World::new();
    for file in 0..5 {
        world.write(&format!("{file}.txt"), &lines("basalt", 20));
    }
    let library = world.open();
    let seen = Mutex::new(Vec::new());
    let on_progress = |progress: &IngestProgress| seen.lock().unwrap().push(progress.clone());
    let report = library.ingest(&[world.documents()], &chunks_of(60), &on_progress, &CancelToken::new()).unwrap();
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen[0].phase, IngestPhase::Scanning);
    assert!(seen.windows(2).all(|pair| pair[0].files_done <= pair[1].files_done));
    assert!(seen.windows(2).all(|pair| pair[0].chunks_done <= pair[1].chunks_done));
    assert!(seen.iter().any(|progress| progress.secs_left.is_some_and(|secs| secs > 0.0)));
    let last = seen.last().unwrap();
    let chunks: usize = report.files.iter().map(|file| file.chunks).sum();
    assert_eq!(last.phase, IngestPhase::Done);
    assert_eq!((last.files_done, last.files_total, last.chunks_done), (5, 5, chunks));
    assert!(last.batches_done >= 1);
}

#[test]
fn searches_run_while_an_ingest_writes() {
    let world = World::new();
    for file in 0..10 {
        world.write(&format!("{file}.txt"), &lines("basalt", 60));
    }
    let (library, _) = counting(&world, Duration::from_millis(1));
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let searches = std::thread::scope(|scope| {
        let searcher = std::thread::Builder::new()
            .name("searcher".to_owned())
            .spawn_scoped(scope, || {
                let mut sizes = Vec::new();
                while !is_done.load(Ordering::Relaxed) {
                    let hits = library.search("strata", &mode(SearchMode::Hybrid, 1000)).unwrap().hits;
                    assert_eq!(hits.len() % 60, 0, "a document is searchable in part");
                    sizes.push(hits.len());
                }
                sizes
            })
            .unwrap();
        ingest_with(&library, &[world.documents()], &chunks_of(60));
        is_done.store(true, Ordering::Relaxed);
        searcher.join().unwrap()
    });
    assert!(searches.is_sorted(), "{searches:?}");
    assert!(searches.iter().any(|&hits| hits > 0 && hits < 600), "no search fell into the ingest: {searches:?}");
}

#[test]
fn a_second_instance_reads_and_says_so() {
    let world = World::new();
    world.write("a.txt", &lines("basalt", 3));
    let library = world.open();
    let second = world.open();
    assert!(!library.is_read_only());
    assert!(second.is_read_only());
    let err = second.ingest(&[world.documents()], &IngestOptions::default(), &|_| {}, &CancelToken::new()).unwrap_err();
    assert_eq!(err.title, "Read-only library");
    assert!(err.hint.is_some());

    // What the writer makes ready, the reader sees.
    ingest(&library, &[world.documents()]);
    assert_searchable_is_ready(&second, "strata");
    world.write("b.txt", &lines("granite", 3));
    ingest(&library, &[world.documents()]);
    assert_searchable_is_ready(&second, "strata");
    assert_eq!(found(&second, "granite", &mode(SearchMode::Hybrid, 1)), ["b.txt"]);
    let ids: Vec<_> = library.documents().unwrap().iter().map(|document| document.id).collect();
    assert!(second.remove(&ids).is_err());
    library.remove(&ids).unwrap();
    assert!(found(&second, "granite", &mode(SearchMode::Hybrid, 1)).is_empty());

    drop(library);
    drop(second);
    assert!(!world.open().is_read_only());
}

#[test]
fn title_and_headings_are_searched_but_never_cited() {
    let world = World::new();
    world.write("a.md", &format!("# Sedimentology\n\n{}", lines("basalt", 12)));
    let library = world.open();
    let options = chunks_of(60);
    ingest_with(&library, &[world.documents()], &options);
    let keyword = mode(SearchMode::Keyword, 100);
    let with_context = library.search("sedimentology", &keyword).unwrap().hits;
    assert!(with_context.len() >= 12);
    assert!(with_context.iter().skip(1).all(|hit| !hit.chunk.text.contains("Sedimentology")));

    let without = IngestOptions { context: false, ..options };
    ingest_with(&library, &[world.documents()], &without);
    assert_eq!(library.search("sedimentology", &keyword).unwrap().hits.len(), 1);
}

#[test]
fn chats_are_kept_in_order() {
    let world = World::new();
    let library = world.open();
    let answer = |question: &str| Answer {
        question: question.to_owned(),
        answer: "Yes [1].".to_owned(),
        refused: false,
        reason: None,
        model: "extractive".to_owned(),
        citations: Vec::new(),
        markers_dropped: 0,
        sentences_checked: 0,
        unsupported: Vec::new(),
        standalone: None,
        passages_searched: 0,
        passages: Vec::new(),
        passages_used: 1,
        passages_found: 1,
        prompt_tokens: 10,
        answer_tokens: 2,
        notes: Vec::new(),
        took_ms: AnswerTimes::default(),
    };
    let chat = library.keep_answer(None, &answer("Is it old?")).unwrap();
    assert_eq!(library.keep_answer(Some(chat), &answer("How old?")).unwrap(), chat);
    let other = library.keep_answer(None, &answer("Where?")).unwrap();
    let listed: Vec<_> = library.chats().unwrap().into_iter().map(|chat| (chat.id, chat.title, chat.turns)).collect();
    assert_eq!(listed, [(other, "Where?".to_owned(), 1), (chat, "Is it old?".to_owned(), 2)]);
    assert_eq!(library.chat(chat).unwrap()[1], answer("How old?"));
    let again = |question: &str| {
        library.keep_answer_again(chat, &Answer { answer: "No [1].".to_owned(), ..answer(question) }).unwrap();
        library.chat(chat).unwrap().into_iter().map(|answer| answer.answer).collect::<Vec<_>>()
    };
    assert_eq!(again("How old?"), ["Yes [1].", "No [1]."]);
    assert_eq!(again("Something else?"), ["Yes [1].", "No [1].", "No [1]."], "another question's answer stays");
    library.remove_chat(chat).unwrap();
    assert_eq!(library.chats().unwrap().len(), 1);
}

#[test]
fn library_names_cannot_leave_the_home() {
    let world = World::new();
    for name in ["../out", "a/b", ""] {
        let options = outcrop::LibraryOptions { name: Some(name.to_owned()), ..world.options() };
        assert_eq!(Library::open(options).err().map(|err| err.title).as_deref(), Some("Library name"), "{name}");
    }
    assert!(!Path::new(&world.home()).join("out").exists());
}
