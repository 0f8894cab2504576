//! Scores of a ranking of documents, per question.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Scores of one question, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankScores {
    /// Discounted gain over the best possible one (Järvelin & Kekäläinen 2002, linear gains).
    pub ndcg: f64,
    /// Part of the relevant documents that were found.
    pub recall: f64,
    /// One over the rank of the first relevant document.
    pub mrr: f64,
}

/// Scores the first `k` of `ranked` (document indices, best first). Repeated documents count once.
pub fn score(ranked: &[usize], gains: &BTreeMap<usize, f64>, k: usize) -> RankScores {
    let ranked = first_occurrences(ranked, k);
    let found: Vec<f64> = ranked.iter().map(|index| gains.get(index).copied().unwrap_or(0.0)).collect();
    let mut ideal: Vec<f64> = gains.values().copied().collect();
    ideal.sort_unstable_by(|a, b| b.total_cmp(a));
    ideal.truncate(k);
    let best = discounted(&ideal);
    let num_found = found.iter().filter(|gain| **gain > 0.0).count() as f64;
    let first = found.iter().position(|gain| *gain > 0.0);
    RankScores {
        ndcg: if best > 0.0 { discounted(&found) / best } else { 0.0 },
        recall: num_found / gains.len().max(1) as f64,
        mrr: first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
    }
}

fn first_occurrences(ranked: &[usize], k: usize) -> Vec<usize> {
    let mut unique: Vec<usize> = Vec::with_capacity(k.min(ranked.len()));
    for index in ranked {
        if unique.len() == k {
            break;
        }
        if !unique.contains(index) {
            unique.push(*index);
        }
    }
    unique
}

fn discounted(gains: &[f64]) -> f64 {
    gains.iter().enumerate().map(|(rank, gain)| gain / (rank as f64 + 2.0).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_ranking_scores_one() {
        let gains = BTreeMap::from([(3, 2.0), (7, 1.0)]);
        let scores = score(&[3, 7, 1], &gains, 10);
        assert!((scores.ndcg - 1.0).abs() < 1e-12 && (scores.recall - 1.0).abs() < 1e-12);
        assert!((scores.mrr - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ranks_are_discounted() {
        let gains = BTreeMap::from([(3, 1.0)]);
        let scores = score(&[1, 1, 3], &gains, 10);
        assert!((scores.ndcg - 1.0 / 3_f64.log2()).abs() < 1e-12);
        assert!((scores.mrr - 0.5).abs() < 1e-12);
        assert_eq!(score(&[1, 2, 3], &gains, 2), RankScores::default());
    }
}
