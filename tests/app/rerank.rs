//! Reranking by a cross-encoder: a small model whose arithmetic is known, so that scores, order and cuts can be told
//! in advance.
//!
//! Its logit is the sum of one table over the tokens of the question, times the sum of another over those of the
//! passage. So it gives other scores where the two are swapped, where a special token is missing, where padding counts,
//! and where the wrong text is cut.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod model_support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model_support::models_with;
use outcrop::answer::AskOptions;
use outcrop::embed::{CrossEncoder, EmbedError, HashEmbedder, Rerankers};
use outcrop::ingest::IngestOptions;
use outcrop::library::GpuChoice;
use outcrop::models::{Native, RerankerModel, library_path};
use outcrop::retrieve::{Fate, Outcomes, Reranker, SearchOptions, SearchResults};
use outcrop::{CancelToken, Library, LibraryOptions};
use tests::onnx::OnnxGraph;
use tests::outcrop_binary;

/// Words with what they count in a question and in a passage.
const WORDS: [(&str, f32, f32); 9] = [
    ("[PAD]", 50.0, 50.0),
    ("[UNK]", 0.0, 0.0),
    ("[CLS]", 0.5, 70.0),
    ("[SEP]", 0.25, 0.05),
    ("granite", 1.0, 0.0),
    ("basalt", -3.0, 0.0),
    ("one", 0.0, 0.1),
    ("two", 0.0, 0.2),
    ("three", 0.0, 0.3),
];

fn graph() -> OnnxGraph {
    let asked: Vec<f32> = WORDS.iter().map(|word| word.1).collect();
    let told: Vec<f32> = WORDS.iter().map(|word| word.2).collect();
    let float: (&str, &[u64]) = ("to=", &[1]);
    ["input_ids", "attention_mask", "token_type_ids"]
        .iter()
        .fold(OnnxGraph::new(), |graph, name| graph.input(name))
        .constant("asked", &[WORDS.len()], &asked)
        .constant("told", &[WORDS.len()], &told)
        .node_with("Cast", &["attention_mask"], "is_token", &[float])
        .node_with("Cast", &["token_type_ids"], "is_second", &[float])
        .node("Mul", &["is_token", "is_second"], "in_passage")
        .node("Sub", &["is_token", "in_passage"], "in_question")
        .node("Gather", &["asked", "input_ids"], "asked_values")
        .node("Gather", &["told", "input_ids"], "told_values")
        .node("Mul", &["asked_values", "in_question"], "question_values")
        .node("Mul", &["told_values", "in_passage"], "passage_values")
        .sum("question_values", "question_sum", false)
        .sum("passage_values", "passage_sum", false)
        .node("Mul", &["question_sum", "passage_sum"], "logits")
}

/// A model that gives a number for each token, as no cross-encoder does.
fn wrong_model() -> Vec<u8> {
    graph().model("question_values")
}

/// A model that multiplies large matrices for a long time first.
fn slow_model() -> Vec<u8> {
    const SIDE: usize = 512;
    let graph = graph()
        .constant("matrix", &[SIDE, SIDE], &vec![1.0 / SIDE as f32; SIDE * SIDE])
        .constant("nothing", &[1, 1], &[0.0])
        .sum("question_sum", "sum", true)
        .node("Mul", &["matrix", "sum"], "step0");
    let steps = 4000;
    let graph = (0..steps).fold(graph, |graph, step| {
        graph.node("MatMul", &[&format!("step{step}"), "matrix"], &format!("step{}", step + 1))
    });
    graph
        .sum(&format!("step{steps}"), "late_sum", true)
        .node("Mul", &["late_sum", "nothing"], "late_nothing")
        .node("Add", &["logits", "late_nothing"], "late_logits")
        .model("late_logits")
}

