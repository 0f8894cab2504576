//! Kernels for x86-64 with AVX2 and FMA.
//!
//! The panel kernels hold 6 rows × 16 queries in twelve registers: per dimension two loads of query
//! values, six broadcasts of row values, twelve fused multiply-adds. Over codes a step takes two dimensions: the
//! broadcast is a pair of 16-bit codes, and a multiply-add of pairs sums both products in 32 bits. That is twice
//! the products per instruction, and exact.
#![allow(unsafe_code, reason = "vector loads and calls that the CPU was checked for")]

mod panels;
mod rows;

use std::arch::x86_64::{__m256, _MM_HINT_T0, _MM_HINT_T1, _mm_prefetch, _mm256_fmadd_ps, _mm256_sub_ps};

use super::Kernels;

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// The kernels, if the CPU has the instructions.
pub(super) fn kernels() -> Option<Kernels> {
    let is_supported = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    is_supported.then_some(Kernels {
        name: "avx2",
        dot: rows::dot,
        l2: rows::l2,
        panel_dot: panels::dot,
        panel_l2: panels::l2,
        codes: rows::codes,
        panel_codes: panels::codes,
        prefetch: prefetch::<_MM_HINT_T0>,
        prefetch_far: prefetch::<_MM_HINT_T1>,
    })
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

/// Asks for the lines of `bytes`; an instruction that every x86-64 CPU has.
pub(super) fn prefetch<const HINT: i32>(bytes: &[u8]) {
    for line in bytes.chunks(LINE_BYTES) {
        // SAFETY: a prefetch of any address is allowed, and this one is of a byte of the slice.
        unsafe { _mm_prefetch::<HINT>(line.as_ptr().cast()) };
    }
}
