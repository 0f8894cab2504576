//! Pictures in three bytes a pixel: scaling, cutting, turning, and the tensors that the models take.

/// A picture, red, green and blue, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::extract) struct Picture {
    pub(super) width: usize,
    pub(super) height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    /// A picture from four bytes a pixel, on white.
    pub(in crate::extract) fn from_rgba(width: usize, height: usize, rgba: &[u8]) -> Option<Self> {
        if width == 0 || height == 0 || rgba.len() != width.checked_mul(height)?.checked_mul(4)? {
            return None;
        }
        let on_white = |pixel: &[u8; 4]| {
            let [red, green, blue, alpha] = pixel.map(u16::from);
            [red, green, blue].map(|value| ((value * alpha + 255 * (255 - alpha)) / 255) as u8)
        };
        Some(Self { width, height, pixels: rgba.as_chunks::<4>().0.iter().flat_map(on_white).collect() })
    }

    /// The pixel at a place, the nearest one outside the picture.
    fn at(&self, x: isize, y: isize) -> [u8; 3] {
        let x = x.clamp(0, self.width as isize - 1) as usize;
        let y = y.clamp(0, self.height as isize - 1) as usize;
        let start = (y * self.width + x) * 3;
        [self.pixels[start], self.pixels[start + 1], self.pixels[start + 2]]
    }

    /// The colour between pixels.
    fn between(&self, x: f32, y: f32) -> [u8; 3] {
        let (left, top) = (x.floor(), y.floor());
        let (right_share, bottom_share) = (x - left, y - top);
        let (left, top) = (left as isize, top as isize);
        let corners = [self.at(left, top), self.at(left + 1, top), self.at(left, top + 1), self.at(left + 1, top + 1)];
        std::array::from_fn(|channel| {
            let value = |corner: usize| f32::from(corners[corner][channel]);
            let upper = value(0) * (1.0 - right_share) + value(1) * right_share;
            let lower = value(2) * (1.0 - right_share) + value(3) * right_share;
            (upper * (1.0 - bottom_share) + lower * bottom_share).round() as u8
        })
    }

    /// The picture in another size.
    pub(super) fn scaled(&self, width: usize, height: usize) -> Self {
        let (across, down) = (self.width as f32 / width as f32, self.height as f32 / height as f32);
        let source = |place: usize, step: f32| (place as f32 + 0.5) * step - 0.5;
        Self::filled(width, height, |x, y| self.between(source(x, across), source(y, down)))
    }

    /// A part of the picture.
    pub(super) fn crop(&self, left: usize, top: usize, right: usize, bottom: usize) -> Self {
        let (right, bottom) = (right.min(self.width), bottom.min(self.height));
        let (left, top) = (left.min(right.saturating_sub(1)), top.min(bottom.saturating_sub(1)));
        Self::filled(right - left, bottom - top, |x, y| self.at((left + x) as isize, (top + y) as isize))
    }

    /// The picture turned about its middle, so that lines with this slope become level.
    pub(super) fn turned_by(&self, slope: f32) -> Self {
        let (sin, cos) = slope.atan().sin_cos();
        let (middle_x, middle_y) = (self.width as f32 / 2.0, self.height as f32 / 2.0);
        Self::filled(self.width, self.height, |x, y| {
            let (x, y) = (x as f32 - middle_x, y as f32 - middle_y);
            self.between(middle_x + x * cos - y * sin, middle_y + x * sin + y * cos)
        })
    }

    fn filled(width: usize, height: usize, colour: impl Fn(usize, usize) -> [u8; 3]) -> Self {
        let mut pixels = Vec::with_capacity(width * height * 3);
        for y in 0..height {
            for x in 0..width {
                pixels.extend(colour(x, y));
            }
        }
        Self { width, height, pixels }
    }

    /// The tensor that the models take: blue, green, red, each value from -1 to 1, a plane for each; columns beyond
    /// the picture up to `padded_width` are 0.
    pub(super) fn tensor(&self, padded_width: usize) -> Vec<f32> {
        let plane = padded_width * self.height;
        let mut tensor = vec![0.0; 3 * plane];
        for (place, pixel) in self.pixels.as_chunks::<3>().0.iter().enumerate() {
            let (x, y) = (place % self.width, place / self.width);
            for (channel, value) in pixel.iter().rev().enumerate() {
                tensor[channel * plane + y * padded_width + x] = f32::from(*value) / 127.5 - 1.0;
            }
        }
        tensor
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    fn stripes(width: usize, height: usize) -> Picture {
        let rgba = |place: usize| if (place / width).is_multiple_of(2) { [0, 0, 0, 255] } else { [255, 255, 255, 0] };
        Picture::from_rgba(width, height, &(0..width * height).flat_map(rgba).collect::<Vec<u8>>()).unwrap()
    }

    #[test]
    fn sizes_must_fit_and_transparency_is_white() {
        assert_eq!(Picture::from_rgba(2, 2, &[0; 15]), None);
        assert_eq!(Picture::from_rgba(0, 2, &[]), None);
        assert_eq!(stripes(2, 2).pixels, [0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255]);
    }

    #[test]
    fn cuts_stay_inside() {
        let cut = stripes(4, 4).crop(3, 3, 90, 90);
        assert_eq!((cut.width, cut.height), (1, 1));
        assert_eq!(cut.tensor(2), [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn the_same_size_and_no_turn_change_nothing() {
        let picture = stripes(6, 5);
        assert_eq!(picture.scaled(6, 5), picture);
        assert_eq!(picture.turned_by(0.0), picture);
    }
}
