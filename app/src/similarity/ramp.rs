//! The colours of similarity: the stops of `assets/theme`, blended.

use std::sync::LazyLock;

use crate::figure::theme;

/// Red, green and blue at equal steps from 0 to 1.
static STOPS: LazyLock<Vec<[f32; 3]>> = LazyLock::new(|| theme().similarity_stops());

/// The colour of `share` (0 to 1, clamped) as red, green, blue.
pub fn ramp(share: f32) -> [u8; 3] {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let last = STOPS.len().saturating_sub(1);
    let place = share * last as f32;
    let from = (place as usize).min(last.saturating_sub(1));
    let part = place - from as f32;
    let channel = |stop: usize, channel: usize| STOPS.get(stop).map_or(0.0, |stop| stop[channel]);
    std::array::from_fn(|index| (channel(from, index) * (1.0 - part) + channel(from + 1, index) * part).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lightness_only_grows() {
        let lightness = |share: f32| {
            let [red, green, blue] = ramp(share).map(f32::from);
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        let steps: Vec<f32> = (0..=40).map(|step| lightness(step as f32 / 40.0)).collect();
        assert!(steps.windows(2).all(|pair| pair[1] > pair[0]), "{steps:?}");
        assert_eq!(ramp(f32::NAN), ramp(0.0));
        assert_eq!(ramp(7.0), ramp(1.0));
    }
}
