//! Fetching from a hub that a test plays: whole, in pieces, redirected, refused, wrong, and stopped.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

use std::path::PathBuf;
use std::time::Instant;

use sha2::{Digest, Sha256};

use super::*;
use crate::http::Trust;
use crate::http::server::{Identity, Move, Served, serve, serve_encrypted};
use crate::models::{Catalogue, EntryState, FetchPhase, FetchProgress, entries, fetch_from_hub};
use crate::progress::CancelToken;

const TEXT: &str = "hello world!";
const SUM: &str = "7509e5bda0c762d2bac7f90d758b5b2263fa01ccbc542ab5e3df163be08e6ca9";
const PATH: &str = "/owner/tiny/resolve/abc123/q4/tiny.gguf";

fn catalogue() -> Catalogue {
    let file = |name: &str, hub: &str| {
        format!(
            "[[entry]]\nname = '{name}'\nuse = 'generator'\ntitle = 'Tiny'\nlicence = 'MIT'\nsets = []\nmemory_bytes = 1\n\
             [[entry.file]]\nname = 'tiny.gguf'\nbytes = 12\nsha256 = '{SUM}'\n{hub}\n\
             [[entry.file.part]]\npackage = 'x'\nversion = '1'\npath = 'x'\nwheel_bytes = 99\n"
        )
    };
    let hub = "hub = { repository = 'owner/tiny', file = 'q4/tiny.gguf', revision = 'abc123' }";
    Catalogue::parse(&(file("tiny", hub) + &file("elsewhere", ""))).unwrap()
}

/// A models folder and the hub that it is filled from.
struct Bench {
    models: tempfile::TempDir,
    seen: Vec<FetchProgress>,
}

impl Bench {
    fn new() -> Self {
        Self { models: tempfile::tempdir().unwrap(), seen: Vec::new() }
    }

    /// With the first bytes of an earlier fetch.
    fn with_partial(text: &str) -> Self {
        let bench = Self::new();
        std::fs::create_dir(bench.models.path().join(".partial")).unwrap();
        std::fs::write(bench.partial(), text).unwrap();
        bench
    }

    fn fetch_through(&mut self, hub: &ModelHub, cancel: &CancelToken) -> Result<(), ModelError> {
        let seen = &mut self.seen;
        let mut on_progress = |progress: &FetchProgress| seen.push(progress.clone());
        fetch_from_hub(&catalogue(), hub, self.models.path(), &["tiny".to_owned()], &mut on_progress, cancel)
    }

    fn fetch(&mut self, served: &Served) -> Result<(), ModelError> {
        self.fetch_through(&hub(served), &CancelToken::new())
    }

    /// Fetches and finds the model in its place.
    fn expect_whole(&mut self, served: &Served) {
        self.fetch(served).unwrap();
        assert_eq!(std::fs::read_to_string(self.model()).unwrap(), TEXT);
        assert_eq!(entries(&catalogue(), self.models.path())[0].state, EntryState::Installed);
        assert!(!self.partial().exists());
    }

    fn model(&self) -> PathBuf {
        self.models.path().join("tiny/tiny.gguf")
    }

    fn partial(&self) -> PathBuf {
        self.models.path().join(".partial").join(format!("tiny-tiny.gguf-{}.partial", &SUM[..12]))
    }

    fn kept(&self) -> String {
        std::fs::read_to_string(self.partial()).unwrap()
    }
}

fn hub(served: &Served) -> ModelHub {
    let hub = ModelHub::new(&format!("http://{}", served.host)).unwrap();
    ModelHub { pause: Duration::from_millis(20), ..hub }
}

fn say(text: impl Into<String>) -> Vec<Move> {
    vec![Move::Say(text.into())]
}

fn whole(text: &str) -> Vec<Move> {
    say(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len()))
}

/// `text` as the bytes from `first` on of a file of `size` bytes.
fn range(text: &str, first: usize, size: usize) -> Vec<Move> {
    let last = first + text.len() - 1;
    say(format!(
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {first}-{last}/{size}\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    ))
}

/// Says that twelve bytes come, sends fewer and is gone.
fn cut_off(text: &str) -> Vec<Move> {
    vec![Move::Say(format!("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{text}")), Move::Drop]
}

