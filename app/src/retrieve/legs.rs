//! What the two legs find for a question. Each names its best candidates; in hybrid mode every candidate of one leg
//! then gets its score from the other leg too, so that fusion compares like with like.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::fuse::{reciprocal_ranks, weighted};
use super::rank::{Question, Ranked, Ranking};
use super::{Collection, Fusion, HitScores, Keywords, MatchKind, SearchMode, SearchOptions};
use crate::store::StoreError;

/// Candidates of each leg that fusion looks at, unless more hits are wanted.
const POOL: usize = 100;

/// What both legs found.
pub(super) struct Legs {
    keywords: Keywords,
    /// Best first.
    pub(super) keyword: Vec<(u64, f64)>,
    /// Best first.
    pub(super) vector: Vec<(u64, f64)>,
    /// Of the candidates of either leg.
    cosines: BTreeMap<u64, f64>,
    backend: &'static str,
}

impl Legs {
    /// Runs the legs of the mode.
    pub(super) fn run(
        collection: &dyn Collection,
        question: Question<'_>,
        options: &SearchOptions,
    ) -> Result<Self, StoreError> {
        let keywords = Keywords::find(collection, question.text)?;
        let pool = POOL.max(options.k);
        let mut legs =
            Self { keyword: Vec::new(), vector: Vec::new(), cosines: BTreeMap::new(), backend: "", keywords };
        if options.mode != SearchMode::Vector {
            legs.keyword = legs.keywords.best(pool);
        }
        if options.mode != SearchMode::Keyword {
            legs.vector = legs.look_up(collection, question, pool, &collection.with_vectors())?;
        }
        if options.mode == SearchMode::Hybrid {
            legs.complete(collection, question)?;
        }
        Ok(legs)
    }

    /// Every candidate with the score that ranks it, best first, ties by lower id.
    pub(super) fn ranked(&self, options: &SearchOptions) -> Vec<Ranked> {
        let mut passages = match options.mode {
            SearchMode::Hybrid => self.fused(options),
            SearchMode::Vector => self.passages(&self.vector),
            SearchMode::Keyword => self.passages(&self.keyword),
        };
        passages.sort_by(Ranked::order);
        passages
    }

    /// Gives the candidates of the keyword leg their cosine.
    fn complete(&mut self, collection: &dyn Collection, question: Question<'_>) -> Result<(), StoreError> {
        let unknown = self.keyword.iter().map(|(id, _)| *id).filter(|id| !self.cosines.contains_key(id));
        let unknown = with_vectors(collection, unknown);
        self.look_up(collection, question, unknown.len(), &unknown)?;
        Ok(())
    }

    fn look_up(
        &mut self,
        collection: &dyn Collection,
        question: Question<'_>,
        k: usize,
        allowed: &Arc<Vec<u64>>,
    ) -> Result<Vec<(u64, f64)>, StoreError> {
        let Some(vector) = question.vector.filter(|_| !allowed.is_empty()) else {
            return Ok(Vec::new());
        };
        let nearest = collection.nearest(vector, k, allowed)?;
        if self.backend.is_empty() {
            self.backend = nearest.backend;
        }
        self.cosines.extend(nearest.hits.iter().copied());
        Ok(nearest.hits)
    }

    fn fused(&self, options: &SearchOptions) -> Vec<Ranked> {
        let fused = match options.fusion {
            Fusion::Rrf => reciprocal_ranks(&[&self.vector, &self.keyword]),
            Fusion::Weighted => {
                let candidates = self.candidates();
                let cosines: Vec<(u64, f64)> =
                    candidates.iter().filter_map(|&id| Some((id, *self.cosines.get(&id)?))).collect();
                let keywords = self.keyword_scores(&candidates);
                weighted(&cosines, &keywords, f64::from(options.alpha))
            }
        };
        let mut passages = self.passages(&fused);
        for passage in &mut passages {
            passage.scores.fused = Some(passage.score as f32);
        }
        passages
    }

    fn candidates(&self) -> BTreeSet<u64> {
        self.vector.iter().chain(&self.keyword).map(|(id, _)| *id).collect()
    }

    /// BM25 of every candidate, 0 for those that hold no word; nothing at all when none does.
    fn keyword_scores(&self, candidates: &BTreeSet<u64>) -> Vec<(u64, f64)> {
        if self.keyword.is_empty() {
            return Vec::new();
        }
        candidates.iter().map(|&id| (id, self.keywords.score(id).unwrap_or(0.0))).collect()
    }

    fn passages(&self, scored: &[(u64, f64)]) -> Vec<Ranked> {
        let by_vector: BTreeSet<u64> = self.vector.iter().map(|(id, _)| *id).collect();
        let ranked = |&(id, score): &(u64, f64)| {
            let keyword = self.keywords.score(id).filter(|_| !self.keyword.is_empty());
            Ranked {
                id,
                score,
                scores: HitScores {
                    vector: self.cosines.get(&id).map(|&cosine| cosine as f32),
                    keyword: keyword.map(|score| score as f32),
                    rerank: None,
                    fused: None,
                },
                found_by: match (by_vector.contains(&id), keyword.is_some()) {
                    (true, true) => MatchKind::Hybrid,
                    (false, _) => MatchKind::Keyword,
                    (true, false) => MatchKind::Vector,
                },
                also: Vec::new(),
            }
        };
        scored.iter().map(ranked).collect()
    }

    /// The ranking of `passages`, with what the gate looks at.
    pub(super) fn ranking(
        mut self,
        collection: &dyn Collection,
        question: Question<'_>,
        passages: Vec<Ranked>,
    ) -> Ranking {
        if self.cosines.is_empty() {
            let ids = with_vectors(collection, passages.iter().map(|passage| passage.id));
            // The ranking stands without the cosine, so damaged vectors do not take the keyword leg down.
            if let Err(err) = self.look_up(collection, question, ids.len(), &ids) {
                tracing::warn!("the best passage has no cosine: {err}");
            }
        }
        let best_cosine = passages.iter().filter_map(|passage| self.cosines.get(&passage.id)).copied().reduce(f64::max);
        Ranking {
            idf_coverage: passages.first().map_or(0.0, |best| self.keywords.coverage(best.id)),
            best_cosine,
            passages,
            considered: Vec::new(),
            backend: self.backend,
        }
    }
}

/// Those of `ids` that have a vector, increasing.
fn with_vectors(collection: &dyn Collection, ids: impl Iterator<Item = u64>) -> Arc<Vec<u64>> {
    let known = collection.with_vectors();
    let mut ids: Vec<u64> = ids.filter(|id| known.binary_search(id).is_ok()).collect();
    ids.sort_unstable();
    Arc::new(ids)
}
