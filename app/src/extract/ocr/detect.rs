//! Where the lines of a picture are: the detector gives each pixel the probability of being text, and connected
//! pixels above a threshold are a line's core, which is expanded to the whole line.

use ort::session::Session;
use ort::value::TensorRef;

use super::picture::Picture;

/// The shorter side of what the detector sees, in pixels, and the most of the longer one.
const SHORT_SIDE: f32 = 960.0;
const LONGEST_SIDE: f32 = 2560.0;
/// Sides must be multiples of this.
const STEP: usize = 32;
/// Probability from which a pixel is text, and the mean from which an area is.
const PIXEL_THRESHOLD: f32 = 0.3;
const AREA_THRESHOLD: f32 = 0.5;
/// How far a core is expanded, relative to its area by its circumference.
const EXPANSION: f32 = 1.6;
/// Smallest side of a core, in the detector's pixels.
const SMALLEST_SIDE: usize = 3;
/// Lines of one picture.
const MOST_AREAS: usize = 3000;
/// Width by height from which a line is long enough to tell the slope.
const LONG_LINE: usize = 8;
/// Slope beyond which a picture is turned in another way than by a careless hand.
const STEEPEST_SLOPE: f32 = 0.1;

/// A line's core, in pixels of the picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) right: usize,
    pub(super) bottom: usize,
    /// How much the core falls for each pixel to the right.
    slope: f32,
}

impl Area {
    fn width(&self) -> usize {
        self.right - self.left
    }

    fn height(&self) -> usize {
        self.bottom - self.top
    }

    /// The whole line around the core.
    pub(super) fn expanded(&self, width: usize, height: usize) -> Self {
        let (own_width, own_height) = (self.width() as f32, self.height() as f32);
        let margin = (own_width * own_height * EXPANSION / (2.0 * (own_width + own_height))).ceil() as usize;
        Self {
            left: self.left.saturating_sub(margin),
            top: self.top.saturating_sub(margin),
            right: (self.right + margin).min(width),
            bottom: (self.bottom + margin).min(height),
            slope: self.slope,
        }
    }
}

/// The cores of a picture's lines.
pub(super) fn areas(detector: &mut Session, picture: &Picture) -> ort::Result<Vec<Area>> {
    let (width, height) = seen_size(picture.width, picture.height);
    let tensor = picture.scaled(width, height).tensor(width);
    let input = TensorRef::from_array_view(([1_usize, 3, height, width], tensor.as_slice()))?;
    let outputs = detector.run(ort::inputs![input])?;
    let (_, probabilities) = outputs[0].try_extract_tensor::<f32>()?;
    let map = Map { width, height, probabilities };
    let scale = (picture.width as f32 / width as f32, picture.height as f32 / height as f32);
    Ok(map.cores().into_iter().map(|core| scaled(&core, scale)).collect())
}

/// The slope of most long lines; none if there are too few of them to say.
pub(super) fn slope(areas: &[Area]) -> Option<f32> {
    let long = areas.iter().filter(|area| area.width() >= LONG_LINE * area.height().max(1));
    let mut slopes: Vec<f32> = long.map(|area| area.slope).collect();
    if slopes.len() < 3 {
        return None;
    }
    slopes.sort_by(f32::total_cmp);
    Some(slopes[slopes.len() / 2]).filter(|slope| slope.abs() < STEEPEST_SLOPE)
}

fn seen_size(width: usize, height: usize) -> (usize, usize) {
    let (shorter, longer) = (width.min(height) as f32, width.max(height) as f32);
    let scale = (SHORT_SIDE / shorter).min(LONGEST_SIDE / longer);
    let side = |pixels: usize| ((pixels as f32 * scale / STEP as f32).round() as usize).max(1) * STEP;
    (side(width), side(height))
}

fn scaled(core: &Area, (across, down): (f32, f32)) -> Area {
    let place = |pixels: usize, scale: f32| (pixels as f32 * scale).round() as usize;
    Area {
        left: place(core.left, across),
        top: place(core.top, down),
        right: place(core.right, across),
        bottom: place(core.bottom, down),
        slope: core.slope * down / across,
    }
}

