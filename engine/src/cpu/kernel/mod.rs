//! The inner loops, chosen once for the CPU at hand: AVX-512 with VNNI, AVX-512, AVX2, NEON or plain Rust.
//!
//! A row kernel scores one row against one query. A panel kernel scores [`PANEL_ROWS`] rows against
//! [`PANEL_QUERIES`] queries in registers and stores only what passes the cut; the kernels over codes do the
//! same in integers, exactly. Any order of summation is fine: `bound.rs` covers it.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;

use std::sync::OnceLock;

use crate::bound::{QueryCut, RowCut};
use crate::query::KernelKind;

/// Queries in a panel.
pub(crate) const PANEL_QUERIES: usize = 16;
/// Rows that a panel kernel takes at a time.
pub(crate) const PANEL_ROWS: usize = 6;

/// Scores of a panel call, by row and query.
pub(crate) type PanelScores = [[f32; PANEL_QUERIES]; PANEL_ROWS];
/// One dimension of a panel.
pub(crate) type PanelLanes = [f32; PANEL_QUERIES];
/// Two dimensions of a panel of codes, query by query.
pub(crate) type CodeLanes = [[i16; 2]; PANEL_QUERIES];

/// Up to [`PANEL_QUERIES`] queries, packed dimension by dimension.
#[derive(Debug)]
pub(crate) struct Panel<T> {
    /// Number of the first query.
    pub(crate) first_query: usize,
    /// Queries in use; the other lanes are zero.
    pub(crate) num_queries: usize,
    /// One entry per dimension, or per two dimensions of codes.
    pub(crate) lanes: Vec<T>,
}

/// The queries' parts of the cut, lane by lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PanelCut {
    pub(crate) t: [f32; PANEL_QUERIES],
    pub(crate) b: [f32; PANEL_QUERIES],
}

impl PanelCut {
    /// A cut that nothing passes: the state of lanes without a query.
    pub(crate) const CLOSED: Self = Self { t: [f32::INFINITY; PANEL_QUERIES], b: [0.0; PANEL_QUERIES] };

    pub(crate) fn set(&mut self, lane: usize, cut: QueryCut) {
        self.t[lane] = cut.t;
        self.b[lane] = cut.b;
    }

    pub(crate) fn lane(&self, lane: usize) -> QueryCut {
        QueryCut { t: self.t[lane], b: self.b[lane] }
    }
}

/// What turns sums of products of codes into scores: `sum · row scale · query scale`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeScales {
    pub(crate) queries: [f32; PANEL_QUERIES],
    pub(crate) rows: [f32; PANEL_ROWS],
}

/// Scores one row against one query.
pub(crate) type RowKernel = fn(query: &[f32], row: &[f32]) -> f32;

/// Scores rows against a panel; returns per row the lanes that passed, and stores those rows' scores.
pub(crate) type PanelKernel = fn(
    panel: &[PanelLanes],
    rows: [&[f32]; PANEL_ROWS],
    cut: &PanelCut,
    row_cuts: &[RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS];

/// The dot product of codes, a multiple of 32 long: the query's in 16 bits, the row's from -127 to 127.
/// The caller sees to it that no sum leaves 32 bits.
pub(crate) type CodeKernel = fn(query: &[i16], row: &[i8]) -> i32;

/// As [`PanelKernel`], over codes widened to 16 bits.
pub(crate) type CodePanelKernel = fn(
    panel: &[CodeLanes],
    rows: [&[i16]; PANEL_ROWS],
    scales: &CodeScales,
    cut: &PanelCut,
    row_cuts: &[RowCut; PANEL_ROWS],
    scores: &mut PanelScores,
) -> [u16; PANEL_ROWS];

/// Asks for memory that is needed soon.
pub(crate) type Prefetch = fn(bytes: &[u8]);

/// The kernels of one instruction set.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    /// Name of the instruction set.
    pub(crate) name: &'static str,
    dot: RowKernel,
    l2: RowKernel,
    panel_dot: PanelKernel,
    panel_l2: PanelKernel,
    /// Codes of a row against codes of a query.
    pub(crate) codes: CodeKernel,
    /// Codes of rows against a panel of codes.
    pub(crate) panel_codes: CodePanelKernel,
    /// Into the nearest cache. A hint; does nothing where there is none.
    pub(crate) prefetch: Prefetch,
    /// Into the second cache, past the first, which holds a panel.
    pub(crate) prefetch_far: Prefetch,
}

impl Kernels {
    /// The fastest kernels that this CPU runs.
    pub(crate) fn best() -> Self {
        static BEST: OnceLock<Kernels> = OnceLock::new();
        *BEST.get_or_init(|| Self::available().swap_remove(0))
    }

    /// Every set of kernels that this CPU runs, fastest first.
    pub(crate) fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        let fast = avx512::kernels().chain(avx2::kernels());
        #[cfg(target_arch = "aarch64")]
        let fast = [neon::KERNELS].into_iter();
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let fast = std::iter::empty();
        fast.chain([scalar::KERNELS]).collect()
    }

    pub(crate) fn row(&self, kind: KernelKind) -> RowKernel {
        match kind {
            KernelKind::Dot => self.dot,
            KernelKind::L2 => self.l2,
        }
    }

    pub(crate) fn panel(&self, kind: KernelKind) -> PanelKernel {
        match kind {
            KernelKind::Dot => self.panel_dot,
            KernelKind::L2 => self.panel_l2,
        }
    }
}

#[cfg(test)]
mod tests;
