//! The rows of one query that may still belong to its answer.
//!
//! Invariant: every row whose canonical score reaches the threshold is kept, and the threshold
//! never exceeds the k-th best canonical score.

use crate::bound::Interval;
use crate::file::Snapshot;
use crate::hit::{RankedRow, keep_best};
use crate::query::PreparedQueries;

use super::kernel::Kernels;

/// A row with what is known of its canonical score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) row: u64,
    pub(crate) interval: Interval,
}

/// A bounded list of candidates: at most `2k + 64` of them, whatever the data.
#[derive(Debug)]
pub(crate) struct CandidateList {
    k: usize,
    query: usize,
    candidates: Vec<Candidate>,
    threshold: f64,
}

/// Computes canonical scores.
pub(crate) struct Scorer<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) queries: &'a PreparedQueries<'a>,
    scratch: Vec<f32>,
    /// Rows scored so far.
    pub(crate) num_scored: u64,
}

impl<'a> Scorer<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, queries: &'a PreparedQueries<'a>) -> Self {
        Self { snapshot, queries, scratch: vec![0.0; queries.dims], num_scored: 0 }
    }

    /// Asks for a row that is scored soon: candidates lie scattered over the file.
    fn prefetch(&self, row: u64) {
        let (block, row_in_block) = self.snapshot.locate(row);
        (Kernels::best().prefetch)(block.row_bytes(row_in_block));
    }

    /// The canonical score; rows that have none sort last.
    pub(crate) fn score(&mut self, query: usize, row: u64) -> f64 {
        self.num_scored += 1;
        let (block, row_in_block) = self.snapshot.locate(row);
        let values = block.row_f32(row_in_block).unwrap_or_else(|| {
            block.read_row(row_in_block, &mut self.scratch);
            &self.scratch
        });
        self.queries.canonical(query, values, block.norms()[row_in_block]).unwrap_or(f64::NEG_INFINITY)
    }
}

impl CandidateList {
    /// An empty list for query number `query`.
    pub(crate) fn new(k: usize, query: usize) -> Self {
        Self { k, query, candidates: Vec::new(), threshold: f64::NEG_INFINITY }
    }

    /// No row below this can belong to the answer.
    pub(crate) fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Takes over a threshold that another list of the same query has proven.
    pub(crate) fn raise_threshold(&mut self, threshold: f64) {
        self.threshold = self.threshold.max(threshold);
    }

    /// Adds a row; true if the threshold rose.
    pub(crate) fn push(&mut self, candidate: Candidate, scorer: &mut Scorer<'_>) -> bool {
        if candidate.interval.upper < self.threshold {
            return false;
        }
        self.candidates.push(candidate);
        self.candidates.len() >= self.capacity() && self.prune(scorer)
    }

    /// Raises the threshold as far as the candidates so far prove it.
    #[cfg(feature = "gpu")]
    pub(crate) fn tighten(&mut self, scorer: &mut Scorer<'_>) {
        if self.k > 0 && self.candidates.len() >= self.k {
            self.prune(scorer);
        }
    }

    /// What is left, still in no order.
    pub(crate) fn into_candidates(self) -> Vec<Candidate> {
        self.candidates
    }

    fn capacity(&self) -> usize {
        self.k.saturating_mul(2).saturating_add(64)
    }

    /// Drops what cannot belong to the answer. Where the bounds do not tell enough rows apart
    /// (ties, duplicates), the canonical scores do.
    fn prune(&mut self, scorer: &mut Scorer<'_>) -> bool {
        let before = self.threshold;
        self.drop_by_bounds();
        if self.candidates.len() > self.k + self.k / 2 + 32 {
            self.rank_exactly(scorer);
        }
        self.threshold > before
    }

    fn drop_by_bounds(&mut self) {
        let better_first = |a: &Candidate, b: &Candidate| b.interval.lower.total_cmp(&a.interval.lower);
        let (_, kth, _) = self.candidates.select_nth_unstable_by(self.k - 1, better_first);
        let threshold = self.threshold.max(kth.interval.lower);
        self.threshold = threshold;
        self.candidates.retain(|candidate| candidate.interval.upper >= threshold);
    }

    fn rank_exactly(&mut self, scorer: &mut Scorer<'_>) {
        let mut ranked = rank(&self.candidates, self.query, scorer);
        keep_best(&mut ranked, self.k);
        if let Some(worst) = ranked.get(self.k - 1) {
            self.threshold = self.threshold.max(worst.score);
        }
        let exact = |ranked: &RankedRow| Candidate {
            row: ranked.row,
            interval: Interval { lower: ranked.score, upper: ranked.score },
        };
        self.candidates.clear();
        self.candidates.extend(ranked.iter().map(exact));
    }
}

/// Merges the lists of one query into its answer.
pub(crate) fn finish(lists: Vec<CandidateList>, scorer: &mut Scorer<'_>) -> Vec<RankedRow> {
    let Some(first) = lists.first() else {
        return Vec::new();
    };
    let mut merged = CandidateList::new(first.k, first.query);
    merged.threshold = lists.iter().map(CandidateList::threshold).fold(f64::NEG_INFINITY, f64::max);
    merged.candidates = lists.into_iter().flat_map(CandidateList::into_candidates).collect();
    if merged.candidates.len() >= merged.k && merged.k > 0 {
        merged.drop_by_bounds();
    }
    let mut ranked = rank(&merged.candidates, merged.query, scorer);
    keep_best(&mut ranked, merged.k);
    ranked
}

/// Candidates between asking for a row and scoring it.
const PREFETCH_AHEAD: usize = 4;

fn rank(candidates: &[Candidate], query: usize, scorer: &mut Scorer<'_>) -> Vec<RankedRow> {
    let is_exact = |candidate: &Candidate| candidate.interval.lower.to_bits() == candidate.interval.upper.to_bits();
    let mut ranked = Vec::with_capacity(candidates.len());
    for (index, candidate) in candidates.iter().enumerate() {
        if let Some(upcoming) = candidates.get(index + PREFETCH_AHEAD).filter(|upcoming| !is_exact(upcoming)) {
            scorer.prefetch(upcoming.row);
        }
        let row = candidate.row;
        let score = if is_exact(candidate) { candidate.interval.lower } else { scorer.score(query, row) };
        ranked.push(RankedRow { row, score });
    }
    ranked
}
