//! Holds paths back until nothing has happened to them for a while.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Paths with when something last happened to them.
pub(super) struct Quiet {
    time: Duration,
    last_seen: BTreeMap<PathBuf, Instant>,
}

impl Quiet {
    pub(super) fn new(time: Duration) -> Self {
        Self { time, last_seen: BTreeMap::new() }
    }

    pub(super) fn note(&mut self, path: PathBuf, now: Instant) {
        self.last_seen.insert(path, now);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.last_seen.is_empty()
    }

    /// The paths that have been quiet for long enough, which are forgotten here.
    pub(super) fn take_due(&mut self, now: Instant) -> BTreeSet<PathBuf> {
        let is_due = |seen: &Instant| now.saturating_duration_since(*seen) >= self.time;
        let due = self.last_seen.iter().filter(|(_, seen)| is_due(seen)).map(|(path, _)| path.clone()).collect();
        self.last_seen.retain(|_, seen| now.saturating_duration_since(*seen) < self.time);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_written_again_and_again_comes_once_after_the_last_time() {
        let start = Instant::now();
        let at = |millis: u64| start + Duration::from_millis(millis);
        let mut quiet = Quiet::new(Duration::from_millis(1000));
        quiet.note("other".into(), at(0));
        for step in 0..30 {
            quiet.note("slow".into(), at(100 * step));
            let due = quiet.take_due(at(100 * step));
            assert_eq!(due.contains(&PathBuf::from("other")), step == 10, "step {step}");
            assert!(!due.contains(&PathBuf::from("slow")), "step {step}");
        }
        assert_eq!(quiet.take_due(at(3899)), BTreeSet::new());
        assert_eq!(quiet.take_due(at(3900)), BTreeSet::from([PathBuf::from("slow")]));
        assert!(quiet.is_empty());
    }
}
