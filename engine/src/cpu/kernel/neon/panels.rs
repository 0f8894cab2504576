//! Rows against a panel of queries.

use std::arch::aarch64::{
    float32x4_t, int16x4_t, int16x8_t, int32x4_t, uint32x4_t, vaddvq_u32, vbicq_u32, vcltq_f32, vcvtq_f32_s32,
    vdupq_n_f32, vdupq_n_s32, vdupq_n_u32, vfmaq_f32, vget_low_s16, vld1_dup_s32, vld1q_f32, vld1q_u32, vld2q_s16,
    vmlal_high_lane_s16, vmlal_lane_s16, vmulq_f32, vmulq_n_f32, vnegq_f32, vorrq_u32, vreinterpret_s16_s32, vst1q_f32,
};

use crate::bound::RowCut;
use crate::cpu::kernel::{CodeLanes, CodeScales, PANEL_QUERIES, PANEL_ROWS, PanelCut, PanelLanes, PanelScores};

use super::accumulate;

/// Registers of a row's scores, four queries in each.
const QUARTERS: usize = PANEL_QUERIES / 4;

/// The scores of a row: queries 0 to 3, 4 to 7 and so on.
type Quarters = [float32x4_t; QUARTERS];

pub(in super::super) fn dot(
    panel: &[PanelLanes],
    rows: [&[f32]; PANEL_ROWS],
    cut: &PanelCut,
    row_cuts: &[RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    assert!(rows.iter().all(|row| row.len() == panel.len()));
    // SAFETY: NEON is there; every row has as many values as the panel has dimensions.
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
    // SAFETY: NEON is there; every row has two codes per entry of the panel.
    unsafe { select(&sum_code_panel(panel, rows, scales), cut, row_cuts, scores) }
}

/// # Safety
/// Every row has as many values as the panel has dimensions.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn sum_panel<const IS_L2: bool>(panel: &[PanelLanes], rows: [&[f32]; PANEL_ROWS]) -> [Quarters; PANEL_ROWS] {
    let mut sums = [[vdupq_n_f32(0.0); QUARTERS]; PANEL_ROWS];
    let starts = rows.map(<[f32]>::as_ptr);
    for (dim, lanes) in panel.iter().enumerate() {
        let queries = load(lanes);
        for row in 0..PANEL_ROWS {
            // SAFETY: `dim` is within every row.
            let value = vdupq_n_f32(unsafe { *starts[row].add(dim) });
            for quarter in 0..QUARTERS {
                sums[row][quarter] = accumulate::<IS_L2>(queries[quarter], value, sums[row][quarter]);
            }
        }
    }
    if IS_L2 { sums.map(|quarters| quarters.map(|quarter| vnegq_f32(quarter))) } else { sums }
}

/// # Safety
/// Every row has two codes per entry of the panel.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn sum_code_panel(
    panel: &[CodeLanes],
    rows: [&[i16]; PANEL_ROWS],
    scales: &CodeScales,
) -> [Quarters; PANEL_ROWS] {
    let mut sums = [[vdupq_n_s32(0); QUARTERS]; PANEL_ROWS];
    let starts = rows.map(<[i16]>::as_ptr);
    for (pair, lanes) in panel.iter().enumerate() {
        // SAFETY: an entry has 16 pairs, of which each load takes 8 apart.
        let (low, high) = unsafe { (vld2q_s16(lanes[0].as_ptr()), vld2q_s16(lanes[8].as_ptr())) };
        for row in 0..PANEL_ROWS {
            // SAFETY: two codes from `pair * 2` on are within every row.
            let codes = unsafe { load_pair(starts[row].add(pair * 2)) };
            add_products::<0>(&mut sums[row], [low.0, high.0], codes);
            add_products::<1>(&mut sums[row], [low.1, high.1], codes);
        }
    }
    let queries = load(&scales.queries);
    let mut scores = [[vdupq_n_f32(0.0); QUARTERS]; PANEL_ROWS];
    for row in 0..PANEL_ROWS {
        for quarter in 0..QUARTERS {
            let scale = vmulq_n_f32(queries[quarter], scales.rows[row]);
            scores[row][quarter] = vmulq_f32(vcvtq_f32_s32(sums[row][quarter]), scale);
        }
    }
    scores
}

