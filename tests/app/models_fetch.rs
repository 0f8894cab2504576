//! Fetching: resume, checksums, idempotence, through a folder of wheels and through the real package client; and, as
//! the command line does it, from a model hub that the test plays.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use outcrop::CancelToken;
use outcrop::models::{Catalogue, EntryState, FetchPhase, ModelError, Part, Pip, WheelSource, entries, fetch_with};
use tests::outcrop_binary;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const NAME: &str = "tiny";
/// SHA-256 of "hello world!".
const SUM: &str = "7509e5bda0c762d2bac7f90d758b5b2263fa01ccbc542ab5e3df163be08e6ca9";

fn catalogue(sum: &str) -> Catalogue {
    Catalogue::parse(&format!(
        r#"
[[entry]]
name = "{NAME}"
use = "generator"
title = "Tiny"
licence = "MIT"
sets = ["test"]
memory_bytes = 1
manifest = "name = 'tiny'"
[[entry.file]]
name = "tiny.gguf"
bytes = 12
sha256 = "{sum}"
[[entry.file.part]]
package = "outcrop-tiny-part1"
version = "1.0.0"
path = "outcrop_tiny_part1/data.bin"
wheel_bytes = 1000
[[entry.file.part]]
package = "outcrop-tiny-part2"
version = "1.0.0"
path = "outcrop_tiny_part2/data.bin"
wheel_bytes = 1000
"#
    ))
    .unwrap()
}

fn write_wheel(folder: &Path, part: u32, content: &str) {
    let package = format!("outcrop_tiny_part{part}");
    let file = File::create(folder.join(format!("{package}-1.0.0-py3-none-any.whl"))).unwrap();
    let mut wheel = ZipWriter::new(file);
    let info = format!("{package}-1.0.0.dist-info");
    let members = [
        (format!("{package}/data.bin"), content.to_owned()),
        (format!("{info}/METADATA"), format!("Metadata-Version: 2.1\nName: {package}\nVersion: 1.0.0\n")),
        (format!("{info}/WHEEL"), "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n".to_owned()),
        (format!("{info}/RECORD"), String::new()),
    ];
    for (name, text) in members {
        wheel.start_file(name, SimpleFileOptions::default()).unwrap();
        wheel.write_all(text.as_bytes()).unwrap();
    }
    wheel.finish().unwrap();
}

/// Copies wheels from a folder and notes what it was asked for.
struct FolderSource {
    folder: PathBuf,
    asked: RefCell<Vec<String>>,
    fails_for: Option<&'static str>,
}

impl FolderSource {
    fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), asked: RefCell::default(), fails_for: None }
    }
}

impl WheelSource for FolderSource {
    fn download(
        &self,
        part: &Part,
        folder: &Path,
        _scratch: &Path,
        on_bytes: &mut dyn FnMut(u64),
        _cancel: &CancelToken,
    ) -> Result<(), ModelError> {
        self.asked.borrow_mut().push(part.package.clone());
        if self.fails_for == Some(part.package.as_str()) {
            return Err(ModelError::Cancelled);
        }
        on_bytes(500);
        let name = format!("{}-{}-py3-none-any.whl", part.package.replace('-', "_"), part.version);
        std::fs::copy(self.folder.join(&name), folder.join(&name)).unwrap();
        Ok(())
    }
}

struct Bench {
    wheels: tempfile::TempDir,
    models: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { wheels: tempfile::tempdir().unwrap(), models: tempfile::tempdir().unwrap() };
        write_wheel(bench.wheels.path(), 1, "hello ");
        write_wheel(bench.wheels.path(), 2, "world!");
        bench
    }

    fn fetch(&self, catalogue: &Catalogue, source: &dyn WheelSource) -> Result<(), ModelError> {
        let names = [NAME.to_owned()];
        fetch_with(catalogue, source, self.models.path(), &names, &mut |_| (), &CancelToken::new())
    }

    fn model(&self) -> PathBuf {
        self.models.path().join(NAME).join("tiny.gguf")
    }

    fn state(&self) -> EntryState {
        entries(&catalogue(SUM), self.models.path())[0].state
    }
}

#[test]
fn parts_are_joined_checked_and_installed_once() {
    let bench = Bench::new();
    let source = FolderSource::new(bench.wheels.path());
    assert_eq!(bench.state(), EntryState::Missing);
    bench.fetch(&catalogue(SUM), &source).unwrap();
    assert_eq!(std::fs::read_to_string(bench.model()).unwrap(), "hello world!");
    assert_eq!(bench.state(), EntryState::Installed);
    assert!(bench.model().with_file_name("manifest.toml").is_file());
    bench.fetch(&catalogue(SUM), &source).unwrap();
    assert_eq!(source.asked.borrow().len(), 2, "the second fetch must download nothing");
}

