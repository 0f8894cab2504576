//! The keyword leg: BM25 (Robertson & Zaragoza 2009) with k1 = 1.2, b = 0.75 and a word weight that never falls
//! below zero, `ln(1 + (N − df + 0.5) / (df + 0.5))`.

use std::collections::BTreeMap;

use super::Collection;
use crate::store::{StoreError, query_tokens};

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The constants of one collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    /// Number of passages.
    pub num_passages: usize,
    /// Mean length of a passage in tokens.
    pub mean_tokens: f64,
}

impl Bm25 {
    /// Weight of a word that is in `num_holding` passages.
    pub fn idf(&self, num_holding: usize) -> f64 {
        let holding = num_holding as f64;
        let without = (self.num_passages as f64 - holding).max(0.0);
        (1.0 + (without + 0.5) / (holding + 0.5)).ln()
    }

    /// What a word of weight `idf` adds to a passage of `tokens` tokens that holds it `count` times.
    pub fn score(&self, idf: f64, count: u32, tokens: u32) -> f64 {
        let count = f64::from(count);
        let length = f64::from(tokens) / self.mean_tokens.max(1.0);
        idf * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
    }
}

/// A question's words with the passages that hold them.
#[derive(Clone, Debug, Default)]
pub struct Keywords {
    words: Vec<Word>,
    scores: BTreeMap<u64, f64>,
}

#[derive(Clone, Debug)]
struct Word {
    idf: f64,
    /// Increasing.
    holders: Vec<u64>,
}

impl Keywords {
    /// Looks the words of `question` up and scores every passage that holds one.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn find(collection: &dyn Collection, question: &str) -> Result<Self, StoreError> {
        let bm25 = Bm25 {
            num_passages: collection.num_passages(),
            mean_tokens: collection.mean_tokens(),
        };
        let mut found = Self::default();
        for token in query_tokens(question) {
            let postings = collection.postings(&token)?;
            let idf = bm25.idf(postings.len());
            for &(id, count) in &postings {
                if let Some(tokens) = collection.tokens(id) {
                    *found.scores.entry(id).or_default() += bm25.score(idf, count, tokens);
                }
            }
            let holders = postings.into_iter().map(|(id, _)| id).collect();
            found.words.push(Word { idf, holders });
        }
        Ok(found)
    }

    /// The BM25 score of a passage; `None` when it holds no word of the question.
    pub fn score(&self, id: u64) -> Option<f64> {
        self.scores.get(&id).copied()
    }

    /// The `k` passages of highest score, best first, ties by lower id.
    pub fn best(&self, k: usize) -> Vec<(u64, f64)> {
        let mut ranked: Vec<(u64, f64)> = self
            .scores
            .iter()
            .map(|(&id, &score)| (id, score))
            .collect();
        let order = |a: &(u64, f64), b: &(u64, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if ranked.len() > k && k > 0 {
            ranked.select_nth_unstable_by(k - 1, order);
        }
        ranked.truncate(k);
        ranked.sort_unstable_by(order);
        ranked
    }

    /// Share of the question's word weights that a passage holds, 0 to 1; words that no passage holds count in full.
    pub fn coverage(&self, id: u64) -> f64 {
        let total: f64 = self.words.iter().map(|word| word.idf).sum();
        let held: f64 = self
            .words
            .iter()
            .filter(|word| word.holders.binary_search(&id).is_ok())
            .map(|word| word.idf)
            .sum();
        if total > 0.0 { held / total } else { 0.0 }
    }
}
