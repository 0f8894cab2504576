//! Linear axes, and characters of a document counted quickly.

/// Maps values to the drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    values: (f64, f64),
    drawn: (f64, f64),
}

impl Axis {
    pub(super) fn new(values: (f64, f64), drawn: (f64, f64)) -> Self {
        Self { values, drawn }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (value - self.values.0) / (self.values.1 - self.values.0);
        self.drawn.0 + share * (self.drawn.1 - self.drawn.0)
    }

    /// Round values on the axis, about `wanted` of them.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<f64> {
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

/// Characters before every so many bytes of a text, so that a byte position becomes a character position at once.
pub(super) struct CharIndex {
    counts: Vec<usize>,
}

const STRIDE_BYTES: usize = 1024;

impl CharIndex {
    pub(super) fn new(text: &str) -> Self {
        let mut counts = vec![0];
        let mut sum = 0;
        for block in text.as_bytes().chunks(STRIDE_BYTES) {
            sum += starts(block);
            counts.push(sum);
        }
        Self { counts }
    }

    /// Characters before the byte `position`.
    pub(super) fn char_at(&self, text: &str, position: usize) -> usize {
        let position = position.min(text.len());
        let block = position / STRIDE_BYTES;
        self.counts[block] + starts(&text.as_bytes()[block * STRIDE_BYTES..position])
    }
}

/// Bytes that start a character.
fn starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
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

    #[test]
    fn characters_are_counted_across_blocks() {
        let text = "漢a".repeat(2000);
        let index = CharIndex::new(&text);
        for position in [0, 3, 4, 4096, 7999, 8000] {
            let position = if text.is_char_boundary(position) { position } else { position + 1 };
            assert_eq!(index.char_at(&text, position), text[..position].chars().count());
        }
        assert_eq!(CharIndex::new("").char_at("", 0), 0);
    }
}
