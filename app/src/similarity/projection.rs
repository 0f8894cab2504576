//! Passages as points in the plane, like near like.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::neighbours::Neighbours;
use super::pca::{mean, two_components};
use super::umap;
use crate::figure::{Anchor, Canvas, Font, theme};
use crate::progress::CancelToken;

/// A place on the map, from -1 to 1 each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// To the right.
    pub x: f32,
    /// Upwards.
    pub y: f32,
}

/// How a map is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MapLayout {
    /// The first two principal components: distances are true, as far as two dimensions hold them.
    #[default]
    Pca,
    /// UMAP: neighbours stay together, distances between groups say little.
    Umap,
}

impl FromStr for MapLayout {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "pca" => Ok(Self::Pca),
            "umap" => Ok(Self::Umap),
            _ => Err(format!("found {word:?}, expected pca or umap")),
        }
    }
}

impl fmt::Display for MapLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pca => "pca",
            Self::Umap => "umap",
        })
    }
}

/// Points of a library with what they stand for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Projection {
    /// One for each row.
    pub points: Vec<Point>,
    /// The group of each point (its document), as an index.
    pub groups: Vec<usize>,
    /// Name of each group.
    pub names: Vec<String>,
    /// How they are laid out.
    pub layout: MapLayout,
    /// What maps further vectors (a query) onto the map of principal components.
    frame: Frame,
}

/// Directions and scale of a map.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Frame {
    mean: Vec<f64>,
    directions: [Vec<f64>; 2],
    scale: f64,
}

impl Frame {
    fn of(vectors: &[f32], dims: usize) -> Self {
        let mean = mean(vectors, dims);
        let directions = two_components(vectors, dims, &mean);
        let mut frame = Self { mean, directions, scale: 1.0 };
        let places = vectors.chunks_exact(dims.max(1)).map(|row| frame.place(row));
        let widest = places.fold(0.0_f32, |widest, point| widest.max(point.x.abs()).max(point.y.abs()));
        if widest > 1e-6 {
            frame.scale = 1.0 / f64::from(widest);
        }
        frame
    }

    fn place(&self, row: &[f32]) -> Point {
        let along = |direction: &[f64]| {
            let centred = row.iter().zip(&self.mean).map(|(value, mean)| f64::from(*value) - mean);
            (centred.zip(direction).map(|(a, b)| a * b).sum::<f64>() * self.scale) as f32
        };
        let finite = |value: f32| if value.is_finite() { value } else { 0.0 };
        Point { x: finite(along(&self.directions[0])), y: finite(along(&self.directions[1])) }
    }
}

/// Rows around a further vector that say where it lies on a map by UMAP.
const HOLDING_ROWS: usize = 5;

impl Projection {
    /// Maps unit-length rows of `dims` numbers. `groups` has one index into `names` for each row. The same rows give
    /// the same map; rows that are all alike lie close to its middle. `on_done` gets the share that is done, from any
    /// thread. `None` when it was cancelled.
    pub fn compute(
        layout: MapLayout,
        (vectors, dims): (&[f32], usize),
        (groups, names): (Vec<usize>, Vec<String>),
        cancel: &CancelToken,
        on_done: &(dyn Fn(f64) + Sync),
    ) -> Option<Self> {
        let frame = Frame::of(vectors, dims);
        let mut points: Vec<Point> = vectors.chunks_exact(dims.max(1)).map(|row| frame.place(row)).collect();
        if layout == MapLayout::Umap {
            points = laid_out(&points, (vectors, dims), cancel, on_done)?;
        }
        (!cancel.is_cancelled()).then_some(Self { points, groups, names, layout, frame })
    }

    /// Where a further vector lies, given its cosine with every row.
    pub fn place(&self, row: &[f32], cosines: &[f32]) -> Point {
        match self.layout {
            MapLayout::Pca => self.frame.place(row),
            MapLayout::Umap => self.among_nearest(cosines),
        }
    }

