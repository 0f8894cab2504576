//! The generate worker with a small real model: streams, stops, dies and comes back.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "answer_cut_models.rs"]
mod cut_models;
#[cfg(unix)]
#[path = "answer_kills.rs"]
mod kills;
mod model_support;
#[path = "answer_templates.rs"]
mod templates;

use std::sync::Arc;
use std::time::{Duration, Instant};

use model_support::{TEST_GENERATOR, models_with, place, test_generator, test_generator_file};
use outcrop::answer::{
    AskOptions, ChatPrompt, GenerateError, GenerateEvent, Generation, Generator, Generators, LlamaGenerator,
};
use outcrop::embed::HashEmbedder;
use outcrop::ingest::IngestOptions;
use outcrop::{CancelToken, Library, LibraryOptions};
use tests::outcrop_binary;

fn prompt(user: &str) -> ChatPrompt {
    ChatPrompt { system: "You are a helpful assistant.".to_owned(), user: user.to_owned() }
}

fn generate(generator: &mut LlamaGenerator, user: &str, max_tokens: usize) -> Result<Generation, GenerateError> {
    generator.generate(&prompt(user), max_tokens, &mut |_| (), &CancelToken::new())
}

#[test]
fn it_streams_the_same_answer_every_time() {
    let mut generator = test_generator();
    let mut streamed = String::new();
    let user = "What is the capital of France?";
    let first = generator
        .generate(&prompt(user), 40, &mut |event| streamed.push_str(event.text()), &CancelToken::new())
        .unwrap();
    assert!(first.text.contains("Paris"), "{}", first.text);
    assert_eq!(streamed, first.text);
    assert!(first.prompt_tokens > 10 && first.answer_tokens > 0);
    let second = generate(&mut generator, user, 40).unwrap();
    assert_eq!(second.text, first.text);
}

#[test]
fn the_limit_is_kept_and_named() {
    let generation = generate(&mut test_generator(), "Tell me a long story about the sea.", 8).unwrap();
    assert_eq!(generation.answer_tokens, 8);
    assert!(generation.stopped.unwrap().contains("limit of 8 tokens"));
}

#[test]
fn a_prompt_that_does_not_fit_is_refused() {
    let err = generate(&mut test_generator(), &"rock ".repeat(9000), 100).unwrap_err();
    assert!(matches!(err, GenerateError::TooLong { prompt_tokens, .. } if prompt_tokens > 9000), "{err}");
}

#[test]
fn more_neighbours_than_fit_are_not_read() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("manual.txt");
    let paragraph = |number| format!("Step {number}. {}\n\n", "Turn the valve of the pump with care. ".repeat(18));
    std::fs::write(&file, (0..60).map(paragraph).collect::<Vec<_>>().concat()).unwrap();
    let library = Library::open(LibraryOptions {
        home: Some(home.path().join("home")),
        models: Some(models_with(TEST_GENERATOR)),
        embedder: Some(Arc::new(HashEmbedder)),
        worker_binary: Some(outcrop_binary()),
        ..LibraryOptions::default()
    })
    .unwrap();
    library.ingest(&[file], &IngestOptions::default(), &|_| (), &CancelToken::new()).unwrap();
    let options = AskOptions {
        model: Some(TEST_GENERATOR.to_owned()),
        neighbours: 40,
        max_answer_tokens: 4,
        gate: 0.0,
        ..AskOptions::default()
    };
    // Chunks of 800 characters are some 180 tokens each: forty on either side are ten times the prompt's share.
    let answer = library.ask("How is the valve turned?", &options, &mut |_| (), &CancelToken::new()).unwrap();
    assert!(answer.passages_used >= 1 && answer.passages_used < 12, "{answer:?}");
    assert!((600..=1400).contains(&answer.prompt_tokens), "what fits is read: {} tokens", answer.prompt_tokens);
}

#[test]
fn special_tokens_in_contents_are_plain_text() {
    let mut generator = test_generator();
    let plain = generator.count_tokens("<|im_end|>").unwrap();
    assert!(plain > 1, "the template's token must not be read out of a document");
}

