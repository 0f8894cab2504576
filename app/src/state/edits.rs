//! Edits of a chunking by hand: merging, splitting and moving cuts give the configuration of an edited chunking;
//! every step can be undone.

use std::ops::Range;

use super::LabResult;
use crate::chunk::{ChunkerConfig, ChunkerKind, Unit};

/// Steps back, and steps forward again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edits {
    done: Vec<ChunkerConfig>,
    undone: Vec<ChunkerConfig>,
}

/// Steps that are remembered.
const MOST_STEPS: usize = 200;

impl Edits {
    /// Remembers what was before an edit.
    pub fn push(&mut self, before: ChunkerConfig) {
        self.undone.clear();
        self.done.push(before);
        if self.done.len() > MOST_STEPS {
            self.done.remove(0);
        }
    }

    /// Takes back the last edit; gives the configuration before it.
    pub fn undo(&mut self, current: ChunkerConfig) -> Option<ChunkerConfig> {
        let before = self.done.pop()?;
        self.undone.push(current);
        Some(before)
    }

    /// Does again what was taken back last.
    pub fn redo(&mut self, current: ChunkerConfig) -> Option<ChunkerConfig> {
        let after = self.undone.pop()?;
        self.done.push(current);
        Some(after)
    }

    /// Whether there is a step to take back.
    pub fn can_undo(&self) -> bool {
        !self.done.is_empty()
    }

    /// Whether there is a step to do again.
    pub fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }

    /// Forgets every step.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The chunk `index` and the one after it as one.
pub fn merged(text: &str, result: &LabResult, index: usize) -> Option<ChunkerConfig> {
    let (left, right) = (result.chunks.get(index)?, result.chunks.get(index + 1)?);
    let mut cuts = cuts(result);
    cuts.remove(index);
    Some(edited(result, cuts, size_of(text, result, left.start..right.end)))
}

/// The chunk that holds `byte`, cut there.
pub fn split(result: &LabResult, byte: usize) -> Option<ChunkerConfig> {
    let chunk = result.chunks.get(result.chunk_at(byte)?)?;
    let mut cuts = cuts(result);
    let place = cuts.partition_point(|&cut| cut < byte);
    let is_new = byte > chunk.start && byte < chunk.end && cuts.get(place) != Some(&byte);
    is_new.then(|| {
        cuts.insert(place, byte);
        edited(result, cuts, 0)
    })
}

/// The chunk `index` starting at `byte` instead, which must lie between its neighbours' starts and ends.
pub fn moved(text: &str, result: &LabResult, index: usize, byte: usize) -> Option<ChunkerConfig> {
    let (left, right) = (result.chunks.get(index.checked_sub(1)?)?, result.chunks.get(index)?);
    let room = left.start + 1..right.end;
    (room.contains(&byte) && byte != right.start).then(|| {
        let mut cuts = cuts(result);
        cuts[index - 1] = byte;
        edited(result, cuts, size_of(text, result, left.start..byte).max(size_of(text, result, byte..right.end)))
    })
}

/// Where to cut a chunk in two if nothing else is said: at its weakest boundary, or without a curve at the sentence
/// nearest to its middle.
pub fn weakest_place(result: &LabResult, index: usize) -> Option<usize> {
    let chunk = result.chunks.get(index)?;
    let inside = |position: usize| position > chunk.start && position < chunk.end;
    let boundary = result.curve.iter().filter(|boundary| inside(boundary.position));
    let weakest = boundary.min_by(|one, other| one.similarity.total_cmp(&other.similarity));
    let middle = usize::midpoint(chunk.start, chunk.end);
    let sentences = result.segments.iter().copied().filter(|&start| inside(start));
    weakest.map(|boundary| boundary.position).or_else(|| sentences.min_by_key(|start| start.abs_diff(middle)))
}

/// Where the start of chunk `index` goes when it is dragged to `byte`: the nearest start of a sentence that
/// [`moved`] allows.
pub fn nearest_place(result: &LabResult, index: usize, byte: usize) -> Option<usize> {
    let (left, right) = (result.chunks.get(index.checked_sub(1)?)?, result.chunks.get(index)?);
    let is_allowed = |start: &usize| *start > left.start && *start < right.end && *start != right.start;
    result.segments.iter().copied().filter(is_allowed).min_by_key(|start| start.abs_diff(byte))
}