/// The detector's answer.
struct Map<'a> {
    width: usize,
    height: usize,
    probabilities: &'a [f32],
}

impl Map<'_> {
    fn is_text(&self, place: usize) -> bool {
        self.probabilities.get(place).is_some_and(|probability| *probability > PIXEL_THRESHOLD)
    }

    /// The connected areas of text, from top to bottom.
    fn cores(&self) -> Vec<Area> {
        let mut seen = vec![false; self.width * self.height];
        let mut cores = Vec::new();
        for place in 0..seen.len() {
            if !seen[place] && self.is_text(place) && cores.len() < MOST_AREAS {
                cores.extend(self.core_from(place, &mut seen));
            }
        }
        cores
    }

    /// The area that a pixel belongs to, if it is a line.
    fn core_from(&self, start: usize, seen: &mut [bool]) -> Option<Area> {
        let mut waiting = vec![start];
        let mut core = Core::default();
        seen[start] = true;
        while let Some(place) = waiting.pop() {
            let (x, y) = (place % self.width, place / self.width);
            core.add(x, y, self.probabilities[place]);
            let beside = [
                (x > 0).then(|| place - 1),
                (x + 1 < self.width).then_some(place + 1),
                place.checked_sub(self.width),
                (y + 1 < self.height).then_some(place + self.width),
            ];
            for next in beside.into_iter().flatten() {
                if !seen[next] && self.is_text(next) {
                    seen[next] = true;
                    waiting.push(next);
                }
            }
        }
        core.area()
    }
}

/// Sums over the pixels of one area.
#[derive(Default)]
struct Core {
    bounds: Option<(usize, usize, usize, usize)>,
    count: f64,
    probability: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Core {
    fn add(&mut self, x: usize, y: usize, probability: f32) {
        let (left, top, right, bottom) = self.bounds.unwrap_or((x, y, x, y));
        self.bounds = Some((left.min(x), top.min(y), right.max(x), bottom.max(y)));
        let (x, y) = (x as f64, y as f64);
        self.count += 1.0;
        self.probability += f64::from(probability);
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
    }

    fn area(&self) -> Option<Area> {
        let (left, top, right, bottom) = self.bounds?;
        let area = Area { left, top, right: right + 1, bottom: bottom + 1, slope: self.slope() };
        let is_line = area.width().min(area.height()) >= SMALLEST_SIDE
            && self.probability / self.count >= f64::from(AREA_THRESHOLD);
        is_line.then_some(area)
    }

    /// Least squares through the pixels.
    fn slope(&self) -> f32 {
        let variance = self.xx - self.x * self.x / self.count;
        if variance > 0.0 { ((self.xy - self.x * self.y / self.count) / variance) as f32 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connected_pixels_are_one_area_with_its_slope() {
        let (width, height) = (40, 20);
        let mut probabilities = vec![0.0; width * height];
        for x in 2..38 {
            for y in 0..4 {
                probabilities[(4 + y + x / 8) * width + x] = 0.9;
            }
        }
        probabilities[width * height - 1] = 0.9;
        let cores = Map { width, height, probabilities: &probabilities }.cores();
        assert_eq!(cores.len(), 1, "a single pixel is no line");
        let core = &cores[0];
        assert_eq!((core.left, core.right, core.top, core.bottom), (2, 38, 4, 12));
        assert!((core.slope - 0.125).abs() < 0.02, "{}", core.slope);
    }

    #[test]
    fn what_the_detector_sees_has_sides_in_steps() {
        assert_eq!(seen_size(1654, 2339), (960, 1344));
        assert_eq!(seen_size(10, 4000), (32, 2560));
    }

    #[test]
    fn a_few_lines_say_nothing_of_the_slope() {
        let area = |slope| Area { left: 0, top: 0, right: 100, bottom: 10, slope };
        assert_eq!(slope(&[area(0.02), area(0.03)]), None);
        assert_eq!(slope(&[area(0.02), area(0.5), area(0.02)]), Some(0.02));
    }
}
