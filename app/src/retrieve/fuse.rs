//! Two rankings into one.

use std::collections::{BTreeMap, BTreeSet};

/// Constant of reciprocal rank fusion (Cormack, Clarke & Büttcher 2009).
const RRF: f64 = 60.0;

/// `alpha * vector + (1 - alpha) * keyword`, each first scaled to 0 … 1 between the lowest and the highest score given
/// for it. An id that only one side names counts as that side's lowest for the other. Sorted by id.
pub fn weighted(vector: &[(u64, f64)], keyword: &[(u64, f64)], alpha: f64) -> Vec<(u64, f64)> {
    let (vector, keyword) = (scaled(vector), scaled(keyword));
    let ids: BTreeSet<u64> = vector.keys().chain(keyword.keys()).copied().collect();
    let of = |side: &BTreeMap<u64, f64>, id: u64| side.get(&id).copied().unwrap_or(0.0);
    ids.into_iter().map(|id| (id, alpha * of(&vector, id) + (1.0 - alpha) * of(&keyword, id))).collect()
}

/// Sum over the rankings (best first) of `1 / (60 + rank)`. Sorted by id.
pub fn reciprocal_ranks(rankings: &[&[(u64, f64)]]) -> Vec<(u64, f64)> {
    let mut fused = BTreeMap::new();
    for ranking in rankings {
        for (position, (id, _)) in ranking.iter().enumerate() {
            *fused.entry(*id).or_insert(0.0) += 1.0 / (RRF + position as f64 + 1.0);
        }
    }
    fused.into_iter().collect()
}

/// Each score on the way from the lowest, 0, to the highest, 1.
pub(super) fn scaled(scores: &[(u64, f64)]) -> BTreeMap<u64, f64> {
    let lowest = scores.iter().map(|(_, score)| *score).fold(f64::INFINITY, f64::min);
    let highest = scores.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
    let range = highest - lowest;
    // Where all are alike there is no lowest: each is a full match.
    let scale = |score: f64| {
        if range > 0.0 { (score - lowest) / range } else { 1.0 }
    };
    scores.iter().map(|&(id, score)| (id, scale(score))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: &[(u64, f64)], expected: &[(u64, f64)]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((id, score), (expected_id, expected_score)) in found.iter().zip(expected) {
            assert_eq!(id, expected_id);
            assert!((score - expected_score).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn weighted_fusion_scales_each_side_by_itself() {
        let vector = [(1, 0.9), (2, 0.5), (3, 0.1)];
        let keyword = [(2, 12.0), (4, 2.0)];
        close(&weighted(&vector, &keyword, 0.7), &[(1, 0.7), (2, 0.65), (3, 0.0), (4, 0.0)]);
    }

    #[test]
    fn one_side_alone_keeps_its_order() {
        close(&weighted(&[(7, 0.3), (9, 0.2)], &[], 0.7), &[(7, 0.7), (9, 0.0)]);
        close(&weighted(&[], &[(7, 3.0)], 0.7), &[(7, 0.3)]);
        close(&weighted(&[], &[], 0.7), &[]);
    }

    #[test]
    fn reciprocal_ranks_add_up() {
        let fused = reciprocal_ranks(&[&[(5, 9.0), (1, 8.0)], &[(1, 0.4)]]);
        close(&fused, &[(1, 1.0 / 62.0 + 1.0 / 61.0), (5, 1.0 / 61.0)]);
    }
}