fn tokenizer() -> String {
    let special = |word: &str| serde_json::json!({ "SpecialToken": { "id": word, "type_id": 0 } });
    let second = serde_json::json!({ "SpecialToken": { "id": "[SEP]", "type_id": 1 } });
    let sequence = |id: &str, type_id: u32| serde_json::json!({ "Sequence": { "id": id, "type_id": type_id } });
    let token = |id: usize| serde_json::json!({ "id": WORDS[id].0, "ids": [id], "tokens": [WORDS[id].0] });
    let added = |id: usize| {
        serde_json::json!({
            "id": id, "content": WORDS[id].0, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true,
        })
    };
    let vocabulary: serde_json::Map<String, serde_json::Value> =
        WORDS.iter().zip(0..).map(|(word, id)| (word.0.to_owned(), id.into())).collect();
    serde_json::json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [added(0), added(1), added(2), added(3)],
        "normalizer": { "type": "Lowercase" },
        "pre_tokenizer": { "type": "Whitespace" },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special("[CLS]"), sequence("A", 0), special("[SEP]")],
            "pair": [special("[CLS]"), sequence("A", 0), special("[SEP]"), sequence("B", 1), second],
            "special_tokens": { "[CLS]": token(2), "[SEP]": token(3) },
        },
        "decoder": null,
        "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]" },
    })
    .to_string()
}

/// A folder with a reranker of that window.
fn write_reranker(folder: &Path, model: &[u8], window: usize) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("model.onnx"), model).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer()).unwrap();
    let manifest = format!("kind = 'reranker'\nname = 'Two tables'\nwindow = {window}\n");
    std::fs::write(folder.join("manifest.toml"), manifest).unwrap();
}

/// A models folder with ONNX Runtime alone.
fn models_in(home: &Path) -> PathBuf {
    let models = home.join("models");
    let library = library_path(&models_with("onnxruntime"), Native::OnnxRuntime);
    let target = library_path(&models, Native::OnnxRuntime);
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    if std::fs::hard_link(&library, &target).is_err() {
        std::fs::copy(&library, &target).unwrap();
    }
    models
}

fn open(folder: &Path) -> CrossEncoder {
    let library = library_path(&models_with("onnxruntime"), Native::OnnxRuntime);
    CrossEncoder::open(&RerankerModel::read(folder).unwrap(), &library).unwrap()
}

#[track_caller]
fn assert_scores(found: &[f64], logits: &[f64]) {
    assert_eq!(found.len(), logits.len());
    for (score, logit) in found.iter().zip(logits) {
        let expected = 1.0 / (1.0 + (-logit).exp());
        assert!((score - expected).abs() < 1e-6, "found {found:?}, expected the sigmoids of {logits:?}");
    }
}

#[test]
fn scores_are_the_sigmoids_of_the_logits_whatever_the_batch() {
    let folder = tempfile::tempdir().unwrap();
    write_reranker(folder.path(), &graph().model("logits"), 64);
    let encoder = open(folder.path());
    let passages = ["one", "three two", "", "a long walk through unknown words to three", "two"];
    let scores = |question: &str| encoder.scores(question, &passages, &CancelToken::new()).unwrap();
    // [CLS] granite [SEP] is 0.5 + 1 + 0.25, and the last [SEP] counts 0.05 in the passage.
    assert_scores(&scores("granite"), &[0.15, 0.55, 0.05, 0.35, 0.25].map(|told| 1.75 * told));
    assert_scores(&scores("Basalt"), &[0.15, 0.55, 0.05, 0.35, 0.25].map(|told| -2.25 * told));
    let many: Vec<String> = (0..300).map(|at| format!("{}three", "word ".repeat(at % 40))).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_scores(&encoder.scores("granite", &many, &CancelToken::new()).unwrap(), &[1.75 * 0.35; 300]);
    assert_eq!(encoder.scores("granite", &[], &CancelToken::new()).unwrap(), [0.0; 0]);
}

#[test]
fn the_passage_is_cut_where_the_window_ends_and_the_question_is_not() {
    let folder = tempfile::tempdir().unwrap();
    write_reranker(folder.path(), &graph().model("logits"), 12);
    let encoder = open(folder.path());
    let passage = "one ".repeat(5) + "three three";
    // 12 tokens less 3 special ones leave 9: 4 for the question, 5 for the passage.
    let scores = encoder.scores("granite granite granite granite", &[&passage, "two"], &CancelToken::new()).unwrap();
    assert_scores(&scores, &[4.75 * 0.55, 4.75 * 0.25]);
    // A question that leaves nothing is cut too, and the passage keeps a quarter: 2 of 9.
    let scores = encoder.scores(&"granite ".repeat(30), &[&passage], &CancelToken::new()).unwrap();
    assert_scores(&scores, &[7.75 * 0.25]);
}

