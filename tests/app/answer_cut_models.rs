//! Models that are cut off: what is said, and that the next question is answered.

use std::path::Path;
use std::sync::Arc;

use outcrop::answer::{AskOptions, GenerateError, Generator, LlamaGenerator};
use outcrop::embed::HashEmbedder;
use outcrop::ingest::IngestOptions;
use outcrop::models::GeneratorModel;
use outcrop::{CancelToken, Library, LibraryOptions};
use tests::outcrop_binary;

use super::model_support::{place, test_generator_file};

/// The file of a generator that ends after `bytes`.
fn write_cut(target: &Path, bytes: u64) {
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    std::fs::copy(test_generator_file(), target).unwrap();
    std::fs::File::options().write(true).open(target).unwrap().set_len(bytes).unwrap();
}

#[test]
fn a_model_cut_anywhere_is_refused_before_it_is_loaded() {
    let bytes = std::fs::metadata(test_generator_file()).unwrap().len();
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.gguf");
    write_cut(&cut, bytes);
    for tenth in (0..10).rev() {
        let file = std::fs::File::options().write(true).open(&cut).unwrap();
        file.set_len(bytes * tenth / 10).unwrap();
        let model = GeneratorModel {
            name: "cut".to_owned(),
            title: "Cut".to_owned(),
            path: cut.clone(),
            bytes,
            memory_bytes: 1,
            rank: None,
        };
        let mut generator = LlamaGenerator::new(model, Some(outcrop_binary()));
        let err = generator.count_tokens("x").unwrap_err();
        assert!(matches!(&err, GenerateError::Load(detail) if detail.contains("cut off")), "{tenth}: {err}");
        assert_eq!(generator.process_id(), None);
    }
}

/// A library over one note, with a models folder of its own.
fn library_with(models: &Path, home: &Path) -> Library {
    let note = home.join("pump.txt");
    std::fs::write(&note, "Hold the red button for five seconds to reset the pump.").unwrap();
    let library = Library::open(LibraryOptions {
        home: Some(home.join("home")),
        models: Some(models.to_owned()),
        embedder: Some(Arc::new(HashEmbedder)),
        worker_binary: Some(outcrop_binary()),
        ..LibraryOptions::default()
    })
    .unwrap();
    library.ingest(&[note], &IngestOptions::default(), &|_| (), &CancelToken::new()).unwrap();
    library
}

#[test]
fn where_the_only_model_is_cut_the_library_says_so_and_goes_on_with_a_whole_one() {
    let home = tempfile::tempdir().unwrap();
    let models = home.path().join("models");
    let bytes = std::fs::metadata(test_generator_file()).unwrap().len();
    write_cut(&models.join("mine/mine.gguf"), bytes / 2);
    let library = library_with(&models, home.path());
    let ask = |model: Option<&str>| {
        let options = AskOptions { model: model.map(str::to_owned), max_answer_tokens: 60, ..AskOptions::default() };
        library.ask("How do I reset the pump?", &options, &mut |_| (), &CancelToken::new())
    };
    for model in [None, Some("mine")] {
        let err = ask(model).unwrap_err();
        for told in ["the model is cut off", "mine.gguf", "fetch or add it again"] {
            assert!(err.detail.contains(told), "no {told:?} in {err}");
        }
        assert!(err.hint.unwrap().contains("--model extractive"));
    }
    let extractive = ask(Some("extractive")).unwrap();
    assert!(extractive.answer.contains("red button"), "{}", extractive.answer);

    std::fs::remove_dir_all(models.join("mine")).unwrap();
    place(&test_generator_file(), &models.join("whole/whole.gguf"));
    let answer = ask(None).unwrap();
    assert_eq!(answer.model, "whole");
    assert!(!answer.answer.is_empty() && answer.answer_tokens > 0, "{answer:?}");
}