/// Adds the products of 16 queries' codes with one code of a row.
#[inline]
#[target_feature(enable = "neon")]
fn add_products<const LANE: i32>(sums: &mut [int32x4_t; QUARTERS], queries: [int16x8_t; 2], codes: int16x4_t) {
    for (half, queries) in queries.into_iter().enumerate() {
        sums[half * 2] = vmlal_lane_s16::<LANE>(sums[half * 2], vget_low_s16(queries), codes);
        sums[half * 2 + 1] = vmlal_high_lane_s16::<LANE>(sums[half * 2 + 1], queries, codes);
    }
}

/// Two codes, the first in the even lanes.
///
/// # Safety
/// Two codes can be read from `start` on.
#[inline]
#[allow(clippy::cast_ptr_alignment, reason = "the load is an unaligned one")]
#[target_feature(enable = "neon")]
unsafe fn load_pair(start: *const i16) -> int16x4_t {
    // SAFETY: as the caller promises.
    vreinterpret_s16_s32(unsafe { vld1_dup_s32(start.cast()) })
}

#[inline]
#[target_feature(enable = "neon")]
fn load(lanes: &[f32; PANEL_QUERIES]) -> Quarters {
    // SAFETY: four values from `quarter * 4` on are within the sixteen.
    std::array::from_fn(|quarter| unsafe { vld1q_f32(lanes.as_ptr().add(quarter * 4)) })
}

/// The lanes of each row that are not less than their cut; stores the scores of rows that have any.
#[inline]
#[target_feature(enable = "neon")]
fn select(
    sums: &[Quarters; PANEL_ROWS],
    cut: &PanelCut,
    row_cuts: &[RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    let (t, b) = (load(&cut.t), load(&cut.b));
    let mut masks = [0; PANEL_ROWS];
    for (row, &at) in row_cuts.iter().enumerate() {
        let mut bits = vdupq_n_u32(0);
        for quarter in 0..QUARTERS {
            let passed = passing(sums[row][quarter], t[quarter], b[quarter], at, quarter);
            bits = vorrq_u32(bits, passed);
        }
        masks[row] = vaddvq_u32(bits) as u16;
        if masks[row] != 0 {
            for (quarter, &four) in scores[row].as_chunks_mut::<4>().0.iter_mut().zip(&sums[row]) {
                // SAFETY: a quarter has four values.
                unsafe { vst1q_f32(quarter.as_mut_ptr(), four) };
            }
        }
    }
    masks
}

/// The bits, within sixteen, of the lanes that are not less than their cut.
#[inline]
#[target_feature(enable = "neon")]
fn passing(scores: float32x4_t, t: float32x4_t, b: float32x4_t, row: RowCut, quarter: usize) -> uint32x4_t {
    const BITS: [[u32; 4]; QUARTERS] = [
        [1, 1 << 1, 1 << 2, 1 << 3],
        [1 << 4, 1 << 5, 1 << 6, 1 << 7],
        [1 << 8, 1 << 9, 1 << 10, 1 << 11],
        [1 << 12, 1 << 13, 1 << 14, 1 << 15],
    ];
    let least = vfmaq_f32(vdupq_n_f32(-row.delta), b, vdupq_n_f32(row.nu));
    let least = vfmaq_f32(least, t, vdupq_n_f32(row.alpha));
    // SAFETY: there are four bits for each quarter.
    let bits = unsafe { vld1q_u32(BITS[quarter].as_ptr()) };
    vbicq_u32(bits, vcltq_f32(scores, least))
}
