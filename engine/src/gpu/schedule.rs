//! How many queries go together, how long their lists are, and which rows a round takes.
//!
//! Rounds grow so that the lists hold what is expected of them: in rows of no particular order, a round over g times
//! the rows of all rounds before it appends about g·k candidates. What is not as expected overflows, and
//! [`Schedule::rounds`] is asked for smaller rounds.

use std::ops::Range;

use super::pipeline::CutKernel;

/// Rows of the first round, in which everything passes.
const FIRST_ROUND_ROWS: u64 = 4096;
/// A round has at most so many times the rows of all rounds before it.
const MAX_GROWTH: u64 = 7;
/// Queries that are sent together, whatever k is: reading the rows again costs more than reading back more often.
const MIN_BATCH_QUERIES: u64 = 8;
/// Queries that are sent together at most.
const MAX_BATCH_QUERIES: u64 = 1024;
/// Lists hold so many times k where there is room for it.
const CAPACITY_PER_HIT: u64 = 8;
/// Longer lists take too long to sort.
const MAX_MERGED_CAPACITY: u64 = 1 << 16;
/// Rounds between two read-backs at most.
const MAX_ROUNDS: usize = 32;
/// Of limited rounds, which follow an overflow and may overflow again: what is behind one that does is done twice.
const MAX_LIMITED_ROUNDS: usize = 4;
/// Rows of a round at most, so that counts stay within 32 bits.
const MAX_ROUND_ROWS: u64 = 1 << 31;

/// The rounds of a batch of queries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) num_rows: u64,
    pub(crate) k: u64,
    /// Candidates that the list of a query holds.
    pub(crate) capacity: u64,
    /// Rows between two read-backs at most.
    pub(crate) most_rows: u64,
}

/// How many queries at most share lists of `found_capacity` candidates in all.
pub(crate) fn most_queries(found_capacity: u32, k: usize) -> u64 {
    let most = u64::from(found_capacity) / (CAPACITY_PER_HIT * k as u64).max(1);
    most.clamp(MIN_BATCH_QUERIES, MAX_BATCH_QUERIES)
}

/// How long the list of each query is.
pub(crate) fn list_capacity(found_capacity: u32, num_queries: usize, k: usize) -> u32 {
    let even = u64::from(found_capacity) / (num_queries as u64).max(1);
    let most = match CutKernel::for_hits(k) {
        CutKernel::Merge => MAX_MERGED_CAPACITY,
        CutKernel::Select => u64::from(u32::MAX),
    };
    even.clamp(1, most) as u32
}

impl Schedule {
    /// The rounds from row `start` on that follow each other without a read-back, none with more than `limit` rows.
    /// There is at least one.
    pub(crate) fn rounds(&self, start: u64, limit: u64) -> Vec<Range<u64>> {
        let end = self.num_rows.min(start.saturating_add(self.most_rows.max(1)));
        let most_rounds = if limit == u64::MAX { MAX_ROUNDS } else { MAX_LIMITED_ROUNDS }.min(self.most_rounds());
        let mut rounds = Vec::new();
        let mut at = start;
        while at < end && rounds.len() < most_rounds {
            let size = self.round_rows(at).min(limit).clamp(1, MAX_ROUND_ROWS);
            let next = at.saturating_add(size).min(end);
            rounds.push(at..next);
            at = next;
        }
        rounds
    }

    /// Lists that hold little more than the answer are read back after each round.
    fn most_rounds(&self) -> usize {
        if self.capacity >= 4 * self.k { MAX_ROUNDS } else { 1 }
    }

    /// Rows of a round after `seen` rows.
    fn round_rows(&self, seen: u64) -> u64 {
        let k = self.k.max(1);
        if seen == 0 {
            // Fewer than k rows prove nothing.
            return FIRST_ROUND_ROWS.max(2 * k).min(self.capacity);
        }
        // Half of the list, less what is in it already.
        let half = self.capacity / 2;
        let expected = if self.most_rounds() > 1 { half - k } else { half };
        (u128::from(seen) * u128::from(expected) / u128::from(k)).min(u128::from(seen * MAX_GROWTH)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(num_rows: u64, k: u64, capacity: u64) -> Schedule {
        Schedule { num_rows, k, capacity, most_rows: u64::MAX }
    }

    #[test]
    fn rounds_cover_every_row_once() {
        for (num_rows, k, capacity) in [(1, 1, 1), (5000, 5000, 700), (1_000_000, 10, 1024), (9000, 1024, 65_536)] {
            for limit in [1000, u64::MAX] {
                let schedule = Schedule { most_rows: 300_000, ..schedule(num_rows, k, capacity) };
                let mut start = 0;
                while start < num_rows {
                    for round in schedule.rounds(start, limit) {
                        assert!(round.start == start && round.end > start && round.end - start <= limit);
                        start = round.end;
                    }
                }
                assert_eq!(start, num_rows);
            }
        }
    }

    #[test]
    fn a_million_rows_take_one_chain() {
        for (k, num_queries) in [(10, 1), (10, 1024), (1000, 100), (5000, 20)] {
            let capacity = u64::from(list_capacity(1 << 20, num_queries, k));
            let rounds = schedule(1_000_000, k as u64, capacity).rounds(0, u64::MAX);
            assert_eq!(rounds.last().map(|round| round.end), Some(1_000_000), "k = {k}");
            assert!(rounds.len() <= 12, "{rounds:?}");
        }
    }

    #[test]
    fn lists_fit_into_what_there_is() {
        for found_capacity in [1, 96, 5000, 1 << 20] {
            for k in [1, 10, 1024, 1025, 1 << 20] {
                let queries = most_queries(found_capacity, k).min(u64::from(found_capacity)) as usize;
                let capacity = list_capacity(found_capacity, queries, k);
                assert!(capacity >= 1 && u64::from(capacity) * queries as u64 <= u64::from(found_capacity));
            }
        }
    }
}
