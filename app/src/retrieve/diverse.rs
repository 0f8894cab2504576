//! Not the same thing twice: near-duplicates and passages of one page folded under the best of them, and maximal
//! marginal relevance (Carbonell & Goldstein 1998) over the words of the passages.

use std::collections::{BTreeMap, BTreeSet};

use super::explain::Fate;
use super::rank::Ranked;
use super::{Grouping, PassageText, Passages, RetrieveError};
use crate::store::index_tokens;

/// Shared part of all words of two passages from which on they say the same.
const SAME_WORDS: f64 = 0.85;

/// Passages with what was folded under them.
#[derive(Default)]
pub(super) struct Group {
    /// The best of each group, best first.
    pub(super) kept: Vec<Ranked>,
    /// What was folded, with the reason.
    pub(super) folded: Vec<(u64, Fate)>,
    /// What came after enough were kept.
    pub(super) rest: Vec<Ranked>,
}

/// A kept passage with its words.
struct Seen {
    id: u64,
    passage: PassageText,
    words: BTreeSet<String>,
}

/// Keeps the first `wanted` groups of `ranked`, best first.
pub(super) fn groups(
    ranked: Vec<Ranked>,
    grouping: Grouping,
    wanted: usize,
    passages: &mut dyn Passages,
) -> Result<Group, RetrieveError> {
    let mut group = Group::default();
    let mut seen: Vec<Seen> = Vec::new();
    for candidate in ranked {
        if group.kept.len() >= wanted {
            group.rest.push(candidate);
            continue;
        }
        if grouping == Grouping::None {
            group.kept.push(candidate);
            continue;
        }
        let passage = passages.passage(candidate.id)?;
        let words: BTreeSet<String> = index_tokens(&passage.text).into_iter().collect();
        let found = seen.iter().enumerate().find_map(|(at, seen)| Some((at, fate(seen, &passage, &words, grouping)?)));
        if let Some((at, fate)) = found {
            group.kept[at].also.push(candidate.id);
            group.folded.push((candidate.id, fate));
        } else {
            seen.push(Seen { id: candidate.id, passage, words });
            group.kept.push(candidate);
        }
    }
    Ok(group)
}

/// Why a passage is more of what was seen, if it is.
fn fate(seen: &Seen, passage: &PassageText, words: &BTreeSet<String>, grouping: Grouping) -> Option<Fate> {
    let of = seen.id;
    let one_document = seen.passage.document == passage.document;
    if (one_document && overlap_by_half(&seen.passage, passage)) || share(&seen.words, words) >= SAME_WORDS {
        return Some(Fate::Duplicate { of });
    }
    let one_page = one_document && passage.pages.is_some() && seen.passage.pages == passage.pages;
    (grouping == Grouping::Page && one_page).then_some(Fate::SamePage { of })
}

fn overlap_by_half(one: &PassageText, other: &PassageText) -> bool {
    let shared = one.end.min(other.end).saturating_sub(one.start.max(other.start));
    let shorter = (one.end - one.start).min(other.end - other.start);
    shared * 2 > shorter
}

/// Words that both have, of those that either has (Jaccard).
fn share(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let (fewer, more) = (one.len().min(other.len()), one.len().max(other.len()));
    // Sets of too different size cannot share enough.
    if (fewer as f64) < SAME_WORDS * more as f64 || more == 0 {
        return 0.0;
    }
    let both = one.intersection(other).count();
    both as f64 / (one.len() + other.len() - both) as f64
}

/// The `k` of `ranked` that are relevant and unlike those before them: each next one has the highest
/// `relevance * score - (1 - relevance) * similarity to the nearest one chosen`, scores scaled to 0 … 1.
pub(super) fn spread(
    mut ranked: Vec<Ranked>,
    relevance: f64,
    k: usize,
    passages: &mut dyn Passages,
) -> Result<Vec<Ranked>, RetrieveError> {
    let counts = ranked.iter().map(|one| Ok(Counts::new(&passages.passage(one.id)?.text)));
    let mut counts = counts.collect::<Result<Vec<Counts>, RetrieveError>>()?;
    let (highest, lowest) = (ranked.first().map_or(0.0, |one| one.score), ranked.last().map_or(0.0, |one| one.score));
    let range = (highest - lowest).max(f64::EPSILON);
    let mut nearest = vec![0.0_f64; ranked.len()];
    let mut chosen = Vec::with_capacity(k);
    while chosen.len() < k && !ranked.is_empty() {
        let worth = |at: usize| relevance * (ranked[at].score - lowest) / range - (1.0 - relevance) * nearest[at];
        // `max_by` takes the last of equals, so the order is turned round for the better ranked to win.
        let Some(best) = (0..ranked.len()).rev().max_by(|a, b| worth(*a).total_cmp(&worth(*b))) else {
            break;
        };
        chosen.push(ranked.remove(best));
        nearest.remove(best);
        let last = counts.remove(best);
        for (nearest, counts) in nearest.iter_mut().zip(&counts) {
            *nearest = nearest.max(last.cosine(counts));
        }
    }
    Ok(chosen)
}

