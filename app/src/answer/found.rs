//! [`FoundPassage`]: what became of each passage found for a question, for people who ask why the answer rests on these.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::passage::Passage;
use crate::extract::Place;
use crate::retrieve::{Fate, HitScores, Near, SearchHit, SearchResults};
use crate::store::{ChunkRecord, DocumentId};

/// Candidates that the search left out which are kept with an answer.
const MOST_LEFT_OUT: usize = 12;

/// What became of a passage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PassageFate {
    /// It was read.
    Used,
    /// It was read as part of a better one, with what stands around that.
    Within,
    /// There was no room for it in the prompt.
    OverBudget,
    /// It was not read.
    NotRead,
    /// The search left it out, for the reason given.
    LeftOut(String),
}

impl PassageFate {
    /// In a few words.
    pub fn text(&self) -> &str {
        match self {
            Self::Used => "used",
            Self::Within => "part of a better one",
            Self::OverBudget => "no room in the prompt",
            Self::NotRead => "not read",
            Self::LeftOut(reason) => reason,
        }
    }
}

/// A passage that was found for a question, or nearly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundPassage {
    /// Rank among the hits, from 1; `None` where the search left it out.
    pub rank: Option<usize>,
    /// The score that ranked it, if any did.
    pub score: Option<f32>,
    /// All scores by name.
    pub scores: HitScores,
    /// Its document.
    pub document: DocumentId,
    /// The document's title.
    pub title: String,
    /// The document's path.
    #[serde(serialize_with = "crate::store::path_as_text")]
    pub path: PathBuf,
    /// Where it stands.
    pub place: Place,
    /// First byte in the extracted text.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// The text of that range.
    pub text: String,
    /// What became of it.
    pub fate: PassageFate,
}

impl FoundPassage {
    fn of_hit(hit: &SearchHit) -> Self {
        let rank = (Some(hit.rank), Some(hit.score));
        Self::new(rank, hit.scores, (&hit.title, &hit.path), &hit.chunk, PassageFate::NotRead)
    }

    fn of_near(near: &Near, reason: String) -> Self {
        let scores = near.considered.scores;
        let score = scores.rerank.or(scores.fused).or(scores.vector).or(scores.keyword);
        Self::new((None, score), scores, (&near.title, &near.path), &near.chunk, PassageFate::LeftOut(reason))
    }

    fn new(
        (rank, score): (Option<usize>, Option<f32>),
        scores: HitScores,
        (title, path): (&str, &PathBuf),
        chunk: &ChunkRecord,
        fate: PassageFate,
    ) -> Self {
        Self {
            rank,
            score,
            scores,
            document: chunk.document,
            title: title.to_owned(),
            path: path.clone(),
            place: chunk.place.clone(),
            start: chunk.start,
            end: chunk.end,
            text: chunk.text.clone(),
            fate,
        }
    }

    fn is_within(&self, chunk: &ChunkRecord) -> bool {
        self.document == chunk.document && chunk.start <= self.start && self.end <= chunk.end
    }
}

/// The hits, none of them read yet, then the nearest that the search left out.
pub(super) fn found(results: &SearchResults) -> Vec<FoundPassage> {
    let left_out = results.considered.iter().filter(|near| near.considered.fate != Fate::Kept).take(MOST_LEFT_OUT);
    let left_out = left_out.map(|near| FoundPassage::of_near(near, results.fate_text(near.considered.fate)));
    results.hits.iter().map(FoundPassage::of_hit).chain(left_out).collect()
}

/// Marks the hits that were read; what was not read has `others` for its fate.
pub(super) fn mark(found: &mut [FoundPassage], read: &[Passage<'_>], others: &PassageFate) {
    for passage in found {
        let Some(rank) = passage.rank else { continue };
        passage.fate = if read.iter().any(|one| one.hit.rank == rank) {
            PassageFate::Used
        } else if read.iter().any(|one| passage.is_within(&one.hit.chunk)) {
            PassageFate::Within
        } else {
            others.clone()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::samples::results;
    use crate::retrieve::Considered;

    #[test]
    fn hits_come_first_and_what_the_search_left_out_says_why() {
        let mut results = results(&["One.", "Two."], 0.9, 0.9);
        let of = |hit: &SearchHit, fate| Near {
            considered: Considered {
                id: hit.chunk.id.0,
                vector_rank: None,
                keyword_rank: None,
                first_rank: hit.rank,
                rerank_rank: None,
                final_rank: (fate == Fate::Kept).then_some(hit.rank),
                scores: hit.scores,
                fate,
            },
            path: hit.path.clone(),
            title: hit.title.clone(),
            chunk: hit.chunk.clone(),
        };
        let missed = results.hits.pop();
        results.considered = results.hits.iter().map(|hit| of(hit, Fate::Kept)).collect();
        results.considered.extend(missed.iter().map(|hit| of(hit, Fate::BelowThreshold)));
        let found = found(&results);
        let shown: Vec<_> = found.iter().map(|one| (one.rank, one.fate.text(), one.text.as_str())).collect();
        assert_eq!(shown, [(Some(1), "not read", "One."), (None, "under the minimum score", "Two.")]);
    }

    #[test]
    fn a_hit_within_a_wider_one_was_read_with_it() {
        let mut results = results(&["One.", "Two.", "Three."], 0.9, 0.9);
        results.hits[1].chunk.document = results.hits[0].chunk.document;
        let mut found = found(&results);
        mark(&mut found, &Passage::number_all(&results.hits[..1]), &PassageFate::OverBudget);
        let fates: Vec<_> = found.into_iter().map(|one| one.fate).collect();
        assert_eq!(fates, [PassageFate::Used, PassageFate::Within, PassageFate::OverBudget]);
    }
}
