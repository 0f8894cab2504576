//! Questions about whole documents: what a summary has seen, and counts.

use std::collections::BTreeSet;

use outcrop::answer::{Answer, AskEvent, AskOptions, EXTRACTIVE};
use outcrop::extract::DocumentKind;
use outcrop::retrieve::{SearchHit, SearchOptions};
use outcrop::{CancelToken, Library};

use crate::fixture::{World, chunks_of, ingest, ingest_with};

/// A document of so many paragraphs, each a chunk of its own.
fn paragraphs(subject: &str, count: usize) -> String {
    (0..count).map(|at| format!("Note {at} tells of the {subject} that was seen at the quarry that day.\n\n")).collect()
}

/// The answer with the passages that it was made from.
fn ask_with(library: &Library, question: &str, search: SearchOptions) -> (Answer, Vec<SearchHit>) {
    let options = AskOptions { model: Some(EXTRACTIVE.to_owned()), search, ..AskOptions::default() };
    let mut found = Vec::new();
    let mut on_event = |event| {
        if let AskEvent::Retrieved { hits, .. } = event {
            found = hits;
        }
    };
    let answer = library.ask(question, &options, &mut on_event, &CancelToken::new()).unwrap();
    (answer, found)
}

fn ask(library: &Library, question: &str) -> Answer {
    ask_with(library, question, SearchOptions::default()).0
}

#[test]
fn a_summary_is_made_from_all_over_the_document_and_says_how_much_of_it_was_seen() {
    let world = World::new();
    let file = world.write("log.txt", &paragraphs("heron", 120));
    let library = world.open();
    ingest_with(&library, &[file], &chunks_of(90));
    let chunks = library.documents().unwrap()[0].chunks;
    assert!(chunks >= 100, "{chunks}");
    let (answer, hits) = ask_with(&library, "Summarise this document", SearchOptions::default());
    assert!(!answer.refused && !answer.answer.is_empty(), "{answer:?}");
    // "seen 5 of 120 chunks": what was read, what was chosen, and what there is.
    assert_eq!((answer.passages_found, answer.passages_searched), (hits.len(), chunks));
    assert!(answer.passages_used >= 1 && answer.passages_used < hits.len(), "{answer:?}");
    assert!(hits.iter().zip(1..).all(|(hit, rank)| hit.rank == rank));
    // However few of them are read, they lie in every part of the document.
    for used in [answer.passages_used, 8, hits.len()] {
        let parts: BTreeSet<usize> = hits[..used].iter().map(|hit| hit.chunk.index * 4 / chunks).collect();
        assert_eq!(parts.len(), 4, "{used} passages lie in the quarters {parts:?}");
    }
    let distinct: BTreeSet<u64> = hits.iter().map(|hit| hit.chunk.id.0).collect();
    assert_eq!(distinct.len(), hits.len());
    for citation in &answer.citations {
        assert!(hits[..answer.passages_used].iter().any(|hit| hit.chunk.text.contains(&citation.quote)));
    }
}

#[test]
fn a_summary_is_of_the_document_that_is_named_or_of_those_that_pass_the_filter() {
    let world = World::new();
    let files = ["harbour.txt", "weather.txt"].map(|name| world.write(name, &paragraphs(&name[..7], 30)));
    let library = world.open();
    ingest_with(&library, &files, &chunks_of(90));
    let names = |hits: &[SearchHit]| -> BTreeSet<String> {
        hits.iter().map(|hit| crate::fixture::name_of(&hit.path)).collect()
    };
    let (named, hits) = ask_with(&library, "Summarise the weather", SearchOptions::default());
    assert_eq!((names(&hits), named.passages_searched), (BTreeSet::from(["weather.txt".to_owned()]), 30));
    let filter = SearchOptions { source: Some("*harbour*".to_owned()), ..SearchOptions::default() };
    let (filtered, hits) = ask_with(&library, "What are these documents about?", filter);
    assert_eq!((names(&hits), filtered.passages_searched), (BTreeSet::from(["harbour.txt".to_owned()]), 30));
    let (both, hits) = ask_with(&library, "What are these documents about?", SearchOptions::default());
    assert_eq!((names(&hits).len(), both.passages_searched), (2, 60));
}

