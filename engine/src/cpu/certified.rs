//! The first pass over int8 codes: a quarter of the bytes, and nothing lost.
//!
//! With `v = s·c + r` and the unit query `u = t·d + e` (codes `c`, `d`; residuals `r`, `e`):
//!
//! ```text
//! u·v = s·t·(c·d) + u·r + e·(s·c)
//! |u·v - s·t·(c·d)| <= ‖r‖ + ‖e‖·(‖v‖ + ‖r‖)
//! ```
//!
//! `c·d` is exact in 32-bit integers. The bound joins the others in an interval, and
//! [`super::candidates`] keeps every row whose interval reaches the threshold: it scores them
//! canonically as soon as intervals alone do not tell them apart, which raises the threshold to
//! the exact k-th score so far. So the answer is that of the full pass, proven row by row.

use crate::bound::Bounds;
use crate::file::{CodesView, Quantised, code_stride, quantise};
use crate::query::PreparedQuery;

use super::kernel::CodeKernel;

/// Covers the rounding of the terms of the error.
const SLACK: f32 = 1.0 + 1e-5;

/// A query as codes.
pub(crate) struct CodedQuery {
    quantised: Quantised,
}

/// What the codes say of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodedScore {
    /// `u·v`, nearly.
    pub(crate) score: f32,
    /// How far off it may be, beside the rounding of f32.
    pub(crate) error: f32,
}

impl CodedQuery {
    pub(crate) fn new(query: &PreparedQuery<'_>) -> Self {
        let quantised = quantise(&query.for_kernel);
        debug_assert_eq!(quantised.codes.len(), code_stride(query.for_kernel.len()));
        Self { quantised }
    }

    /// Scores a row of a block by its codes.
    #[inline]
    pub(crate) fn score(&self, kernel: CodeKernel, codes: &CodesView<'_>, row: usize, norm: f32) -> CodedScore {
        let dot = kernel(&self.quantised.codes, codes.codes(row)) as f32;
        let residual = codes.residuals[row];
        CodedScore {
            score: dot * (codes.scales[row] * self.quantised.scale),
            error: (residual + self.quantised.residual * (norm + residual)) * SLACK,
        }
    }
}

impl CodedScore {
    /// The cut of [`Bounds::row_cut`], lowered by the error of the codes.
    #[inline]
    pub(crate) fn row_cut(self, bounds: &Bounds, norm: f64) -> crate::bound::RowCut {
        let mut cut = bounds.row_cut(norm);
        cut.delta = (cut.delta + self.error).next_up();
        cut
    }
}
