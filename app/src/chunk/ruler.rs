//! Sizes of ranges of one text: how far a chunk may reach before it is larger than the cap.
//!
//! Invariant: the measure only ever sees pieces of about the cap's size, never the rest of a document, so that
//! the whole costs time in proportion to the text.

use std::ops::Range;

use super::graphemes::Graphemes;
use super::measure::Measure;

/// What is known of a text before it is cut: its grapheme boundaries and, if the measure adds up at white space,
/// the sizes of its words. Owns no text, so that a window can keep it.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    pub(crate) graphemes: Graphemes,
    words: Option<Words>,
}

/// Running sizes at the starts of words (with the white space behind them), from 0 to the text's end.
#[derive(Clone, Debug)]
struct Words {
    starts: Vec<usize>,
    sums: Vec<usize>,
}

impl Scale {
    pub(crate) fn new(text: &str, measure: &dyn Measure) -> Self {
        let graphemes = Graphemes::new(text);
        let words = measure.adds_up_at_spaces().then(|| Words::new(text, &graphemes, measure));
        Self { graphemes, words }
    }
}

impl Scale {
    /// The size of the text up to `position`, where that is at white space or an end of the text and the measure
    /// adds up: differences of two such sums are sizes.
    pub(crate) fn sum_at_space(&self, text: &str, position: usize, measure: &dyn Measure) -> Option<usize> {
        let words = self.words.as_ref()?;
        let is_at_space = text[..position].chars().next_back().is_none_or(char::is_whitespace)
            || text[position..].chars().next().is_none_or(char::is_whitespace);
        let word = words.starts.partition_point(|&start| start <= position) - 1;
        is_at_space.then(|| words.sums[word] + measure.size(&text[words.starts[word]..position]))
    }
}

impl Words {
    fn new(text: &str, graphemes: &Graphemes, measure: &dyn Measure) -> Self {
        let mut words = Self { starts: vec![0], sums: vec![0] };
        let mut after_space = false;
        for (position, letter) in text.char_indices() {
            let is_space = letter.is_whitespace();
            if after_space && !is_space && graphemes.is_boundary(position) {
                words.push(text, position, measure);
            }
            after_space = is_space;
        }
        words.push(text, text.len(), measure);
        words
    }

    fn push(&mut self, text: &str, position: usize, measure: &dyn Measure) {
        let (Some(&start), Some(&sum)) = (self.starts.last(), self.sums.last()) else {
            return;
        };
        self.sums.push(sum + measure.size(&text[start..position]));
        self.starts.push(position);
    }
}

/// Measures ranges of `text`.
#[derive(Clone, Copy)]
pub(crate) struct Ruler<'a> {
    pub(crate) text: &'a str,
    pub(crate) measure: &'a dyn Measure,
    pub(crate) scale: &'a Scale,
}

