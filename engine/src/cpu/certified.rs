//! The first pass over int8 codes: a quarter of the bytes, twice the products per instruction, nothing lost.
//!
//! With `v = s·c + r` and the unit query `u = t·d + e` (codes `c`, `d`; residuals `r`, `e`):
//!
//! ```text
//! u·v = s·t·(c·d) + u·r + e·(s·c)
//! |u·v - s·t·(c·d)| <= ‖r‖ + ‖e‖·(‖v‖ + ‖r‖)
//! ```
//!
//! A row's codes have 8 bits, a query's 16: they are multiplied as 16 bits anyway, and `‖e‖` all but vanishes.
//! `c·d` is exact in 32-bit integers. The bound joins the others in an interval, and
//! [`super::candidates`] keeps every row whose interval reaches the threshold: it scores them
//! canonically as soon as intervals alone do not tell them apart, which raises the threshold to
//! the exact k-th score so far. So the answer is that of the full pass, proven row by row.

use crate::file::{CodesView, MAX_CODE, approximate, code_stride};
use crate::query::{PreparedQueries, PreparedQuery};

use super::kernel::{CodeLanes, CodeScales, PANEL_QUERIES, PANEL_ROWS, Panel};
use super::tile::RowTile;

/// Covers the rounding of the terms of the error.
const SLACK: f32 = 1.0 + 1e-5;
/// Up to this many queries are scored one by one; more share a panel.
const MAX_SCAN_QUERIES: usize = 3;

/// The queries of a batch as codes.
pub(crate) struct CodedQueries {
    pub(crate) queries: Vec<CodedQuery>,
    /// Empty where the queries are scored one by one.
    pub(crate) panels: Vec<CodedPanel>,
    /// The largest `‖e‖`.
    worst_residual: f32,
}

/// A query as codes.
pub(crate) struct CodedQuery {
    pub(crate) codes: Vec<i16>,
    pub(crate) scale: f32,
    pub(crate) residual: f32,
}

/// Queries whose codes share a panel.
pub(crate) struct CodedPanel {
    pub(crate) panel: Panel<CodeLanes>,
    pub(crate) scales: [f32; PANEL_QUERIES],
}

/// The codes of a tile's rows, widened for the panels.
#[derive(Default)]
pub(crate) struct CodeTile {
    codes: Vec<i16>,
    scales: Vec<f32>,
    stride: usize,
}

/// How far off a score by codes may be, beside the rounding of f32.
pub(crate) fn code_error(row_residual: f32, query_residual: f32, norm: f64) -> f32 {
    // Rounding up: the norm is not below what it stands for.
    let norm = (norm as f32).next_up();
    (row_residual + query_residual * (norm + row_residual)) * SLACK
}

impl CodedQueries {
    pub(crate) fn new(queries: &PreparedQueries<'_>) -> Self {
        let coded: Vec<CodedQuery> = queries.queries.iter().map(CodedQuery::new).collect();
        let worst_residual = coded.iter().map(|query| query.residual).fold(0.0, f32::max);
        let panels = if coded.len() <= MAX_SCAN_QUERIES { Vec::new() } else { pack_panels(&coded) };
        Self { queries: coded, panels, worst_residual }
    }

    /// Lowers the cuts of a tile by the errors of its rows' codes.
    pub(crate) fn lower_cuts(&self, tile: &mut RowTile<'_>, codes: &CodesView<'_>) {
        tile.errors.clear();
        for index in 0..tile.len() {
            let row_residual = codes.residuals[tile.row_in_block(index)];
            let error = code_error(row_residual, self.worst_residual, tile.norms[index]);
            tile.errors.push(error);
            tile.cuts[index].delta = (tile.cuts[index].delta + error).next_up();
        }
    }
}

impl CodedQuery {
    fn new(query: &PreparedQuery<'_>) -> Self {
        // The largest code with which no sum over all dimensions leaves 32 bits.
        let most = i32::MAX as usize / (MAX_CODE as usize * code_stride(query.for_kernel.len()));
        Self::with_max_code(query, most.min(i16::MAX as usize) as f32)
    }

    /// The query in codes no wider than a row's, for kernels that multiply 8 bits.
    #[cfg(feature = "gpu")]
    pub(crate) fn narrow(query: &PreparedQuery<'_>) -> Self {
        Self::with_max_code(query, MAX_CODE)
    }

    /// What its codes leave out spreads the score of a row by at most this times the row's norm: the `‖e‖` part of
    /// the bound, in which `‖r‖ <= ‖v‖`.
    #[cfg(feature = "gpu")]
    pub(crate) fn spread(&self) -> f32 {
        2.0 * self.residual * SLACK
    }

    fn with_max_code(query: &PreparedQuery<'_>, max_code: f32) -> Self {
        let stride = code_stride(query.for_kernel.len());
        let mut codes = vec![0_i16; stride];
        let (scale, residual) = approximate(&query.for_kernel, max_code, |dim, code| codes[dim] = code as i16);
        Self { codes, scale, residual }
    }
}

fn pack_panels(queries: &[CodedQuery]) -> Vec<CodedPanel> {
    let pack = |(index, group): (usize, &[CodedQuery])| {
        let mut lanes = vec![[[0; 2]; PANEL_QUERIES]; group[0].codes.len() / 2];
        let mut scales = [0.0; PANEL_QUERIES];
        for (lane, query) in group.iter().enumerate() {
            scales[lane] = query.scale;
            lanes.iter_mut().zip(query.codes.as_chunks::<2>().0).for_each(|(entry, &pair)| entry[lane] = pair);
        }
        CodedPanel { panel: Panel { first_query: index * PANEL_QUERIES, num_queries: group.len(), lanes }, scales }
    };
    queries.chunks(PANEL_QUERIES).enumerate().map(pack).collect()
}

impl CodeTile {
    /// Takes in the codes of a tile's rows.
    pub(crate) fn fill(&mut self, tile: &RowTile<'_>, codes: &CodesView<'_>) {
        self.codes.clear();
        self.scales.clear();
        self.stride = codes.stride;
        for index in 0..tile.len() {
            let row = tile.row_in_block(index);
            self.codes.extend(codes.codes(row).iter().map(|&code| i16::from(code)));
            self.scales.push(codes.scales[row]);
        }
    }

    /// The codes of a row of the tile.
    pub(crate) fn codes(&self, index: usize) -> &[i16] {
        &self.codes[index * self.stride..][..self.stride]
    }

    /// The scales of some rows of the tile against a panel.
    pub(crate) fn scales(&self, panel: &CodedPanel, rows: [usize; PANEL_ROWS]) -> CodeScales {
        CodeScales { queries: panel.scales, rows: rows.map(|row| self.scales[row]) }
    }
}
