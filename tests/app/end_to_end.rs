//! From files to a cited answer: real workers, the real embedder and a small real language model.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod model_support;

use std::path::{Path, PathBuf};
use std::process::Command;

use model_support::{TEST_GENERATOR, library_of_samples, models_with, place, test_generator_file};
use outcrop::answer::{Answer, AskEvent, AskOptions, EXTRACTIVE};
use outcrop::store::DocumentStatus;
use outcrop::{CancelToken, Library};
use serde_json::Value;
use tests::outcrop_binary;
use tests::pdf::pdf;

/// A library over the samples, every one of them ready.
fn library(home: &Path) -> Library {
    let (library, report) = library_of_samples(home);
    for file in &report.files {
        assert_eq!(file.status, DocumentStatus::Ready, "{:?}: {:?}", file.path, file.reason);
    }
    library
}

fn ask(library: &Library, question: &str, model: &str) -> (Answer, String) {
    let options = AskOptions { model: Some(model.to_owned()), max_answer_tokens: 64, ..AskOptions::default() };
    let mut streamed = String::new();
    let mut on_event = |event| {
        if let AskEvent::Token(piece) = event {
            streamed.push_str(&piece);
        }
    };
    let answer = library.ask(question, &options, &mut on_event, &CancelToken::new()).unwrap();
    (answer, streamed)
}

/// Every citation is exactly what stands in its document.
fn assert_citations_land(library: &Library, answer: &Answer) {
    for citation in &answer.citations {
        let extraction = library.extraction(citation.document).unwrap();
        assert_eq!(extraction.text[citation.start..citation.end], citation.quote);
        assert!(answer.answer.contains(&format!("[{}]", citation.marker)), "{}", answer.answer);
    }
}

#[test]
fn documents_become_a_cited_answer() {
    let home = tempfile::tempdir().unwrap();
    let library = library(home.path());

    let question = "How much is the Contractor paid per hour for standby time?";
    let (answer, streamed) = ask(&library, question, EXTRACTIVE);
    assert!(answer.answer.contains("145 euros per hour"), "{}", answer.answer);
    assert!(answer.citations.iter().any(|citation| citation.path.ends_with("drilling-contract.docx")));
    assert_eq!(answer.answer, streamed);
    assert_citations_land(&library, &answer);

    let (answer, streamed) = ask(&library, question, TEST_GENERATOR);
    assert!(!answer.refused && !answer.answer.trim().is_empty(), "{answer:?}");
    assert_eq!((answer.model.as_str(), answer.answer.as_str()), (TEST_GENERATOR, streamed.as_str()));
    assert!(answer.passages_used >= 1 && answer.passages_used <= answer.passages_found);
    assert!(answer.prompt_tokens > 100 && answer.answer_tokens > 0);
    assert_citations_land(&library, &answer);

    let (answer, _) = ask(&library, "What is the capital of Mongolia?", TEST_GENERATOR);
    assert!(answer.refused && answer.answer_tokens == 0, "{answer:?}");
    assert!(!answer.citations.is_empty(), "a refusal names the nearest passages");
    assert_citations_land(&library, &answer);
}

/// The program over a home and a models folder of its own.
struct Program {
    home: tempfile::TempDir,
    models: PathBuf,
}

impl Program {
    /// What it prints with `--json`; it must end well.
    fn run(&self, args: &[&str]) -> Value {
        let output = Command::new(outcrop_binary())
            .env("OUTCROP_HOME", self.home.path().join("home"))
            .env("OUTCROP_MODELS", &self.models)
            .env("OUTCROP_GPU", "off")
            .arg("--json")
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.home.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

#[test]
fn a_model_that_was_added_answers() {
    let home = tempfile::tempdir().unwrap();
    let models = home.path().join("models");
    let program = Program { home, models };
    let file = program.home.path().join("downloads/My-Model.gguf");
    place(&test_generator_file(), &file);
    assert_eq!(program.run(&["models", "add", file.to_str().unwrap()])["added"], "my-model");
    let listed = program.run(&["models"]);
    let row = listed.as_array().unwrap().iter().find(|row| row["name"] == "my-model").unwrap();
    assert_eq!(row["state"], "installed", "{row}");
    program.run(&["ingest", &program.write("pump.txt", b"Hold the red button for five seconds to reset the pump.")]);
    for model in [&[][..], &["--model", "my-model"]] {
        let answer = program.run(&[&["ask", "How do I reset the pump?", "--max-tokens", "40"], model].concat());
        assert_eq!(answer["model"], "my-model", "{answer}");
        assert!(answer["answer_tokens"].as_u64().unwrap() > 0 && answer["prompt_tokens"].as_u64().unwrap() > 0);
        assert!(!answer["answer"].as_str().unwrap().is_empty() && answer["refused"] == false, "{answer}");
    }
}

#[test]
fn a_quote_that_runs_over_a_page_break_is_marked_on_both_pages() {
    let program = Program { home: tempfile::tempdir().unwrap(), models: models_with("pdfium") };
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let pages = [
        lines(&[
            "The harbour office keeps a list of every crane on the quay and of its limits.",
            "The old crane is painted green and stands beside the fish market since the fire.",
            "In a strong north wind the new harbour crane lifts no more than seven tonnes,",
        ]),
        lines(&[
            "and in a calm the same crane lifts up to twelve tonnes from the deck of a barge.",
            "The keeper of the crane signs the book of loads each evening before he goes home.",
        ]),
    ];
    program.run(&["ingest", &program.write("cranes.pdf", &pdf(&pages, ""))]);
    let folder = program.home.path().join("pages");
    let question = "How many tonnes does the new harbour crane lift in a strong north wind?";
    let answer = program.run(&["ask", question, "--model", "extractive", "--pages", folder.to_str().unwrap()]);
    let citations = answer["citations"].as_array().unwrap();
    let over = citations.iter().find(|citation| citation["quote"].as_str().unwrap().contains("seven tonnes")).unwrap();
    assert!(over["quote"].as_str().unwrap().contains("twelve tonnes"), "{over}");
    assert_eq!(over["pages"], serde_json::json!([1, 2]));
    let pictures = answer["page_pictures"].as_array().unwrap();
    for page in [1, 2] {
        let drawn = pictures.iter().find(|picture| picture["marker"] == over["marker"] && picture["page"] == page);
        let drawn = drawn.unwrap_or_else(|| panic!("page {page} is not drawn: {pictures:?}"));
        let boxes = drawn["boxes"].as_array().unwrap();
        assert_eq!(boxes.len(), 1, "the quote has one line on page {page}: {drawn}");
        // It is the last line of the first page and the first of the second.
        let line = if page == 1 { 2.0 } else { 0.0 };
        let points = 842.0 - 760.0 + 16.0 * line;
        let pixels = points / 842.0 * drawn["height"].as_f64().unwrap();
        let (top, bottom) = (boxes[0]["top"].as_f64().unwrap(), boxes[0]["bottom"].as_f64().unwrap());
        assert!(top < pixels && pixels < bottom + 4.0, "page {page}: {top} to {bottom}, expected {pixels}");
    }
}