#[test]
fn a_cancel_ends_a_batch_that_is_under_way() {
    let folder = tempfile::tempdir().unwrap();
    write_reranker(folder.path(), &slow_model(), 64);
    let encoder = open(folder.path());
    let cancel = CancelToken::new();
    let canceller = cancel.clone();
    let stop = std::thread::Builder::new().name("stop".to_owned()).spawn(move || {
        std::thread::sleep(Duration::from_millis(500));
        canceller.cancel();
        Instant::now()
    });
    assert_eq!(encoder.scores("granite", &["one", "two"], &cancel), Err(EmbedError::Cancelled));
    let took = stop.unwrap().join().unwrap().elapsed();
    assert!(took < Duration::from_secs(1), "{took:?}");
}

/// A library of three notes; the words rank them as the alphabet does.
struct World {
    home: tempfile::TempDir,
    models: PathBuf,
    library: Library,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let models = models_in(home.path());
        let documents = home.path().join("documents");
        std::fs::create_dir(&documents).unwrap();
        for (name, times, word) in [("a", 3, "one"), ("b", 2, "two"), ("c", 1, "three")] {
            let text = format!("{}and {word} in the quarry of basalt beside the road", "granite ".repeat(times));
            std::fs::write(documents.join(format!("{name}.txt")), text).unwrap();
        }
        let library = Library::open(LibraryOptions {
            home: Some(home.path().join("home")),
            models: Some(models.clone()),
            embedder: Some(Arc::new(HashEmbedder)),
            worker_binary: Some(outcrop_binary()),
            gpu: GpuChoice::Off,
            ..LibraryOptions::default()
        })
        .unwrap();
        library.ingest(&[documents], &IngestOptions::default(), &|_| (), &CancelToken::new()).unwrap();
        Self { home, models, library }
    }

    fn search(&self, query: &str, rerank: Option<Reranker>) -> SearchResults {
        self.library.search(query, &options(rerank)).unwrap()
    }
}

fn options(rerank: Option<Reranker>) -> SearchOptions {
    SearchOptions {
        rerank: rerank.is_some(),
        reranker: rerank.unwrap_or_default(),
        mode: outcrop::retrieve::SearchMode::Keyword,
        group: outcrop::retrieve::Grouping::None,
        ..SearchOptions::default()
    }
}

