//! The chat template is the model's own where llama.cpp knows it, and ChatML with a note where it does not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use outcrop::answer::{AskOptions, Generator, LlamaGenerator};
use outcrop::embed::HashEmbedder;
use outcrop::ingest::IngestOptions;
use outcrop::models::GeneratorModel;
use outcrop::{CancelToken, Library, LibraryOptions};
use tests::gguf::with_chat_template;
use tests::outcrop_binary;

use super::model_support::{test_generator, test_generator_file};
use super::{generate, prompt};

const LLAMA_2: &str = "{% for message in messages %}{% if message['role'] == 'system' %}{{ '<<SYS>>' + message['content'] }}\
    {% else %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% endif %}{% endfor %}";
const UNKNOWN: &str = "{% for message in messages %}@{{ message['role'] }}: {{ message['content'] }};{% endfor %}";

/// The test generator with another template, in a models folder.
fn write_model(models: &Path, template: &str) -> PathBuf {
    let path = models.join("other/other.gguf");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, with_chat_template(&std::fs::read(test_generator_file()).unwrap(), template)).unwrap();
    path
}

fn generator_with(template: &str, folder: &Path) -> LlamaGenerator {
    let path = write_model(folder, template);
    let bytes = path.metadata().unwrap().len();
    let model = GeneratorModel {
        name: "other".to_owned(),
        title: "Other".to_owned(),
        path,
        bytes,
        memory_bytes: bytes,
        rank: None,
    };
    LlamaGenerator::new(model, Some(outcrop_binary()))
}

#[test]
fn a_prompt_is_made_with_the_template_of_the_models_file() {
    let folder = tempfile::tempdir().unwrap();
    let user = "What is the capital of France?";
    let mut generator = generator_with(LLAMA_2, folder.path());
    let found = generate(&mut generator, user, 4).unwrap().prompt_tokens;
    // What llama.cpp puts around the two contents for this template, none of it a special token.
    let system = prompt(user).system;
    let parts = ["[INST] <<SYS>>\n", &system, "\n<</SYS>>\n\n", user, " [/INST]"];
    let expected: usize = parts.iter().map(|part| generator.count_tokens(part).unwrap()).sum();
    assert_eq!(found, expected);
    assert!(generator.notes().is_empty(), "{:?}", generator.notes());
    let own = generate(&mut test_generator(), user, 4).unwrap().prompt_tokens;
    assert_ne!(found, own, "the template would make no difference");
}

#[test]
fn a_template_that_is_not_known_gives_way_to_chatml_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let user = "What is the capital of France?";
    let mut generator = generator_with(UNKNOWN, folder.path());
    let found = generate(&mut generator, user, 40).unwrap();
    let own = generate(&mut test_generator(), user, 40).unwrap();
    assert!(own.text.contains("Paris"), "{}", own.text);
    assert_eq!((found.text, found.prompt_tokens), (own.text, own.prompt_tokens), "the model's own is ChatML");
    assert!(matches!(generator.notes(), [note] if note.contains("template") && note.contains("ChatML")));
}

#[test]
fn the_answer_tells_of_a_template_that_is_not_known() {
    let home = tempfile::tempdir().unwrap();
    write_model(&home.path().join("models"), UNKNOWN);
    let note = home.path().join("pump.txt");
    std::fs::write(&note, "Hold the red button for five seconds to reset the pump.").unwrap();
    let library = Library::open(LibraryOptions {
        home: Some(home.path().join("home")),
        models: Some(home.path().join("models")),
        embedder: Some(Arc::new(HashEmbedder)),
        worker_binary: Some(outcrop_binary()),
        ..LibraryOptions::default()
    })
    .unwrap();
    library.ingest(&[note], &IngestOptions::default(), &|_| (), &CancelToken::new()).unwrap();
    let options = AskOptions { max_answer_tokens: 24, ..AskOptions::default() };
    let answer = library.ask("How do I reset the pump?", &options, &mut |_| (), &CancelToken::new()).unwrap();
    assert_eq!(answer.model, "other");
    assert!(answer.notes.iter().any(|note| note.contains("ChatML")), "{:?}", answer.notes);
    assert!(!answer.refused && !answer.answer.is_empty(), "{answer:?}");
}
