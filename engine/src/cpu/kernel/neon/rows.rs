//! One row against one query.

use std::arch::aarch64::{
    vaddq_f32, vaddq_s32, vaddvq_f32, vaddvq_s32, vdupq_n_f32, vdupq_n_s32, vget_low_s8, vget_low_s16, vld1q_f32,
    vld1q_s8, vld1q_s16, vmlal_high_s16, vmlal_s16, vmovl_high_s8, vmovl_s8,
};

use super::accumulate;

/// Values in a register.
const LANES: usize = 4;
/// Registers of sums: a multiply-add waits four cycles for its sum, and up to four start in each cycle.
const SUMS: usize = 16;
/// Codes of a row in a register.
const CODES: usize = 16;

pub(super) fn dot(query: &[f32], row: &[f32]) -> f32 {
    assert_eq!(query.len(), row.len());
    // SAFETY: NEON is there; the lengths are equal.
    unsafe { sum::<false>(query, row) }
}

pub(super) fn l2(query: &[f32], row: &[f32]) -> f32 {
    assert_eq!(query.len(), row.len());
    // SAFETY: as in `dot`.
    -unsafe { sum::<true>(query, row) }
}

/// # Safety
/// `query` and `row` have the same length.
#[target_feature(enable = "neon")]
unsafe fn sum<const IS_L2: bool>(query: &[f32], row: &[f32]) -> f32 {
    let (query_start, row_start) = (query.as_ptr(), row.as_ptr());
    let whole = query.len() / LANES * LANES;
    let mut sums = [vdupq_n_f32(0.0); SUMS];
    let mut at = 0;
    while at + SUMS * LANES <= whole {
        for (step, sum) in sums.iter_mut().enumerate() {
            let offset = at + step * LANES;
            // SAFETY: `offset + 4 <= whole`, which is within both slices.
            let (q, v) = unsafe { (vld1q_f32(query_start.add(offset)), vld1q_f32(row_start.add(offset))) };
            *sum = accumulate::<IS_L2>(q, v, *sum);
        }
        at += SUMS * LANES;
    }
    while at < whole {
        // SAFETY: `at + 4 <= whole`.
        let (q, v) = unsafe { (vld1q_f32(query_start.add(at)), vld1q_f32(row_start.add(at))) };
        sums[0] = accumulate::<IS_L2>(q, v, sums[0]);
        at += LANES;
    }
    let rest = query[whole..].iter().zip(&row[whole..]);
    let rest: f32 = rest.map(|(&q, &v)| if IS_L2 { (q - v) * (q - v) } else { q * v }).sum();
    vaddvq_f32(sums.into_iter().fold(vdupq_n_f32(0.0), |total, sum| vaddq_f32(total, sum))) + rest
}

pub(super) fn codes(query: &[i16], row: &[i8]) -> i32 {
    assert!(query.len() == row.len() && query.len().is_multiple_of(CODES));
    // SAFETY: NEON is there.
    unsafe { sum_codes(query, row) }
}

#[target_feature(enable = "neon")]
fn sum_codes(query: &[i16], row: &[i8]) -> i32 {
    let mut sums = [vdupq_n_s32(0); 4];
    for (query, row) in query.as_chunks::<CODES>().0.iter().zip(row.as_chunks::<CODES>().0) {
        // SAFETY: eight codes of 16 bits and eight more, and sixteen of 8 bits.
        let (low, high, codes) =
            unsafe { (vld1q_s16(query.as_ptr()), vld1q_s16(query.as_ptr().add(CODES / 2)), vld1q_s8(row.as_ptr())) };
        let (row_low, row_high) = (vmovl_s8(vget_low_s8(codes)), vmovl_high_s8(codes));
        sums[0] = vmlal_s16(sums[0], vget_low_s16(low), vget_low_s16(row_low));
        sums[1] = vmlal_high_s16(sums[1], low, row_low);
        sums[2] = vmlal_s16(sums[2], vget_low_s16(high), vget_low_s16(row_high));
        sums[3] = vmlal_high_s16(sums[3], high, row_high);
    }
    vaddvq_s32(vaddq_s32(vaddq_s32(sums[0], sums[1]), vaddq_s32(sums[2], sums[3])))
}
