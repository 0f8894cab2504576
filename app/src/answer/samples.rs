//! Search hits for tests.

use std::path::PathBuf;

use crate::extract::Place;
use crate::retrieve::{HitScores, MatchKind, Outcomes, SearchHit, SearchResults};
use crate::store::{ChunkId, ChunkRecord, DocumentId};

/// One hit for each text, best first; each stands at byte 1000 and line 10 of a document of its own.
pub(super) fn hits(texts: &[&str]) -> Vec<SearchHit> {
    texts.iter().enumerate().map(|(at, text)| hit(at, text)).collect()
}

fn hit(at: usize, text: &str) -> SearchHit {
    let score = 0.9 - at as f32 * 0.1;
    SearchHit {
        rank: at + 1,
        score,
        scores: HitScores { vector: Some(score), keyword: Some(4.0), rerank: None, fused: Some(score) },
        found_by: MatchKind::Hybrid,
        path: PathBuf::from(format!("document-{at}.md")),
        title: format!("Document {at}"),
        chunk: ChunkRecord {
            id: ChunkId(at as u64 + 1),
            document: DocumentId(at as u64 + 1),
            index: 0,
            start: 1000,
            end: 1000 + text.len(),
            text: (*text).to_owned(),
            place: Place { pages: Some((3, 3)), heading: vec!["Payment".to_owned()], rows: None, lines: (10, 12) },
            tokens: 20,
            left_similarity: None,
            right_similarity: None,
        },
        also: 0,
    }
}

/// Results with these hits and gate scores.
pub(super) fn results(texts: &[&str], best_cosine: f32, idf_coverage: f32) -> SearchResults {
    SearchResults {
        query: "question".to_owned(),
        mode: crate::retrieve::SearchMode::Hybrid,
        took_ms: 1.5,
        backend: "cpu".to_owned(),
        hits: hits(texts),
        considered: Vec::new(),
        outcomes: Outcomes::default(),
        searched: 140,
        without_vectors: 0,
        idf_coverage,
        best_cosine: Some(best_cosine),
        reranked_by: None,
        notes: Vec::new(),
    }
}