fn names(results: &SearchResults) -> String {
    results.hits.iter().map(|hit| hit.path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn the_model_orders_the_hits_and_its_score_has_a_name() {
    let world = World::new();
    write_reranker(&world.models.join("tables"), &graph().model("logits"), 128);
    assert_eq!(names(&world.search("granite", None)), "abc");
    for choice in [Reranker::Auto, Reranker::Cross] {
        let results = world.search("granite", Some(choice));
        assert_eq!(names(&results), "cba");
        assert_eq!(results.reranked_by.as_deref(), Some("Two tables"));
        for hit in &results.hits {
            assert_eq!(hit.scores.rerank, Some(hit.score));
            assert!(hit.score > 0.5 && hit.score < 1.0, "{}", hit.score);
        }
        assert_eq!(names(&world.search("basalt", Some(choice))), "abc", "the question counts");
    }
    let best = world.search("granite", Some(Reranker::Cross)).hits[0].score;
    assert!((f64::from(best) - 1.0 / (1.0 + (-1.75_f64 * 0.35).exp())).abs() < 1e-6, "{best}");
    let late = world.library.search("granite", &options(Some(Reranker::Late))).unwrap_err();
    assert!(late.detail.contains("embedding model"), "the hash embedder has no token vectors: {late}");
}

#[test]
fn a_passage_that_reranking_moved_down_is_told_apart_from_others() {
    let world = World::new();
    write_reranker(&world.models.join("tables"), &graph().model("logits"), 128);
    let one = SearchOptions { k: 1, ..options(Some(Reranker::Cross)) };
    let results = world.library.search("granite", &one).unwrap();
    assert_eq!(names(&results), "c");
    let fate = |name: &str| {
        let near = results.considered.iter().find(|near| near.path.ends_with(format!("{name}.txt"))).unwrap();
        (near.considered.first_rank, near.considered.rerank_rank, near.considered.fate)
    };
    assert_eq!(fate("a"), (1, Some(3), Fate::Outranked));
    assert_eq!(fate("b"), (2, Some(2), Fate::Beyond));
    let Outcomes { by_vector, by_keyword, outranked, beyond, .. } = results.outcomes;
    assert_eq!((by_vector, by_keyword, outranked, beyond), (0, 3, 1, 1));
    assert!(results.outcomes.in_words().contains(&(1, "moved down by reranking")));
}

#[test]
fn a_model_that_fails_leaves_the_order_before_it_and_says_so() {
    let world = World::new();
    for (broken, expected) in [(wrong_model(), "logits"), (b"not a model".to_vec(), "does not load")] {
        write_reranker(&world.models.join("tables"), &broken, 128);
        let results = world.search("granite", Some(Reranker::Cross));
        assert_eq!((names(&results).as_str(), results.reranked_by.as_deref()), ("abc", None));
        assert!(results.notes[0].contains(expected), "{:?}", results.notes);
        assert!(results.hits.iter().all(|hit| hit.scores.rerank.is_none()));
        std::fs::remove_dir_all(world.models.join("tables")).unwrap();
    }
}

#[test]
fn without_a_model_the_choice_decides() {
    let world = World::new();
    let err = world.library.search("granite", &options(Some(Reranker::Cross))).unwrap_err();
    assert!(err.detail.contains("models add"), "{err}");
    assert!(Rerankers::new(world.models.clone()).pick(&CancelToken::new()).unwrap().is_none());
    // A model that comes meanwhile is used from then on.
    write_reranker(&world.models.join("tables"), &graph().model("logits"), 128);
    assert_eq!(names(&world.search("granite", Some(Reranker::Auto))), "cba");
}

#[test]
fn a_search_that_is_cancelled_gives_nothing() {
    let world = World::new();
    write_reranker(&world.models.join("tables"), &graph().model("logits"), 128);
    let cancel = CancelToken::new();
    cancel.cancel();
    let err = world.library.search_until("granite", &options(Some(Reranker::Cross)), &cancel).unwrap_err();
    assert_eq!(err.title, "Cancelled");
    let asked = AskOptions { search: options(Some(Reranker::Cross)), ..AskOptions::default() };
    let answer = world.library.ask("What is granite?", &asked, &mut |_| (), &cancel).unwrap();
    assert_eq!((answer.reason.as_deref(), answer.answer.as_str()), (Some("stopped"), ""));
}

#[test]
fn the_command_line_adds_lists_and_uses_a_reranker() {
    let world = World::new();
    let folder = world.home.path().join("Tables");
    write_reranker(&folder, &graph().model("logits"), 128);
    let run = |status: i32, args: &[&str]| -> serde_json::Value {
        let output = Command::new(outcrop_binary())
            .env("OUTCROP_HOME", world.home.path().join("home"))
            .env("OUTCROP_MODELS", &world.models)
            .env("OUTCROP_GPU", "off")
            .arg("--json")
            .args(args)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(status), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    };
    run(1, &["search", "--rerank=cross", "granite"]);
    assert_eq!(run(0, &["models", "add", folder.to_str().unwrap()])["added"], "tables");
    let listed = run(0, &["models"]);
    let row = listed.as_array().unwrap().iter().find(|row| row["name"] == "tables").unwrap();
    assert!(row["title"].as_str().unwrap().contains("Two tables") && row["state"] == "installed", "{row}");
    for rerank in ["--rerank", "--rerank=auto", "--rerank=cross"] {
        // The query after the bare option is still the query.
        let found = run(0, &["search", "--mode", "keyword", "--group", "none", rerank, "granite"]);
        assert_eq!(found["reranked_by"], "Two tables", "{rerank}");
        let paths: Vec<&str> =
            found["hits"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap()).collect();
        assert!(paths[0].ends_with("c.txt") && paths[2].ends_with("a.txt"), "{rerank}: {paths:?}");
    }
    run(2, &["search", "--rerank=magic", "granite"]);
}
