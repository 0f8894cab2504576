//! Kernels in plain Rust: for CPUs without a set of their own, and to test the others against.

use crate::bound::RowCut;

use super::{CodeLanes, CodeScales, Kernels, PANEL_QUERIES, PANEL_ROWS, PanelCut, PanelLanes, PanelScores};

pub(super) const KERNELS: Kernels =
    Kernels { name: "scalar", dot, l2, panel_dot, panel_l2, codes, panel_codes, prefetch, prefetch_far: prefetch };

const LANES: usize = 16;

fn dot(query: &[f32], row: &[f32]) -> f32 {
    sum(query, row, |q, v| q * v)
}

fn l2(query: &[f32], row: &[f32]) -> f32 {
    -sum(query, row, |q, v| (q - v) * (q - v))
}

/// Sums in lanes, which the compiler turns into vector instructions.
#[inline]
fn sum(query: &[f32], row: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    let (query_chunks, query_rest) = query.as_chunks::<LANES>();
    let (row_chunks, row_rest) = row.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (q, v) in query_chunks.iter().zip(row_chunks) {
        for lane in 0..LANES {
            lanes[lane] += term(q[lane], v[lane]);
        }
    }
    let rest: f32 = query_rest.iter().zip(row_rest).map(|(&q, &v)| term(q, v)).sum();
    lanes.iter().sum::<f32>() + rest
}

fn codes(query: &[i16], row: &[i8]) -> i32 {
    query.iter().zip(row).map(|(&q, &v)| i32::from(q) * i32::from(v)).sum()
}

fn panel_dot(
    panel: &[PanelLanes],
    rows: [&[f32]; PANEL_ROWS],
    cut: &PanelCut,
    row_cuts: &[RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    for (row, out) in rows.iter().zip(scores.iter_mut()) {
        *out = score_row(panel, row, |q, v| q * v);
    }
    passing(cut, row_cuts, scores)
}

fn panel_l2(
    panel: &[PanelLanes],
    rows: [&[f32]; PANEL_ROWS],
    cut: &PanelCut,
    row_cuts: &[RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    for (row, out) in rows.iter().zip(scores.iter_mut()) {
        *out = score_row(panel, row, |q, v| (q - v) * (q - v)).map(|distance| -distance);
    }
    passing(cut, row_cuts, scores)
}

fn panel_codes(
    panel: &[CodeLanes],
    rows: [&[i16]; PANEL_ROWS],
    scales: &CodeScales,
    cut: &PanelCut,
    row_cuts: &[RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS] {
    for (row, out) in scores.iter_mut().enumerate() {
        let sums = sum_codes(panel, rows[row]);
        *out = std::array::from_fn(|lane| sums[lane] as f32 * (scales.queries[lane] * scales.rows[row]));
    }
    passing(cut, row_cuts, scores)
}

#[inline]
fn sum_codes(panel: &[CodeLanes], row: &[i16]) -> [i32; PANEL_QUERIES] {
    let mut sums = [0; PANEL_QUERIES];
    for (queries, codes) in panel.iter().zip(row.as_chunks::<2>().0) {
        for lane in 0..PANEL_QUERIES {
            sums[lane] +=
                i32::from(queries[lane][0]) * i32::from(codes[0]) + i32::from(queries[lane][1]) * i32::from(codes[1]);
        }
    }
    sums
}

#[inline]
fn score_row(panel: &[PanelLanes], row: &[f32], term: impl Fn(f32, f32) -> f32) -> PanelLanes {
    let mut lanes = [0.0; PANEL_QUERIES];
    for (queries, &value) in panel.iter().zip(row) {
        for lane in 0..PANEL_QUERIES {
            lanes[lane] += term(queries[lane], value);
        }
    }
    lanes
}

fn passing(cut: &PanelCut, row_cuts: &[RowCut; PANEL_ROWS], scores: &PanelScores) -> [u16; PANEL_ROWS] {
    let mut masks = [0; PANEL_ROWS];
    for (row, mask) in masks.iter_mut().enumerate() {
        for (lane, &score) in scores[row].iter().enumerate() {
            *mask |= u16::from(cut.lane(lane).passes(row_cuts[row], score)) << lane;
        }
    }
    masks
}

fn prefetch(_bytes: &[u8]) {}
