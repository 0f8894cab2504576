//! Ranking the passages of a collection for a question.
//!
//! [`rank`] is the two legs, their fusion and the threshold. [`rank_in_stages`] goes on from there: reranking, then
//! the threshold, then one passage for each group, and keeps a record of what became of every candidate.

use super::diverse::{Group, groups, spread};
use super::explain::Record;
use super::fuse::scaled;
use super::legs::Legs;
use super::{Collection, Considered, HitScores, MatchKind, Passages, Rescored, RetrieveError, SearchOptions};
use crate::store::StoreError;

/// Passages that a reranker looks at, unless more hits are wanted.
const RERANKED: usize = 50;
/// Weight of late interaction; the rest is the first ranking's, scaled in the same way. Measured: see
/// `benches/records`.
const RERANK_WEIGHT: f64 = 0.5;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its vector; `None` where there is no model or the vector is zero.
    pub vector: Option<&'a [f32]>,
}

/// A passage with its place in the ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Its id.
    pub id: u64,
    /// The score that ranked it.
    pub score: f64,
    /// All scores by name.
    pub scores: HitScores,
    /// Which legs found it.
    pub found_by: MatchKind,
    /// Passages folded under it: near-duplicates, or others of its page.
    pub also: Vec<u64>,
}

impl Ranked {
    /// Best first, ties by lower id.
    pub(super) fn order(one: &Self, other: &Self) -> std::cmp::Ordering {
        other.score.total_cmp(&one.score).then(one.id.cmp(&other.id))
    }
}

/// The best passages of a collection, with what the answer gate looks at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Best first, ties by lower id; at most `k`.
    pub passages: Vec<Ranked>,
    /// What became of each candidate; empty from [`rank`].
    pub considered: Vec<Considered>,
    /// Share of the question's word weights that the best passage holds.
    pub idf_coverage: f64,
    /// Highest cosine among the passages, whatever the mode.
    pub best_cosine: Option<f64>,
    /// What the vector leg ran on; empty when it had nothing to search.
    pub backend: &'static str,
}

/// Ranks the passages of `collection` by its legs alone. `options` must have been checked.
///
/// # Errors
/// The collection cannot be read.
pub fn rank(
    collection: &dyn Collection,
    question: Question<'_>,
    options: &SearchOptions,
) -> Result<Ranking, StoreError> {
    let legs = Legs::run(collection, question, options)?;
    let mut passages = legs.ranked(options);
    passages.truncate(options.k);
    passages.retain(|passage| is_good_enough(passage, options));
    Ok(legs.ranking(collection, question, passages))
}

/// Ranks the passages of `collection` in every stage that `options` ask for. `options` must have been checked.
///
/// # Errors
/// The collection cannot be read, or the reranker failed or is not there.
pub fn rank_in_stages(
    collection: &dyn Collection,
    question: Question<'_>,
    options: &SearchOptions,
    passages: &mut dyn Passages,
) -> Result<Ranking, RetrieveError> {
    let legs = Legs::run(collection, question, options)?;
    let mut ranked = legs.ranked(options);
    let mut record = Record::begin(&legs, &ranked);
    if options.rerank && rerank(question.text, &mut ranked, options, passages)? {
        record.reranked(&ranked);
    }
    let good = ranked.iter().take_while(|passage| is_good_enough(passage, options)).count();
    record.below_threshold(&ranked[good..]);
    ranked.truncate(good);
    let mut kept = fold(ranked, options, passages, &mut record)?;
    record.beyond(&kept[kept.len().min(options.k)..]);
    kept.truncate(options.k);
    record.kept(&kept);
    let mut ranking = legs.ranking(collection, question, kept);
    ranking.considered = record.finish();
    Ok(ranking)
}

fn is_good_enough(passage: &Ranked, options: &SearchOptions) -> bool {
    options.min_score.is_none_or(|least| passage.score as f32 >= least)
}

/// Ranks the first passages by the reranker's scores and drops the others; false where it gave none, and the first
/// ranking stands.
fn rerank(
    question: &str,
    ranked: &mut Vec<Ranked>,
    options: &SearchOptions,
    passages: &mut dyn Passages,
) -> Result<bool, RetrieveError> {
    let seen = ranked.len().min(RERANKED.max(options.k));
    let ids: Vec<u64> = ranked[..seen].iter().map(|passage| passage.id).collect();
    let scores = match passages.rescore(question, &ids)? {
        Rescored::Nothing => return Ok(false),
        Rescored::Alone(scores) => scores,
        Rescored::Mixed(scores) => mixed(&ranked[..seen], &scores),
    };
    ranked.truncate(seen);
    for (passage, score) in ranked.iter_mut().zip(scores) {
        passage.score = score;
        passage.scores.rerank = Some(score as f32);
    }
    ranked.sort_by(Ranked::order);
    Ok(true)
}

/// The mean of both rankings' scores, each scaled to 0 … 1.
fn mixed(ranked: &[Ranked], scores: &[f64]) -> Vec<f64> {
    let first: Vec<(u64, f64)> = ranked.iter().map(|passage| (passage.id, passage.score)).collect();
    let second: Vec<(u64, f64)> = ranked.iter().map(|passage| passage.id).zip(scores.iter().copied()).collect();
    let (first, second) = (scaled(&first), scaled(&second));
    let of = |scores: &std::collections::BTreeMap<u64, f64>, id: u64| scores.get(&id).copied().unwrap_or(0.0);
    let mix =
        |passage: &Ranked| RERANK_WEIGHT * of(&second, passage.id) + (1.0 - RERANK_WEIGHT) * of(&first, passage.id);
    ranked.iter().map(mix).collect()
}

/// One passage for each group, best first, spread over topics where that is asked for.
fn fold(
    ranked: Vec<Ranked>,
    options: &SearchOptions,
    passages: &mut dyn Passages,
    record: &mut Record,
) -> Result<Vec<Ranked>, RetrieveError> {
    let wanted = if options.mmr.is_some() { 3 * options.k } else { options.k };
    let Group { mut kept, folded, rest } = groups(ranked, options.group, wanted, passages)?;
    record.folded(&folded);
    record.beyond(&rest);
    if let Some(relevance) = options.mmr {
        kept = spread(kept, f64::from(relevance), options.k, passages)?;
    }
    Ok(kept)
}
