//! Ranking against an oracle that scores every passage in the plainest way.

use std::collections::BTreeMap;

use outcrop::retrieve::{Fusion, MemoryCollection, Question, SearchMode, SearchOptions, rank};
use outcrop::store::{index_tokens, query_tokens};
use proptest::prelude::*;

const WORDS: [&str; 6] = ["basalt", "granite", "marble", "slate", "chalk", "flint"];

#[derive(Clone, Debug)]
struct Case {
    passages: Vec<String>,
    vectors: Vec<[f32; 2]>,
    question: String,
    vector: [f32; 2],
    k: usize,
}

fn words(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), count).prop_map(|words| words.join(" "))
}

fn direction() -> impl Strategy<Value = [f32; 2]> {
    (0..16_u8).prop_map(|step| {
        let angle = f32::from(step) * std::f32::consts::TAU / 16.0;
        [angle.cos(), angle.sin()]
    })
}

fn case() -> impl Strategy<Value = Case> {
    let passage = (words(1..6), direction());
    (prop::collection::vec(passage, 1..12), words(1..4), direction(), 1..14_usize).prop_map(
        |(passages, question, vector, k)| {
            let (passages, vectors) = passages.into_iter().unzip();
            Case { passages, vectors, question, vector, k }
        },
    )
}

fn bm25(case: &Case) -> BTreeMap<u64, f64> {
    let documents: Vec<Vec<String>> = case.passages.iter().map(|passage| index_tokens(passage)).collect();
    let mean = documents.iter().map(Vec::len).sum::<usize>() as f64 / documents.len() as f64;
    let mut scores = BTreeMap::new();
    for word in query_tokens(&case.question) {
        let holding = documents.iter().filter(|document| document.contains(&word)).count() as f64;
        let idf = (1.0 + (documents.len() as f64 - holding + 0.5) / (holding + 0.5)).ln();
        for (id, document) in documents.iter().enumerate() {
            let count = document.iter().filter(|token| **token == word).count() as f64;
            if count > 0.0 {
                let norm = 1.2 * (0.25 + 0.75 * document.len() as f64 / mean);
                *scores.entry(id as u64).or_insert(0.0) += idf * count * 2.2 / (count + norm);
            }
        }
    }
    scores
}

fn cosines(case: &Case) -> BTreeMap<u64, f64> {
    let dot = |a: [f32; 2], b: [f32; 2]| f64::from(a[0]) * f64::from(b[0]) + f64::from(a[1]) * f64::from(b[1]);
    let cosine = |v: [f32; 2]| dot(v, case.vector) / (dot(v, v) * dot(case.vector, case.vector)).sqrt();
    case.vectors.iter().enumerate().map(|(id, v)| (id as u64, cosine(*v))).collect()
}

fn scaled(scores: &BTreeMap<u64, f64>, ids: &[u64]) -> BTreeMap<u64, f64> {
    let of = |id: &u64| scores.get(id).copied().unwrap_or(0.0);
    let low = ids.iter().map(of).fold(f64::INFINITY, f64::min);
    let high = ids.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    ids.iter().map(|id| (*id, if high > low { (of(id) - low) / (high - low) } else { 1.0 })).collect()
}

/// Every passage is a candidate, since there are fewer than the pool takes.
fn oracle(case: &Case, mode: SearchMode) -> Vec<(u64, f64)> {
    let (keyword, cosine) = (bm25(case), cosines(case));
    let mut ranked: Vec<(u64, f64)> = match mode {
        SearchMode::Keyword => keyword.into_iter().collect(),
        SearchMode::Vector => cosine.into_iter().collect(),
        SearchMode::Hybrid => {
            let ids: Vec<u64> = cosine.keys().copied().collect();
            let (vector, words) = (scaled(&cosine, &ids), scaled(&keyword, &ids));
            let weight = |id: &u64| if keyword.is_empty() { 0.0 } else { 0.3 * words[id] };
            ids.iter().map(|id| (*id, 0.7 * vector[id] + weight(id))).collect()
        }
    };
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked.truncate(case.k);
    ranked
}

proptest! {
    #[test]
    fn every_mode_ranks_as_the_oracle_does(case in case()) {
        let passages: Vec<&str> = case.passages.iter().map(String::as_str).collect();
        let vectors: Vec<f32> = case.vectors.iter().flatten().copied().collect();
        let collection = MemoryCollection::new(&passages, &vectors, 2).unwrap();
        let question = Question { text: &case.question, vector: Some(&case.vector) };
        for mode in [SearchMode::Keyword, SearchMode::Vector, SearchMode::Hybrid] {
            let options = SearchOptions { k: case.k, mode, alpha: 0.7, ..SearchOptions::default() };
            let ranking = rank(&collection, question, &options).unwrap();
            let expected = oracle(&case, mode);
            prop_assert_eq!(ranking.passages.len(), expected.len());
            for (found, (_, score)) in ranking.passages.iter().zip(&expected) {
                prop_assert!((found.score - score).abs() < 1e-6, "{mode:?}: {found:?} instead of {score}");
            }
        }
    }

    #[test]
    fn reciprocal_ranks_prefer_what_both_legs_find(case in case()) {
        let passages: Vec<&str> = case.passages.iter().map(String::as_str).collect();
        let vectors: Vec<f32> = case.vectors.iter().flatten().copied().collect();
        let collection = MemoryCollection::new(&passages, &vectors, 2).unwrap();
        let question = Question { text: &case.question, vector: Some(&case.vector) };
        let options = SearchOptions { k: 20, fusion: Fusion::Rrf, ..SearchOptions::default() };
        for passage in rank(&collection, question, &options).unwrap().passages {
            let both = passage.scores.keyword.is_some() && passage.scores.vector.is_some();
            let most = if both { 2.0 / 61.0 } else { 1.0 / 61.0 };
            let least = 1.0 / (60.0 + case.passages.len() as f64);
            prop_assert!(passage.score <= most + 1e-12 && passage.score >= least - 1e-12, "{passage:?}");
        }
    }
}
