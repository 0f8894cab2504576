//! Kernels for x86-64 with AVX-512, with and without its multiply-adds of codes (VNNI).
//!
//! Sixteen queries fill one register, so 6 rows take six sums. A multiply-add waits four cycles for the sum that it
//! adds to and two start in each cycle, so eight sums or more have to be on their way: every kernel takes dimensions by
//! turns into two sets of sums. The values of rows are broadcast by the multiply-add itself, straight from memory.
//! What is left over at the end of a row is loaded under a mask.
#![allow(unsafe_code, reason = "vector loads and calls that the CPU was checked for")]

mod codes;
mod panels;
mod rows;

use std::arch::x86_64::{__m512, _MM_HINT_T0, _MM_HINT_T1, _mm512_fmadd_ps, _mm512_sub_ps};

use super::{CodeKernel, CodePanelKernel, Kernels, avx2};

/// The kernels, fastest first: none if the CPU lacks the instructions, one set if it lacks VNNI.
pub(super) fn kernels() -> impl Iterator<Item = Kernels> {
    let is_supported = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    let has_vnni = is_supported && is_x86_feature_detected!("avx512vnni");
    let vnni = has_vnni.then_some(with_codes("avx512-vnni", codes::vnni::row, codes::vnni::panel));
    let plain = is_supported.then_some(with_codes("avx512", codes::plain::row, codes::plain::panel));
    vnni.into_iter().chain(plain)
}

fn with_codes(name: &'static str, codes: CodeKernel, panel_codes: CodePanelKernel) -> Kernels {
    Kernels {
        name,
        dot: rows::dot,
        l2: rows::l2,
        panel_dot: panels::dot,
        panel_l2: panels::l2,
        codes,
        panel_codes,
        prefetch: avx2::prefetch::<_MM_HINT_T0>,
        prefetch_far: avx2::prefetch::<_MM_HINT_T1>,
    }
}

/// `acc + q·v`, or `acc + (q - v)²`.
#[inline]
#[target_feature(enable = "avx512f")]
fn accumulate<const IS_L2: bool>(q: __m512, v: __m512, acc: __m512) -> __m512 {
    if IS_L2 {
        let difference = _mm512_sub_ps(q, v);
        _mm512_fmadd_ps(difference, difference, acc)
    } else {
        _mm512_fmadd_ps(q, v, acc)
    }
}