impl Ruler<'_> {
    pub(crate) fn graphemes(&self) -> &Graphemes {
        &self.scale.graphemes
    }

    /// The size of a range, to be called on ranges of about the cap's size unless the measure adds up.
    pub(crate) fn size(&self, range: Range<usize>) -> usize {
        let Some(words) = &self.scale.words else {
            return self.direct(range);
        };
        let first = words.starts.partition_point(|&start| start < range.start);
        let after_last = words.starts.partition_point(|&start| start <= range.end);
        if first + 1 >= after_last {
            return self.split_size(range, words.starts.get(first).copied());
        }
        let last = after_last - 1;
        self.direct(range.start..words.starts[first])
            + (words.sums[last] - words.sums[first])
            + self.direct(words.starts[last]..range.end)
    }

    /// The size of a range with at most one word start in it.
    fn split_size(&self, range: Range<usize>, start: Option<usize>) -> usize {
        match start {
            Some(at) if at > range.start && at < range.end => self.direct(range.start..at) + self.direct(at..range.end),
            _ => self.direct(range),
        }
    }

    fn direct(&self, range: Range<usize>) -> usize {
        if range.is_empty() { 0 } else { self.measure.size(&self.text[range]) }
    }

    /// Whether the size of any range costs next to nothing, however long it is.
    pub(crate) fn adds_up(&self) -> bool {
        self.scale.words.is_some()
    }

    /// The furthest position up to `end` so that the text from `start` to it, white space at its end not counted,
    /// is no larger than `cap`. At least one grapheme, whatever its size.
    pub(crate) fn furthest_end(&self, start: usize, end: usize, cap: usize) -> usize {
        let first = self.graphemes().next(start).min(end);
        let (good, bad) = match &self.scale.words {
            Some(words) => self.word_bracket(words, start, first..end, cap),
            None => self.gallop_bracket(start, first..end, cap),
        };
        let reached = self.close_in(good, bad, cap, |position| {
            self.size(start..self.graphemes().trim_end(self.text, start, position))
        });
        self.graphemes().skip_blank(self.text, reached).min(end)
    }

    /// A position in `range` that fits and the nearest known one that does not (both the same if all fits), found
    /// from running sizes as far as whole words go. Words may be longer than the cap.
    fn word_bracket(&self, words: &Words, start: usize, range: Range<usize>, cap: usize) -> (usize, usize) {
        let next = words.starts.partition_point(|&at| at < start);
        let first_word_end = words.starts[next].min(range.end);
        let (good, bad) = self.gallop_bracket(start, range.start..first_word_end, cap);
        if good != bad || good == range.end {
            return (good, bad);
        }
        let budget = (words.sums[next] + cap).saturating_sub(self.direct(start..first_word_end));
        let over = words.sums.partition_point(|&sum| sum <= budget).max(next + 1);
        let good = words.starts[over - 1].clamp(range.start, range.end);
        let limit = words.starts.get(over).map_or(range.end, |&at| at.min(range.end));
        self.gallop_bracket(start, good..limit, cap)
    }

    /// Doubles the step from the start of `range`, which fits, until a position does not or the end is reached.
    fn gallop_bracket(&self, start: usize, range: Range<usize>, cap: usize) -> (usize, usize) {
        let limit = range.end;
        let fits = |position: usize| self.size(start..self.graphemes().trim_end(self.text, start, position)) <= cap;
        let (mut good, mut step_bytes) = (range.start, cap.clamp(16, 1 << 20));
        while good < limit {
            let probe = self.graphemes().ceil((good + step_bytes).min(limit)).min(limit);
            if !fits(probe) {
                return (good, probe);
            }
            good = probe;
            step_bytes = step_bytes.saturating_mul(2);
        }
        (good, good)
    }

    /// The first position from `floor` on so that the text from it to `end` is no larger than `cap` (`end` itself
    /// if not even one grapheme fits).
    pub(crate) fn earliest_start(&self, floor: usize, end: usize, cap: usize) -> usize {
        let (mut good, mut step_bytes) = (end, cap.clamp(16, 1 << 20));
        while good > floor {
            let probe = self.graphemes().floor(good.saturating_sub(step_bytes)).max(floor);
            if self.size(probe..end) > cap {
                return self.close_in(good, probe, cap, |position| self.size(position..end));
            }
            good = probe;
            step_bytes = step_bytes.saturating_mul(2);
        }
        good
    }

    /// Moves `good`, whose size fits, towards `bad`, whose size does not, until they are neighbours or the cap is met.
    fn close_in(&self, mut good: usize, mut bad: usize, cap: usize, size: impl Fn(usize) -> usize) -> usize {
        let mut good_size = size(good);
        let mut bad_size = if good == bad { good_size } else { size(bad) };
        let mut halve = false;
        while good_size < cap {
            let share = if halve { 0.5 } else { share(good_size, bad_size, cap) };
            let Some(probe) = self.between(good, bad, share) else {
                break;
            };
            let probe_size = size(probe);
            if probe_size <= cap {
                (good, good_size) = (probe, probe_size);
            } else {
                (bad, bad_size) = (probe, probe_size);
            }
            halve = !halve;
        }
        good
    }

    /// A grapheme boundary strictly between the two, about `share` of the way from the first.
    fn between(&self, from: usize, to: usize, share: f64) -> Option<usize> {
        let (low, high) = (from.min(to), from.max(to));
        let distance = (from.abs_diff(to) as f64 * share) as usize;
        let guess = if from < to { from + distance } else { from - distance };
        let down = self.graphemes().floor(guess.min(high.saturating_sub(1)));
        let found = if down > low { down } else { self.graphemes().next(low) };
        (found < high).then_some(found)
    }
}

/// Where the cap should be between two sizes if text grows evenly, as a share of the way.
fn share(good_size: usize, bad_size: usize, cap: usize) -> f64 {
    cap.saturating_sub(good_size) as f64 / bad_size.saturating_sub(good_size).max(1) as f64
}
