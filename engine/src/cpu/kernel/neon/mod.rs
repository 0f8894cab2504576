//! Kernels for AArch64, whose CPUs all have NEON as far as Rust goes.
//!
//! The panel kernels hold 6 rows × 16 queries in 24 of the 32 registers: per dimension four loads of query values, six
//! of row values, 24 fused multiply-adds. Over codes a step takes two dimensions: the load of the queries takes their
//! pairs apart, and a widening multiply-add adds the products in 32 bits, exactly.
#![allow(unsafe_code, reason = "vector loads and stores, prefetches, and calls that need NEON")]

mod panels;
mod rows;

use std::arch::aarch64::{float32x4_t, vfmaq_f32, vsubq_f32};
use std::arch::asm;

use super::Kernels;

/// Bytes of a cache line. Some CPUs have longer ones: asking twice does no harm.
const LINE_BYTES: usize = 64;

pub(super) const KERNELS: Kernels = Kernels {
    name: "neon",
    dot: rows::dot,
    l2: rows::l2,
    panel_dot: panels::dot,
    panel_l2: panels::l2,
    codes: rows::codes,
    panel_codes: panels::codes,
    prefetch,
    prefetch_far,
};

/// `acc + q·v`, or `acc + (q - v)²`.
#[inline]
#[target_feature(enable = "neon")]
fn accumulate<const IS_L2: bool>(q: float32x4_t, v: float32x4_t, acc: float32x4_t) -> float32x4_t {
    if IS_L2 {
        let difference = vsubq_f32(q, v);
        vfmaq_f32(acc, difference, difference)
    } else {
        vfmaq_f32(acc, q, v)
    }
}

fn prefetch(bytes: &[u8]) {
    for line in bytes.chunks(LINE_BYTES) {
        let at = line.as_ptr();
        // SAFETY: a prefetch of any address is allowed, and changes no register and no memory.
        unsafe { asm!("prfm pldl1keep, [{at}]", at = in(reg) at, options(readonly, nostack, preserves_flags)) };
    }
}

fn prefetch_far(bytes: &[u8]) {
    for line in bytes.chunks(LINE_BYTES) {
        let at = line.as_ptr();
        // SAFETY: as in `prefetch`.
        unsafe { asm!("prfm pldl2keep, [{at}]", at = in(reg) at, options(readonly, nostack, preserves_flags)) };
    }
}
