//! The extract worker's process: reuse, faults, deadlines, cancel, and that it dies with its host.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "extract_support.rs"]
#[allow(dead_code, reason = "this suite needs a part of it")]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use outcrop::CancelToken;
use outcrop::extract::{
    Extract, ExtractError, ExtractLimits, PagePicture, PageRequest, Password, ReadOptions, SpanPlace,
};
use outcrop::worker::{ExtractPool, WorkerBinary};
use support::{fixture, limits, pool};
use tempfile::TempDir;
use tests::outcrop_binary;

/// A folder with a good file and one for each fault.
struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            "good.txt",
            "a.hang",
            "a.hang-page",
            "a.crash",
            "a.exit",
            "a.panic",
            "a.alloc",
            "a.write",
            "a.dial",
            "a.start",
        ];
        for name in names {
            fs::write(folder.path().join(name), format!("text of {name}")).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn assert_next_is_fine(pool: &ExtractPool, files: &Files) {
    let extraction = pool.extract(&files.path("good.txt"), &CancelToken::new()).unwrap();
    assert_eq!(extraction.text, "text of good.txt");
}

fn quick(document_secs: u32, page_secs: u32) -> ExtractLimits {
    ExtractLimits { document_secs, page_secs, ..limits() }
}

/// A pool whose workers hang, crash and so on when the extension of a file asks for it.
fn faulty_pool(limits: ExtractLimits) -> ExtractPool {
    let mut binary = WorkerBinary::resolve(Some(outcrop_binary())).unwrap();
    binary.envs.push(("OUTCROP_WORKER_FAULTS".to_owned(), "1".to_owned()));
    ExtractPool::new(binary, limits)
}

#[test]
fn one_worker_reads_one_document_after_the_other() {
    let files = Files::new();
    let pool = pool(limits());
    assert_next_is_fine(&pool, &files);
    let first = pool.idle_process_ids();
    pool.extract(&fixture("columns.pdf"), &CancelToken::new()).unwrap();
    assert_next_is_fine(&pool, &files);
    assert_eq!(first.len(), 1);
    assert_eq!(pool.idle_process_ids(), first);
}

#[test]
fn the_worker_and_this_process_read_the_same() {
    let pool = pool(limits());
    for name in ["columns.pdf", "prose.pdf", "handbook.docx", "shift-jis.txt"] {
        let path = fixture(name);
        let here = outcrop::extract::extract_file(&path, &limits());
        assert_eq!(pool.extract(&path, &CancelToken::new()), here, "{name}");
    }
}

#[test]
fn a_page_is_drawn_with_the_words_of_every_passage_boxed() {
    let report = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/samples/lava-sequence-report.pdf");
    let pool = pool(limits());
    let extraction = pool.extract(&report, &CancelToken::new()).unwrap();
    let mut checked = 0;
    for span in extraction.spans.iter().filter(|span| matches!(span.place, SpanPlace::Page(_))) {
        let SpanPlace::Page(page) = span.place else { continue };
        let sentences = extraction.text[span.start..span.end].split_inclusive(". ");
        for quote in sentences.filter(|sentence| sentence.trim().len() > 40).step_by(2) {
            let request = PageRequest { page, width: 800, quote: quote.to_owned() };
            let picture = pool.draw_page(&report, &request, &CancelToken::new()).unwrap();
            assert_eq!(picture.rgba.len(), (picture.width * picture.height * 4) as usize);
            assert!(!picture.boxes.is_empty(), "page {page}: {quote:?}");
            let (inside, letters) = (boxed_area(&picture), quote.chars().filter(|c| c.is_alphanumeric()).count());
            // A letter of body text is about 5 points by 11, on a page of 595 points and 800 pixels.
            let expected = letters as f32 * 5.0 * 11.0 * (800.0_f32 / 595.0).powi(2);
            assert!(inside > 0.4 * expected && inside < 3.0 * expected, "{inside} of {expected}: {quote:?}");
            assert!(ink(&picture) > 0.03, "the boxes hold no letters: {quote:?}");
            checked += 1;
        }
    }
    assert!(checked >= 30, "only {checked} passages");
    let text = pool.draw_page(
        &fixture("shift-jis.txt"),
        &PageRequest { page: 1, width: 100, quote: String::new() },
        &CancelToken::new(),
    );
    assert!(matches!(text, Err(ExtractError::Unsupported { .. })), "{text:?}");
    let beyond = PageRequest { page: 900, width: 100, quote: String::new() };
    assert!(pool.draw_page(&report, &beyond, &CancelToken::new()).unwrap_err().to_string().contains("900"));
}

#[test]
fn a_password_opens_an_encrypted_pdf_for_its_text_and_its_pages() {
    let (path, pool, cancel) = (fixture("encrypted.pdf"), pool(limits()), CancelToken::new());
    let with = |text: &str| ReadOptions { password: Some(Password::new(text)), ..ReadOptions::default() };
    let extraction = pool.extract_as(&path, &with("user"), &cancel).unwrap();
    assert_eq!(extraction.text, pool.extract(&fixture("prose.pdf"), &cancel).unwrap().text);
    let wrong = pool.extract_as(&path, &with("harbour-7"), &cancel).unwrap_err();
    assert!(wrong.to_string().contains("the password does not fit") && !wrong.to_string().contains("harbour-7"));
    assert!(matches!(pool.extract(&path, &cancel), Err(ExtractError::PasswordNeeded { .. })), "it is not remembered");

    let request = PageRequest { page: 1, width: 400, quote: "Tides and Timetables".to_owned() };
    let picture = pool.draw_locked_page(&path, &request, &Password::new("user"), &cancel).unwrap();
    assert!(!picture.boxes.is_empty());
    assert!(matches!(pool.draw_page(&path, &request, &cancel), Err(ExtractError::PasswordNeeded { .. })));
}

fn boxed_area(picture: &PagePicture) -> f32 {
    picture.boxes.iter().map(|found| (found.right - found.left) * (found.bottom - found.top)).sum()
}

/// Share of dark pixels inside the boxes.
fn ink(picture: &PagePicture) -> f32 {
    let (mut dark, mut all) = (0, 0);
    for found in &picture.boxes {
        for y in found.top as u32..(found.bottom as u32).min(picture.height) {
            for x in found.left as u32..(found.right as u32).min(picture.width) {
                let at = ((y * picture.width + x) * 4) as usize;
                all += 1;
                dark += u32::from(picture.rgba[at] < 128);
            }
        }
    }
    dark as f32 / all.max(1) as f32
}

#[test]
fn a_crash_costs_one_document() {
    let files = Files::new();
    let pool = faulty_pool(limits());
    for (name, reason) in [("a.crash", "abort"), ("a.exit", "exit status 7"), ("a.panic", "asked to panic")] {
        let result = pool.extract(&files.path(name), &CancelToken::new());
        let Err(ExtractError::Crashed { path, detail }) = result else {
            panic!("{name}: {result:?}");
        };
        assert_eq!(path, files.path(name));
        assert!(detail.contains(reason), "{name}: {detail}");
        assert_next_is_fine(&pool, &files);
    }
}

/// The tests' own fault hooks try it from inside the worker.
#[cfg(target_os = "linux")]
#[test]
fn a_worker_can_neither_write_nor_dial_nor_start_programs() {
    let files = Files::new();
    let pool = faulty_pool(limits());
    for name in ["a.write", "a.dial", "a.start"] {
        let result = pool.extract(&files.path(name), &CancelToken::new());
        let Err(ExtractError::Crashed { detail, .. }) = result else {
            panic!("{name}: {result:?}");
        };
        assert_eq!(detail, "PermissionDenied", "{name}");
    }
    assert!(!files.path("a.written").exists());
    assert_next_is_fine(&pool, &files);
}

#[test]
fn a_hang_ends_with_the_budget_of_the_document() {
    let files = Files::new();
    let pool = faulty_pool(quick(1, 20));
    let started = Instant::now();
    let result = pool.extract(&files.path("a.hang"), &CancelToken::new());
    let Err(ExtractError::TimedOut { detail, .. }) = result else {
        panic!("{result:?}");
    };
    assert!(detail.contains("longer than 1 s"), "{detail}");
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_next_is_fine(&pool, &files);
}

#[test]
fn a_hanging_page_ends_with_the_budget_of_the_page() {
    let files = Files::new();
    let pool = faulty_pool(quick(60, 1));
    let result = pool.extract(&files.path("a.hang-page"), &CancelToken::new());
    let Err(ExtractError::TimedOut { detail, .. }) = result else {
        panic!("{result:?}");
    };
    assert_eq!(detail, "page 3 of 9 took longer than 1 s");
    assert_next_is_fine(&pool, &files);
}

#[test]
#[cfg(target_os = "linux")]
fn a_document_that_eats_memory_is_stopped_by_its_limit() {
    let files = Files::new();
    let pool = faulty_pool(ExtractLimits { memory_bytes: 1 << 30, ..limits() });
    let result = pool.extract(&files.path("a.alloc"), &CancelToken::new());
    let Err(ExtractError::OverBudget { detail, .. }) = result else {
        panic!("{result:?}");
    };
    assert!(detail.contains("1024 MiB of memory"), "{detail}");
    assert_next_is_fine(&pool, &files);
}

#[test]
fn cancel_ends_a_hanging_document_at_once() {
    let files = Files::new();
    let pool = faulty_pool(limits());
    assert_next_is_fine(&pool, &files);
    let cancel = CancelToken::new();
    let canceller = {
        let cancel = cancel.clone();
        thread::Builder::new()
            .name("canceller".to_owned())
            .spawn(move || {
                thread::sleep(Duration::from_millis(300));
                cancel.cancel();
                Instant::now()
            })
            .unwrap()
    };
    let result = pool.extract(&files.path("a.hang"), &cancel);
    let delay = canceller.join().unwrap().elapsed();
    assert!(matches!(result, Err(ExtractError::Cancelled { .. })), "{result:?}");
    assert!(delay < Duration::from_millis(1000), "{delay:?}");
    assert_next_is_fine(&pool, &files);
}

#[test]
#[cfg(unix)]
fn a_worker_killed_in_the_middle_costs_one_document() {
    let files = Files::new();
    let pool = Arc::new(faulty_pool(limits()));
    assert_next_is_fine(&pool, &files);
    let worker = pool.idle_process_ids()[0];
    let killer = thread::Builder::new()
        .name("killer".to_owned())
        .spawn(move || {
            thread::sleep(Duration::from_millis(300));
            kill(worker);
        })
        .unwrap();
    let result = pool.extract(&files.path("a.hang"), &CancelToken::new());
    killer.join().unwrap();
    let Err(ExtractError::Crashed { detail, .. }) = result else {
        panic!("{result:?}");
    };
    assert!(detail.contains("signal 9"), "{detail}");
    assert_next_is_fine(&pool, &files);
}

#[test]
#[cfg(unix)]
fn a_worker_killed_while_idle_costs_nothing() {
    let files = Files::new();
    let pool = pool(limits());
    assert_next_is_fine(&pool, &files);
    kill(pool.idle_process_ids()[0]);
    thread::sleep(Duration::from_millis(100));
    assert_next_is_fine(&pool, &files);
}

#[test]
fn workers_end_when_their_pool_is_dropped() {
    let files = Files::new();
    let pool = pool(limits());
    assert_next_is_fine(&pool, &files);
    let worker = pool.idle_process_ids()[0];
    drop(pool);
    assert!(!is_running(worker));
}

#[test]
fn a_worker_whose_pipe_closes_ends_by_itself() {
    let mut worker = Command::new(outcrop_binary())
        .args(["worker", "extract"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(worker.stdin.take());
    for _ in 0..500 {
        if let Some(status) = worker.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    worker.kill().unwrap();
    panic!("the worker is still there after 10 s");
}

#[test]
#[cfg(target_os = "linux")]
fn a_hanging_worker_dies_with_its_host() {
    let files = Files::new();
    let home = tempfile::tempdir().unwrap();
    let mut host = Command::new(outcrop_binary())
        .arg("chunk")
        .arg(files.path("a.hang"))
        .env("OUTCROP_HOME", home.path())
        .env("OUTCROP_WORKER_FAULTS", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let worker = wait_for(|| child_of(host.id())).expect("the host starts a worker");
    host.kill().unwrap();
    host.wait().unwrap();
    let gone = wait_for(|| (!is_running(worker)).then_some(()));
    assert!(gone.is_some(), "worker {worker} outlives its host");
}

#[test]
fn what_is_no_worker_is_an_error_and_not_a_hang() {
    let files = Files::new();
    for binary in ["/bin/true", "/bin/echo", "/nonexistent/outcrop"] {
        let pool = ExtractPool::new(WorkerBinary::resolve(Some(Path::new(binary).to_owned())).unwrap(), limits());
        let result = pool.extract(&files.path("good.txt"), &CancelToken::new());
        assert!(matches!(result, Err(ExtractError::Io { .. })), "{binary}: {result:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_name_that_is_not_utf8_is_a_name() {
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9.txt"));
    fs::write(&path, "words").unwrap();
    let pool = pool(limits());
    assert_eq!(pool.extract(&path, &CancelToken::new()).unwrap().text, "words");
    fs::write(&path, "").unwrap();
    let result = pool.extract(&path, &CancelToken::new());
    assert_eq!(result, Err(ExtractError::Empty { path }));
}

#[cfg(unix)]
fn kill(process: u32) {
    let status = Command::new("kill").args(["-9", &process.to_string()]).status().unwrap();
    assert!(status.success());
}

fn is_running(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = status.rsplit_once(')').map_or("", |(_, rest)| rest.trim_start());
    !state.is_empty() && !state.starts_with('Z')
}

#[cfg(target_os = "linux")]
fn child_of(process: u32) -> Option<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let children = tasks.flatten().filter_map(|task| {
        let listed = fs::read_to_string(task.path().join("children")).ok()?;
        listed.split_whitespace().next()?.parse().ok()
    });
    let children: Vec<u32> = children.collect();
    children.first().copied()
}

#[cfg(target_os = "linux")]
fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..500 {
        if let Some(found) = look() {
            return Some(found);
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}