/// How often each word stands in a passage.
struct Counts {
    words: BTreeMap<String, f64>,
    norm: f64,
}

impl Counts {
    fn new(text: &str) -> Self {
        let mut words = BTreeMap::new();
        for token in index_tokens(text) {
            *words.entry(token).or_insert(0.0) += 1.0;
        }
        let norm = words.values().map(|count: &f64| count * count).sum::<f64>().sqrt();
        Self { words, norm }
    }

    fn cosine(&self, other: &Self) -> f64 {
        let product: f64 = self.words.iter().filter_map(|(word, count)| Some(count * other.words.get(word)?)).sum();
        product / (self.norm * other.norm).max(f64::EPSILON)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure is the test's message")]

    use super::*;
    use crate::retrieve::{HitScores, MatchKind};

    /// Passages on one page of one document, unless their text begins with another page's number.
    struct Texts(Vec<&'static str>);

    impl Passages for Texts {
        fn passage(&mut self, id: u64) -> Result<PassageText, RetrieveError> {
            let text = self.0[id as usize];
            let page = text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(1);
            let start = id as usize * 1000;
            Ok(PassageText { document: 1, start, end: start + 10, pages: Some((page, page)), text: text.to_owned() })
        }

        fn rerank(&mut self, _: &str, ids: &[u64]) -> Result<Vec<f64>, RetrieveError> {
            Ok(vec![0.0; ids.len()])
        }
    }

    fn ranked(count: usize) -> Vec<Ranked> {
        let one = |id: usize| Ranked {
            id: id as u64,
            score: 1.0 - id as f64 * 0.1,
            scores: HitScores::default(),
            found_by: MatchKind::Hybrid,
            also: Vec::new(),
        };
        (0..count).map(one).collect()
    }

    fn ids(passages: &[Ranked]) -> Vec<u64> {
        passages.iter().map(|passage| passage.id).collect()
    }

    const TEXTS: [&str; 4] = [
        "The pump has a red button on its lid",
        "the pump has a red button on its lid.",
        "Rain falls in spring at the station",
        "2 Granite is a coarse rock of quartz",
    ];

    #[test]
    fn duplicates_are_folded_under_the_best() {
        let group = groups(ranked(4), Grouping::Duplicates, 10, &mut Texts(TEXTS.to_vec())).unwrap();
        assert_eq!(ids(&group.kept), [0, 2, 3]);
        assert_eq!(group.folded, [(1, Fate::Duplicate { of: 0 })]);
        assert_eq!(group.kept[0].also, [1]);
    }

    #[test]
    fn a_page_is_one_group_where_that_is_asked_for() {
        let group = groups(ranked(4), Grouping::Page, 10, &mut Texts(TEXTS.to_vec())).unwrap();
        assert_eq!(ids(&group.kept), [0, 3]);
        assert_eq!(group.folded[1], (2, Fate::SamePage { of: 0 }));
        let group = groups(ranked(4), Grouping::None, 2, &mut Texts(TEXTS.to_vec())).unwrap();
        assert_eq!((ids(&group.kept), ids(&group.rest)), (vec![0, 1], vec![2, 3]));
    }

    #[test]
    fn novelty_comes_before_repetition() {
        let texts = ["red pump button", "red pump button lid", "spring rain station", "spring rain river"];
        let chosen = spread(ranked(4), 0.5, 2, &mut Texts(texts.to_vec())).unwrap();
        assert_eq!(ids(&chosen), [0, 2]);
        let chosen = spread(ranked(4), 1.0, 3, &mut Texts(texts.to_vec())).unwrap();
        assert_eq!(ids(&chosen), [0, 1, 2], "relevance alone keeps the order");
        assert!(spread(Vec::new(), 0.5, 3, &mut Texts(Vec::new())).unwrap().is_empty());
    }
}