    /// The median of the nearest rows on each axis, the nearer the heavier: one of them that lies far off draws it
    /// nowhere.
    fn among_nearest(&self, cosines: &[f32]) -> Point {
        let mut nearest: Vec<(&Point, f32)> =
            self.points.iter().zip(cosines.iter().copied()).filter(|(_, cosine)| cosine.is_finite()).collect();
        nearest.sort_by(|one, other| other.1.total_cmp(&one.1));
        nearest.truncate(HOLDING_ROWS);
        let (Some(first), Some(last)) = (nearest.first(), nearest.last()) else { return Point::default() };
        let (best, spread) = (first.1, (first.1 - last.1).max(1e-6));
        let weight = |cosine: f32| ((cosine - best) / spread).exp();
        let median = |axis: fn(&Point) -> f32| {
            let mut along: Vec<(f32, f32)> =
                nearest.iter().map(|(point, cosine)| (axis(point), weight(*cosine))).collect();
            along.sort_by(|one, other| one.0.total_cmp(&other.0));
            let half = along.iter().map(|(_, weight)| weight).sum::<f32>() / 2.0;
            let mut below = 0.0;
            let middle = along.iter().find(|(_, weight)| {
                below += weight;
                below >= half
            });
            middle.map_or(0.0, |(at, _)| *at)
        };
        Point { x: median(|point| point.x), y: median(|point| point.y) }
    }

    /// The point nearest to a place, within a distance.
    pub fn nearest(&self, to: Point, within: f32) -> Option<usize> {
        let distance = |point: &Point| (point.x - to.x).hypot(point.y - to.y);
        let nearest = self.points.iter().enumerate().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))?;
        (distance(nearest.1) <= within).then_some(nearest.0)
    }

    /// The points inside a closed line, by index.
    pub fn inside(&self, line: &[Point]) -> Vec<usize> {
        // A ray to the right crosses the line around a point an odd number of times.
        let is_inside = |point: &Point| {
            let ends = line.iter().zip(line.iter().cycle().skip(1));
            let crosses = |(from, to): &(&Point, &Point)| {
                (from.y > point.y) != (to.y > point.y)
                    && point.x < from.x + (point.y - from.y) / (to.y - from.y) * (to.x - from.x)
            };
            ends.filter(crosses).count() % 2 == 1
        };
        let found = self.points.iter().enumerate().filter(|(_, point)| is_inside(point));
        found.map(|(index, _)| index).collect()
    }

    /// The map as a drawing.
    pub fn to_svg(&self, title: &str) -> String {
        const SIDE: f64 = 800.0;
        const LEFT: f64 = 40.0;
        const TOP: f64 = 84.0;
        let legend_rows = self.names.len().min(LEGEND_ROWS);
        let height = TOP + SIDE + 40.0 + 20.0 * legend_rows as f64;
        let mut canvas = Canvas::new(SIDE + 2.0 * LEFT, height, theme().colour("ground"));
        canvas.title(&format!("Map of {title}"));
        let ink = Font { size: 20.0, colour: theme().colour("ink"), is_strong: true };
        canvas.text((LEFT, 40.0), Anchor::Start, &ink, title);
        let secondary = Font { size: 13.0, colour: theme().colour("ink_secondary"), is_strong: false };
        let by = match self.layout {
            MapLayout::Pca => "principal components",
            MapLayout::Umap => "UMAP",
        };
        let summary = format!("{} passages, like near like ({by})", self.points.len());
        canvas.text((LEFT, 64.0), Anchor::Start, &secondary, &summary);
        for (point, group) in self.points.iter().zip(&self.groups) {
            let x = LEFT + SIDE * (0.5 + 0.48 * f64::from(point.x));
            let y = TOP + SIDE * (0.5 - 0.48 * f64::from(point.y));
            let ink = theme().layer(*group).0;
            canvas.push(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{ink}\" fill-opacity=\"0.75\"/>"));
        }
        for (index, name) in self.names.iter().take(LEGEND_ROWS).enumerate() {
            let y = TOP + SIDE + 30.0 + 20.0 * index as f64;
            canvas.rect((LEFT, y - 9.0), (10.0, 10.0), theme().layer(index).0, "");
            canvas.text((LEFT + 18.0, y), Anchor::Start, &secondary, name);
        }
        canvas.finish()
    }

    /// The points as CSV.
    pub fn to_csv(&self) -> String {
        let mut csv = "passage,x,y,document\n".to_owned();
        for (index, (point, group)) in self.points.iter().zip(&self.groups).enumerate() {
            let name = self.names.get(*group).map(|name| name.replace('"', "\"\"")).unwrap_or_default();
            csv.push_str(&format!("{},{:.4},{:.4},\"{name}\"\n", index + 1, point.x, point.y));
        }
        csv
    }
}

