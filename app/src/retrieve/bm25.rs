//! The keyword leg: BM25 (Robertson & Zaragoza 2009) with k1 = 1.2, b = 0.75 and a word weight that never falls
//! below zero, `ln(1 + (N − df + 0.5) / (df + 0.5))`.

use super::Collection;
use crate::store::{StoreError, is_grammar_pair, query_tokens};

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
    /// By id.
    scores: Vec<(u64, f64)>,
}

#[derive(Clone, Debug)]
struct Word {
    idf: f64,
    is_grammar: bool,
    /// Increasing.
    holders: Vec<u64>,
}

impl Keywords {
    /// Looks the words of `question` up and scores every passage that holds one.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn find(collection: &dyn Collection, question: &str) -> Result<Self, StoreError> {
        let bm25 = Bm25 { num_passages: collection.num_passages(), mean_tokens: collection.mean_tokens() };
        let (mut words, mut parts) = (Vec::new(), Vec::new());
        for token in query_tokens(question) {
            let postings = collection.postings(&token)?;
            let idf = bm25.idf(postings.len());
            parts.extend(
                postings.iter().filter_map(|&(id, count)| Some((id, bm25.score(idf, count, collection.tokens(id)?)))),
            );
            let holders = postings.into_iter().map(|(id, _)| id).collect();
            words.push(Word { idf, is_grammar: is_grammar_pair(&token), holders });
        }
        Ok(Self { words, scores: sum_by_id(parts) })
    }

    /// The BM25 score of a passage; `None` when it holds no word of the question.
    pub fn score(&self, id: u64) -> Option<f64> {
        let at = self.scores.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.scores[at].1)
    }

    /// The `k` passages of highest score, best first, ties by lower id.
    pub fn best(&self, k: usize) -> Vec<(u64, f64)> {
        let mut ranked = self.scores.clone();
        let order = |a: &(u64, f64), b: &(u64, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if ranked.len() > k && k > 0 {
            ranked.select_nth_unstable_by(k - 1, order);
        }
        ranked.truncate(k);
        ranked.sort_unstable_by(order);
        ranked
    }

    /// Share of the question's word weights that a passage holds, 0 to 1; words that no passage holds count in full,
    /// pairs of characters that are grammar not at all unless there is nothing else.
    pub fn coverage(&self, id: u64) -> f64 {
        let all_grammar = self.words.iter().all(|word| word.is_grammar);
        let counted = self.words.iter().filter(|word| all_grammar || !word.is_grammar);
        let total: f64 = counted.clone().map(|word| word.idf).sum();
        let held: f64 = counted.filter(|word| word.holders.binary_search(&id).is_ok()).map(|word| word.idf).sum();
        if total > 0.0 { held / total } else { 0.0 }
    }
}

fn sum_by_id(mut parts: Vec<(u64, f64)>) -> Vec<(u64, f64)> {
    // Stable, so that the parts of a passage are summed in the same order every time.
    parts.sort_by_key(|(id, _)| *id);
    let mut sums: Vec<(u64, f64)> = Vec::with_capacity(parts.len());
    for (id, part) in parts {
        match sums.last_mut() {
            Some((last, sum)) if *last == id => *sum += part,
            _ => sums.push((id, part)),
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure is the test's message")]

    use super::super::MemoryCollection;
    use super::*;

    fn keywords(passages: &[&str], question: &str) -> Keywords {
        let collection = MemoryCollection::new(passages, &vec![1.0; passages.len()], 1).unwrap();
        Keywords::find(&collection, question).unwrap()
    }

    #[test]
    fn scores_follow_the_formula() {
        let found = keywords(&["red fox", "red red dog barks", "cat"], "red fox");
        // Three passages of 2, 4 and 1 tokens; "red" is in two of them, "fox" in one.
        let idf = |holding: f64| (1.0 + (3.0 - holding + 0.5) / (holding + 0.5)).ln();
        let part = |idf: f64, count: f64, tokens: f64| {
            idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * tokens / (7.0 / 3.0)))
        };
        let expected = [part(idf(1.0), 1.0, 2.0) + part(idf(2.0), 1.0, 2.0), part(idf(2.0), 2.0, 4.0)];
        assert!((found.score(0).unwrap() - expected[0]).abs() < 1e-12);
        assert!((found.score(1).unwrap() - expected[1]).abs() < 1e-12);
        assert_eq!(found.score(2), None);
        assert_eq!(found.best(10).iter().map(|(id, _)| *id).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(found.best(1).len(), 1);
    }

    #[test]
    fn a_word_of_every_passage_still_counts() {
        let found = keywords(&["stone", "stone bed"], "stone");
        assert!(found.score(0).unwrap() > found.score(1).unwrap());
        assert!(found.score(1).unwrap() > 0.0);
    }

    #[test]
    fn coverage_counts_words_that_nobody_holds() {
        let found = keywords(&["red fox", "dog", "cat"], "red unicorn");
        assert!(found.coverage(0) > 0.3 && found.coverage(0) < 0.5, "{}", found.coverage(0));
        assert!(found.coverage(1).abs() < 1e-12);
        assert!((keywords(&["red fox", "dog"], "red fox").coverage(0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn chinese_grammar_does_not_count_as_missing() {
        let found =
            keywords(&["库内温度保持在十二摄氏度,相对湿度百分之五十五。岩芯库", "别的"], "岩芯库内的温度和湿度是多少?");
        assert!(found.coverage(0) > 0.99, "{}", found.coverage(0));
        assert!(keywords(&["库房很大", "别的"], "是多少的").coverage(0) < 1e-12);
    }
}