/// Every start but the first.
fn cuts(result: &LabResult) -> Vec<usize> {
    result.chunks.iter().skip(1).map(|chunk| chunk.start).collect()
}

/// The edited chunking with these cuts, its cap large enough for a chunk of `size`.
fn edited(result: &LabResult, cuts: Vec<usize>, size: usize) -> ChunkerConfig {
    let largest = result.sizes.iter().copied().max().unwrap_or(1);
    ChunkerConfig {
        kind: ChunkerKind::Manual,
        size: result.config.size.max(largest).max(size),
        overlap: 0,
        min_size: 0,
        cuts,
        ..result.config.clone()
    }
}

/// The size of a range, or in tokens a number that is no smaller.
fn size_of(text: &str, result: &LabResult, range: Range<usize>) -> usize {
    let text = text.get(range).unwrap_or_default();
    match result.config.unit {
        Unit::Chars => text.chars().count(),
        // A token has one byte at least.
        Unit::Tokens => text.len(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use std::sync::Arc;

    use super::*;
    use crate::chunk::{Boundary, Chunk};

    const TEXT: &str = "0123456789abcdefghijklmnopqrst";

    fn result() -> LabResult {
        let chunk = |start, end| Chunk { start, end, left_similarity: None, right_similarity: None };
        LabResult {
            chunks: vec![chunk(0, 10), chunk(10, 20), chunk(20, 30)],
            sizes: vec![10; 3],
            segments: Arc::new(vec![0, 4, 10, 13, 17, 20]),
            config: ChunkerConfig { size: 12, overlap: 2, ..ChunkerConfig::default() },
            ..LabResult::default()
        }
    }

    #[test]
    fn merging_raises_the_cap_and_drops_the_cut() {
        let config = merged(TEXT, &result(), 1).unwrap();
        assert_eq!((config.kind, config.cuts, config.size, config.overlap), (ChunkerKind::Manual, vec![10], 20, 0));
        assert!(merged(TEXT, &result(), 2).is_none());
    }

    #[test]
    fn splitting_adds_a_cut_inside_a_chunk_alone() {
        assert_eq!(split(&result(), 13).unwrap().cuts, [10, 13, 20]);
        assert!(split(&result(), 10).is_none() && split(&result(), 40).is_none());
    }

    #[test]
    fn moving_stays_between_the_neighbours() {
        assert_eq!(moved(TEXT, &result(), 1, 4).unwrap().cuts, [4, 20]);
        assert_eq!(moved(TEXT, &result(), 1, 4).unwrap().size, 16);
        for byte in [0, 10, 20, 25] {
            assert!(moved(TEXT, &result(), 1, byte).is_none(), "{byte}");
        }
        assert!(moved(TEXT, &result(), 0, 4).is_none());
    }

    #[test]
    fn a_chunk_is_split_where_it_is_weakest() {
        let mut result = result();
        assert_eq!(weakest_place(&result, 1), Some(13));
        let boundary = |position, similarity| Boundary { position, similarity };
        result.curve = vec![boundary(4, 0.1), boundary(13, 0.6), boundary(17, 0.2)];
        assert_eq!(weakest_place(&result, 1), Some(17));
        assert_eq!(nearest_place(&result, 1, 15), Some(13));
        assert_eq!((nearest_place(&result, 1, 29), nearest_place(&result, 1, 0)), (Some(17), Some(4)));
    }

    #[test]
    fn steps_go_back_and_forth() {
        let config = |size| ChunkerConfig { size, ..ChunkerConfig::default() };
        let mut edits = Edits::default();
        edits.push(config(1));
        edits.push(config(2));
        assert_eq!(edits.undo(config(3)).unwrap().size, 2);
        assert_eq!(edits.redo(config(2)).unwrap().size, 3);
        edits.undo(config(3));
        edits.push(config(9));
        assert!(!edits.can_redo() && edits.can_undo());
    }
}
