//! Linear axes.

/// Maps values to the drawing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    values: (f64, f64),
    drawn: (f64, f64),
}

impl Axis {
    pub(crate) fn new(values: (f64, f64), drawn: (f64, f64)) -> Self {
        Self { values, drawn }
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value - self.values.0) / (self.values.1 - self.values.0);
        self.drawn.0 + share * (self.drawn.1 - self.drawn.0)
    }

    /// Round values on the axis, about `wanted` of them.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<f64> {
        let (low, high) = self.values;
        let step = round_step((high - low) / wanted.max(1) as f64);
        let first = (low / step).ceil() as i64;
        let last = (high / step).floor() as i64;
        (first..=last).map(|index| index as f64 * step).collect()
    }
}

/// 1, 2 or 5 times a power of ten, at least `step` and at least 1.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.max(1.0).log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let fitting = factors.into_iter().find(|factor| factor * power >= step);
    fitting.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_on_the_axis() {
        let axis = Axis::new((0.0, 74_321.0), (0.0, 100.0));
        assert_eq!(axis.ticks(8), [0.0, 10e3, 20e3, 30e3, 40e3, 50e3, 60e3, 70e3]);
        assert_eq!(Axis::new((0.0, 1.0), (0.0, 1.0)).ticks(8), [0.0, 1.0]);
    }
}
