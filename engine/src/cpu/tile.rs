//! A handful of rows that may be returned, gathered for a kernel.

use crate::bound::{Bounds, RowCut};
use crate::file::{BlockView, Snapshot};
use crate::metric::{Dtype, Metric};
use crate::query::PreparedQueries;

/// Which rows of a snapshot a search may return.
#[derive(Clone, Copy)]
pub(crate) struct RowMask<'a> {
    deleted: Option<&'a [u64]>,
    wanted: Option<&'a [u64]>,
}

impl<'a> RowMask<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, queries: &'a PreparedQueries<'_>) -> Self {
        let wanted = queries.filter.map(crate::filter::RowFilter::words);
        Self { deleted: snapshot.deleted().map(crate::bitmap::RowBitmap::words), wanted }
    }

    /// The bits of rows `word × 64 ..`.
    pub(crate) fn word(&self, word: u64) -> u64 {
        let at = |words: &[u64], missing| words.get(word as usize).copied().unwrap_or(missing);
        let wanted = self.wanted.map_or(u64::MAX, |words| at(words, 0));
        wanted & !self.deleted.map_or(0, |words| at(words, 0))
    }

    /// Whether every row may be returned.
    pub(crate) fn is_full(&self) -> bool {
        self.deleted.is_none() && self.wanted.is_none()
    }

    /// About how many rows of `start..end` may be returned: words at the edges count whole.
    pub(crate) fn count(&self, start: u64, end: u64) -> u64 {
        (start / 64..end.div_ceil(64)).map(|word| u64::from(self.word(word).count_ones())).sum()
    }

    /// Appends the rows of `start..end` that may be returned.
    pub(crate) fn collect(&self, start: u64, end: u64, rows: &mut Vec<u64>) {
        if self.is_full() {
            rows.extend(start..end);
            return;
        }
        let mut word_start = start / 64 * 64;
        while word_start < end {
            let mut bits = self.word(word_start / 64) & bits_from(start.saturating_sub(word_start));
            bits &= !bits_from(end - word_start);
            while bits != 0 {
                rows.push(word_start + u64::from(bits.trailing_zeros()));
                bits &= bits - 1;
            }
            word_start += 64;
        }
    }
}

/// All bits from `first` on.
fn bits_from(first: u64) -> u64 {
    if first >= 64 { 0 } else { u64::MAX << first }
}

/// Rows of one block with what the cut needs.
pub(crate) struct RowTile<'a> {
    /// Rows of the file.
    pub(crate) rows: Vec<u64>,
    /// Their norms.
    pub(crate) norms: Vec<f64>,
    /// Their parts of the cut.
    pub(crate) cuts: Vec<RowCut>,
    /// How far off scores by their codes may be; empty where the stored values are scored.
    pub(crate) errors: Vec<f32>,
    block: Option<BlockView<'a>>,
    /// Values of rows that are not stored as f32.
    converted: Vec<f32>,
    dims: usize,
}

impl<'a> RowTile<'a> {
    pub(crate) fn new(dims: usize) -> Self {
        Self {
            rows: Vec::new(),
            norms: Vec::new(),
            cuts: Vec::new(),
            errors: Vec::new(),
            block: None,
            converted: Vec::new(),
            dims,
        }
    }

    /// Takes in rows of a block and returns how many zero rows were passed over.
    pub(crate) fn fill(&mut self, block: BlockView<'a>, rows: &[u64], bounds: &Bounds, metric: Metric) -> usize {
        self.rows.clear();
        self.norms.clear();
        self.cuts.clear();
        self.errors.clear();
        let norms = block.norms();
        for &row in rows {
            let norm = norms[(row - block.first_row) as usize];
            if metric == Metric::Cosine && norm == 0.0 {
                continue;
            }
            self.rows.push(row);
            self.norms.push(norm);
            self.cuts.push(bounds.row_cut(norm));
        }
        self.block = Some(block);
        rows.len() - self.rows.len()
    }

    /// Makes the values of rows that are not stored as f32.
    pub(crate) fn convert(&mut self) {
        let Some(block) = self.block.filter(|block| block.geometry.dtype != Dtype::F32) else {
            return;
        };
        self.converted.resize(self.rows.len() * self.dims, 0.0);
        for (&row, values) in self.rows.iter().zip(self.converted.chunks_exact_mut(self.dims)) {
            block.read_row((row - block.first_row) as usize, values);
        }
    }

    /// The values of a row of the tile.
    pub(crate) fn values(&self, index: usize) -> &[f32] {
        let stored = self.block.and_then(|block| block.row_f32(self.row_in_block(index)));
        stored.unwrap_or_else(|| &self.converted[index * self.dims..][..self.dims])
    }

    /// Where a row of the tile lies in its block.
    pub(crate) fn row_in_block(&self, index: usize) -> usize {
        (self.rows[index] - self.block.map_or(0, |block| block.first_row)) as usize
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}
