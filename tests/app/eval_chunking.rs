//! Chunking metrics: hand-counted on a set of our own, and equal to the published figures where the published set
//! and its tokenizer are at hand.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod model_support;

use std::fs;
use std::path::{Path, PathBuf};

use outcrop::chunk::ChunkerConfig;
use outcrop::embed::{HashEmbedder, open_installed};
use outcrop::eval::{ChunkingRun, ExcerptSet, Splitter, Subject};
use outcrop::progress::CancelToken;
use outcrop::retrieve::{SearchMode, SearchOptions};

use model_support::models_folder;

/// The published set, beside the checkout or two folders above it.
fn published_set() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = ["../../shared/data", "../../../shared/data"];
    places.iter().map(|place| root.join(place).join("chroma_chunking")).find(|folder| folder.is_dir())
}

/// Two texts of which every excerpt, length and overlap can be counted by hand.
fn own_set(folder: &Path) -> ExcerptSet {
    fs::create_dir(folder.join("corpora")).unwrap();
    fs::write(folder.join("corpora/rocks.md"), "Granite is häрd.\n\nChalk is soft.\n\nSlate splits.").unwrap();
    fs::write(folder.join("corpora/water.md"), "Rivers carry sand.\n\nLakes are still.").unwrap();
    let rows = "question,references,corpus_id\n\
        chalk soft?,\"[{\"\"content\"\": \"\"Chalk is soft\"\", \"\"start_index\"\": 18, \"\"end_index\"\": 31}]\",rocks\n\
        What do rivers carry?,\"[{\"\"content\"\": \"\"sand\"\", \"\"start_index\"\": 13, \"\"end_index\"\": 17}]\",water\n";
    fs::write(folder.join("questions_df.csv"), rows).unwrap();
    ExcerptSet::load(folder).unwrap()
}

fn keyword() -> SearchOptions {
    SearchOptions { mode: SearchMode::Keyword, ..SearchOptions::default() }
}

#[test]
fn scores_are_those_counted_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let set = own_set(folder.path());
    let cancel = CancelToken::new();
    let run = ChunkingRun::new(&set, &HashEmbedder, &cancel).unwrap();
    let splitter = Splitter::Configured(ChunkerConfig { size: 20, overlap: 0, ..ChunkerConfig::default() });
    let rows = run.measure(&splitter.into(), &[keyword()], &mut |_, _| {}).unwrap();
    let row = &rows[0];
    assert_eq!(row.chunks, 5);
    assert!((row.recall_mean - 100.0).abs() < 1e-9, "{row:?}");
    let omega = 100.0 * f64::midpoint(13.0 / 14.0, 4.0 / 18.0);
    assert!((row.precision_omega_mean - omega).abs() < 1e-9, "{row:?}");
    let precision = 100.0 * f64::midpoint(13.0 / 14.0, 4.0 / 18.0);
    assert!((row.precision_mean - precision).abs() < 1e-9, "{row:?}");
}

#[test]
fn excerpts_that_are_not_where_they_should_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    own_set(folder.path());
    let path = folder.path().join("questions_df.csv");
    let moved = fs::read_to_string(&path).unwrap().replace("18", "17");
    fs::write(&path, moved).unwrap();
    let err = ExcerptSet::load(folder.path()).unwrap_err().to_string();
    assert!(err.contains("characters 17 to 31") && err.contains("questions_df.csv"), "{err}");
}

/// Precision-omega of the published recursive splitter with the lengths of all-MiniLM-L6-v2.
const PUBLISHED: [(usize, usize, f64); 3] = [(200, 0, 31.2), (250, 0, 26.7), (250, 125, 21.9)];

#[test]
fn precision_omega_equals_the_published_cells() {
    let Some(folder) = published_set() else {
        // Without the set its splitter is still held to the hand-made one.
        published_splitter_on_our_set();
        return;
    };
    let (embedder, note) = open_installed(&models_folder());
    if note.is_some() {
        published_splitter_on_our_set();
        return;
    }
    let set = ExcerptSet::load(&folder).unwrap();
    assert_eq!((set.questions.len(), set.questions.iter().map(|q| q.references.len()).sum::<usize>()), (472, 790));
    let cancel = CancelToken::new();
    for (size, overlap, expected) in PUBLISHED {
        let omega = omega(&set, &Splitter::PublishedRecursive { size, overlap }, embedder.as_ref(), &cancel);
        assert!((omega - expected).abs() <= 0.05 + 1e-9, "{size}/{overlap}: {omega} is not {expected}");
    }
}

fn omega(set: &ExcerptSet, splitter: &Splitter, embedder: &dyn outcrop::embed::Embedder, cancel: &CancelToken) -> f64 {
    use outcrop::eval::{chunking::precision_omega, ranges::CodePoints};
    let split = |corpus: &outcrop::eval::excerpts::Corpus| {
        let points = CodePoints::new(&corpus.text);
        let chunks = splitter.split(&corpus.text, embedder, cancel).unwrap();
        chunks.iter().map(|bytes| points.range(bytes)).collect::<Vec<_>>()
    };
    let chunks: Vec<_> = set.corpora.iter().map(split).collect();
    let sum: f64 = set.questions.iter().map(|q| precision_omega(&chunks[q.corpus], &q.references)).sum();
    100.0 * sum / set.questions.len() as f64
}

fn published_splitter_on_our_set() {
    let folder = tempfile::tempdir().unwrap();
    let set = own_set(folder.path());
    let splitter = Splitter::PublishedRecursive { size: 7, overlap: 0 };
    let omega = omega(&set, &splitter, &HashEmbedder, &CancelToken::new());
    assert!(omega > 50.0, "{omega}");
}

#[test]
fn sets_come_back_as_they_were_saved() {
    let folder = tempfile::tempdir().unwrap();
    let set = own_set(folder.path());
    let copy = folder.path().join("copy");
    set.save(&copy).unwrap();
    let again = ExcerptSet::load(&copy).unwrap();
    assert_eq!(again.questions.len(), set.questions.len());
    for (again, set) in again.questions.iter().zip(&set.questions) {
        assert_eq!((&again.text, again.corpus, &again.references), (&set.text, set.corpus, &set.references));
    }
}

#[test]
fn surroundings_help_to_find_a_chunk_and_are_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let set = own_set(folder.path());
    let cancel = CancelToken::new();
    let run = ChunkingRun::new(&set, &HashEmbedder, &cancel).unwrap();
    let base = ChunkerConfig { size: 20, overlap: 0, ..ChunkerConfig::default() };
    let measure = |spec: &str| {
        let subject = Subject::parse(spec, &base).unwrap();
        run.measure(&subject, &[keyword()], &mut |_, _| {}).unwrap().remove(0)
    };
    let (plain, wide) = (measure("recursive"), measure("recursive:surround=1"));
    assert!((plain.mean_chars - wide.mean_chars).abs() < 1e-9 && plain.chunks == wide.chunks);
    let difference = wide.less(&plain);
    assert_eq!(difference.spec, plain.spec);
    assert!((difference.recall.mean - (wide.recall_mean - plain.recall_mean)).abs() < 1e-9);
}
