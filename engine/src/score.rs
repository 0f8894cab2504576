//! The canonical score: the one number that ranks, whatever selected the candidates.
//!
//! Invariant: the sums here run in one fixed order in f64, so that every backend, batch size and
//! thread count gives the same bits. Eight interleaved partial sums are added pairwise at the end;
//! a product of two f32 is exact in f64, so fused and unfused multiply-adds agree.

use crate::metric::Metric;

const LANES: usize = 8;

/// `a·b`.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f64 {
    fixed_order_sum(a, b, |x, y| x * y)
}

/// `‖a - b‖²`.
pub(crate) fn squared_distance(a: &[f32], b: &[f32]) -> f64 {
    fixed_order_sum(a, b, |x, y| (x - y) * (x - y))
}

/// `‖a‖`.
pub(crate) fn norm(a: &[f32]) -> f64 {
    dot(a, a).sqrt()
}

/// The canonical score of a row, or `None` where the metric has none (a zero row under cosine).
pub(crate) fn canonical(metric: Metric, query: &[f32], query_norm: f64, row: &[f32], row_norm: f64) -> Option<f64> {
    match metric {
        Metric::Cosine if row_norm == 0.0 => None,
        Metric::Cosine => Some(dot(query, row) / (query_norm * row_norm)),
        Metric::Dot => Some(dot(query, row)),
        Metric::L2 => Some(0.0 - squared_distance(query, row)),
        Metric::DotPenalized { penalty } => Some(dot(query, row) - penalty * row_norm),
    }
}

#[inline]
fn fixed_order_sum(a: &[f32], b: &[f32], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0_f64; LANES];
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..LANES {
            lanes[lane] += term(f64::from(x[lane]), f64::from(y[lane]));
        }
    }
    for (lane, (&x, &y)) in a_rest.iter().zip(b_rest).enumerate() {
        lanes[lane] += term(f64::from(x), f64::from(y));
    }
    ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_plain_sum() {
        for dims in [1, 7, 8, 9, 384, 1001] {
            let a: Vec<f32> = (0..dims).map(|i| ((i * 37 % 101) as f32 - 50.0) / 7.0).collect();
            let b: Vec<f32> = (0..dims).map(|i| ((i * 53 % 97) as f32 - 40.0) / 3.0).collect();
            let plain: f64 = a.iter().zip(&b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
            assert!((dot(&a, &b) - plain).abs() <= 1e-9 * plain.abs().max(1.0), "dims {dims}");
        }
    }

    #[test]
    fn identical_tiny_rows_do_not_vanish() {
        let row = [1e-4_f32; 384];
        let score = canonical(Metric::Cosine, &row, norm(&row), &row, norm(&row));
        assert!((score.unwrap_or(0.0) - 1.0).abs() < 1e-12);
        assert!(norm(&[1e-30_f32; 4]) > 1.9e-30, "squares below the f32 range still count");
    }
}
