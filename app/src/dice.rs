//! Pseudo-random numbers that are the same on every machine and in every run.

/// `SplitMix64` (Steele, Lea & Flood 2014).
pub(crate) struct Dice(u64);

impl Dice {
    /// The sequence that belongs to a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A whole number from 0 to below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// A number from -1 to 1.
    pub(crate) fn around_zero(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_range_and_reach_all_of_it() {
        let mut dice = Dice::new(1);
        let rolls: Vec<usize> = (0..600).map(|_| dice.below(6)).collect();
        assert!((0..6).all(|side| rolls.contains(&side)) && rolls.iter().all(|roll| *roll < 6));
        let around: Vec<f64> = (0..600).map(|_| dice.around_zero()).collect();
        assert!(around.iter().all(|value| value.abs() <= 1.0));
        assert!(around.iter().any(|value| *value < -0.9) && around.iter().any(|value| *value > 0.9));
    }
}
