//! Every set of kernels against the plain one.

use super::{CodeLanes, CodeScales, Kernels, PANEL_QUERIES, PANEL_ROWS, PanelCut, PanelLanes, PanelScores};
use crate::bound::RowCut;
use crate::query::KernelKind;

fn values(seed: u32, count: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn row_codes(seed: u32, count: usize) -> Vec<i8> {
    values(seed, count).iter().map(|value| (value * 127.0).round() as i8).collect()
}

/// All but the plain ones.
fn fast_sets() -> (Vec<Kernels>, Kernels) {
    let mut sets = Kernels::available();
    let plain = sets.pop().expect("plain Rust runs everywhere");
    (sets, plain)
}

#[test]
fn rows_score_alike() {
    let (sets, plain) = fast_sets();
    for set in sets {
        for dims in [1, 7, 8, 31, 32, 33, 384, 1001] {
            let (query, row) = (values(1, dims), values(2, dims));
            for kind in [KernelKind::Dot, KernelKind::L2] {
                let (found, expected) = (set.row(kind)(&query, &row), plain.row(kind)(&query, &row));
                assert!((found - expected).abs() <= 1e-4 * dims as f32, "{} {kind:?} {dims}", set.name);
            }
        }
    }
}

#[test]
fn codes_sum_to_the_same_integer() {
    let (sets, plain) = fast_sets();
    for set in sets {
        for stride in [32, 64, 96, 384, 768] {
            let extremes = (vec![-21_000_i16; stride], vec![-127_i8; stride]);
            let random: Vec<i16> = values(3, stride).iter().map(|value| (value * 20_000.0) as i16).collect();
            for (query, row) in [extremes, (random, row_codes(4, stride))] {
                assert_eq!((set.codes)(&query, &row), (plain.codes)(&query, &row), "{} {stride}", set.name);
            }
        }
    }
}

#[test]
fn panels_score_alike() {
    let (sets, plain) = fast_sets();
    let row_cuts: [RowCut; PANEL_ROWS] =
        std::array::from_fn(|row| RowCut { alpha: 1.0, nu: row as f32, delta: 0.1 * row as f32 });
    for set in sets {
        for dims in [1, 2, 17, 96] {
            let panel: Vec<PanelLanes> = values(5, dims * PANEL_QUERIES).as_chunks::<PANEL_QUERIES>().0.to_vec();
            let rows = values(6, dims * PANEL_ROWS);
            let rows: [&[f32]; PANEL_ROWS] = std::array::from_fn(|row| &rows[row * dims..][..dims]);
            for kind in [KernelKind::Dot, KernelKind::L2] {
                // Squared distances of such rows are about two thirds of the dimensions.
                let middle = if kind == KernelKind::L2 { -0.66 * dims as f32 } else { 0.0 };
                let mut cut = PanelCut { b: [0.01; PANEL_QUERIES], ..PanelCut::CLOSED };
                (0..13).for_each(|lane| cut.t[lane] = middle - 0.2 * lane as f32);
                let (mut found, mut expected) =
                    ([[0.0; PANEL_QUERIES]; PANEL_ROWS], [[0.0; PANEL_QUERIES]; PANEL_ROWS]);
                let masks = set.panel(kind)(&panel, rows, &cut, &row_cuts, &mut found);
                assert_eq!(masks, plain.panel(kind)(&panel, rows, &cut, &row_cuts, &mut expected));
                check_scores(&found, &expected, masks, 1e-4 * dims as f32);
            }
        }
    }
}

#[test]
fn panels_of_codes_score_exactly_alike() {
    let (sets, plain) = fast_sets();
    let cut = PanelCut { t: [0.0; PANEL_QUERIES], ..PanelCut::CLOSED };
    let row_cuts = [RowCut { alpha: 1.0, nu: 0.0, delta: 0.0 }; PANEL_ROWS];
    let scales = CodeScales {
        queries: std::array::from_fn(|lane| 0.001 * (lane + 1) as f32),
        rows: std::array::from_fn(|row| 0.01 * (row + 1) as f32),
    };
    for set in sets {
        for pairs in [16, 48, 192] {
            let lanes: Vec<[i16; 2]> = values(7, pairs * PANEL_QUERIES * 2)
                .as_chunks::<2>()
                .0
                .iter()
                .map(|pair| pair.map(|value| (value * 20_000.0) as i16))
                .collect();
            let panel: Vec<CodeLanes> = lanes.as_chunks::<PANEL_QUERIES>().0.to_vec();
            let codes: Vec<i16> = row_codes(8, pairs * 2 * PANEL_ROWS).into_iter().map(i16::from).collect();
            let rows: [&[i16]; PANEL_ROWS] = std::array::from_fn(|row| &codes[row * pairs * 2..][..pairs * 2]);
            let (mut found, mut expected) = ([[0.0; PANEL_QUERIES]; PANEL_ROWS], [[0.0; PANEL_QUERIES]; PANEL_ROWS]);
            let masks = (set.panel_codes)(&panel, rows, &scales, &cut, &row_cuts, &mut found);
            assert_eq!(masks, (plain.panel_codes)(&panel, rows, &scales, &cut, &row_cuts, &mut expected));
            check_scores(&found, &expected, masks, 0.0);
        }
    }
}

/// Scores of rows where a lane passed, within `tolerance`.
fn check_scores(found: &PanelScores, expected: &PanelScores, masks: [u16; PANEL_ROWS], tolerance: f32) {
    assert!(masks.iter().any(|&mask| mask != 0), "something passes");
    for (row, mask) in masks.into_iter().enumerate() {
        for lane in (0..PANEL_QUERIES).filter(|_| mask != 0) {
            assert!((found[row][lane] - expected[row][lane]).abs() <= tolerance, "row {row} lane {lane}");
        }
    }
}
