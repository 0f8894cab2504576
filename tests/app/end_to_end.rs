//! From files to a cited answer: real workers, the real embedder and a small real language model.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod model_support;

use std::path::Path;

use model_support::{TEST_GENERATOR, library_of_samples};
use outcrop::answer::{Answer, AskEvent, AskOptions, EXTRACTIVE};
use outcrop::store::DocumentStatus;
use outcrop::{CancelToken, Library};

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
