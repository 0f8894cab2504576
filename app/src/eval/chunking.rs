//! Scores of a chunking against excerpts, per question, over code-point ranges.
//!
//! With `retrieved` the chunks that were found for a question: *recall* is the part of the excerpts that they
//! hold; *precision* the part of them (plain sum of lengths) that is excerpt; *`IoU`* the same text over retrieved
//! lengths plus excerpt text not retrieved. *Precision-omega* needs no retrieval: it takes every chunk that touches
//! an excerpt, which is the best precision a perfect retriever could reach at full recall.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::ranges::{contact, union_len};

/// Scores of one question, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChunkScores {
    /// Part of the excerpts that was retrieved.
    pub recall: f64,
    /// Part of the retrieved text that is excerpt.
    pub precision: f64,
    /// Intersection over union.
    pub iou: f64,
    /// Precision of all chunks that touch an excerpt.
    pub precision_omega: f64,
}

/// Scores the chunks that were retrieved for a question (without omega).
pub fn score(retrieved: &[Range<usize>], references: &[Range<usize>]) -> ChunkScores {
    let shared: Vec<_> = retrieved
        .iter()
        .flat_map(|chunk| references.iter().filter_map(|reference| contact(chunk, reference)))
        .collect();
    let hit = union_len(&shared) as f64;
    let wanted = union_len(references) as f64;
    let retrieved_sum = retrieved.iter().map(ExactSizeIterator::len).sum::<usize>() as f64;
    ChunkScores {
        recall: share(hit, wanted),
        precision: share(hit, retrieved_sum),
        iou: share(hit, retrieved_sum + wanted - hit),
        precision_omega: 0.0,
    }
}

/// Precision-omega of all `chunks` of the question's corpus.
pub fn precision_omega(chunks: &[Range<usize>], references: &[Range<usize>]) -> f64 {
    let mut shared = Vec::new();
    let mut touching = Vec::new();
    for chunk in chunks {
        let contacts = references.iter().filter_map(|reference| contact(chunk, reference));
        let before = shared.len();
        shared.extend(contacts);
        if shared.len() > before {
            touching.push(chunk.clone());
        }
    }
    touching.extend(references.iter().cloned());
    share(union_len(&shared) as f64, union_len(&touching) as f64)
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-12
    }

    #[test]
    fn scores_follow_their_definitions() {
        let scores = score(&[0..10, 5..15], &[8..12, 20..24]);
        assert!(near(scores.recall, 4.0 / 8.0));
        assert!(near(scores.precision, 4.0 / 20.0));
        assert!(near(scores.iou, 4.0 / 24.0));
    }

    #[test]
    fn omega_counts_touching_chunks_and_missed_excerpts() {
        let chunks = [0..10, 10..20, 20..30];
        let omega = |reference: Range<usize>| precision_omega(&chunks, &[reference]);
        assert!(near(omega(12..16), 4.0 / 10.0));
        assert!(near(omega(10..20), 10.0 / 30.0), "contact without length counts");
        assert!(near(omega(25..35), 5.0 / 15.0));
    }

    #[test]
    fn nothing_scores_nothing() {
        let reference = 0..5;
        assert_eq!(score(&[], &[]), ChunkScores::default());
        assert!(near(precision_omega(&[], &[reference]), 0.0));
    }
}
