//! Codes of rows against codes of queries, in 32-bit integers.
//!
//! A step multiplies pairs of 16-bit codes and adds both products to the sums: one instruction with VNNI, two without.
//! Neither saturates, so both give the same integers.

use std::arch::x86_64::{
    __m512i, _mm256_loadu_si256, _mm512_add_epi32, _mm512_cvtepi8_epi16, _mm512_cvtepi32_ps, _mm512_dpwssd_epi32,
    _mm512_loadu_ps, _mm512_loadu_si512, _mm512_madd_epi16, _mm512_mul_ps, _mm512_reduce_add_epi32, _mm512_set1_epi32,
    _mm512_set1_ps, _mm512_setzero_ps, _mm512_setzero_si512,
};

use crate::bound::RowCut;
use crate::cpu::kernel::{CodeLanes, CodeScales, PANEL_ROWS, PanelCut, PanelScores};

use super::panels::{RowScores, select};

/// The sums of each row against the sixteen queries.
type RowSums = [__m512i; PANEL_ROWS];

/// Codes of a row in a register, once they are widened to 16 bits.
const LANES: usize = 32;
/// Registers of sums of a single row.
const SUMS: usize = 4;

/// The two kernels over codes with one way of a multiply-add, `acc + pairs of a × pairs of b`. A macro, since a
/// function takes on its caller's instructions only if it names them itself.
macro_rules! code_kernels {
    ($name:ident, $features:literal, $multiply_add:expr) => {
        pub(super) mod $name {
            use super::*;

            pub(in super::super) fn row(query: &[i16], row: &[i8]) -> i32 {
                assert!(query.len() == row.len() && query.len().is_multiple_of(LANES));
                // SAFETY: `kernels` hands this out only where the CPU has the instructions.
                unsafe { sum_row(query, row) }
            }

            pub(in super::super) fn panel(
                panel: &[CodeLanes],
                rows: [&[i16]; PANEL_ROWS],
                scales: &CodeScales,
                cut: &PanelCut,
                row_cuts: &[RowCut; PANEL_ROWS],
                scores: &mut PanelScores,
            ) -> [u16; PANEL_ROWS] {
                assert!(rows.iter().all(|row| row.len() == panel.len() * 2));
                // SAFETY: `kernels` hands this out only where the CPU has the instructions; every row has two codes
                // per entry of the panel.
                unsafe { select(&scale(&sum_panel(panel, rows), scales), cut, row_cuts, scores) }
            }

            #[target_feature(enable = $features)]
            fn sum_row(query: &[i16], row: &[i8]) -> i32 {
                let mut sums = [_mm512_setzero_si512(); SUMS];
                let chunks = query.as_chunks::<LANES>().0.iter().zip(row.as_chunks::<LANES>().0);
                for (step, (query, row)) in chunks.enumerate() {
                    // SAFETY: 32 codes of 16 bits fill 64 bytes, 32 of 8 bits fill 32.
                    let (q, v) = unsafe {
                        let codes = _mm256_loadu_si256(row.as_ptr().cast());
                        (_mm512_loadu_si512(query.as_ptr().cast()), _mm512_cvtepi8_epi16(codes))
                    };
                    sums[step % SUMS] = $multiply_add(sums[step % SUMS], q, v);
                }
                let (low, high) = (_mm512_add_epi32(sums[0], sums[1]), _mm512_add_epi32(sums[2], sums[3]));
                _mm512_reduce_add_epi32(_mm512_add_epi32(low, high))
            }

            /// # Safety
            /// Every row has two codes per entry of the panel.
            #[inline]
            #[allow(clippy::cast_ptr_alignment, reason = "the loads are unaligned ones")]
            #[target_feature(enable = $features)]
            unsafe fn sum_panel(panel: &[CodeLanes], rows: [&[i16]; PANEL_ROWS]) -> RowSums {
                let mut sums = [[_mm512_setzero_si512(); PANEL_ROWS]; 2];
                let starts = rows.map(|row| row.as_ptr().cast::<i32>());
                for (step, lanes) in panel.as_chunks::<2>().0.iter().enumerate() {
                    for turn in 0..2 {
                        // SAFETY: an entry has 16 pairs of 32 bits; `step * 2 + turn` is within every row.
                        unsafe {
                            let queries = _mm512_loadu_si512(lanes[turn].as_ptr().cast());
                            for row in 0..PANEL_ROWS {
                                let codes = _mm512_set1_epi32(starts[row].add(step * 2 + turn).read_unaligned());
                                sums[turn][row] = $multiply_add(sums[turn][row], queries, codes);
                            }
                        }
                    }
                }
                if let [lanes] = panel.as_chunks::<2>().1 {
                    // SAFETY: as above, for the panel's last entry.
                    unsafe {
                        let queries = _mm512_loadu_si512(lanes.as_ptr().cast());
                        for row in 0..PANEL_ROWS {
                            let codes = _mm512_set1_epi32(starts[row].add(panel.len() - 1).read_unaligned());
                            sums[0][row] = $multiply_add(sums[0][row], queries, codes);
                        }
                    }
                }
                let mut total = sums[0];
                total.iter_mut().zip(sums[1]).for_each(|(sum, other)| *sum = _mm512_add_epi32(*sum, other));
                total
            }
        }
    };
}

code_kernels!(vnni, "avx512f,avx512bw,avx512vnni", |acc, a, b| _mm512_dpwssd_epi32(acc, a, b));
code_kernels!(plain, "avx512f,avx512bw", |acc, a, b| _mm512_add_epi32(acc, _mm512_madd_epi16(a, b)));

/// Scores from sums: the products by which the plain kernels multiply, in the same order.
#[inline]
#[target_feature(enable = "avx512f")]
fn scale(sums: &RowSums, scales: &CodeScales) -> RowScores {
    // SAFETY: the scales of the queries are 16 long.
    let queries = unsafe { _mm512_loadu_ps(scales.queries.as_ptr()) };
    let mut scores = [_mm512_setzero_ps(); PANEL_ROWS];
    for row in 0..PANEL_ROWS {
        let scale = _mm512_mul_ps(queries, _mm512_set1_ps(scales.rows[row]));
        scores[row] = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[row]), scale);
    }
    scores
}