fn redirect(location: &str) -> Vec<Move> {
    say(format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"))
}

fn status(line: &str) -> Vec<Move> {
    say(format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\n\r\n"))
}

#[test]
fn a_file_is_fetched_checked_and_installed_once() {
    let served = serve(vec![whole(TEXT)]);
    let mut bench = Bench::new();
    bench.expect_whole(&served);
    let requests = served.requests();
    assert!(requests[0].starts_with(&format!("GET {PATH} HTTP/1.1\r\n")), "{}", requests[0]);
    for unsaid in ["Range:", "Authorization", "Cookie"] {
        assert!(!requests[0].contains(unsaid), "{}", requests[0]);
    }
    let last = bench.seen.last().unwrap();
    assert_eq!((last.phase, last.bytes_done, last.bytes_total), (FetchPhase::Done, 12, 12));
    // The server is gone: what is here is not asked for again.
    bench.expect_whole(&served);
}

#[test]
fn a_lost_connection_is_gone_on_from_at_once() {
    let served = serve(vec![cut_off("hello"), range(" world!", 5, 12)]);
    let mut bench = Bench::new();
    bench.expect_whole(&served);
    let requests = served.requests();
    assert!(!requests[0].contains("Range:") && requests[1].contains("\r\nRange: bytes=5-\r\n"), "{requests:?}");
    assert!(bench.seen.windows(2).all(|pair| pair[0].bytes_done <= pair[1].bytes_done), "{:?}", bench.seen);
}

#[test]
fn the_next_fetch_goes_on_where_the_last_one_was() {
    let served = serve(vec![range("world!", 6, 12)]);
    Bench::with_partial("hello ").expect_whole(&served);
    assert!(served.requests()[0].contains("\r\nRange: bytes=6-\r\n"));
}

#[test]
fn a_connection_that_is_lost_again_and_again_keeps_what_came() {
    let nothing = || vec![Move::Drop];
    let served = serve(vec![cut_off("hello"), nothing(), nothing(), nothing(), whole(TEXT)]);
    let mut bench = Bench::new();
    let err = bench.fetch(&served).unwrap_err().to_string();
    assert!(
        err.contains("5 of 12 bytes are here") && err.contains("goes on from there") && err.contains(PATH),
        "{err}"
    );
    assert_eq!(bench.kept(), "hello");
    assert!(!bench.model().exists());
    assert_eq!(served.requests().len(), 4, "three retries and no more");
}

#[test]
fn a_range_is_taken_in_pieces() {
    let served = serve(vec![range("hel", 0, 12), range("lo wor", 3, 12), range("ld!", 9, 12)]);
    Bench::new().expect_whole(&served);
    assert!(served.requests()[2].contains("\r\nRange: bytes=9-\r\n"));
}

#[test]
fn the_whole_file_for_a_range_is_taken_from_its_start() {
    let served = serve(vec![whole(TEXT)]);
    Bench::with_partial("XXXXX").expect_whole(&served);
    assert!(served.requests()[0].contains("\r\nRange: bytes=5-\r\n"));
}

#[test]
fn another_range_than_asked_for_is_refused() {
    for answer in [range("hello ", 0, 12), range("world!", 6, 13), status("206 Partial Content")] {
        let served = serve(vec![answer]);
        let mut bench = Bench::with_partial("hello ");
        let err = bench.fetch(&served).unwrap_err();
        let is_named = matches!(&err, ModelError::Hub { detail, .. } if detail.contains("asked for") || detail.contains("13 bytes"));
        assert!(is_named, "{err}");
        assert_eq!(bench.kept(), "hello ");
    }
}

#[test]
fn where_there_is_no_more_the_whole_is_checked() {
    let served = serve(vec![status("416 Range Not Satisfiable")]);
    let mut bench = Bench::with_partial("hello");
    let err = bench.fetch(&served).unwrap_err();
    assert!(matches!(err, ModelError::Mismatch { found_bytes: 5, .. }), "{err}");
    assert!(!bench.partial().exists());
    // All of it was here: nobody need be asked.
    let nobody = serve(Vec::new());
    Bench::with_partial(TEXT).expect_whole(&nobody);
}

#[test]
fn a_wrong_sum_names_both_and_leaves_nothing() {
    let served = serve(vec![whole("HELLO WORLD!"), whole(TEXT)]);
    let mut bench = Bench::new();
    let err = bench.fetch(&served).unwrap_err();
    let found = format!("{:x}", Sha256::digest("HELLO WORLD!"));
    assert!(matches!(err, ModelError::Mismatch { .. }) && err.to_string().contains(SUM), "{err}");
    assert!(err.to_string().contains(&found), "{err}");
    assert!(!bench.partial().exists() && !bench.model().exists());
    bench.expect_whole(&served);
}

#[test]
fn a_wrong_size_is_refused_before_or_while_it_comes() {
    let served = serve(vec![whole("hello")]);
    let err = Bench::new().fetch(&served).unwrap_err().to_string();
    assert!(err.contains("5 bytes but 12"), "{err}");
    let endless = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(1 << 20));
    let served = serve(vec![say(endless)]);
    let mut bench = Bench::new();
    let err = bench.fetch(&served).unwrap_err();
    assert!(matches!(err, ModelError::Mismatch { found_bytes, .. } if found_bytes < 100_000), "{err}");
    assert!(!bench.partial().exists());
}

#[test]
fn redirects_are_followed_with_the_range() {
    let other = serve(vec![range("world!", 6, 12)]);
    let away = format!("http://{}/bucket/object?signature=A%2FB", other.host);
    let served = serve(vec![redirect("/cache/1"), redirect("2?x"), redirect(&away)]);
    Bench::with_partial("hello ").expect_whole(&served);
    let lines: Vec<String> =
        served.requests().iter().map(|request| request.lines().next().unwrap().to_owned()).collect();
    assert_eq!(
        lines,
        [format!("GET {PATH} HTTP/1.1"), "GET /cache/1 HTTP/1.1".into(), "GET /cache/2?x HTTP/1.1".into()]
    );
    let last = &other.requests()[0];
    assert!(last.starts_with("GET /bucket/object?signature=A%2FB HTTP/1.1\r\n"), "{last}");
    assert!(last.contains("\r\nRange: bytes=6-\r\n"), "{last}");
}

#[test]
fn a_circle_of_redirects_ends() {
    let served = serve((0..9).map(|_| redirect(PATH)).collect());
    let err = Bench::new().fetch(&served).unwrap_err().to_string();
    assert!(err.contains("more than 5 times") && err.contains(PATH), "{err}");
    assert_eq!(served.requests().len(), 6);
}

#[test]
fn a_redirect_out_of_the_encryption_is_not_followed() {
    let plain = serve(vec![whole(TEXT)]);
    let identity = Identity::new(&["127.0.0.1"], 2200);
    let served =
        serve_encrypted(vec![redirect(&format!("http://{}/x", plain.host)), redirect("/y"), whole(TEXT)], &identity);
    let mut hub = ModelHub::new(&format!("https://{}", served.host)).unwrap();
    hub.address.server.trust = Trust::Only(identity.authority.clone());
    let mut bench = Bench::new();
    let err = bench.fetch_through(&hub, &CancelToken::new()).unwrap_err().to_string();
    assert!(err.contains("plain one") && err.contains(&plain.host), "{err}");
    assert!(plain.requests().is_empty(), "nothing was said to it");
    // Within the encryption it is followed.
    bench.fetch_through(&hub, &CancelToken::new()).unwrap();
    assert!(bench.model().is_file());
}

#[test]
fn refusals_are_put_into_words_and_not_tried_again() {
    for (answer, expected) in [
        ("401 Unauthorized", "log in"),
        ("403 Forbidden", "log in"),
        ("404 Not Found", "no such file"),
        ("429 Too Many Requests\r\nRetry-After: 120", "in 120 s"),
        ("503 Service Unavailable", "out of order"),
        ("418 I'm a teapot", "418"),
        ("302 Found", "says not where to"),
        ("302 Found\r\nLocation: ftp://x/", "no address"),
    ] {
        let served = serve(vec![status(answer), whole(TEXT)]);
        let mut bench = Bench::with_partial("hello ");
        let err = bench.fetch(&served).unwrap_err();
        assert!(matches!(&err, ModelError::Hub { url, .. } if url.ends_with(PATH)), "{err}");
        assert!(err.to_string().contains(expected), "{err}");
        assert_eq!(bench.kept(), "hello ");
        assert!(!bench.model().exists());
    }
}

#[test]
fn a_cancel_ends_it_at_once_and_keeps_what_came() {
    let begun = || Move::Say("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nhello".to_owned());
    for (moves, kept) in [(vec![begun(), Move::Hang], "hello"), (vec![Move::Hang], "")] {
        let served = serve(vec![moves]);
        let cancel = CancelToken::new();
        let canceller = cancel.clone();
        let stop = std::thread::Builder::new().name("stop".to_owned()).spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            canceller.cancel();
            Instant::now()
        });
        let mut bench = Bench::new();
        let err = bench.fetch_through(&hub(&served), &cancel).unwrap_err();
        let ended_after = stop.unwrap().join().unwrap().elapsed();
        assert_eq!(err, ModelError::Cancelled);
        assert!(ended_after < Duration::from_secs(1), "{ended_after:?}");
        assert_eq!(std::fs::read_to_string(bench.partial()).unwrap_or_default(), kept);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let bench = &mut Bench::with_partial("");
    std::fs::remove_file(bench.partial()).unwrap();
    // A file that is always full.
    std::os::unix::fs::symlink("/dev/full", bench.partial()).unwrap();
    let err = bench.fetch(&serve(vec![whole(TEXT)])).unwrap_err();
    assert!(matches!(err, ModelError::DiskFull { .. }), "{err}");
    assert!(!bench.model().exists());
}

