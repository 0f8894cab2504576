//! One row against one query.

use std::arch::x86_64::{
    __m512, _mm512_add_ps, _mm512_loadu_ps, _mm512_maskz_loadu_ps, _mm512_reduce_add_ps, _mm512_setzero_ps,
};

use super::accumulate;

/// Values in a register.
const LANES: usize = 16;
/// Registers of sums.
const SUMS: usize = 4;

pub(super) fn dot(query: &[f32], row: &[f32]) -> f32 {
    assert_eq!(query.len(), row.len());
    // SAFETY: `kernels` hands this out only where AVX-512 is there; the lengths are equal.
    unsafe { sum::<false>(query, row) }
}

pub(super) fn l2(query: &[f32], row: &[f32]) -> f32 {
    assert_eq!(query.len(), row.len());
    // SAFETY: as in `dot`.
    -unsafe { sum::<true>(query, row) }
}

/// # Safety
/// `query` and `row` have the same length.
#[target_feature(enable = "avx512f")]
unsafe fn sum<const IS_L2: bool>(query: &[f32], row: &[f32]) -> f32 {
    let (query_start, row_start) = (query.as_ptr(), row.as_ptr());
    let whole = query.len() / LANES * LANES;
    let mut sums = [_mm512_setzero_ps(); SUMS];
    let mut at = 0;
    while at + SUMS * LANES <= whole {
        for (step, sum) in sums.iter_mut().enumerate() {
            let offset = at + step * LANES;
            // SAFETY: `offset + 16 <= whole`, which is within both slices.
            let (q, v) = unsafe { (_mm512_loadu_ps(query_start.add(offset)), _mm512_loadu_ps(row_start.add(offset))) };
            *sum = accumulate::<IS_L2>(q, v, *sum);
        }
        at += SUMS * LANES;
    }
    while at < whole {
        // SAFETY: `at + 16 <= whole`.
        let (q, v) = unsafe { (_mm512_loadu_ps(query_start.add(at)), _mm512_loadu_ps(row_start.add(at))) };
        sums[0] = accumulate::<IS_L2>(q, v, sums[0]);
        at += LANES;
    }
    if whole < query.len() {
        let mask = u16::MAX >> (LANES - (query.len() - whole));
        // SAFETY: the mask leaves what is past the end of the slices untouched, and zero in the register.
        let (q, v) = unsafe {
            let q = _mm512_maskz_loadu_ps(mask, query_start.add(whole));
            (q, _mm512_maskz_loadu_ps(mask, row_start.add(whole)))
        };
        sums[1] = accumulate::<IS_L2>(q, v, sums[1]);
    }
    add_lanes(sums)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add_lanes(sums: [__m512; SUMS]) -> f32 {
    let (low, high) = (_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3]));
    _mm512_reduce_add_ps(_mm512_add_ps(low, high))
}