#[test]
fn documents_are_counted_with_and_without_filters() {
    let world = World::new();
    let mut files = vec![
        world.write("a.txt", &paragraphs("heron", 3)),
        world.write("b.txt", &paragraphs("seal", 2)),
        world.write("c.md", "# Dikes\n\nA dike."),
    ];
    files.push(world.write("broken.txt", "SECRET"));
    let library = world.open();
    ingest_with(&library, &files, &chunks_of(90));
    let question = "How many documents are there?";
    let all = ask(&library, question);
    let chunks: usize = library.documents().unwrap().iter().map(|document| document.chunks).sum();
    let expected = format!("This library holds 3 documents in {chunks} chunks. 1 more could not be read.");
    assert_eq!((all.answer.as_str(), all.model.as_str(), all.refused), (expected.as_str(), "library", false));

    let of_kind = SearchOptions { kinds: vec![DocumentKind::Text], ..SearchOptions::default() };
    let (texts, _) = ask_with(&library, question, of_kind);
    assert_eq!(texts.answer, "2 documents of the 3 in this library passed the filters, in 5 chunks.");
    assert_eq!(texts.passages_searched, 5);
    let from = SearchOptions { source: Some("*.md".to_owned()), ..SearchOptions::default() };
    let (one, _) = ask_with(&library, question, from);
    assert!(one.answer.starts_with("1 document of the 3 in this library passed the filters"), "{}", one.answer);
    let nothing = SearchOptions { source: Some("*.pdf".to_owned()), ..SearchOptions::default() };
    let (none, _) = ask_with(&library, question, nothing);
    assert!(none.answer.starts_with("0 documents of the 3"), "{}", none.answer);
    assert_eq!(none.notes, ["no document matches *.pdf"]);
}

#[test]
fn mentions_are_counted_once_each_with_the_documents_that_hold_them() {
    let world = World::new();
    let files = [
        // Chunks overlap here: what stands in two of them is still one mention.
        world.write("a.txt", &"A basalt dike cuts the tuff. The Dikes are narrow. Rain fell on the quarry. ".repeat(4)),
        world.write("b.txt", "One dike is here, and basalt is elsewhere."),
        world.write("c.txt", "Nothing of the kind is in this note."),
    ];
    let library = world.open();
    let mut options = chunks_of(120);
    options.chunker.overlap = 60;
    ingest_with(&library, &files, &options);
    let question = "How many times is the word “dike” mentioned?";
    let dikes = ask(&library, question);
    assert!(dikes.answer.starts_with("“dike” is mentioned 9 times."), "{}", dikes.answer);
    assert!(dikes.answer.contains("- a.txt: 8 times\n- b.txt: 1 time"), "{}", dikes.answer);
    assert!(dikes.answer.contains("of 2 documents hold"), "{}", dikes.answer);
    let phrase = ask(&library, "How many documents mention basalt dike?");
    assert!(phrase.answer.starts_with("“basalt dike” is mentioned 4 times."), "{}", phrase.answer);
    assert!(phrase.answer.contains("of 2 documents hold all of its words"), "{}", phrase.answer);
    let none = ask(&library, "How often is granite mentioned in this library?");
    assert!(none.answer.starts_with("“granite” is mentioned 0 times. 0 passages of 0 documents"), "{}", none.answer);

    let filter = SearchOptions { source: Some("*b.txt".to_owned()), ..SearchOptions::default() };
    let (one, _) = ask_with(&library, question, filter);
    let expected = "“dike” is mentioned 1 time. 1 passage of 1 document holds all of its words, in any form.";
    assert!(one.answer.starts_with(expected), "{}", one.answer);
    assert_eq!(one.passages_searched, 1, "only what passed the filter was looked into");
}

#[test]
fn a_stop_is_heard_before_documents_are_read() {
    let world = World::new();
    let file = world.write("log.txt", &paragraphs("heron", 40));
    let library = world.open();
    ingest(&library, &[file]);
    let cancel = CancelToken::new();
    cancel.cancel();
    let options = AskOptions { model: Some(EXTRACTIVE.to_owned()), ..AskOptions::default() };
    for question in ["Summarise this document", "How many times is heron mentioned?"] {
        let answer = library.ask(question, &options, &mut |_| (), &cancel).unwrap();
        assert_eq!((answer.reason.as_deref(), answer.answer.as_str()), (Some("stopped"), ""), "{question}");
    }
}
