//! Searching: any query is valid, scores have names and rank, filters hold, fewer matches give fewer hits.

use outcrop::Library;
use outcrop::library::Error;
use outcrop::retrieve::{Fate, Fusion, MatchKind, SearchMode, SearchOptions};
use proptest::prelude::*;

use super::fixture::{World, found, ingest, mode, name_of};

const TEXTS: [(&str, &str); 6] = [
    (
        "pump.md",
        "# Pump manual\n\nHold the red button for five seconds to reset the pump. Error BENCH-100821 means low pressure.",
    ),
    ("cake.txt", "Whisk the eggs with sugar, fold in flour and bake the cake for forty minutes."),
    ("lake.txt", "The lake freezes in January; trout stay near the bottom until the ice is gone."),
    ("code.txt", "Call open_library(home) with --flag a:b before reading; C++ callers use NEAR(x, y)."),
    ("tokyo.txt", "東京都は日本の首都です。猫がいます。"),
    ("café.txt", "The café serves crêpes; running costs are what the owners worry about."),
];

fn library() -> (World, Library) {
    let world = World::new();
    for (name, text) in TEXTS {
        world.write(name, text);
    }
    let library = world.open();
    let report = ingest(&library, &[world.documents()]);
    assert_eq!(report.files.len(), TEXTS.len());
    (world, library)
}

fn first(library: &Library, query: &str, leg: SearchMode) -> Option<String> {
    found(library, query, &mode(leg, 1)).into_iter().next()
}

#[test]
fn words_stems_codes_and_scripts_are_found() {
    let (_world, library) = library();
    for (query, name) in [
        ("BENCH-100821", "pump.md"),
        ("bench 100821", "pump.md"),
        ("100821", "pump.md"),
        ("\"--flag\"", "code.txt"),
        ("a:b", "code.txt"),
        ("NEAR(x, y", "code.txt"),
        ("c++", "code.txt"),
        ("open_library", "code.txt"),
        ("what's baking, roughly?", "cake.txt"),
        ("cafe crepes", "café.txt"),
        ("cost to run", "café.txt"),
        ("東京", "tokyo.txt"),
        ("猫", "tokyo.txt"),
        ("manual", "pump.md"),
        ("frozen OR AND NOT lake*", "lake.txt"),
    ] {
        assert_eq!(first(&library, query, SearchMode::Keyword).as_deref(), Some(name), "{query}");
        // The vectors of the hash embedder may put another document first, but never drop this one.
        let hybrid = found(&library, query, &mode(SearchMode::Hybrid, 5));
        assert!(hybrid.iter().any(|found| found == name), "{query}: {hybrid:?}");
    }
}

#[test]
fn queries_without_words_find_nothing_and_fail_nothing() {
    let (_world, library) = library();
    for query in ["", "   ", "*", "\"", "()", "^", "'; DROP TABLE documents; --\0", "🦀", "NEAR(", "-", "a\0b"] {
        for leg in [SearchMode::Keyword, SearchMode::Vector, SearchMode::Hybrid] {
            library.search(query, &mode(leg, 5)).unwrap();
        }
    }
    for query in ["", " ", "*", "🦀"] {
        assert!(found(&library, query, &mode(SearchMode::Keyword, 5)).is_empty(), "{query:?}");
    }
    assert!(found(&library, "", &mode(SearchMode::Hybrid, 5)).is_empty());
}

