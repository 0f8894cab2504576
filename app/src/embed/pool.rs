//! From token vectors to one vector for each sequence.

use super::manifest::Pooling;

/// Makes `row` unit length; leaves a zero row alone.
pub(super) fn normalise(row: &mut [f32]) {
    let norm = row.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>().sqrt();
    if norm > 0.0 && norm.is_finite() {
        for value in row {
            *value = (f64::from(*value) / norm) as f32;
        }
    }
}

/// Adds the rows of `states` to `rows` as unit vectors in steps of 1/127.
pub(super) fn quantise(states: &[f32], dims: usize, rows: &mut Vec<i8>) {
    for state in states.chunks_exact(dims) {
        let norm = state.iter().map(|value| value * value).sum::<f32>().sqrt();
        let scale = if norm > 0.0 && norm.is_finite() { 127.0 / norm } else { 0.0 };
        rows.extend(state.iter().map(|value| (value * scale).round() as i8));
    }
}

/// One pooled vector, not normalised, from `states` (`padded * dims`, of which the first `tokens` are real).
pub(super) fn pool(states: &[f32], dims: usize, tokens: usize, pooling: Pooling) -> Vec<f32> {
    match pooling {
        Pooling::Cls => states[..dims].to_vec(),
        Pooling::Mean => mean(&states[..tokens * dims], dims),
    }
}

fn mean(states: &[f32], dims: usize) -> Vec<f32> {
    let mut sums = vec![0.0_f32; dims];
    for state in states.chunks_exact(dims) {
        for (sum, value) in sums.iter_mut().zip(state) {
            *sum += value;
        }
    }
    let count = (states.len() / dims).max(1) as f32;
    sums.iter().map(|sum| sum / count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_pooling_leaves_padding_out() {
        let states = [1.0, 2.0, 3.0, 4.0, 100.0, 100.0];
        assert_eq!(pool(&states, 2, 2, Pooling::Mean), [2.0, 3.0]);
    }

    #[test]
    fn cls_pooling_takes_the_first_token() {
        let states = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(pool(&states, 2, 2, Pooling::Cls), [1.0, 2.0]);
    }

    #[test]
    fn a_zero_row_stays_zero() {
        let mut row = [0.0, 0.0];
        normalise(&mut row);
        assert!(row.iter().all(|value| value.to_bits() == 0));
    }

    #[test]
    fn quantised_rows_are_unit_length_in_127_steps() {
        let mut rows = Vec::new();
        quantise(&[3.0, 4.0, 0.0, 0.0], 2, &mut rows);
        assert_eq!(rows, [76, 102, 0, 0]);
    }

    #[test]
    fn a_row_becomes_unit_length() {
        let mut row = [3.0, 4.0];
        normalise(&mut row);
        assert!((row[0] - 0.6).abs() < 1e-6 && (row[1] - 0.8).abs() < 1e-6);
    }
}
