//! The gate: is the best passage near enough to ask a model at all?
//!
//! Score = how sure we are, 0 to 1, from two named scores of the best passage: its cosine with the question and
//! the share of the question's idf-weighted words that it holds.
//!
//! Calibrated on 250 answerable questions of SQuAD 2 (dev, 1204 paragraphs, all-MiniLM-L6-v2 int8), 250 questions of
//! other sets and 250 adversarial ones. At 5 % false refusals, share refused by cosine weight:
//!
//! | cosine weight | threshold | other sets | adversarial |
//! |---|---|---|---|
//! | 0 (words alone) | .361 | .80 | .11 |
//! | .4 | .402 | .90 | .10 |
//! | **.5** | **.415** | **.93** | **.11** |
//! | .6 | .415 | .94 | .12 |
//! | .75 | .396 | .90 | .10 |
//! | 1 (cosine alone) | .336 | .73 | .10 |
//!
//! The product weighs both alike, which is within one question in a hundred of the best. So the gate tells questions
//! from elsewhere; it cannot tell that a passage on the topic lacks the answer.

/// How near the two scores of an embedder come for what is there and for what is not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateScale {
    /// Cosine that says nothing.
    pub cosine_floor: f32,
    /// Cosine that leaves no doubt.
    pub cosine_ceiling: f32,
    /// Weight of the cosine; the rest is the coverage's.
    pub cosine_weight: f32,
}

impl GateScale {
    /// For models that embed meaning.
    pub const MEANING: Self = Self { cosine_floor: 0.0, cosine_ceiling: 1.0, cosine_weight: 0.5 };

    /// For the hash embedder, whose cosine only repeats what the words say.
    pub const WORDS: Self = Self { cosine_floor: 0.0, cosine_ceiling: 0.6, cosine_weight: 0.25 };

    /// The gate score of a search, 0 to 1. Without a vector leg the coverage decides alone.
    pub fn score(&self, best_cosine: Option<f32>, idf_coverage: f32) -> f32 {
        let coverage = idf_coverage.clamp(0.0, 1.0);
        let Some(cosine) = best_cosine.filter(|cosine| cosine.is_finite()) else {
            return coverage;
        };
        let range = self.cosine_ceiling - self.cosine_floor;
        let nearness = ((cosine - self.cosine_floor) / range).clamp(0.0, 1.0);
        self.cosine_weight * nearness + (1.0 - self.cosine_weight) * coverage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_grows_with_both_and_stays_in_range() {
        let scale = GateScale::MEANING;
        assert!(scale.score(Some(0.8), 0.9) > scale.score(Some(0.8), 0.5));
        assert!(scale.score(Some(0.8), 0.5) > scale.score(Some(0.4), 0.5));
        for cosine in [-1.0, 0.0, 1.0, f32::NAN] {
            for coverage in [-1.0, 0.0, 1.0, 7.0] {
                assert!((0.0..=1.0).contains(&scale.score(Some(cosine), coverage)));
            }
        }
    }

    #[test]
    fn without_vectors_the_words_decide() {
        assert!((GateScale::MEANING.score(None, 0.7) - 0.7).abs() < 1e-6);
    }
}
