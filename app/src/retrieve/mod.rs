//! Finding passages: keyword leg (BM25 over the FTS5 index), vector leg (the engine), fusion.
//!
//! Invariants: every score shown has a name and is the score that ranked; any query text is valid; when more than `k`
//! passages match there are `k` hits, and never one that does not match.
//!
//! Start reading at [`rank`]: it ranks any [`Collection`], the library's or one in memory. Must not know: how
//! documents get into a library, and how answers are made.

mod bm25;
mod collection;
mod condition;
mod date;
mod diverse;
mod excerpt;
mod explain;
mod filter;
mod fuse;
mod late;
mod legs;
mod memory;
mod options;
mod passages;
mod rank;
mod search;

use serde::{Deserialize, Serialize};

pub use bm25::{Bm25, Keywords};
pub use collection::{Collection, Nearest};
pub use condition::Condition;
pub use date::Date;
pub use excerpt::{densest_stretch, word_matches};
pub use explain::{Considered, Fate, Outcomes};
pub use fuse::{reciprocal_ranks, weighted};
pub use late::LateInteraction;
pub use memory::MemoryCollection;
pub use options::{Grouping, Reranker, RetrieveError};
pub use passages::{PassageText, Passages, Rescored};
pub use rank::{Question, Ranked, Ranking, rank, rank_in_stages};

pub(crate) use filter::{BUILT_IN_PROPERTIES, DocumentFilter};
pub(crate) use search::{Searching, search};

use std::path::PathBuf;

use crate::extract::DocumentKind;
use crate::store::ChunkRecord;

/// Which legs run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchMode {
    /// Both, fused.
    #[default]
    Hybrid,
    /// Cosine of the embedder's vectors.
    Vector,
    /// BM25 over words.
    Keyword,
}

/// How two legs become one ranking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fusion {
    /// `alpha * vector + (1 - alpha) * keyword` over scores min-max normalised per query.
    #[default]
    Weighted,
    /// Reciprocal rank fusion with constant 60.
    Rrf,
}

/// Weight of the vector leg where none is given: the better of .5 and .7 on most of the labelled sets, see
/// `benches/records`.
pub const DEFAULT_ALPHA: f32 = 0.5;

/// How to search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchOptions {
    /// Hits wanted, at least 1.
    pub k: usize,
    /// Which legs run.
    pub mode: SearchMode,
    /// How they are fused.
    pub fusion: Fusion,
    /// Weight of the vector leg in weighted fusion, 0 to 1.
    pub alpha: f32,
    /// Hits whose final score is lower are left out.
    pub min_score: Option<f32>,
    /// Only documents whose path matches this glob.
    pub source: Option<String>,
    /// Only documents of these formats; all where there are none.
    #[serde(default)]
    pub kinds: Vec<DocumentKind>,
    /// Only documents in this folder, at any depth; one that is not absolute may stand anywhere in a path.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// Only documents whose file was last modified on this day or later.
    #[serde(default)]
    pub after: Option<Date>,
    /// Only documents whose file was last modified before this day.
    #[serde(default)]
    pub before: Option<Date>,
    /// Only documents whose properties fulfil all of these.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Whether the best 50 are ranked again.
    #[serde(default)]
    pub rerank: bool,
    /// By what.
    #[serde(default)]
    pub reranker: Reranker,
    /// Which passages are folded under the best of their kind.
    #[serde(default)]
    pub group: Grouping,
    /// Maximal marginal relevance: 1 orders by score alone, 0 by novelty alone; `None` leaves it out.
    #[serde(default)]
    pub mmr: Option<f32>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            k: 10,
            mode: SearchMode::Hybrid,
            fusion: Fusion::Weighted,
            alpha: DEFAULT_ALPHA,
            min_score: None,
            source: None,
            kinds: Vec::new(),
            folder: None,
            after: None,
            before: None,
            conditions: Vec::new(),
            rerank: false,
            reranker: Reranker::Auto,
            group: Grouping::Duplicates,
            mmr: None,
        }
    }
}