#[test]
fn where_nobody_listens_the_address_is_named_at_once() {
    let hub = ModelHub::new("http://127.0.0.1:9").unwrap();
    let begun = Instant::now();
    let err = Bench::new().fetch_through(&hub, &CancelToken::new()).unwrap_err().to_string();
    assert!(err.contains("http://127.0.0.1:9/owner/tiny") && err.contains("no server answers"), "{err}");
    assert!(begun.elapsed() < PAUSE, "it was not tried again");
}

#[test]
fn what_is_on_no_hub_is_said_before_anybody_is_asked() {
    let served = serve(vec![whole(TEXT)]);
    let bench = Bench::new();
    let names = ["tiny".to_owned(), "elsewhere".to_owned()];
    let err =
        fetch_from_hub(&catalogue(), &hub(&served), bench.models.path(), &names, &mut |_| (), &CancelToken::new());
    let text = err.unwrap_err().to_string();
    assert!(
        text.contains("elsewhere") && text.contains("--from package") && text.contains("(a hub has tiny)"),
        "{text}"
    );
    assert!(served.requests().is_empty());
}

/// A GGUF file without a tensor.
fn gguf() -> String {
    let head = "GGUF\u{3}\0\0\0";
    head.to_owned() + &"\0".repeat(24)
}

