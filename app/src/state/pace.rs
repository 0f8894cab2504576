//! [`Pace`]: how far counted work is, how fast it goes and when it ends.

use std::time::{Duration, Instant};

/// Steps done of all, with when they were begun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Steps done.
    pub done: usize,
    /// All steps.
    pub total: usize,
    /// The first report and how many steps it told of.
    begun: (Instant, usize),
}

/// A rate says something only after this.
const SETTLED: Duration = Duration::from_millis(500);

impl Pace {
    /// Takes in a report; `None` once all is done.
    pub fn step(before: Option<Self>, done: usize, total: usize) -> Option<Self> {
        let before = before.filter(|before| before.total == total);
        let begun = before.map_or_else(|| (Instant::now(), done), |before| before.begun);
        // Reports of threads side by side may come out of order.
        let done = before.map_or(done, |before| before.done.max(done));
        (done < total).then_some(Self { done, total, begun })
    }

    /// Steps a second, once that can be told.
    pub fn per_sec(&self) -> Option<f64> {
        let (since, first) = self.begun;
        let elapsed = since.elapsed();
        (elapsed >= SETTLED && self.done > first).then(|| (self.done - first) as f64 / elapsed.as_secs_f64())
    }

    /// Seconds until all is done, once that can be told.
    pub fn secs_left(&self) -> Option<f64> {
        self.per_sec().map(|rate| (self.total - self.done) as f64 / rate)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn the_rate_counts_from_the_first_report() {
        let first = Pace::step(None, 100, 400);
        assert_eq!(first.unwrap().per_sec(), None);
        let begun = Instant::now().checked_sub(Duration::from_secs(10)).unwrap();
        let later = Pace { begun: (begun, 100), ..Pace::step(first, 200, 400).unwrap() };
        assert!((later.per_sec().unwrap() - 10.0).abs() < 0.5 && (later.secs_left().unwrap() - 20.0).abs() < 1.0);
        assert_eq!(Pace::step(Some(later), 400, 400), None);
    }

    #[test]
    fn other_work_begins_anew_and_a_late_report_changes_nothing() {
        let first = Pace::step(None, 300, 400);
        let late = Pace::step(first, 200, 400).unwrap();
        assert_eq!((late.done, late.begun.1), (300, 300));
        assert_eq!(Pace::step(first, 350, 900).unwrap().begun.1, 350);
        assert_eq!(Pace::step(first, 350, 400).unwrap().begun.1, 300);
    }
}