/// Names under a drawing.
const LEGEND_ROWS: usize = 12;

/// The layout by UMAP that begins at `guess`, moved and scaled to fit.
fn laid_out(
    guess: &[Point],
    (vectors, dims): (&[f32], usize),
    cancel: &CancelToken,
    on_done: &(dyn Fn(f64) + Sync),
) -> Option<Vec<Point>> {
    let total = guess.len().max(1) as f64;
    let found = |rows: usize| on_done(0.5 * rows as f64 / total);
    let neighbours = Neighbours::find(vectors, dims, umap::NEIGHBOURS, cancel, &found)?;
    let guess: Vec<[f64; 2]> = guess.iter().map(|point| [point.x, point.y].map(f64::from)).collect();
    let places = umap::layout(&neighbours, &guess, cancel, &|share| on_done(0.5 + 0.5 * share))?;
    let ends = |axis: usize| {
        let values = places.iter().map(|place| place[axis]);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (across, up) = (ends(0), ends(1));
    let half = (across.1 - across.0).max(up.1 - up.0).max(1e-6) / 2.0;
    let scaled = |value: f64, (low, high): (f64, f64)| ((value - f64::midpoint(low, high)) / half) as f32;
    Some(places.iter().map(|place| Point { x: scaled(place[0], across), y: scaled(place[1], up) }).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    fn compute(layout: MapLayout, vectors: &[f32], dims: usize, groups: Vec<usize>) -> Projection {
        let names = vec!["a".to_owned()];
        Projection::compute(layout, (vectors, dims), (groups, names), &CancelToken::new(), &|_| {}).unwrap()
    }

    fn map(rows: &[[f32; 3]]) -> Projection {
        compute(MapLayout::Pca, &rows.concat(), 3, vec![0; rows.len()])
    }

    fn distance(a: Point, b: Point) -> f32 {
        (a.x - b.x).hypot(a.y - b.y)
    }

    /// Unit rows in groups, each around a direction of its own, and the group of each.
    fn groups(count: usize, each: usize, dims: usize) -> (Vec<f32>, Vec<usize>) {
        let mut dice = crate::dice::Dice::new(7);
        let (mut rows, mut of) = (Vec::new(), Vec::new());
        for group in 0..count {
            for _ in 0..each {
                let spread = 0.6 / (dims as f64).sqrt();
                let row: Vec<f64> =
                    (0..dims).map(|axis| f64::from(u8::from(axis == group)) + spread * dice.around_zero()).collect();
                let norm = row.iter().map(|value| value * value).sum::<f64>().sqrt();
                rows.extend(row.iter().map(|value| (value / norm) as f32));
                of.push(group);
            }
        }
        (rows, of)
    }

    /// Of each point's nearest on the map, the share that belongs to its group.
    fn purity(map: &Projection) -> f64 {
        let (mut same, mut all) = (0, 0);
        for (index, point) in map.points.iter().enumerate() {
            let mut others: Vec<usize> = (0..map.points.len()).filter(|other| *other != index).collect();
            others.sort_by(|&a, &b| distance(map.points[a], *point).total_cmp(&distance(map.points[b], *point)));
            same += others.iter().take(5).filter(|&&other| map.groups[other] == map.groups[index]).count();
            all += 5;
        }
        f64::from(same as u32) / f64::from(all as u32)
    }

    #[test]
    fn umap_keeps_groups_together_that_two_components_cannot_hold() {
        let (rows, of) = groups(12, 20, 24);
        let [pca, umap] = [MapLayout::Pca, MapLayout::Umap].map(|layout| compute(layout, &rows, 24, of.clone()));
        let (pca, purity) = (purity(&pca), purity(&umap));
        assert!(purity > 0.97 && purity > pca + 0.1, "umap {purity}, principal components {pca}");
        let again = compute(MapLayout::Umap, &rows, 24, of);
        assert_eq!(again, umap, "the same rows give the same map");
        assert!(umap.points.iter().all(|point| point.x.abs() <= 1.0 + 1e-5 && point.y.abs() <= 1.0 + 1e-5));
    }

    #[test]
    fn a_further_row_lies_among_its_nearest() {
        let (rows, of) = groups(4, 20, 8);
        let map = compute(MapLayout::Umap, &rows, 8, of);
        let query = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let cosines: Vec<f32> = rows.chunks_exact(8).map(|row| crate::similarity::cosine(row, &query)).collect();
        let place = map.place(&query, &cosines);
        let nearest = map.nearest(place, 2.0).unwrap();
        assert_eq!(map.groups[nearest], 2);
        assert_eq!(Projection::default().place(&query, &[]), Point::default());
    }

    #[test]
    fn likes_lie_near_each_other() {
        let map = map(&[[1.0, 0.0, 0.0], [0.99, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.99, 0.1]]);
        assert!(distance(map.points[0], map.points[1]) < 0.3 * distance(map.points[0], map.points[2]));
        assert_eq!(map.place(&[1.0, 0.0, 0.0], &[]), map.points[0]);
        assert_eq!(map.nearest(map.points[2], 0.5), Some(2));
        assert_eq!(map.nearest(Point { x: 50.0, y: 50.0 }, 0.5), None);
    }

    #[test]
    fn a_line_holds_what_is_inside_it() {
        let at = |x: f32, y: f32| Point { x, y };
        let points = vec![at(0.0, 0.0), at(0.5, 0.5), at(0.9, 0.0), at(-0.5, 0.2)];
        let map = Projection { points, ..Projection::default() };
        // A horseshoe that is open to the right.
        let line =
            [(-0.2, -0.2), (0.8, -0.2), (0.8, -0.1), (-0.1, -0.1), (-0.1, 0.4), (0.8, 0.4), (0.8, 0.7), (-0.2, 0.7)];
        let line: Vec<Point> = line.into_iter().map(|(x, y)| at(x, y)).collect();
        assert_eq!(map.inside(&line), [1]);
        assert_eq!(map.inside(&[at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)]), [0, 1, 2, 3]);
        assert!(map.inside(&[]).is_empty() && map.inside(&line[..2]).is_empty());
    }

    #[test]
    fn few_and_identical_points_are_safe() {
        for count in 0..4 {
            let map = map(&vec![[0.6, 0.8, 0.0]; count]);
            assert_eq!(map.points, vec![Point::default(); count]);
            assert!(!map.to_svg("same").contains("NaN"));
        }
        for count in [0, 1, 2, 3, 40] {
            let rows = vec![[0.6, 0.8, 0.0]; count].concat();
            let map = compute(MapLayout::Umap, &rows, 3, vec![0; count]);
            assert!(
                map.points.len() == count && map.points.iter().all(|point| point.x.is_finite() && point.y.is_finite())
            );
        }
        let pair = map(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        assert!((pair.points[0].x.abs() - 1.0).abs() < 1e-4 && pair.points[0].y.abs() < 1e-4, "{:?}", pair.points);
        assert!(map(&[[f32::NAN, 0.0, 1.0], [1.0, 0.0, 0.0]]).points.iter().all(|point| point.x.is_finite()));
    }
}
