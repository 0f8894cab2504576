//! [`Record`]: what each stage did with each candidate, for people who ask why a passage is there or is not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::HitScores;
use super::legs::Legs;
use super::rank::Ranked;

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It is a hit.
    Kept,
    /// Its final score is under the threshold.
    BelowThreshold,
    /// The reranker looked at the better ones only.
    NotReranked,
    /// It says nearly the same as a better one.
    Duplicate {
        /// Which.
        of: u64,
    },
    /// It stands on the same page as a better one.
    SamePage {
        /// Which.
        of: u64,
    },
    /// There were enough better ones, or more varied ones.
    Beyond,
}

/// A candidate of the ranking. Ranks are from 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Considered {
    /// The passage.
    pub id: u64,
    /// Rank by cosine, if the vector leg found it.
    pub vector_rank: Option<usize>,
    /// Rank by BM25, if the keyword leg found it.
    pub keyword_rank: Option<usize>,
    /// Rank after fusion.
    pub first_rank: usize,
    /// Rank after reranking.
    pub rerank_rank: Option<usize>,
    /// Rank among the hits.
    pub final_rank: Option<usize>,
    /// Its scores by name.
    pub scores: HitScores,
    /// What became of it.
    pub fate: Fate,
}

/// The record of one ranking.
pub(super) struct Record {
    /// In the order of the first ranking.
    considered: Vec<Considered>,
    places: BTreeMap<u64, usize>,
}

impl Record {
    /// After the legs and their fusion.
    pub(super) fn begin(legs: &Legs, ranked: &[Ranked]) -> Self {
        let ranks = |leg: &[(u64, f64)]| -> BTreeMap<u64, usize> { leg.iter().map(|(id, _)| *id).zip(1..).collect() };
        let (vector, keyword) = (ranks(&legs.vector), ranks(&legs.keyword));
        let considered = ranked.iter().zip(1..).map(|(passage, first_rank)| Considered {
            id: passage.id,
            vector_rank: vector.get(&passage.id).copied(),
            keyword_rank: keyword.get(&passage.id).copied(),
            first_rank,
            rerank_rank: None,
            final_rank: None,
            scores: passage.scores,
            fate: Fate::Beyond,
        });
        let considered: Vec<Considered> = considered.collect();
        let places = considered.iter().map(|one| one.id).zip(0..).collect();
        Self { considered, places }
    }

    fn change(&mut self, id: u64, change: impl FnOnce(&mut Considered)) {
        if let Some(considered) = self.places.get(&id).and_then(|place| self.considered.get_mut(*place)) {
            change(considered);
        }
    }

    /// After the reranker; whatever is not among `ranked` it did not see.
    pub(super) fn reranked(&mut self, ranked: &[Ranked]) {
        self.considered.iter_mut().for_each(|one| one.fate = Fate::NotReranked);
        for (passage, rank) in ranked.iter().zip(1..) {
            self.change(passage.id, |one| {
                (one.rerank_rank, one.scores, one.fate) = (Some(rank), passage.scores, Fate::Beyond);
            });
        }
    }

    pub(super) fn below_threshold(&mut self, passages: &[Ranked]) {
        for passage in passages {
            self.change(passage.id, |one| one.fate = Fate::BelowThreshold);
        }
    }

    pub(super) fn folded(&mut self, folded: &[(u64, Fate)]) {
        for (id, fate) in folded {
            self.change(*id, |one| one.fate = *fate);
        }
    }

    pub(super) fn beyond(&mut self, passages: &[Ranked]) {
        for passage in passages {
            self.change(passage.id, |one| one.fate = Fate::Beyond);
        }
    }

    pub(super) fn kept(&mut self, hits: &[Ranked]) {
        for (hit, rank) in hits.iter().zip(1..) {
            self.change(hit.id, |one| (one.final_rank, one.fate) = (Some(rank), Fate::Kept));
        }
    }

    /// The hits in their order, then the others as the last stage that saw them had them.
    pub(super) fn finish(mut self) -> Vec<Considered> {
        let order = |one: &Considered| {
            (one.final_rank.unwrap_or(usize::MAX), one.rerank_rank.unwrap_or(usize::MAX), one.first_rank)
        };
        self.considered.sort_by_key(order);
        self.considered
    }
}