#[test]
fn an_interrupted_fetch_goes_on_where_it_was() {
    let bench = Bench::new();
    let mut source = FolderSource::new(bench.wheels.path());
    source.fails_for = Some("outcrop-tiny-part2");
    assert_eq!(bench.fetch(&catalogue(SUM), &source), Err(ModelError::Cancelled));
    assert_eq!(bench.state(), EntryState::Incomplete);
    let source = FolderSource::new(bench.wheels.path());
    bench.fetch(&catalogue(SUM), &source).unwrap();
    assert_eq!(*source.asked.borrow(), ["outcrop-tiny-part2"]);
    assert_eq!(bench.state(), EntryState::Installed);
}

#[test]
fn a_wrong_sum_names_both_and_installs_nothing() {
    let bench = Bench::new();
    let wrong = "0".repeat(64);
    let err = bench.fetch(&catalogue(&wrong), &FolderSource::new(bench.wheels.path())).unwrap_err();
    let text = err.to_string();
    assert!(text.contains(SUM) && text.contains(&wrong) && text.contains("tiny.gguf"), "{text}");
    assert!(!bench.model().exists());
    let source = FolderSource::new(bench.wheels.path());
    bench.fetch(&catalogue(SUM), &source).unwrap();
    assert_eq!(source.asked.borrow().len(), 2, "wheels with a wrong sum must not be used again");
}

#[test]
fn too_long_a_part_is_a_mismatch() {
    let bench = Bench::new();
    write_wheel(bench.wheels.path(), 2, &"world! ".repeat(100_000));
    let err = bench.fetch(&catalogue(SUM), &FolderSource::new(bench.wheels.path())).unwrap_err();
    assert!(matches!(err, ModelError::Mismatch { found_bytes: 13, .. }), "{err}");
}

#[test]
fn a_damaged_wheel_is_named_and_fetched_anew() {
    let bench = Bench::new();
    let path = bench.wheels.path().join("outcrop_tiny_part1-1.0.0-py3-none-any.whl");
    std::fs::write(&path, "not a zip").unwrap();
    let err = bench.fetch(&catalogue(SUM), &FolderSource::new(bench.wheels.path())).unwrap_err();
    assert!(matches!(&err, ModelError::Wheel { package, .. } if package == "outcrop-tiny-part1"), "{err}");
    write_wheel(bench.wheels.path(), 1, "hello ");
    bench.fetch(&catalogue(SUM), &FolderSource::new(bench.wheels.path())).unwrap();
}

#[test]
fn a_changed_file_is_noticed_and_put_right() {
    let bench = Bench::new();
    let source = FolderSource::new(bench.wheels.path());
    bench.fetch(&catalogue(SUM), &source).unwrap();
    std::fs::write(bench.model(), "HELLO WORLD!").unwrap();
    assert_eq!(bench.state(), EntryState::Incomplete);
    bench.fetch(&catalogue(SUM), &source).unwrap();
    assert_eq!(std::fs::read_to_string(bench.model()).unwrap(), "hello world!");
}

#[test]
fn a_right_file_put_there_by_hand_is_taken() {
    let bench = Bench::new();
    std::fs::create_dir(bench.model().parent().unwrap()).unwrap();
    std::fs::write(bench.model(), "hello world!").unwrap();
    let source = FolderSource::new(bench.wheels.path());
    bench.fetch(&catalogue(SUM), &source).unwrap();
    assert!(source.asked.borrow().is_empty());
    assert_eq!(bench.state(), EntryState::Installed);
}

