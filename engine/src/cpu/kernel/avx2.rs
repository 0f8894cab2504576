//! Kernels for x86-64 with AVX2 and FMA.
//!
//! The panel kernel holds 6 rows × 16 queries in twelve registers: per dimension two loads of
//! query values, six broadcasts of row values, twelve fused multiply-adds.
#![allow(unsafe_code, reason = "vector loads and calls that the CPU was checked for")]

use std::arch::x86_64::{
    __m256, __m256i, _CMP_NLT_UQ, _mm_add_epi32, _mm_add_ps, _mm_add_ss, _mm_cvtsi128_si32, _mm_cvtss_f32,
    _mm_movehl_ps, _mm_shuffle_epi32, _mm_shuffle_ps, _mm256_abs_epi8, _mm256_add_epi32, _mm256_add_ps,
    _mm256_broadcast_ss, _mm256_castps256_ps128, _mm256_castsi256_si128, _mm256_cmp_ps, _mm256_extractf128_ps,
    _mm256_extracti128_si256, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_movemask_ps, _mm256_set1_epi16, _mm256_set1_ps, _mm256_setzero_ps,
    _mm256_setzero_si256, _mm256_sign_epi8, _mm256_storeu_ps, _mm256_sub_ps, _mm256_xor_ps,
};

use crate::bound::RowCut;

use super::{Kernels, PANEL_QUERIES, PANEL_ROWS, PanelCut, PanelScores};

/// The kernels, if the CPU has the instructions.
pub(super) fn kernels() -> Option<Kernels> {
    let is_supported = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    is_supported.then_some(Kernels { name: "avx2", dot, l2, panel_dot, panel_l2, codes })
}

fn dot(query: &[f32], row: &[f32]) -> f32 {
    assert_eq!(query.len(), row.len());
    // SAFETY: `kernels` hands this out only where AVX2 and FMA are there; the lengths are equal.
    unsafe { sum::<false>(query, row) }
}

fn l2(query: &[f32], row: &[f32]) -> f32 {
    assert_eq!(query.len(), row.len());
    // SAFETY: as in `dot`.
    -unsafe { sum::<true>(query, row) }
}