#[test]
fn scores_rank_and_say_which_leg_gave_them() {
    let (_world, library) = library();
    for fusion in [Fusion::Weighted, Fusion::Rrf] {
        for leg in [SearchMode::Keyword, SearchMode::Vector, SearchMode::Hybrid] {
            let options = SearchOptions { fusion, ..mode(leg, 4) };
            let results = library.search("reset the red pump", &options).unwrap();
            assert_eq!(results.hits[0].path.file_name().unwrap(), "pump.md");
            assert!(results.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
            assert!(results.best_cosine.is_some_and(|cosine| cosine > 0.2), "{leg:?}");
            assert!((results.idf_coverage - 1.0).abs() < 1e-6, "{leg:?}");
            for (position, hit) in results.hits.iter().enumerate() {
                assert_eq!(hit.rank, position + 1);
                let ranked_by = match leg {
                    SearchMode::Keyword => hit.scores.keyword,
                    SearchMode::Vector => hit.scores.vector,
                    SearchMode::Hybrid => hit.scores.fused,
                };
                assert_eq!(ranked_by, Some(hit.score));
                let expected = match leg {
                    SearchMode::Keyword => MatchKind::Keyword,
                    SearchMode::Vector => MatchKind::Vector,
                    SearchMode::Hybrid if hit.scores.keyword.is_some() => MatchKind::Hybrid,
                    SearchMode::Hybrid => MatchKind::Vector,
                };
                assert_eq!(hit.found_by, expected);
            }
        }
    }
}

#[test]
fn there_are_k_hits_when_more_match_and_fewer_when_fewer_do() {
    let (_world, library) = library();
    let chunks: usize = library.documents().unwrap().iter().map(|document| document.chunks).sum();
    assert!(chunks > 5);
    for k in [1, 3, 5] {
        assert_eq!(library.search("the lake", &mode(SearchMode::Hybrid, k)).unwrap().hits.len(), k);
        assert_eq!(library.search("the lake", &mode(SearchMode::Vector, k)).unwrap().hits.len(), k);
    }
    assert_eq!(library.search("trout", &mode(SearchMode::Vector, 1000)).unwrap().hits.len(), chunks);
    assert_eq!(library.search("trout", &mode(SearchMode::Keyword, 1000)).unwrap().hits.len(), 1);
}

#[test]
fn near_duplicates_are_folded_and_every_candidate_is_accounted_for() {
    let world = World::new();
    world.write("one.txt", "The lake freezes in January and trout stay near the bottom.");
    world.write("two.txt", "The lake freezes in January, and trout stay near the bottom!");
    world.write("other.txt", "A lake without trout is a quiet lake in January too.");
    let library = world.open();
    ingest(&library, &[world.documents()]);
    let results = library.search("lake trout January", &SearchOptions::default()).unwrap();
    assert_eq!(results.hits.len(), 2);
    assert_eq!(results.hits.iter().map(|hit| hit.also).sum::<usize>(), 1);
    assert_eq!((results.searched, results.considered.len()), (3, 3));
    let duplicate = results.considered.iter().find(|near| near.considered.final_rank.is_none()).unwrap();
    assert!(matches!(duplicate.considered.fate, Fate::Duplicate { .. }), "{duplicate:?}");
    assert!(results.fate_text(duplicate.considered.fate).starts_with("says the same as hit "));

    let strict = SearchOptions { min_score: Some(0.99), ..SearchOptions::default() };
    let results = library.search("lake trout January", &strict).unwrap();
    let under = results.considered.iter().filter(|near| near.considered.fate == Fate::BelowThreshold).count();
    assert_eq!(under + results.hits.len() + results.hits[0].also, 3);
    let varied = SearchOptions { mmr: Some(0.5), ..mode(SearchMode::Hybrid, 2) };
    let hits = library.search("lake trout January", &varied).unwrap().hits;
    assert!(hits.iter().any(|hit| name_of(&hit.path) == "other.txt"), "variety brings the other one in");
    let err = library.search("lake", &SearchOptions { rerank: true, ..SearchOptions::default() }).unwrap_err();
    assert!(err.detail.contains("embedding model"), "{err}");
}

#[test]
fn the_source_filter_and_the_minimum_score_hold() {
    let (world, library) = library();
    let sources = |source: &str, leg| {
        let options = SearchOptions { source: Some(source.to_owned()), ..mode(leg, 100) };
        found(&library, "the pump freezes cake", &options)
    };
    for leg in [SearchMode::Keyword, SearchMode::Vector, SearchMode::Hybrid] {
        let names = sources("*.md", leg);
        assert!(!names.is_empty() && names.iter().all(|name| name == "pump.md"), "{names:?}");
        assert!(sources(&format!("{}/la*", world.documents().display()), leg).iter().all(|name| name == "lake.txt"));
        assert!(sources("nowhere/*", leg).is_empty());
    }
    for leg in [SearchMode::Keyword, SearchMode::Vector, SearchMode::Hybrid] {
        let all = library.search("the lake freezes", &mode(leg, 100)).unwrap().hits;
        let middle = all[all.len() / 2].score;
        let options = SearchOptions { min_score: Some(middle), ..mode(leg, 100) };
        let some = library.search("the lake freezes", &options).unwrap().hits;
        assert_eq!(some.len(), all.iter().filter(|hit| hit.score >= middle).count());
    }
    let refused: Error =
        library.search("x", &SearchOptions { source: Some("[".to_owned()), ..SearchOptions::default() }).unwrap_err();
    assert_eq!(refused.title, "Search options");
}

#[test]
fn the_gate_tells_what_is_there_from_what_is_not() {
    let (_world, library) = library();
    let gate = |query: &str| {
        let results = library.search(query, &SearchOptions::default()).unwrap();
        (results.idf_coverage, results.best_cosine.unwrap_or(0.0))
    };
    let (coverage, cosine) = gate("How long is the cake baked?");
    let (other_coverage, other_cosine) = gate("Which parliament ratified the treaty of Westphalia?");
    assert!(coverage > 0.4 && other_coverage < 0.05, "{coverage} {other_coverage}");
    assert!(cosine > other_cosine, "{cosine} {other_cosine}");
}

#[test]
fn hits_cite_ranges_of_the_text() {
    let (_world, library) = library();
    for hit in library.search("red button", &SearchOptions::default()).unwrap() {
        let text = library.extraction(hit.chunk.document).unwrap().text;
        assert_eq!(hit.chunk.text, text[hit.chunk.start..hit.chunk.end]);
        if name_of(&hit.path) == "pump.md" {
            assert_eq!(hit.title, "Pump manual");
            assert_eq!(hit.chunk.place.heading, ["Pump manual"]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn no_query_fails(queries in prop::collection::vec(any::<String>(), 1..8)) {
        let (_world, library) = library();
        for query in &queries {
            for leg in [SearchMode::Keyword, SearchMode::Vector, SearchMode::Hybrid] {
                prop_assert!(library.search(query, &mode(leg, 3)).is_ok());
            }
        }
    }
}
