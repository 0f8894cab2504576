//! Bootstrap intervals: what a mean over questions, or the difference of two, may be by chance.

use serde::{Deserialize, Serialize};

use crate::dice::Dice;

/// A mean with the interval that holds it in 95 of 100 resamplings of the questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean itself.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether the interval leaves out 0: a difference that is real.
    pub fn is_real(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// Resamplings of the questions.
const ROUNDS: usize = 2000;
/// The same seed for every measurement, so that equal inputs give equal intervals.
const SEED: u64 = 0x0C70_12F5;

/// The mean of one value for each question.
pub fn mean_interval(values: &[f64]) -> Interval {
    if values.is_empty() {
        return Interval::default();
    }
    let mut dice = Dice::new(SEED);
    let mut means: Vec<f64> = (0..ROUNDS).map(|_| resampled_mean(values, &mut dice)).collect();
    means.sort_unstable_by(f64::total_cmp);
    Interval { mean: mean(values), low: means[ROUNDS / 40], high: means[ROUNDS - 1 - ROUNDS / 40] }
}

/// The mean of `ours - theirs`, question by question (paired). Surplus values of the longer list are ignored.
pub fn difference_interval(ours: &[f64], theirs: &[f64]) -> Interval {
    let differences: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours - theirs).collect();
    mean_interval(&differences)
}

/// The mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The population standard deviation; 0 of nothing.
pub fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / values.len().max(1) as f64).sqrt()
}

fn resampled_mean(values: &[f64], dice: &mut Dice) -> f64 {
    let sum: f64 = (0..values.len()).map(|_| values[dice.below(values.len())]).sum();
    sum / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_the_mean_and_shrink_with_more_questions() {
        let few: Vec<f64> = (0..20).map(|index| f64::from(index % 2)).collect();
        let many: Vec<f64> = (0..2000).map(|index| f64::from(index % 2)).collect();
        let (few, many) = (mean_interval(&few), mean_interval(&many));
        assert!(few.low < 0.5 && 0.5 < few.high);
        assert!(many.high - many.low < (few.high - few.low) / 5.0);
    }

    #[test]
    fn a_difference_on_every_question_is_real_and_noise_is_not() {
        let base: Vec<f64> = (0..100).map(|index| f64::from(index % 7) / 7.0).collect();
        let better: Vec<f64> = base.iter().map(|value| value + 0.1).collect();
        let noise: Vec<f64> =
            base.iter().enumerate().map(|(index, value)| value + if index % 2 == 0 { 0.1 } else { -0.1 }).collect();
        assert!(difference_interval(&better, &base).is_real());
        assert!(!difference_interval(&noise, &base).is_real());
    }

    #[test]
    fn nothing_has_no_interval() {
        assert_eq!(mean_interval(&[]), Interval::default());
        assert!(deviation(&[]).abs() < f64::EPSILON);
        assert!((deviation(&[1.0, 3.0]) - 1.0).abs() < 1e-12);
    }
}