fn fetch_file(served: &Served, models: &std::path::Path, verified: &Verified) -> Result<String, ModelError> {
    let model = HubModel::parse("hub:owner/repo/Some.gguf").unwrap();
    model.fetch(&hub(served), &catalogue(), models, verified, &mut |_| (), &CancelToken::new())
}

#[test]
fn a_file_of_a_repository_is_checked_and_becomes_a_generator() {
    let sum = format!("{:x}", Sha256::digest(gguf()));
    let served = serve(vec![cut_off(&gguf()[..9]), range(&gguf()[9..], 9, 32)]);
    let models = tempfile::tempdir().unwrap();
    assert_eq!(fetch_file(&served, models.path(), &Verified::BySum(sum.clone())).unwrap(), sum);
    let requests = served.requests();
    assert!(requests[0].starts_with("GET /owner/repo/resolve/main/Some.gguf HTTP/1.1\r\n"), "{requests:?}");
    assert!(requests[1].contains("\r\nRange: bytes=9-\r\n"));
    let found = crate::models::generators(&catalogue(), models.path());
    assert_eq!(found.iter().map(|model| model.name.as_str()).collect::<Vec<_>>(), ["some"]);
    let err = fetch_file(&served, models.path(), &Verified::Not).unwrap_err().to_string();
    assert!(err.contains("there already"), "{err}");
}

#[test]
fn a_file_of_a_repository_without_a_sum_is_never_gone_on_from() {
    let served = serve(vec![cut_off(&gguf()[..9]), whole(&gguf())]);
    let models = tempfile::tempdir().unwrap();
    let sum = fetch_file(&served, models.path(), &Verified::Not).unwrap();
    assert_eq!(sum, format!("{:x}", Sha256::digest(gguf())));
    assert!(served.requests().iter().all(|request| !request.contains("Range:")));
}

#[test]
fn a_wrong_file_of_a_repository_leaves_nothing() {
    let models = tempfile::tempdir().unwrap();
    let expected = "0".repeat(64);
    let err = fetch_file(&serve(vec![whole(&gguf())]), models.path(), &Verified::BySum(expected.clone())).unwrap_err();
    let text = err.to_string();
    assert!(text.contains(&expected) && text.contains(&format!("{:x}", Sha256::digest(gguf()))), "{text}");
    let err = fetch_file(&serve(vec![whole("<html>")]), models.path(), &Verified::Not).unwrap_err();
    let is_named =
        matches!(&err, ModelError::Hub { url, detail } if url.ends_with("Some.gguf") && detail.contains("<htm"));
    assert!(is_named, "{err}");
    let left: Vec<_> = std::fs::read_dir(models.path().join(".partial")).unwrap().flatten().collect();
    assert!(left.iter().all(|item| item.file_name() == "lock"), "{left:?}");
    assert!(!models.path().join("some").exists());
}
