//! Rows against a panel of queries.

use std::arch::x86_64::{
    __m256, __m256i, _CMP_NLT_UQ, _mm256_add_epi32, _mm256_broadcast_ss, _mm256_cmp_ps, _mm256_cvtepi32_ps,
    _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_movemask_ps, _mm256_mul_ps,
    _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps, _mm256_setzero_si256, _mm256_storeu_ps, _mm256_xor_ps,
};

use crate::bound::RowCut;
use crate::cpu::kernel::{CodeLanes, CodeScales, PANEL_ROWS, PanelCut, PanelLanes, PanelScores};

use super::accumulate;

/// The scores of a row: queries 0 to 7, then 8 to 15.
type Halves = [__m256; 2];

pub(in super::super) fn dot(
    panel: &[PanelLanes],
    rows: [&[f32]; PANEL_ROWS],
    cut: &PanelCut,
    row_cuts: &[RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    assert!(rows.iter().all(|row| row.len() == panel.len()));
    // SAFETY: `kernels` hands this out only where AVX2 and FMA are there; every row has as many values as the
    // panel has dimensions.
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

pub(in super::super) fn codes(
    panel: &[CodeLanes],
    rows: [&[i16]; PANEL_ROWS],
    scales: &CodeScales,
    cut: &PanelCut,
    row_cuts: &[RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    assert!(rows.iter().all(|row| row.len() == panel.len() * 2));
    // SAFETY: as in `dot`; every row has two codes per entry of the panel.
    unsafe { select(&sum_code_panel(panel, rows, scales), cut, row_cuts, scores) }
}

/// # Safety
/// Every row has as many values as the panel has dimensions.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn sum_panel<const IS_L2: bool>(panel: &[PanelLanes], rows: [&[f32]; PANEL_ROWS]) -> [Halves; PANEL_ROWS] {
    let mut sums = [[_mm256_setzero_ps(); 2]; PANEL_ROWS];
    let starts = rows.map(<[f32]>::as_ptr);
    for (dim, lanes) in panel.iter().enumerate() {
        // SAFETY: a panel entry has 16 values; `dim` is within every row.
        unsafe {
            let low = _mm256_loadu_ps(lanes.as_ptr());
            let high = _mm256_loadu_ps(lanes.as_ptr().add(8));
            for row in 0..PANEL_ROWS {
                let value = _mm256_broadcast_ss(&*starts[row].add(dim));
                sums[row][0] = accumulate::<IS_L2>(low, value, sums[row][0]);
                sums[row][1] = accumulate::<IS_L2>(high, value, sums[row][1]);
            }
        }
    }
    if IS_L2 { sums.map(|halves| halves.map(|half| _mm256_xor_ps(half, _mm256_set1_ps(-0.0)))) } else { sums }
}

/// # Safety
/// Every row has two codes per entry of the panel.
#[inline]
#[allow(clippy::cast_ptr_alignment, reason = "the loads are unaligned ones")]
#[target_feature(enable = "avx2,fma")]
unsafe fn sum_code_panel(panel: &[CodeLanes], rows: [&[i16]; PANEL_ROWS], scales: &CodeScales) -> [Halves; PANEL_ROWS] {
    let mut sums = [[_mm256_setzero_si256(); 2]; PANEL_ROWS];
    let starts = rows.map(|row| row.as_ptr().cast::<i32>());
    for (pair, lanes) in panel.iter().enumerate() {
        // SAFETY: an entry has 16 pairs of 32 bits; `pair` is within every row.
        unsafe {
            let low = _mm256_loadu_si256(lanes.as_ptr().cast::<__m256i>());
            let high = _mm256_loadu_si256(lanes.as_ptr().cast::<__m256i>().add(1));
            for row in 0..PANEL_ROWS {
                let codes = _mm256_set1_epi32(starts[row].add(pair).read_unaligned());
                sums[row][0] = _mm256_add_epi32(sums[row][0], _mm256_madd_epi16(low, codes));
                sums[row][1] = _mm256_add_epi32(sums[row][1], _mm256_madd_epi16(high, codes));
            }
        }
    }
    let mut scores = [[_mm256_setzero_ps(); 2]; PANEL_ROWS];
    for row in 0..PANEL_ROWS {
        for half in 0..2 {
            // SAFETY: the scales are 16 long, and 8 + 8 are taken.
            let queries = unsafe { _mm256_loadu_ps(scales.queries.as_ptr().add(half * 8)) };
            let scale = _mm256_mul_ps(queries, _mm256_set1_ps(scales.rows[row]));
            scores[row][half] = _mm256_mul_ps(_mm256_cvtepi32_ps(sums[row][half]), scale);
        }
    }
    scores
}

/// The lanes of each row that are not less than their cut; stores the scores of rows that have any.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn select(
    sums: &[Halves; PANEL_ROWS],
    cut: &PanelCut,
    row_cuts: &[RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    let mut masks = [0; PANEL_ROWS];
    for row in 0..PANEL_ROWS {
        let [low, high] = sums[row];
        // SAFETY: the lanes of the cut are 16 long, and 8 + 8 are taken; a row of scores has 16 values.
        unsafe {
            masks[row] = passing(low, &cut.t[..8], &cut.b[..8], row_cuts[row])
                | passing(high, &cut.t[8..], &cut.b[8..], row_cuts[row]) << 8;
            if masks[row] != 0 {
                _mm256_storeu_ps(scores[row].as_mut_ptr(), low);
                _mm256_storeu_ps(scores[row].as_mut_ptr().add(8), high);
            }
        }
    }
    masks
}

/// The lanes that are not less than their cut.
///
/// # Safety
/// `t` and `b` have at least 8 values.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn passing(scores: __m256, t: &[f32], b: &[f32], row: RowCut) -> u16 {
    // SAFETY: as the caller promises.
    let (t, b) = unsafe { (_mm256_loadu_ps(t.as_ptr()), _mm256_loadu_ps(b.as_ptr())) };
    let delta = _mm256_set1_ps(-row.delta);
    let cut = _mm256_fmadd_ps(t, _mm256_set1_ps(row.alpha), _mm256_fmadd_ps(b, _mm256_set1_ps(row.nu), delta));
    _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_NLT_UQ>(scores, cut)) as u16
}
