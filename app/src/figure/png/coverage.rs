//! Filling polygons: how much of each pixel they cover, by signed areas (the accumulation of font rasterisers).
//!
//! All polygons of one call are one shape: where they overlap they cover once, if they turn the same way round.

/// A point in pixels.
pub(super) type Point = (f32, f32);

/// A picture that is drawn on.
pub(super) struct Picture {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Red, green, blue of each pixel.
    pixels: Vec<[f32; 3]>,
}

/// A colour with its opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ink {
    pub(super) rgb: [f32; 3],
    pub(super) opacity: f32,
}

impl Picture {
    pub(super) fn new(width: u32, height: u32) -> Self {
        Self { width, height, pixels: vec![[255.0; 3]; width as usize * height as usize] }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.pixels.into_iter().flatten().map(|value| value.round().clamp(0.0, 255.0) as u8).collect()
    }

    /// Fills polygons, each closed by itself.
    pub(super) fn fill(&mut self, polygons: &[Vec<Point>], ink: Ink) {
        let Some(bounds) = self.bounds(polygons) else { return };
        let mut coverage = Coverage::new(bounds);
        for polygon in polygons {
            let next = polygon.iter().cycle().skip(1);
            for (from, to) in polygon.iter().zip(next) {
                coverage.edge(*from, *to);
            }
        }
        coverage.blend(self, ink);
    }

    /// The pixels that polygons may touch; `None` where they touch none.
    fn bounds(&self, polygons: &[Vec<Point>]) -> Option<Bounds> {
        let points = || polygons.iter().flatten().filter(|(x, y)| x.is_finite() && y.is_finite());
        let least = |value: fn(&Point) -> f32| points().map(value).fold(f32::INFINITY, f32::min);
        let most = |value: fn(&Point) -> f32| points().map(value).fold(f32::NEG_INFINITY, f32::max);
        let (left, right) =
            (least(|point| point.0).floor().max(0.0), most(|point| point.0).ceil().min(self.width as f32));
        let (top, bottom) =
            (least(|point| point.1).floor().max(0.0), most(|point| point.1).ceil().min(self.height as f32));
        (left < right && top < bottom).then_some(Bounds {
            left: left as usize,
            top: top as usize,
            width: (right - left) as usize,
            height: (bottom - top) as usize,
        })
    }
}

#[derive(Clone, Copy)]
struct Bounds {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

/// Signed areas to the right of edges, pixel by pixel; their running sum along a row is the coverage.
struct Coverage {
    bounds: Bounds,
    areas: Vec<f32>,
}

impl Coverage {
    fn new(bounds: Bounds) -> Self {
        // One column more than there are pixels takes what lies beyond the right edge.
        Self { bounds, areas: vec![0.0; (bounds.width + 2) * bounds.height] }
    }

    /// Adds the edge from one point to another, row of pixels by row of pixels.
    fn edge(&mut self, from: Point, to: Point) {
        let Bounds { left, top, height, .. } = self.bounds;
        let local = |(x, y): Point| (x - left as f32, y - top as f32);
        let (from, to) = (local(from), local(to));
        let is_finite = [from.0, from.1, to.0, to.1].iter().all(|value| value.is_finite());
        if (from.1 - to.1).abs() < 1e-9 || !is_finite {
            return;
        }
        let (sign, upper, lower) = if from.1 < to.1 { (1.0, from, to) } else { (-1.0, to, from) };
        let slope = (lower.0 - upper.0) / (lower.1 - upper.1);
        let first = upper.1.max(0.0) as usize;
        let last = (lower.1.ceil().max(0.0) as usize).min(height);
        for row in first..last {
            let (y0, y1) = (upper.1.max(row as f32), lower.1.min(row as f32 + 1.0));
            if y1 > y0 {
                let x = |y: f32| upper.0 + (y - upper.1) * slope;
                self.span(row, x(y0), x(y1), sign * (y1 - y0));
            }
        }
    }

    /// Spreads a piece of an edge of the height `cover` between two places of one row over the pixels that it passes.
    fn span(&mut self, row: usize, x0: f32, x1: f32, cover: f32) {
        let width = self.bounds.width as f32;
        let (x0, x1) = (x0.clamp(0.0, width), x1.clamp(0.0, width));
        let (low, high) = (x0.min(x1), x0.max(x1));
        let areas = &mut self.areas[row * (self.bounds.width + 2)..(row + 1) * (self.bounds.width + 2)];
        let (first, last) = (low as usize, high as usize);
        if first == last || high - low < 1e-6 {
            let part = f32::midpoint(low, high) - first as f32;
            areas[first] += cover * (1.0 - part);
            areas[first + 1] += cover * part;
            return;
        }
        for column in first..=last {
            let (from, to) = (low.max(column as f32), high.min(column as f32 + 1.0));
            let share = cover * (to - from) / (high - low);
            let part = f32::midpoint(from, to) - column as f32;
            areas[column] += share * (1.0 - part);
            areas[column + 1] += share * part;
        }
    }

    fn blend(&self, picture: &mut Picture, ink: Ink) {
        let Bounds { left, top, width, height } = self.bounds;
        for row in 0..height {
            let mut sum = 0.0;
            let start = (top + row) * picture.width as usize + left;
            let pixels = &mut picture.pixels[start..start + width];
            for (pixel, area) in pixels.iter_mut().zip(&self.areas[row * (width + 2)..]) {
                sum += area;
                let opacity = f32::min(sum.abs(), 1.0) * ink.opacity;
                if opacity > 0.0 {
                    for (value, ink) in pixel.iter_mut().zip(ink.rgb) {
                        *value += (ink - *value) * opacity;
                    }
                }
            }
        }
    }
}
