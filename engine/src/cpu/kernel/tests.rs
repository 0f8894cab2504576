//! Every set of kernels, on rows of every length, at the ends of what codes and values may be, and at the cut itself.

use super::{CodeLanes, CodeScales, Kernels, PANEL_QUERIES, PANEL_ROWS, PanelCut, PanelLanes, PanelScores};
use crate::bound::RowCut;
use crate::query::KernelKind;

/// Lengths around those of every register and every unrolled loop, and two that are common.
const LENGTHS: [usize; 27] =
    [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 79, 95, 127, 129, 384, 768, 1001];
/// Powers of ten that values are multiplied by: products stay within the range of f32.
const SCALES: [f32; 4] = [1.0, 1e-4, 1e-15, 1e15];
/// A cut at the query's threshold itself.
const PLAIN_ROW: RowCut = RowCut { alpha: 1.0, nu: 0.0, delta: 0.0 };
const OPEN: PanelCut = PanelCut { t: [f32::NEG_INFINITY; PANEL_QUERIES], b: [0.0; PANEL_QUERIES] };
const KINDS: [KernelKind; 2] = [KernelKind::Dot, KernelKind::L2];

fn values(seed: u32, count: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn scaled(seed: u32, count: usize, scale: f32) -> Vec<f32> {
    values(seed, count).iter().map(|value| value * scale).collect()
}

/// The score in f64, and how far off a sum in f32 may be: the bound of `bound.rs`.
fn score(kind: KernelKind, query: &[f32], row: &[f32]) -> (f64, f64) {
    let pairs = || query.iter().zip(row).map(|(&q, &v)| (f64::from(q), f64::from(v)));
    let (score, magnitude): (f64, f64) = match kind {
        KernelKind::Dot => (pairs().map(|(q, v)| q * v).sum(), pairs().map(|(q, v)| (q * v).abs()).sum()),
        KernelKind::L2 => {
            let distance: f64 = pairs().map(|(q, v)| (q - v) * (q - v)).sum();
            (-distance, distance)
        }
    };
    let dims = query.len() as f64;
    let roundoff = 1.01 * (dims + 2.0) / f64::from(1_u32 << 24);
    (score, roundoff * magnitude + 4.0 * dims * f64::from(f32::MIN_POSITIVE))
}

#[test]
fn rows_score_within_the_bound() {
    for set in Kernels::available() {
        for dims in LENGTHS {
            for scale in SCALES {
                let (query, row) = (scaled(1, dims, scale), scaled(2, dims, scale));
                for kind in KINDS {
                    let found = set.row(kind)(&query, &row);
                    let (expected, bound) = score(kind, &query, &row);
                    let error = (f64::from(found) - expected).abs();
                    assert!(error <= bound, "{} {kind:?} {dims} × {scale}: {found}, not {expected}", set.name);
                }
            }
        }
    }
}

#[test]
fn rows_that_overflow_say_so() {
    for set in Kernels::available() {
        for dims in [1, 4, 33, 100] {
            let (query, row) = (vec![3e38; dims], vec![-3e38; dims]);
            for kind in KINDS {
                let found = set.row(kind)(&query, &row);
                assert!(found.is_infinite() && found < 0.0, "{} {kind:?} {dims}: {found}", set.name);
            }
        }
    }
}

/// The largest code that a query of this length may have.
fn most(stride: usize) -> i16 {
    (i32::MAX as usize / (127 * stride)).min(i16::MAX as usize) as i16
}

/// Codes of a query and of a row: random ones, then the ends of the range in every mixture of signs.
fn code_pairs(stride: usize) -> Vec<(Vec<i16>, Vec<i8>)> {
    let most = most(stride);
    let random = values(3, stride).iter().map(|value| (value * f32::from(most)) as i16).collect();
    let row = values(4, stride).iter().map(|value| (value * 127.0).round() as i8).collect();
    let turns = |even: i16, odd: i16| (0..stride).map(|at| if at % 2 == 0 { even } else { odd }).collect::<Vec<i16>>();
    let narrow = |codes: Vec<i16>| codes.into_iter().map(|code| code as i8).collect::<Vec<i8>>();
    let mut pairs = vec![(random, row)];
    for (even, odd) in [(1, 1), (1, -1), (-1, -1), (1, 0)] {
        for (row_even, row_odd) in [(127, 127), (-127, 127), (-127, -127), (0, -127)] {
            pairs.push((turns(even * most, odd * most), narrow(turns(row_even, row_odd))));
        }
    }
    pairs
}

#[test]
fn codes_sum_to_the_same_integer() {
    for set in Kernels::available() {
        for stride in [32, 64, 96, 128, 160, 384, 768, 65_536] {
            for (query, row) in code_pairs(stride) {
                let sum: i64 = query.iter().zip(&row).map(|(&q, &v)| i64::from(q) * i64::from(v)).sum();
                assert_eq!(i64::from((set.codes)(&query, &row)), sum, "{} {stride}", set.name);
            }
        }
    }
}

/// A panel and rows for it.
struct PanelCase {
    panel: Vec<PanelLanes>,
    rows: Vec<f32>,
}

impl PanelCase {
    fn random(dims: usize, scale: f32) -> Self {
        let panel = scaled(5, dims * PANEL_QUERIES, scale).as_chunks::<PANEL_QUERIES>().0.to_vec();
        Self { panel, rows: scaled(6, dims * PANEL_ROWS, scale) }
    }

    fn row(&self, row: usize) -> &[f32] {
        &self.rows[row * self.panel.len()..][..self.panel.len()]
    }

    fn query(&self, lane: usize) -> Vec<f32> {
        self.panel.iter().map(|lanes| lanes[lane]).collect()
    }

    fn run(
        &self,
        set: &Kernels,
        kind: KernelKind,
        cut: &PanelCut,
        row_cuts: &[RowCut; PANEL_ROWS],
    ) -> (PanelScores, [u16; PANEL_ROWS]) {
        let mut scores = [[0.0; PANEL_QUERIES]; PANEL_ROWS];
        let rows = std::array::from_fn(|row| self.row(row));
        let masks = set.panel(kind)(&self.panel, rows, cut, row_cuts, &mut scores);
        (scores, masks)
    }

    /// All scores: those of a cut that everything passes.
    fn scores(&self, set: &Kernels, kind: KernelKind) -> PanelScores {
        let (scores, masks) = self.run(set, kind, &OPEN, &[PLAIN_ROW; PANEL_ROWS]);
        assert_eq!(masks, [u16::MAX; PANEL_ROWS], "{} {kind:?}", set.name);
        scores
    }
}

/// The lanes that a cut lets pass, by the one comparison that defines it.
fn passing(scores: &PanelScores, cut: &PanelCut, row_cuts: &[RowCut; PANEL_ROWS]) -> [u16; PANEL_ROWS] {
    std::array::from_fn(|row| {
        let pass = |lane: usize| u16::from(cut.lane(lane).passes(row_cuts[row], scores[row][lane])) << lane;
        (0..PANEL_QUERIES).map(pass).sum()
    })
}

/// Cuts around the scores: through their middle, at one row's scores exactly, just above them, shut for the last lanes.
fn cuts_around(scores: &PanelScores) -> Vec<PanelCut> {
    let middle = std::array::from_fn(|lane| scores.iter().map(|row| row[lane]).sum::<f32>() / PANEL_ROWS as f32);
    let mut cuts = vec![OPEN, PanelCut::CLOSED, PanelCut { t: middle, b: [0.01; PANEL_QUERIES] }];
    for row in scores {
        let tied = PanelCut { t: *row, b: [0.0; PANEL_QUERIES] };
        let mut shut = tied;
        shut.t[13..].fill(f32::INFINITY);
        cuts.extend([tied, PanelCut { t: row.map(f32::next_up), ..tied }, shut]);
    }
    cuts
}

/// Parts of rows in the cut: none, uneven ones, and that of a row that always passes.
fn row_cuts() -> [[RowCut; PANEL_ROWS]; 3] {
    let uneven = |row| RowCut { alpha: 1.0 + row as f32, nu: row as f32 - 2.0, delta: 0.1 * row as f32 };
    let always = RowCut { alpha: 0.0, nu: 0.0, delta: f32::INFINITY };
    let uneven = std::array::from_fn(uneven);
    [[PLAIN_ROW; PANEL_ROWS], uneven, std::array::from_fn(|row| if row == 2 { always } else { uneven[row] })]
}

#[test]
fn panels_score_within_the_bound() {
    for set in Kernels::available() {
        for dims in LENGTHS {
            for scale in SCALES {
                let case = PanelCase::random(dims, scale);
                for kind in KINDS {
                    let scores = case.scores(&set, kind);
                    for (row, lane) in (0..PANEL_ROWS).flat_map(|row| (0..PANEL_QUERIES).map(move |lane| (row, lane))) {
                        let (expected, bound) = score(kind, &case.query(lane), case.row(row));
                        let error = (f64::from(scores[row][lane]) - expected).abs();
                        assert!(error <= bound, "{} {kind:?} {dims} × {scale}, row {row}, lane {lane}", set.name);
                    }
                }
            }
        }
    }
}

#[test]
fn panels_pass_what_the_cut_lets_pass() {
    for set in Kernels::available() {
        for (dims, kind) in [1, 2, 17, 96].into_iter().flat_map(|dims| KINDS.map(|kind| (dims, kind))) {
            let case = PanelCase::random(dims, 1.0);
            let scores = case.scores(&set, kind);
            for (cut, row_cuts) in cuts_around(&scores).iter().flat_map(|cut| row_cuts().map(|rows| (*cut, rows))) {
                let (found, masks) = case.run(&set, kind, &cut, &row_cuts);
                assert_eq!(masks, passing(&scores, &cut, &row_cuts), "{} {kind:?} {dims}", set.name);
                check_stored(&found, &scores, masks);
            }
        }
    }
}

/// Rows with a lane that passed have the same scores as before; the others were left alone.
fn check_stored(found: &PanelScores, scores: &PanelScores, masks: [u16; PANEL_ROWS]) {
    for (row, mask) in masks.into_iter().enumerate() {
        // The plain kernels store every row.
        let is_stored = found[row].map(f32::to_bits) == scores[row].map(f32::to_bits);
        let is_untouched = found[row].map(f32::to_bits) == [0; PANEL_QUERIES];
        assert!(is_stored || mask == 0 && is_untouched, "row {row}");
    }
}

#[test]
fn scores_that_are_no_numbers_pass() {
    let case = PanelCase { rows: vec![f32::NAN; 33 * PANEL_ROWS], ..PanelCase::random(33, 1.0) };
    for set in Kernels::available() {
        let cut = PanelCut { t: [f32::MAX; PANEL_QUERIES], ..OPEN };
        for kind in KINDS {
            let (scores, masks) = case.run(&set, kind, &cut, &[PLAIN_ROW; PANEL_ROWS]);
            assert!(scores.as_flattened().iter().all(|score| score.is_nan()), "{}: {scores:?}", set.name);
            assert_eq!(masks, [u16::MAX; PANEL_ROWS], "{}", set.name);
        }
    }
}

/// A panel of codes and rows for it, from the pairs of a query and a row that [`code_pairs`] has, by turns.
fn code_panel(stride: usize) -> (Vec<CodeLanes>, Vec<Vec<i16>>) {
    let pairs = code_pairs(stride);
    let entry = |at: usize| std::array::from_fn(|lane| [pairs[lane].0[at * 2], pairs[lane].0[at * 2 + 1]]);
    let row = |row: usize| pairs[row * 2].1.iter().map(|&code| i16::from(code)).collect();
    ((0..stride / 2).map(entry).collect(), (0..PANEL_ROWS).map(row).collect())
}

#[test]
fn panels_of_codes_score_exactly_alike() {
    let scales = CodeScales {
        queries: std::array::from_fn(|lane| 0.001 * (lane + 1) as f32),
        rows: std::array::from_fn(|row| 0.01 * (row + 1) as f32),
    };
    for set in Kernels::available() {
        for stride in [2, 4, 6, 32, 96, 384, 8192] {
            let (panel, rows) = code_panel(stride);
            let run = |cut: &PanelCut, row_cuts: &[RowCut; PANEL_ROWS]| {
                let mut scores = [[0.0; PANEL_QUERIES]; PANEL_ROWS];
                let rows = std::array::from_fn(|row| rows[row].as_slice());
                ((set.panel_codes)(&panel, rows, &scales, cut, row_cuts, &mut scores), scores)
            };
            let (masks, scores) = run(&OPEN, &[PLAIN_ROW; PANEL_ROWS]);
            assert_eq!(masks, [u16::MAX; PANEL_ROWS], "{} {stride}", set.name);
            for (row, lane) in (0..PANEL_ROWS).flat_map(|row| (0..PANEL_QUERIES).map(move |lane| (row, lane))) {
                let codes = rows[row].as_chunks::<2>().0.iter().zip(&panel);
                let pair = |(v, q): (&[i16; 2], &CodeLanes)| (0..2).map(|at| product(q[lane][at], v[at])).sum::<i64>();
                let sum = codes.map(pair).sum::<i64>() as i32 as f32;
                let expected = sum * (scales.queries[lane] * scales.rows[row]);
                assert_eq!(scores[row][lane].to_bits(), expected.to_bits(), "{} {stride} {row} {lane}", set.name);
            }
            for (cut, row_cuts) in cuts_around(&scores).iter().flat_map(|cut| row_cuts().map(|rows| (*cut, rows))) {
                let (masks, found) = run(&cut, &row_cuts);
                assert_eq!(masks, passing(&scores, &cut, &row_cuts), "{} {stride}", set.name);
                check_stored(&found, &scores, masks);
            }
        }
    }
}

fn product(query: i16, row: i16) -> i64 {
    i64::from(query) * i64::from(row)
}

/// The machine's sets, fastest first: what an emulator must have proven is told by the names.
#[test]
fn sets_end_with_plain_rust_and_have_their_own_names() {
    let names: Vec<&str> = Kernels::available().iter().map(|set| set.name).collect();
    assert_eq!(names.last(), Some(&"scalar"));
    assert!((1..names.len()).all(|at| !names[..at].contains(&names[at])), "{names:?}");
    assert_eq!(Kernels::best().name, names[0]);
    if let Ok(expected) = std::env::var("ENGINE_KERNELS") {
        assert_eq!(names.join(" "), expected, "the sets that the environment asks for");
    }
}