/// A hit's scores by name; `None` where that leg gave it no score or did not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HitScores {
    /// Cosine, -1 to 1.
    pub vector: Option<f32>,
    /// BM25, 0 and up.
    pub keyword: Option<f32>,
    /// Of late interaction: mean of its and the first ranking's score, each scaled to 0 to 1. Of a cross-encoder: the
    /// sigmoid of its logit.
    pub rerank: Option<f32>,
    /// Fused score.
    pub fused: Option<f32>,
}

/// Which legs found a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchKind {
    /// The vector leg alone.
    Vector,
    /// The keyword leg alone.
    Keyword,
    /// Both.
    Hybrid,
}

/// A passage found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchHit {
    /// From 1.
    pub rank: usize,
    /// The score that ranked: the reranker's if it ran, else the fused one in hybrid mode, else the leg's own.
    pub score: f32,
    /// All scores by name.
    pub scores: HitScores,
    /// Which legs found it.
    pub found_by: MatchKind,
    /// The document's path.
    pub path: PathBuf,
    /// The document's title.
    pub title: String,
    /// The passage.
    pub chunk: ChunkRecord,
    /// Passages folded under it: near-duplicates, or others of its page.
    #[serde(default)]
    pub also: usize,
}

/// A candidate of a search with what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Near {
    /// Ranks, scores and fate.
    pub considered: Considered,
    /// The document's path.
    pub path: PathBuf,
    /// The document's title.
    pub title: String,
    /// The passage.
    pub chunk: ChunkRecord,
}

/// What a search gave. Iterate over it for the hits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchResults {
    /// The query as asked.
    pub query: String,
    /// Which legs ran.
    pub mode: SearchMode,
    /// Milliseconds in all.
    pub took_ms: f64,
    /// `cpu` or `gpu`: what the vector leg ran on.
    pub backend: String,
    /// Hits, best first.
    pub hits: Vec<SearchHit>,
    /// What became of the candidates: every hit, the nearest of those that were left out, and what was among the first
    /// of a leg or before reranking.
    #[serde(default)]
    pub considered: Vec<Near>,
    /// How many candidates came to which end, of all of them.
    #[serde(default)]
    pub outcomes: Outcomes,
    /// Searchable passages that the filter lets through.
    #[serde(default)]
    pub searched: usize,
    /// Those among them that have vectors of another model alone, so that they are found by their words or not at all.
    /// Ingesting their files again gives them vectors.
    #[serde(default)]
    pub without_vectors: usize,
    /// Share of the query's idf-weighted words that the best hit holds, 0 to 1 (for the answer gate).
    pub idf_coverage: f32,
    /// Cosine of the best passage, whatever the mode (for the answer gate).
    pub best_cosine: Option<f32>,
    /// What ranked the best passages again, if anything did.
    #[serde(default)]
    pub reranked_by: Option<String>,
    /// What people should know of this search: a reranker that failed, a filter that leaves nothing.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl SearchResults {
    /// What became of a candidate, in a few words.
    pub fn fate_text(&self, fate: Fate) -> String {
        let hit = |of: u64| {
            let rank = self.considered.iter().find(|near| near.considered.id == of)?.considered.final_rank?;
            Some(format!(" as hit {rank}"))
        };
        match fate {
            Fate::Kept => "hit".to_owned(),
            Fate::BelowThreshold => "under the minimum score".to_owned(),
            Fate::NotReranked => "too far down to be reranked".to_owned(),
            Fate::Duplicate { of } => format!("says the same{}", hit(of).unwrap_or_default()),
            Fate::SamePage { of } => format!("on the same page{}", hit(of).unwrap_or_default()),
            Fate::Outranked => "moved down by reranking".to_owned(),
            Fate::Beyond => "enough others".to_owned(),
        }
    }
}

impl IntoIterator for SearchResults {
    type Item = SearchHit;
    type IntoIter = std::vec::IntoIter<SearchHit>;

    fn into_iter(self) -> Self::IntoIter {
        self.hits.into_iter()
    }
}
