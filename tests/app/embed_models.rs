//! The real embedding model against numbers that ONNX Runtime gave in Python for the same files.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod model_support;

use std::sync::{Arc, LazyLock};

use model_support::models_with;
use outcrop::CancelToken;
use outcrop::embed::{DEFAULT_MODEL, EmbedError, Embedder, OnnxEmbedder, TextRole, open_installed};
use outcrop::models::{Native, library_path};

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
