//! What an f32 kernel score says for certain about the canonical score.
//!
//! Invariant: `lower <= canonical <= upper`, rounding, underflow and overflow included, for every
//! order of summation and with or without fused multiply-adds or subnormals. So a kernel may
//! select with these bounds and never loses a row that belongs to the answer.
//!
//! With `u = 2⁻²⁴`, a sum of n products in f32 is off by at most `γ = n·u / (1 - n·u)` times the
//! sum of the products' magnitudes (Higham, *Accuracy and Stability of Numerical Algorithms*,
//! §3.1), which Cauchy–Schwarz bounds by `‖q‖ ‖v‖`; what underflows or is flushed to zero adds at
//! most a few `n·2⁻¹²⁶`. The squared distance has only positive terms, so its error is relative.

use crate::metric::Metric;
use crate::query::PreparedQueries;

/// Norms beyond this may overflow in f32: such rows are always candidates.
const MAX_KERNEL_NORM: f64 = 1e37;
const UNIT_ROUNDOFF: f64 = 1.0 / (1u32 << 24) as f64;

/// How an f32 operation rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To the nearest value, as CPUs do.
    Nearest,
    /// To either neighbour, which is all that WGSL promises.
    #[cfg(feature = "gpu")]
    Either,
}

/// Bounds of one query's canonical scores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    metric: Metric,
    query_norm: f64,
    /// Error relative to `‖q‖ ‖v‖`, or to the distance.
    relative: f64,
    /// Error that remains however small the row is.
    absolute: f64,
}

/// The canonical score lies between these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

/// The per-query part of the test `score < t·alpha + b·nu - delta`, which only rows fail that
/// cannot reach the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QueryCut {
    pub(crate) t: f32,
    pub(crate) b: f32,
}

/// What a kernel needs to turn a score into the interval of t that it proves, beside its cut.
#[cfg(feature = "gpu")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScoreProof {
    /// Factor from a score to the lowest it may stand for: 1, but for distances.
    pub(crate) stretch: f32,
    /// What a t may be off by beside its own size: what underflows.
    pub(crate) floor: f32,
}

/// The per-row part of the same test.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RowCut {
    pub(crate) alpha: f32,
    pub(crate) nu: f32,
    pub(crate) delta: f32,
}

impl Bounds {
    /// The bounds of query number `query`.
    pub(crate) fn new(queries: &PreparedQueries<'_>, query: usize, rounding: Rounding) -> Self {
        let dims = queries.dims as f64;
        let roundoff = match rounding {
            Rounding::Nearest => UNIT_ROUNDOFF,
            #[cfg(feature = "gpu")]
            Rounding::Either => 2.0 * UNIT_ROUNDOFF,
        };
        Self {
            metric: queries.metric,
            query_norm: queries.queries[query].norm,
            // 1.01 covers the denominator of γ up to 65 536 dimensions and the f64 rounding of
            // the canonical score; 16 covers the rounding of the query and of the cut.
            relative: 1.01 * (dims + 16.0) * roundoff,
            absolute: (4.0 * dims + 16.0) * f64::from(f32::MIN_POSITIVE),
        }
    }

    /// Where the canonical score lies, given the kernel's score, which is off by up to `extra` beside the rounding
    /// (0 for distances).
    pub(crate) fn interval(&self, kernel_score: f32, row_norm: f64, extra: f64) -> Interval {
        if !kernel_score.is_finite() || row_norm > MAX_KERNEL_NORM {
            return Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
        }
        let score = f64::from(kernel_score);
        let error = self.relative * row_norm + self.absolute + extra;
        match self.metric {
            Metric::Cosine => around(score / row_norm, error / row_norm),
            Metric::Dot => around(score * self.query_norm, error * self.query_norm),
            Metric::DotPenalized { penalty } => {
                let toll = penalty * row_norm;
                around(score * self.query_norm - toll, error * self.query_norm + toll.abs() * 1e-15)
            }
            Metric::L2 => Interval {
                lower: (score - self.absolute) / (1.0 - self.relative),
                upper: ((score + self.absolute) / (1.0 + self.relative)).min(0.0),
            },
        }
    }

    /// The query's part of the cut for rows whose canonical score cannot reach `threshold`.
    pub(crate) fn query_cut(&self, threshold: f64) -> QueryCut {
        let (t, b) = match self.metric {
            Metric::Cosine => (threshold, 0.0),
            Metric::Dot => (threshold / self.query_norm, 0.0),
            Metric::DotPenalized { penalty } => {
                let b = penalty / self.query_norm;
                (threshold / self.query_norm, b - 16.0 * UNIT_ROUNDOFF * b.abs())
            }
            Metric::L2 => (threshold * (1.0 + self.relative) - self.absolute, 0.0),
        };
        QueryCut { t: round_down(t), b: round_down(b) }
    }

    /// What turns scores into intervals of t; the same for every query of a batch.
    ///
    /// A t is a canonical score in the units of [`QueryCut::t`]. With `toll = b·nu` and all roundings in a room that
    /// grows with the terms, a score proves `(score·stretch - toll - delta) / alpha <= t <= (score - toll + delta) /
    /// alpha`: the inequality of the cut, solved for t, and its mirror image. A distance d as a score -d² stands for
    /// at least `(score - absolute) / (1 - relative)`, whose t is `(score - absolute)·(1 + relative) / (1 - relative) -
    /// absolute`.
    #[cfg(feature = "gpu")]
    pub(crate) fn score_proof(&self) -> ScoreProof {
        let stretch = match self.metric {
            Metric::L2 => ((1.0 + self.relative) / (1.0 - self.relative)) as f32,
            Metric::Cosine | Metric::Dot | Metric::DotPenalized { .. } => 1.0,
        };
        let stretch = if self.metric == Metric::L2 { stretch.next_up() } else { stretch };
        ScoreProof { stretch, floor: (4.0 * self.absolute) as f32 }
    }

    /// A row's part of the cut; the same for every query of a batch.
    pub(crate) fn row_cut(&self, row_norm: f64) -> RowCut {
        let norm = row_norm as f32;
        if self.metric == Metric::L2 {
            return RowCut { alpha: 1.0, nu: 0.0, delta: 0.0 };
        }
        if row_norm.is_nan() || row_norm > MAX_KERNEL_NORM {
            return RowCut { alpha: 0.0, nu: 0.0, delta: f32::INFINITY };
        }
        let alpha = if self.metric == Metric::Cosine { norm } else { 1.0 };
        let slack = (self.relative + 16.0 * UNIT_ROUNDOFF) * row_norm + 2.0 * self.absolute;
        RowCut { alpha, nu: norm, delta: (slack as f32).next_up() }
    }
}

impl QueryCut {
    /// Whether a row with this kernel score may reach the threshold. Unordered scores may.
    #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "what is not less passes, not-a-number too")]
    pub(crate) fn passes(self, row: RowCut, kernel_score: f32) -> bool {
        !(kernel_score < self.t.mul_add(row.alpha, self.b.mul_add(row.nu, -row.delta)))
    }
}

fn around(middle: f64, error: f64) -> Interval {
    // The products above round too; 1e-15 of the middle is several times their error.
    let error = error + middle.abs() * 1e-15;
    Interval { lower: middle - error, upper: middle + error }
}

fn round_down(value: f64) -> f32 {
    let rounded = value as f32;
    if f64::from(rounded) > value { rounded.next_down() } else { rounded }
}
