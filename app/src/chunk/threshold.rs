//! From similarities to cuts: thresholds that are given, and those that follow a document's own similarities.
//!
//! Distances are 1 minus cosine. Percentiles are interpolated between ranks.

use std::fmt;
use std::str::FromStr;

use super::Threshold;

/// Where to cut.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cuts {
    /// A cut with index `i` lies between the segments `i` and `i + 1`.
    pub(super) indices: Vec<usize>,
    /// The cosine below which a boundary is a cut; `None` where the rule is not one cosine for all.
    pub(super) threshold: Option<f32>,
}

impl Cuts {
    /// Applies `threshold` to the similarities of all boundaries. A negative cosine counts as 0, so that a threshold
    /// of 0 cuts nowhere.
    pub(super) fn of(similarities: &[f32], threshold: Threshold) -> Self {
        let Some(value) = resolved(similarities, threshold) else {
            let Threshold::Gradient(share) = threshold else { return Self::default() };
            return Self { indices: steepest(similarities, share), threshold: None };
        };
        let is_cut = |index: &usize| similarities[*index].max(0.0) < value;
        Self { indices: (0..similarities.len()).filter(is_cut).collect(), threshold: Some(value) }
    }
}

/// The cosine that `threshold` means for these similarities, from 0 to 1; `None` for the gradient, which is no
/// cosine. Without similarities 0, which cuts nowhere.
pub(super) fn resolved(similarities: &[f32], threshold: Threshold) -> Option<f32> {
    if let Threshold::Fixed(value) = threshold {
        return Some(value);
    }
    if matches!(threshold, Threshold::Gradient(_)) {
        return None;
    }
    if similarities.is_empty() {
        return Some(0.0);
    }
    let distances: Vec<f64> = similarities.iter().map(|&value| 1.0 - f64::from(value)).collect();
    let (mean, deviation) = moments(&distances);
    let distance = match threshold {
        Threshold::Deviations(number) => mean + f64::from(number) * deviation,
        Threshold::Percentile(share) => percentile(&distances, share),
        Threshold::Interquartile(number) => {
            mean + f64::from(number) * (percentile(&distances, 75.0) - percentile(&distances, 25.0))
        }
        Threshold::Auto | Threshold::Fixed(_) | Threshold::Gradient(_) => mean + deviation,
    };
    Some((1.0 - distance).clamp(0.0, 1.0) as f32)
}

/// Mean minus one standard deviation of `similarities`, between 0 and 1; 0 (no cut) where there are none.
pub fn auto_threshold(similarities: &[f32]) -> f32 {
    resolved(similarities, Threshold::Auto).unwrap_or(0.0)
}

/// Thresholds worth trying on a document, each with the cosine that it means there.
pub fn alternatives(similarities: &[f32]) -> Vec<(Threshold, f32)> {
    let rules = [
        Threshold::Auto,
        Threshold::Deviations(2.0),
        Threshold::Percentile(80.0),
        Threshold::Percentile(95.0),
        Threshold::Interquartile(0.5),
    ];
    rules.into_iter().filter_map(|rule| Some((rule, resolved(similarities, rule)?))).collect()
}

fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

/// The value that `share` percent of `values` do not pass; 0 of none.
fn percentile(values: &[f64], share: f32) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let rank = last as f64 * f64::from(share.clamp(0.0, 100.0)) / 100.0;
    let low = sorted[rank.floor() as usize];
    low + (sorted[rank.ceil() as usize] - low) * rank.fract()
}

/// Boundaries at which the distance grows faster than at `share` percent of them.
fn steepest(similarities: &[f32], share: f32) -> Vec<usize> {
    let distance = |index: usize| 1.0 - f64::from(similarities[index]);
    let last = similarities.len().saturating_sub(1);
    let slope = |index: usize| {
        let (from, to) = (index.saturating_sub(1), (index + 1).min(last));
        if to > from { (distance(to) - distance(from)) / (to - from) as f64 } else { 0.0 }
    };
    let slopes: Vec<f64> = (0..similarities.len()).map(slope).collect();
    let limit = percentile(&slopes, share);
    (0..slopes.len()).filter(|&index| slopes[index] > limit).collect()
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => write!(f, "auto"),
            Self::Fixed(value) => write!(f, "{value}"),
            Self::Deviations(number) => write!(f, "sd{number}"),
            Self::Percentile(share) => write!(f, "p{share}"),
            Self::Interquartile(number) => write!(f, "iqr{number}"),
            Self::Gradient(share) => write!(f, "gradient{share}"),
        }
    }
}

/// What [`Threshold`] reads.
pub(super) const FORMS: &str = "`auto`, a cosine from 0 to 1, `sd1.5`, `p95`, `iqr1.5` or `gradient95`";

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim().to_lowercase();
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let start = text.find(|letter: char| !letter.is_ascii_lowercase()).unwrap_or(text.len());
        let (name, number) = text.split_at(start);
        let number: f32 = number.parse().map_err(|_| format!("{text:?} is no threshold: expected {FORMS}"))?;
        match name {
            "" => Ok(Self::Fixed(number)),
            "sd" => Ok(Self::Deviations(number)),
            "p" => Ok(Self::Percentile(number)),
            "iqr" => Ok(Self::Interquartile(number)),
            "gradient" => Ok(Self::Gradient(number)),
            _ => Err(format!("{text:?} is no threshold: expected {FORMS}")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    const CURVE: [f32; 8] = [0.8, 0.7, 0.9, 0.1, 0.8, 0.7, 0.2, 0.9];

    #[test]
    fn auto_threshold_is_mean_minus_sd_without_nan() {
        assert!((auto_threshold(&[0.2, 0.8]) - 0.2).abs() < 1e-6);
        assert!((auto_threshold(&[0.5]) - 0.5).abs() < 1e-6);
        assert!(auto_threshold(&[]).abs() < f32::EPSILON);
        assert!(auto_threshold(&[-0.9, -0.1]).abs() < f32::EPSILON);
    }

    #[test]
    fn every_rule_finds_the_two_valleys() {
        for rule in [
            Threshold::Auto,
            Threshold::Fixed(0.5),
            Threshold::Deviations(0.9),
            Threshold::Percentile(75.0),
            Threshold::Interquartile(0.5),
        ] {
            assert_eq!(Cuts::of(&CURVE, rule).indices, [3, 6], "{rule}");
        }
        let gradient = Cuts::of(&CURVE, Threshold::Gradient(75.0));
        assert_eq!((gradient.indices, gradient.threshold), (vec![2, 5], None));
    }

    #[test]
    fn percentiles_lie_between_ranks() {
        assert!((percentile(&[1.0, 3.0], 50.0) - 2.0).abs() < 1e-12);
        assert!((percentile(&[4.0, 1.0, 3.0], 100.0) - 4.0).abs() < 1e-12);
        assert!(percentile(&[], 50.0).abs() < 1e-12);
    }

    #[test]
    fn short_curves_are_no_trouble() {
        for rule in [Threshold::Auto, Threshold::Percentile(95.0), Threshold::Gradient(95.0)] {
            assert!(Cuts::of(&[], rule).indices.is_empty());
            assert!(Cuts::of(&[0.3], rule).indices.is_empty());
        }
    }

    #[test]
    fn thresholds_read_as_they_are_written() {
        for text in ["auto", "0.41", "sd1.5", "p95", "iqr1.5", "gradient90"] {
            assert_eq!(text.parse::<Threshold>().unwrap().to_string(), text);
        }
        for text in ["", "p", "q95", "sd-x"] {
            assert!(text.parse::<Threshold>().unwrap_err().contains("expected"));
        }
    }
}
