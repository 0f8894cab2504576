//! Principal components by subspace iteration over the covariance, which is small: as many numbers a side as the
//! vectors have.

/// The first two components of the rows, as unit directions; directions without variance are zero. Rows are taken
/// around `mean`. The same rows give the same components, signs included.
pub(super) fn two_components(vectors: &[f32], dims: usize, mean: &[f64]) -> [Vec<f64>; 2] {
    let covariance = covariance(vectors, dims, mean);
    let first = leading(&covariance, dims, None);
    let second = leading(&covariance, dims, Some(&first));
    [first, second]
}

/// Mean of the rows.
pub(super) fn mean(vectors: &[f32], dims: usize) -> Vec<f64> {
    let mut mean = vec![0.0; dims];
    let mut count = 0.0;
    for row in vectors.chunks_exact(dims.max(1)) {
        count += 1.0;
        mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += (f64::from(*value) - *mean) / count);
    }
    mean
}

fn covariance(vectors: &[f32], dims: usize, mean: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; dims * dims];
    let mut centred = vec![0.0; dims];
    for row in vectors.chunks_exact(dims.max(1)) {
        centred.iter_mut().zip(row.iter().zip(mean)).for_each(|(to, (value, mean))| *to = f64::from(*value) - mean);
        for (index, value) in centred.iter().enumerate() {
            let sums = &mut sums[index * dims..(index + 1) * dims];
            sums.iter_mut().zip(&centred).for_each(|(sum, other)| *sum += value * other);
        }
    }
    sums
}

/// Steps of the iteration; it stops before when nothing moves.
const MOST_STEPS: usize = 300;

/// The direction of most variance that is at right angles to `without`.
fn leading(covariance: &[f64], dims: usize, without: Option<&Vec<f64>>) -> Vec<f64> {
    // A start that no real direction is at right angles to.
    let mut vector: Vec<f64> = (0..dims).map(|index| 1.0 + (index as f64 * 0.7).sin() * 0.5).collect();
    settle(&mut vector, without);
    for _ in 0..MOST_STEPS {
        let product =
            |row: usize| covariance[row * dims..(row + 1) * dims].iter().zip(&vector).map(|(a, b)| a * b).sum();
        let mut next: Vec<f64> = (0..dims).map(product).collect();
        settle(&mut next, without);
        let moved: f64 = next.iter().zip(&vector).map(|(a, b)| (a - b).powi(2)).sum();
        vector = next;
        if moved < 1e-14 {
            break;
        }
    }
    let largest = vector.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0);
    if largest < 0.0 {
        for value in &mut vector {
            *value = -*value;
        }
    }
    vector
}

/// Takes the part along `without` away and makes the rest unit length; what is nearly nothing becomes nothing.
fn settle(vector: &mut [f64], without: Option<&Vec<f64>>) {
    if let Some(without) = without {
        let along: f64 = vector.iter().zip(without).map(|(a, b)| a * b).sum();
        vector.iter_mut().zip(without).for_each(|(value, other)| *value -= along * other);
    }
    let norm = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
    let factor = if norm > 1e-9 { 1.0 / norm } else { 0.0 };
    for value in vector {
        *value *= factor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_axis_comes_first() {
        let rows: Vec<f32> =
            (-10..=10).flat_map(|step| [step as f32, 0.1 * (step * step % 7) as f32, 0.5 * step as f32]).collect();
        let [first, second] = two_components(&rows, 3, &mean(&rows, 3));
        assert!(first[0] > 0.85 && (first[2] / first[0] - 0.5).abs() < 0.02, "{first:?}");
        let dot: f64 = first.iter().zip(&second).map(|(a, b)| a * b).sum();
        assert!(dot.abs() < 1e-6);
    }

    #[test]
    fn rows_without_variance_have_no_direction() {
        let [first, second] = two_components(&[1.0, 2.0, 1.0, 2.0], 2, &mean(&[1.0, 2.0, 1.0, 2.0], 2));
        assert!(first.iter().chain(&second).all(|value| value.abs() < 1e-9));
    }
}