#[test]
fn progress_reaches_its_total() {
    let bench = Bench::new();
    let mut seen = Vec::new();
    fetch_with(
        &catalogue(SUM),
        &FolderSource::new(bench.wheels.path()),
        bench.models.path(),
        &[NAME.to_owned()],
        &mut |progress| seen.push((progress.phase, progress.bytes_done, progress.bytes_total)),
        &CancelToken::new(),
    )
    .unwrap();
    assert!(seen.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{seen:?}");
    assert!(seen.contains(&(FetchPhase::Downloading, 500, 2000)));
    assert_eq!(seen.last(), Some(&(FetchPhase::Done, 2000, 2000)));
}

#[test]
fn the_package_client_fetches_and_says_why_it_cannot() {
    let bench = Bench::new();
    let links = format!("--find-links={}", bench.wheels.path().display());
    let pip = Pip { extra_args: vec!["--no-index".to_owned(), links] };
    bench.fetch(&catalogue(SUM), &pip).unwrap();
    assert_eq!(bench.state(), EntryState::Installed);
    let empty = Bench::new();
    let nowhere = Pip { extra_args: vec!["--no-index".to_owned(), "--find-links=.".to_owned()] };
    let err = empty.fetch(&catalogue(SUM), &nowhere).unwrap_err();
    assert!(matches!(&err, ModelError::Download { package, .. } if package == "outcrop-tiny-part1"), "{err}");
}

/// A GGUF file without a tensor, and its SHA-256.
const GGUF: &[u8; 32] = b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
const GGUF_SUM: &str = "a3718c7940c34ff91a906d0758debb656aed43d1aa8b23b99f67cb106cdbc881";

/// Gives each request its answer and then hangs up; the thread ends with the last one.
fn hub(answers: Vec<Vec<u8>>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let answer = move |answer: Vec<u8>| {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut byte = [0];
        while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
            request.push(byte[0]);
        }
        stream.write_all(&answer).unwrap();
        String::from_utf8(request).unwrap()
    };
    let serve = move || answers.into_iter().map(answer).collect();
    (address, std::thread::Builder::new().name("hub".to_owned()).spawn(serve).unwrap())
}

/// Promises [`GGUF`] and sends its first bytes, or all of them.
fn sent(bytes: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", GGUF.len());
    [head.as_bytes(), &GGUF[..bytes]].concat()
}

/// Runs `outcrop --json models` with these arguments.
fn run_models(home: &Path, hub: &str, args: &[&str]) -> Output {
    let mut command = Command::new(outcrop_binary());
    command.env("OUTCROP_HOME", home).env("OUTCROP_MODELS", home.join("models")).env("OUTCROP_HUB", hub);
    command.args(["--json", "models"]).args(args).output().unwrap()
}

#[test]
fn the_command_line_fetches_from_the_hub_that_it_is_told_of() {
    let home = tempfile::tempdir().unwrap();
    let (address, server) = hub(vec![sent(GGUF.len())]);
    let run = |args: &[&str]| {
        let args: Vec<&str> = std::iter::once("fetch").chain(args.iter().copied()).collect();
        run_models(home.path(), &address, &args)
    };
    let name = "hub:owner/repo/Tiny.gguf";
    for (args, status, expected) in [
        (vec![name], 2, "--unverified"),
        (vec![name, "--sha256", "abc"], 2, "64 hexadecimal digits"),
        (vec!["hub:owner/Tiny.gguf", "--unverified"], 2, "hub:OWNER/REPO/FILE.gguf"),
        (vec!["onnxruntime", "--from", "hub"], 1, "--from package"),
        (vec!["onnxruntime", "--unverified"], 2, "one file"),
    ] {
        let output = run(&args);
        assert_eq!(output.status.code(), Some(status), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains(expected), "{args:?}: {output:?}");
    }
    let output = run(&[name, "--sha256", GGUF_SUM]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(value["installed"][0], "tiny");
    assert_eq!((value["sha256"].as_str(), value["verified"].as_bool()), (Some(GGUF_SUM), Some(true)));
    assert_eq!(std::fs::read(home.path().join("models/tiny/Tiny.gguf")).unwrap(), GGUF);
    let requests = server.join().unwrap();
    assert!(requests[0].starts_with("GET /owner/repo/resolve/main/Tiny.gguf HTTP/1.1\r\n"), "{requests:?}");
}

#[test]
fn what_a_stopped_hub_download_left_is_listed_and_removed_once_no_fetch_runs() {
    let home = tempfile::tempdir().unwrap();
    let (address, server) = hub(vec![sent(9), b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec()]);
    let name = "hub:owner/repo/q4/Tiny.gguf";
    let run = |args: &[&str]| run_models(home.path(), &address, args);
    let listed = || -> Option<serde_json::Value> {
        let rows: Vec<serde_json::Value> = serde_json::from_slice(&run(&["list"]).stdout).unwrap();
        rows.into_iter().find(|row| row["name"] == name)
    };
    let output = run(&["fetch", name, "--sha256", GGUF_SUM]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(server.join().unwrap()[1].contains("\r\nRange: bytes=9-\r\n"));
    let row = listed().unwrap();
    assert_eq!((row["state"].as_str(), row["bytes"].as_u64()), (Some("incomplete"), Some(9)));

    // As another Outcrop that is fetching holds it.
    let lock = File::create(home.path().join("models/.partial/lock")).unwrap();
    lock.lock().unwrap();
    let output = run(&["remove", name]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("wait for it or stop it"), "{output:?}");
    assert!(listed().is_some());
    lock.unlock().unwrap();
    let output = run(&["remove", name]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(listed(), None);
}
