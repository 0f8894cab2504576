//! The real embedding model against numbers that ONNX Runtime gave in Python for the same files.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod model_support;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use model_support::models_with;
use outcrop::embed::{DEFAULT_MODEL, EmbedError, Embedder, OnnxEmbedder, TextRole, open_installed};
use outcrop::ingest::IngestOptions;
use outcrop::library::GpuChoice;
use outcrop::models::{Native, library_path};
use outcrop::retrieve::{SearchMode, SearchOptions};
use outcrop::{CancelToken, Library, LibraryOptions};
use tests::onnx::OnnxGraph;
use tests::outcrop_binary;

static EMBEDDER: LazyLock<Arc<dyn Embedder>> = LazyLock::new(|| {
    let (embedder, note) = open_installed(&models_with(DEFAULT_MODEL));
    assert_eq!(note, None);
    embedder
});

fn embed(texts: &[&str]) -> Vec<Vec<f32>> {
    let rows = EMBEDDER.embed(texts, TextRole::Passage, &CancelToken::new(), &mut |_| ()).unwrap();
    rows.chunks(EMBEDDER.dims()).map(<[f32]>::to_vec).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn cosines_are_those_of_the_reference() {
    let rows = embed(&[
        "Standby time is paid at 145 euros per hour.",
        "How much does waiting cost?",
        "The cat sat on the mat.",
        "岩芯库内的温度是多少?",
    ]);
    let reference = [(0, 1, 0.325_788), (0, 2, -0.021_581), (0, 3, -0.007_507), (1, 2, 0.018_908), (2, 3, 0.014_734)];
    for (a, b, expected) in reference {
        let found = cosine(&rows[a], &rows[b]);
        assert!((found - expected).abs() < 2e-3, "{a} {b}: found {found}, expected {expected}");
    }
    assert!((rows[0][1] - 0.060_940_39).abs() < 1e-3, "{}", rows[0][1]);
}

#[test]
fn a_vector_does_not_depend_on_its_batch() {
    let long = "Basalt columns form as lava cools. ".repeat(20);
    let texts = ["one", "A somewhat longer sentence about drilling.", &long, "four"];
    let together = embed(&texts);
    for (text, row) in texts.iter().zip(&together) {
        let alone = &embed(&[text])[0];
        let difference = row.iter().zip(alone).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference < 1e-6, "{text}: {difference}");
    }
}

#[test]
fn text_beyond_the_window_counts() {
    let filler = "The survey went on in the rain without anything to report. ".repeat(60);
    let with_end = format!("{filler} Penguins eat krill near the Antarctic coast.");
    assert!(EMBEDDER.count_tokens(&filler) > 2 * EMBEDDER.window_tokens());
    let rows = embed(&[&filler, &with_end, "Penguins eat krill."]);
    assert!(cosine(&rows[1], &rows[2]) > cosine(&rows[0], &rows[2]) + 0.02);
}

#[test]
fn blank_texts_have_the_zero_vector_and_the_rest_unit_length() {
    let rows = embed(&["", " \n\t ", "a"]);
    assert!(rows[0].iter().chain(&rows[1]).all(|value| value.to_bits() == 0));
    assert!((cosine(&rows[2], &rows[2]) - 1.0).abs() < 1e-5);
}

#[test]
fn progress_ends_at_the_number_of_texts_and_cancel_stops() {
    let texts = ["a text"; 40];
    let mut last = 0;
    let mut on_done = |done| {
        assert!(done >= last);
        last = done;
    };
    EMBEDDER.embed(&texts, TextRole::Passage, &CancelToken::new(), &mut on_done).unwrap();
    assert_eq!(last, 40);
    let cancel = CancelToken::new();
    cancel.cancel();
    let outcome = EMBEDDER.embed(&texts, TextRole::Passage, &cancel, &mut |_| ());
    assert_eq!(outcome, Err(EmbedError::Cancelled));
}

#[test]
fn hostile_texts_are_embedded() {
    let long_word = "x".repeat(100_000);
    let texts = [long_word.as_str(), "\0\u{1}\u{feff}", "[CLS] [SEP] [PAD]", "😀🏳️‍🌈"];
    for row in embed(&texts) {
        assert!(row.iter().all(|value| value.is_finite()));
    }
}

