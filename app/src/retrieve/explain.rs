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
    /// It would have been a hit, and the reranker put others before it.
    Outranked,
    /// There were enough better ones, or more varied ones.
    Beyond,
}

/// How many candidates of a search each leg found, and how many came to each end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// Found by the vector leg.
    pub by_vector: usize,
    /// Found by the keyword leg.
    pub by_keyword: usize,
    /// [`Fate::BelowThreshold`].
    pub below_threshold: usize,
    /// [`Fate::NotReranked`].
    pub not_reranked: usize,
    /// [`Fate::Duplicate`].
    pub duplicates: usize,
    /// [`Fate::SamePage`].
    pub same_page: usize,
    /// [`Fate::Outranked`].
    pub outranked: usize,
    /// [`Fate::Beyond`].
    pub beyond: usize,
}

impl Outcomes {
    /// Of all candidates of one search.
    pub(super) fn of(considered: &[Considered]) -> Self {
        let mut outcomes = Self::default();
        for one in considered {
            outcomes.by_vector += usize::from(one.vector_rank.is_some());
            outcomes.by_keyword += usize::from(one.keyword_rank.is_some());
            match one.fate {
                Fate::Kept => {}
                Fate::BelowThreshold => outcomes.below_threshold += 1,
                Fate::NotReranked => outcomes.not_reranked += 1,
                Fate::Duplicate { .. } => outcomes.duplicates += 1,
                Fate::SamePage { .. } => outcomes.same_page += 1,
                Fate::Outranked => outcomes.outranked += 1,
                Fate::Beyond => outcomes.beyond += 1,
            }
        }
        outcomes
    }

    /// Each number that is not 0 with what it counts, for people.
    pub fn in_words(&self) -> Vec<(usize, &'static str)> {
        let all = [
            (self.by_vector, "found by meaning"),
            (self.by_keyword, "by words"),
            (self.below_threshold, "under the minimum score"),
            (self.not_reranked, "too far down to be reranked"),
            (self.outranked, "moved down by reranking"),
            (self.duplicates, "near-duplicates"),
            (self.same_page, "of the same page"),
            (self.beyond, "beyond the hits wanted"),
        ];
        all.into_iter().filter(|(count, _)| *count > 0).collect()
    }
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

impl Considered {
    /// Whether it is among the first `k` of some stage: what people look for when it is no hit.
    pub(super) fn is_near(&self, k: usize) -> bool {
        [Some(self.first_rank), self.vector_rank, self.keyword_rank].into_iter().flatten().any(|rank| rank <= k)
    }
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
        let is_outranked = |one: &Considered| {
            one.fate == Fate::Beyond
                && one.first_rank <= hits.len()
                && one.rerank_rank.is_some_and(|rank| rank > hits.len())
        };
        self.considered.iter_mut().filter(|one| is_outranked(one)).for_each(|one| one.fate = Fate::Outranked);
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