fn panel_dot(
    panel: &[[f32; PANEL_QUERIES]],
    rows: [&[f32]; PANEL_ROWS],
    cut: &PanelCut,
    row_cuts: [RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    assert!(rows.iter().all(|row| row.len() == panel.len()));
    // SAFETY: as in `dot`; every row has as many values as the panel has dimensions.
    unsafe { score_panel::<false>(panel, rows, cut, row_cuts, scores) }
}

fn panel_l2(
    panel: &[[f32; PANEL_QUERIES]],
    rows: [&[f32]; PANEL_ROWS],
    cut: &PanelCut,
    row_cuts: [RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    assert!(rows.iter().all(|row| row.len() == panel.len()));
    // SAFETY: as in `panel_dot`.
    unsafe { score_panel::<true>(panel, rows, cut, row_cuts, scores) }
}

fn codes(query: &[i8], row: &[i8]) -> i32 {
    assert!(query.len() == row.len() && query.len().is_multiple_of(32));
    // SAFETY: as in `dot`; the lengths are equal and whole vectors.
    unsafe { sum_codes(query, row) }
}

/// `acc + q·v`, or `acc + (q - v)²`.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn accumulate<const IS_L2: bool>(q: __m256, v: __m256, acc: __m256) -> __m256 {
    if IS_L2 {
        let difference = _mm256_sub_ps(q, v);
        _mm256_fmadd_ps(difference, difference, acc)
    } else {
        _mm256_fmadd_ps(q, v, acc)
    }
}

/// # Safety
/// `query` and `row` have the same length.
#[target_feature(enable = "avx2,fma")]
unsafe fn sum<const IS_L2: bool>(query: &[f32], row: &[f32]) -> f32 {
    let (query_start, row_start) = (query.as_ptr(), row.as_ptr());
    let whole = query.len() / 8 * 8;
    let mut lanes = [_mm256_setzero_ps(); 4];
    let mut at = 0;
    while at + 32 <= whole {
        for (step, lane) in lanes.iter_mut().enumerate() {
            let offset = at + step * 8;
            // SAFETY: `offset + 8 <= whole`, which is within both slices.
            let (q, v) = unsafe { (_mm256_loadu_ps(query_start.add(offset)), _mm256_loadu_ps(row_start.add(offset))) };
            *lane = accumulate::<IS_L2>(q, v, *lane);
        }
        at += 32;
    }
    while at < whole {
        // SAFETY: `at + 8 <= whole`.
        let (q, v) = unsafe { (_mm256_loadu_ps(query_start.add(at)), _mm256_loadu_ps(row_start.add(at))) };
        lanes[0] = accumulate::<IS_L2>(q, v, lanes[0]);
        at += 8;
    }
    let rest = query[whole..].iter().zip(&row[whole..]);
    let rest: f32 = rest.map(|(&q, &v)| if IS_L2 { (q - v) * (q - v) } else { q * v }).sum();
    add_lanes(_mm256_add_ps(_mm256_add_ps(lanes[0], lanes[1]), _mm256_add_ps(lanes[2], lanes[3]))) + rest
}

/// Products of magnitudes up to 127 in pairs: 2 · 127² fits in 16 bits, so nothing saturates.
///
/// # Safety
/// `query` and `row` have the same length, a multiple of 32.
#[allow(clippy::cast_ptr_alignment, reason = "the loads are unaligned ones")]
#[target_feature(enable = "avx2,fma")]
unsafe fn sum_codes(query: &[i8], row: &[i8]) -> i32 {
    let (query_start, row_start) = (query.as_ptr().cast::<__m256i>(), row.as_ptr().cast::<__m256i>());
    let ones = _mm256_set1_epi16(1);
    let mut sums = [_mm256_setzero_si256(); 2];
    for step in 0..query.len() / 32 {
        // SAFETY: 32 codes from `step * 32` on are within both slices.
        let (q, v) = unsafe { (_mm256_loadu_si256(query_start.add(step)), _mm256_loadu_si256(row_start.add(step))) };
        let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(v), _mm256_sign_epi8(q, v));
        sums[step % 2] = _mm256_add_epi32(sums[step % 2], _mm256_madd_epi16(pairs, ones));
    }
    let lanes = _mm256_add_epi32(sums[0], sums[1]);
    let four = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<1>(two)))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn add_lanes(lanes: __m256) -> f32 {
    let four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps::<1>(lanes));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
}

/// # Safety
/// Every row has as many values as the panel has dimensions.
#[target_feature(enable = "avx2,fma")]
unsafe fn score_panel<const IS_L2: bool>(
    panel: &[[f32; PANEL_QUERIES]],
    rows: [&[f32]; PANEL_ROWS],
    cut: &PanelCut,
    row_cuts: [RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    let mut low = [_mm256_setzero_ps(); PANEL_ROWS];
    let mut high = [_mm256_setzero_ps(); PANEL_ROWS];
    for (dim, queries) in panel.iter().enumerate() {
        // SAFETY: a panel entry has 16 values; `dim` is within every row.
        unsafe {
            let queries_low = _mm256_loadu_ps(queries.as_ptr());
            let queries_high = _mm256_loadu_ps(queries.as_ptr().add(8));
            for row in 0..PANEL_ROWS {
                let value = _mm256_broadcast_ss(rows[row].get_unchecked(dim));
                low[row] = accumulate::<IS_L2>(queries_low, value, low[row]);
                high[row] = accumulate::<IS_L2>(queries_high, value, high[row]);
            }
        }
    }
    let mut masks = [0; PANEL_ROWS];
    for row in 0..PANEL_ROWS {
        if IS_L2 {
            low[row] = _mm256_xor_ps(low[row], _mm256_set1_ps(-0.0));
            high[row] = _mm256_xor_ps(high[row], _mm256_set1_ps(-0.0));
        }
        // SAFETY: the lanes of the cut are 16 long, and 8 + 8 are taken.
        masks[row] = unsafe {
            passing(low[row], &cut.t[..8], &cut.b[..8], row_cuts[row])
                | passing(high[row], &cut.t[8..], &cut.b[8..], row_cuts[row]) << 8
        };
        if masks[row] != 0 {
            // SAFETY: a row of scores has 16 values.
            unsafe {
                _mm256_storeu_ps(scores[row].as_mut_ptr(), low[row]);
                _mm256_storeu_ps(scores[row].as_mut_ptr().add(8), high[row]);
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