#[test]
fn damaged_models_are_named() {
    let models = models_with(DEFAULT_MODEL);
    let library = library_path(&models, Native::OnnxRuntime);
    for (file, content) in [("model.onnx", "not a model"), ("tokenizer.json", "{}"), ("manifest.toml", "dims = 384")] {
        let folder = tempfile::tempdir().unwrap();
        for name in ["model.onnx", "tokenizer.json", "manifest.toml"] {
            std::fs::copy(models.join(DEFAULT_MODEL).join(name), folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join(file), content).unwrap();
        let err = OnnxEmbedder::open(folder.path(), &library).unwrap_err();
        let folder = folder.path().display().to_string();
        assert!(matches!(&err, EmbedError::Load(detail) if detail.contains(&folder)), "{file}: {err}");
    }
}

#[test]
fn wrong_dims_in_a_manifest_are_found_when_opening() {
    let models = models_with(DEFAULT_MODEL);
    let folder = tempfile::tempdir().unwrap();
    for name in ["model.onnx", "tokenizer.json"] {
        std::fs::copy(models.join(DEFAULT_MODEL).join(name), folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("manifest.toml"), "name = 'm'\ndims = 512\nwindow = 256").unwrap();
    let err = OnnxEmbedder::open(folder.path(), &library_path(&models, Native::OnnxRuntime)).unwrap_err();
    assert!(err.to_string().contains("512"), "{err}");
}

/// The words of a small model; each has a dimension of its own, so that a vector tells which words went into it.
const WORDS: [&str; 5] = ["[UNK]", "find", "keep", "granite", "basalt"];

/// A model whose token vectors are those of [`WORDS`], with these lines in its manifest.
fn write_model_of_words(folder: &Path, prefixes: &str) {
    std::fs::create_dir_all(folder).unwrap();
    let dims = WORDS.len();
    let mut table = vec![0.0; dims * dims];
    table.iter_mut().step_by(dims + 1).for_each(|value| *value = 1.0);
    let model = OnnxGraph::new()
        .input("input_ids")
        .constant("table", &[dims, dims], &table)
        .node("Gather", &["table", "input_ids"], "last_hidden_state")
        .model("last_hidden_state");
    std::fs::write(folder.join("model.onnx"), model).unwrap();
    let vocabulary: serde_json::Map<String, serde_json::Value> =
        WORDS.iter().zip(0..).map(|(word, id)| ((*word).to_owned(), id.into())).collect();
    let tokenizer = serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": { "type": "Lowercase" }, "pre_tokenizer": { "type": "Whitespace" },
        "post_processor": null, "decoder": null,
        "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]" },
    });
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let manifest = format!("name = 'Words'\ndims = {dims}\nwindow = 16\n{prefixes}");
    std::fs::write(folder.join("manifest.toml"), manifest).unwrap();
}

fn model_of_words(prefixes: &str) -> OnnxEmbedder {
    let folder = tempfile::tempdir().unwrap();
    write_model_of_words(folder.path(), prefixes);
    OnnxEmbedder::open(folder.path(), &library_path(&models_with("onnxruntime"), Native::OnnxRuntime)).unwrap()
}

const PREFIXES: &str = "query_prefix = 'find '\npassage_prefix = 'keep '\n";

#[test]
fn queries_and_passages_have_the_prefixes_of_the_models_manifest() {
    let half = 0.5_f32.sqrt();
    let (with, without) = (model_of_words(PREFIXES), model_of_words(""));
    for (model, role, expected) in [
        (&with, TextRole::Query, [0.0, half, 0.0, half, 0.0]),
        (&with, TextRole::Passage, [0.0, 0.0, half, half, 0.0]),
        (&without, TextRole::Query, [0.0, 0.0, 0.0, 1.0, 0.0]),
        (&without, TextRole::Passage, [0.0, 0.0, 0.0, 1.0, 0.0]),
    ] {
        let found = model.embed(&["Granite"], role, &CancelToken::new(), &mut |_| ()).unwrap();
        let difference = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
        assert!(found.len() == 5 && difference.fold(0.0, f32::max) < 1e-6, "{role:?}: {found:?}, not {expected:?}");
    }
    assert_ne!(with.fingerprint(), without.fingerprint(), "vectors of one must not be searched with the other");
}

#[test]
fn a_library_puts_the_prefix_of_a_query_before_queries_and_that_of_a_passage_before_passages() {
    let home = tempfile::tempdir().unwrap();
    let note = home.path().join("rock.txt");
    std::fs::write(&note, "granite").unwrap();
    let cosine = |name: &str, prefixes: &str| {
        let library = Library::open(LibraryOptions {
            home: Some(home.path().join(name)),
            embedder: Some(Arc::new(model_of_words(prefixes))),
            worker_binary: Some(outcrop_binary()),
            gpu: GpuChoice::Off,
            ..LibraryOptions::default()
        })
        .unwrap();
        let options = IngestOptions { context: false, ..IngestOptions::default() };
        library.ingest(std::slice::from_ref(&note), &options, &|_| (), &CancelToken::new()).unwrap();
        let options = SearchOptions { mode: SearchMode::Vector, ..SearchOptions::default() };
        library.search("granite", &options).unwrap().hits[0].scores.vector.unwrap()
    };
    // Both hold "granite", one of two words each: without a prefix they would be the same.
    assert!((cosine("with", PREFIXES) - 0.5).abs() < 1e-3);
    assert!((cosine("without", "") - 1.0).abs() < 1e-3);
}
