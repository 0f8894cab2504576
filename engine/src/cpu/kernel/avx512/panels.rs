//! Rows against a panel of queries.

use std::arch::x86_64::{
    __m512, _CMP_NLT_UQ, _mm512_add_ps, _mm512_cmp_ps_mask, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_set1_ps,
    _mm512_setzero_ps, _mm512_storeu_ps, _mm512_xor_ps,
};

use crate::bound::RowCut;
use crate::cpu::kernel::{PANEL_ROWS, PanelCut, PanelLanes, PanelScores};

use super::accumulate;

/// The scores of each row against the sixteen queries.
pub(super) type RowScores = [__m512; PANEL_ROWS];

pub(in super::super) fn dot(
    panel: &[PanelLanes],
    rows: [&[f32]; PANEL_ROWS],
    cut: &PanelCut,
    row_cuts: &[RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    assert!(rows.iter().all(|row| row.len() == panel.len()));
    // SAFETY: `kernels` hands this out only where AVX-512 is there; every row has as many values as the panel has
    // dimensions.
    unsafe { select(&sum_panel::<false>(panel, rows), cut, row_cuts, scores) }
}

pub(in super::super) fn l2(
    panel: &[PanelLanes],
    rows: [&[f32]; PANEL_ROWS],
    cut: &PanelCut,
    row_cuts: &[RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    assert!(rows.iter().all(|row| row.len() == panel.len()));
    // SAFETY: as in `dot`.
    unsafe { select(&sum_panel::<true>(panel, rows), cut, row_cuts, scores) }
}

/// # Safety
/// Every row has as many values as the panel has dimensions.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn sum_panel<const IS_L2: bool>(panel: &[PanelLanes], rows: [&[f32]; PANEL_ROWS]) -> RowScores {
    let mut sums = [[_mm512_setzero_ps(); PANEL_ROWS]; 2];
    let starts = rows.map(<[f32]>::as_ptr);
    let (pairs, rest) = panel.as_chunks::<2>();
    for (pair, lanes) in pairs.iter().enumerate() {
        for turn in 0..2 {
            // SAFETY: `pair * 2 + turn` is a dimension of the panel, and so within every row.
            unsafe { add_dimension::<IS_L2>(&lanes[turn], starts, pair * 2 + turn, &mut sums[turn]) };
        }
    }
    if let [lanes] = rest {
        // SAFETY: the panel's last dimension is within every row.
        unsafe { add_dimension::<IS_L2>(lanes, starts, panel.len() - 1, &mut sums[0]) };
    }
    let mut scores = sums[0];
    for row in 0..PANEL_ROWS {
        let sum = _mm512_add_ps(sums[0][row], sums[1][row]);
        scores[row] = if IS_L2 { _mm512_xor_ps(sum, _mm512_set1_ps(-0.0)) } else { sum };
    }
    scores
}

/// Adds one dimension of every row to its sums.
///
/// # Safety
/// The rows that start at `starts` have a value at `dim`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn add_dimension<const IS_L2: bool>(
    lanes: &PanelLanes,
    starts: [*const f32; PANEL_ROWS],
    dim: usize,
    sums: &mut RowScores,
) {
    // SAFETY: a panel entry has 16 values; `dim` is within every row.
    unsafe {
        let queries = _mm512_loadu_ps(lanes.as_ptr());
        for row in 0..PANEL_ROWS {
            sums[row] = accumulate::<IS_L2>(queries, _mm512_set1_ps(*starts[row].add(dim)), sums[row]);
        }
    }
}

/// The lanes of each row that are not less than their cut; stores the scores of rows that have any.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn select(
    sums: &RowScores,
    cut: &PanelCut,
    row_cuts: &[RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    // SAFETY: the lanes of the cut are 16 long.
    let (t, b) = unsafe { (_mm512_loadu_ps(cut.t.as_ptr()), _mm512_loadu_ps(cut.b.as_ptr())) };
    let mut masks = [0; PANEL_ROWS];
    for (row, at) in row_cuts.iter().enumerate() {
        let least = _mm512_fmadd_ps(b, _mm512_set1_ps(at.nu), _mm512_set1_ps(-at.delta));
        let least = _mm512_fmadd_ps(t, _mm512_set1_ps(at.alpha), least);
        masks[row] = _mm512_cmp_ps_mask::<_CMP_NLT_UQ>(sums[row], least);
        if masks[row] != 0 {
            // SAFETY: a row of scores has 16 values.
            unsafe { _mm512_storeu_ps(scores[row].as_mut_ptr(), sums[row]) };
        }
    }
    masks
}
