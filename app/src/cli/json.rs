//! The JSON that programs read. Field names are a contract: they change only by addition.

use std::path::PathBuf;

use serde::Serialize;

use super::explain::NearJson;
use crate::extract::Place;
use crate::retrieve::{HitScores, MatchKind, Outcomes, SearchHit, SearchMode, SearchResults};
use crate::store::{ChunkRecord, DocumentId};

/// A chunk, of a file or of a library.
#[derive(Serialize)]
pub(super) struct ChunkJson {
    pub(super) index: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
    pub(super) pages: Option<(u32, u32)>,
    pub(super) heading: Vec<String>,
    pub(super) rows: Option<(u32, u32)>,
    pub(super) lines: (u32, u32),
    pub(super) tokens: usize,
    pub(super) left_similarity: Option<f32>,
    pub(super) right_similarity: Option<f32>,
}

impl From<ChunkRecord> for ChunkJson {
    fn from(chunk: ChunkRecord) -> Self {
        let Place { pages, heading, rows, lines } = chunk.place;
        Self {
            index: chunk.index,
            start: chunk.start,
            end: chunk.end,
            text: chunk.text,
            pages,
            heading,
            rows,
            lines,
            tokens: chunk.tokens,
            left_similarity: chunk.left_similarity,
            right_similarity: chunk.right_similarity,
        }
    }
}

/// A hit of `outcrop search`.
#[derive(Serialize)]
struct HitJson {
    rank: usize,
    score: f32,
    scores: HitScores,
    #[serde(rename = "match")]
    found_by: MatchKind,
    document: DocumentId,
    #[serde(serialize_with = "crate::store::path_as_text")]
    path: PathBuf,
    /// Passages folded under it.
    also: usize,
    chunk: ChunkJson,
}

impl From<SearchHit> for HitJson {
    fn from(hit: SearchHit) -> Self {
        Self {
            rank: hit.rank,
            score: hit.score,
            scores: hit.scores,
            found_by: hit.found_by,
            document: hit.chunk.document,
            path: hit.path,
            also: hit.also,
            chunk: hit.chunk.into(),
        }
    }
}

/// The result of `outcrop search`.
#[derive(Serialize)]
pub(super) struct SearchJson {
    query: String,
    mode: SearchMode,
    took_ms: f64,
    backend: String,
    /// Passages with vectors of another model alone, found by their words or not at all.
    without_vectors: usize,
    /// What ranked the best passages again, or null.
    reranked_by: Option<String>,
    /// What people should know of this search.
    notes: Vec<String>,
    hits: Vec<HitJson>,
    /// With `--explain`: what became of each candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    considered: Option<Vec<NearJson>>,
    /// With `--explain`: how many came to which end.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcomes: Option<Outcomes>,
}

impl SearchJson {
    /// The results; with `explain` the candidates too.
    pub(super) fn new(results: SearchResults, explain: bool) -> Self {
        let outcomes = explain.then_some(results.outcomes);
        let considered = explain.then(|| results.considered.into_iter().map(NearJson::from).collect());
        Self {
            considered,
            outcomes,
            query: results.query,
            mode: results.mode,
            took_ms: results.took_ms,
            backend: results.backend,
            without_vectors: results.without_vectors,
            reranked_by: results.reranked_by,
            notes: results.notes,
            hits: results.hits.into_iter().map(HitJson::from).collect(),
        }
    }
}
