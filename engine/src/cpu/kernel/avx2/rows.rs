//! One row against one query.

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _mm_add_epi32, _mm_add_ps, _mm_add_ss, _mm_cvtsi128_si32, _mm_cvtss_f32, _mm_loadu_si128,
    _mm_movehl_ps, _mm_shuffle_epi32, _mm_shuffle_ps, _mm256_add_epi32, _mm256_add_ps, _mm256_castps256_ps128,
    _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extractf128_ps, _mm256_extracti128_si256, _mm256_loadu_ps,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_setzero_ps, _mm256_setzero_si256,
};

use super::accumulate;

pub(super) fn dot(query: &[f32], row: &[f32]) -> f32 {
    assert_eq!(query.len(), row.len());
    // SAFETY: `kernels` hands this out only where AVX2 and FMA are there; the lengths are equal.
    unsafe { sum::<false>(query, row) }
}

pub(super) fn l2(query: &[f32], row: &[f32]) -> f32 {
    assert_eq!(query.len(), row.len());
    // SAFETY: as in `dot`.
    -unsafe { sum::<true>(query, row) }
}

pub(super) fn codes(query: &[i16], row: &[i8]) -> i32 {
    assert!(query.len() == row.len() && query.len().is_multiple_of(32));
    // SAFETY: as in `dot`; the lengths are equal and whole vectors.
    unsafe { sum_codes(query, row) }
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

/// # Safety
/// `query` and `row` have the same length, a multiple of 32.
#[allow(clippy::cast_ptr_alignment, reason = "the loads are unaligned ones")]
#[target_feature(enable = "avx2,fma")]
unsafe fn sum_codes(query: &[i16], row: &[i8]) -> i32 {
    let (query_start, row_start) = (query.as_ptr().cast::<__m256i>(), row.as_ptr().cast::<__m128i>());
    let mut sums = [_mm256_setzero_si256(); 2];
    for step in 0..query.len() / 32 {
        for (half, sum) in sums.iter_mut().enumerate() {
            let at = step * 2 + half;
            // SAFETY: sixteen codes from `at * 16` on are within both slices.
            let (q, v) = unsafe { (_mm256_loadu_si256(query_start.add(at)), _mm_loadu_si128(row_start.add(at))) };
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(q, _mm256_cvtepi8_epi16(v)));
        }
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