#[test]
fn cancel_comes_back_at_once_and_the_next_question_works() {
    let mut generator = test_generator();
    generator.count_tokens("load").unwrap();
    let long = format!("{} What is this about?", "The survey went on in the rain. ".repeat(240));
    for user in ["Tell me a long story about the sea.", long.as_str()] {
        let cancel = CancelToken::new();
        let canceller = cancel.clone();
        let stop_later = move || {
            std::thread::sleep(Duration::from_millis(400));
            canceller.cancel();
            Instant::now()
        };
        let watch = std::thread::Builder::new().name("stop".to_owned()).spawn(stop_later).unwrap();
        let generation = generator.generate(&prompt(user), 2000, &mut |_| (), &cancel).unwrap();
        let cancelled_at = watch.join().unwrap();
        assert!(cancelled_at.elapsed() < Duration::from_millis(200), "{:?}", cancelled_at.elapsed());
        assert_eq!(generation.stopped.as_deref(), Some("stopped"));
    }
    let next = generate(&mut generator, "What is the capital of France?", 40).unwrap();
    assert!(next.text.contains("Paris"), "{}", next.text);
}

#[cfg(unix)]
#[test]
fn a_killed_worker_leaves_its_partial_answer_and_comes_back() {
    let mut generator = test_generator();
    generator.count_tokens("load").unwrap();
    let process_id = generator.process_id().unwrap();
    let mut pieces = 0;
    let mut on_event = |event: GenerateEvent<'_>| {
        pieces += usize::from(!event.text().is_empty());
        if pieces == 3 {
            let killed = std::process::Command::new("kill").args(["-9", &process_id.to_string()]).status().unwrap();
            assert!(killed.success());
        }
    };
    let outcome = generator.generate(&prompt("Tell me a long story."), 2000, &mut on_event, &CancelToken::new());
    let Err(GenerateError::Died { detail, partial }) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(detail.contains("killed"), "{detail}");
    assert!(!partial.is_empty());
    let next = generate(&mut generator, "What is the capital of France?", 40).unwrap();
    assert!(next.text.contains("Paris"), "{}", next.text);
    assert_ne!(generator.process_id(), Some(process_id));
}

#[cfg(unix)]
#[test]
fn a_worker_killed_between_two_questions_is_started_again() {
    let mut generator = test_generator();
    for _ in 0..10 {
        generator.count_tokens("load").unwrap();
        let process_id = generator.process_id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args(["-9", &process_id]).status().unwrap().success());
        // At once: the system may not have ended it yet.
        assert!(generator.count_tokens("three small words").unwrap() >= 3);
    }
}

#[test]
fn stop_is_heard_while_the_model_loads() {
    let cancel = CancelToken::new();
    let canceller = cancel.clone();
    let stop = move || {
        std::thread::sleep(Duration::from_millis(60));
        canceller.cancel();
    };
    let stop = std::thread::Builder::new().name("stop".to_owned()).spawn(stop).unwrap();
    let mut generator = test_generator();
    let begun = Instant::now();
    generator.load(&cancel).unwrap();
    stop.join().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert!(!generator.is_loaded());
    assert!(generator.count_tokens("three small words").unwrap() >= 3);
}

#[test]
fn what_two_prompts_share_is_read_once() {
    let mut generator = test_generator();
    let passages = "The survey went on in the rain. ".repeat(60);
    let timed = |generator: &mut LlamaGenerator, question: &str| {
        let begun = Instant::now();
        generate(generator, &format!("{passages}{question}"), 2).unwrap();
        begun.elapsed()
    };
    generator.count_tokens("load").unwrap();
    let cold = timed(&mut generator, "How was the weather?");
    let warm = timed(&mut generator, "What went on?");
    assert!(warm * 2 < cold, "the first took {cold:?}, the second {warm:?}");
}

#[test]
fn a_model_in_a_folder_with_any_name_loads() {
    let folder = tempfile::tempdir().unwrap();
    place(&test_generator_file(), &folder.path().join("modèle 模型").join("a b.gguf"));
    let mut generators = Generators::new(folder.path().to_owned(), Some(outcrop_binary()));
    let generator = generators.pick(Some("modèle 模型")).unwrap().unwrap();
    assert!(generator.count_tokens("three small words").unwrap() >= 3);
}

#[test]
fn an_unknown_name_lists_what_is_installed() {
    let mut generators = Generators::new(models_with(TEST_GENERATOR), Some(outcrop_binary()));
    let Err(err) = generators.pick(Some("gpt")) else {
        panic!("there is no such model");
    };
    assert!(err.to_string().contains(TEST_GENERATOR) && err.to_string().contains("extractive"), "{err}");
}
