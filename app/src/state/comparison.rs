//! Two to four chunkers on one document: their chunks side by side over the same rows of text, and in numbers.

use super::{QuestionScores, SizeStats, TextRows};
use crate::chunk::compare::{Agreement, Cohesion};
use crate::chunk::{Chunk, ChunkerConfig};

/// A comparison with everything that its picture needs. The first column is the chunker in hand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// One for each chunker.
    pub columns: Vec<Column>,
    /// Every place where any of them cuts, in order.
    pub cuts: Vec<CutMark>,
    /// The text in rows; each cut opens one.
    pub rows: TextRows,
}

/// What one chunker did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// The chunker.
    pub config: ChunkerConfig,
    /// Its chunks.
    pub chunks: Vec<Chunk>,
    /// Sizes in its unit.
    pub sizes: Vec<usize>,
    /// Sizes in numbers.
    pub stats: SizeStats,
    /// Cuts shared with the first column.
    pub agreement: Agreement,
    /// How alike neighbours are inside chunks and at cuts; `None` without a curve.
    pub cohesion: Option<Cohesion>,
    /// What it does for the questions written on the document, if there are any.
    pub scores: Option<QuestionScores>,
    /// Milliseconds that cutting took.
    pub cut_ms: f64,
}

/// A place where somebody cuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutMark {
    /// Byte of the text.
    pub byte: usize,
    /// A bit for each column that cuts here, the first column lowest.
    pub columns: u8,
}

impl CutMark {
    /// Whether this column cuts here.
    pub fn has(self, column: usize) -> bool {
        self.columns >> column & 1 == 1
    }
}

impl Column {
    /// The chunk that holds `byte`: the last one that starts at or before it.
    pub fn chunk_at(&self, byte: usize) -> Option<usize> {
        self.chunks.partition_point(|chunk| chunk.start <= byte).checked_sub(1)
    }
}

impl Comparison {
    /// Every place where any column cuts, in order.
    pub fn marks(columns: &[Column]) -> Vec<CutMark> {
        let mut marks: Vec<CutMark> = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            let mark = |chunk: &Chunk| CutMark { byte: chunk.start, columns: 1 << index };
            marks.extend(column.chunks.iter().map(mark));
        }
        marks.sort_unstable_by_key(|mark| mark.byte);
        marks.dedup_by(|next, kept| {
            let is_same = next.byte == kept.byte;
            kept.columns |= if is_same { next.columns } else { 0 };
            is_same
        });
        marks
    }

    /// Whether every column cuts here.
    pub fn is_shared(&self, mark: CutMark) -> bool {
        mark.columns.count_ones() as usize == self.columns.len()
    }

    /// The next place after `byte` where some cut and others do not; from the start again after the last.
    pub fn next_difference(&self, byte: usize) -> Option<CutMark> {
        let mut differences = self.cuts.iter().copied().filter(|mark| !self.is_shared(*mark));
        let first = differences.clone().next();
        differences.find(|mark| mark.byte > byte).or(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(starts: &[usize]) -> Column {
        let chunk = |&start: &usize| Chunk { start, end: start + 1, left_similarity: None, right_similarity: None };
        Column { chunks: starts.iter().map(chunk).collect(), ..Column::default() }
    }

    #[test]
    fn marks_name_everybody_who_cuts_there() {
        let columns = vec![column(&[0, 5, 9]), column(&[0, 9, 12])];
        let cuts = Comparison::marks(&columns);
        assert_eq!(
            cuts.iter().map(|mark| (mark.byte, mark.columns)).collect::<Vec<_>>(),
            [(0, 3), (5, 1), (9, 3), (12, 2)]
        );
        let comparison = Comparison { columns, cuts, rows: TextRows::default() };
        assert_eq!(comparison.next_difference(0).map(|mark| mark.byte), Some(5));
        assert_eq!(comparison.next_difference(5).map(|mark| mark.byte), Some(12));
        assert_eq!(comparison.next_difference(12).map(|mark| mark.byte), Some(5));
        assert!(comparison.cuts[1].has(0) && !comparison.cuts[1].has(1));
    }
}
