//! Passages as points in the plane: their first two principal components.

use serde::{Deserialize, Serialize};

use super::pca::{mean, two_components};
use crate::figure::{Anchor, Canvas, Font, theme};

/// A place on the map, from -1 to 1 each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// To the right.
    pub x: f32,
    /// Upwards.
    pub y: f32,
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
    /// What maps further vectors (a query) onto the map.
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
    fn place(&self, row: &[f32]) -> Point {
        let along = |direction: &[f64]| {
            let centred = row.iter().zip(&self.mean).map(|(value, mean)| f64::from(*value) - mean);
            (centred.zip(direction).map(|(a, b)| a * b).sum::<f64>() * self.scale) as f32
        };
        let finite = |value: f32| if value.is_finite() { value } else { 0.0 };
        Point { x: finite(along(&self.directions[0])), y: finite(along(&self.directions[1])) }
    }
}

impl Projection {
    /// Maps rows of `dims` numbers. `groups` has one index into `names` for each row. The same rows give the same
    /// map; rows that are all alike lie in its middle.
    pub fn compute(vectors: &[f32], dims: usize, groups: Vec<usize>, names: Vec<String>) -> Self {
        let mean = mean(vectors, dims);
        let directions = two_components(vectors, dims, &mean);
        let mut frame = Frame { mean, directions, scale: 1.0 };
        let rows = || vectors.chunks_exact(dims.max(1));
        let widest = rows()
            .map(|row| frame.place(row))
            .fold(0.0_f32, |widest, point| widest.max(point.x.abs()).max(point.y.abs()));
        if widest > 1e-6 {
            frame.scale = 1.0 / f64::from(widest);
        }
        Self { points: rows().map(|row| frame.place(row)).collect(), groups, names, frame }
    }

    /// Where a further vector lies.
    pub fn place(&self, row: &[f32]) -> Point {
        self.frame.place(row)
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
        let summary = format!("{} passages, like near like (principal components)", self.points.len());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn map(rows: &[[f32; 3]]) -> Projection {
        Projection::compute(&rows.concat(), 3, vec![0; rows.len()], vec!["a".to_owned()])
    }

    #[test]
    fn likes_lie_near_each_other() {
        let map = map(&[[1.0, 0.0, 0.0], [0.99, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.99, 0.1]]);
        let distance = |a: usize, b: usize| {
            let (a, b) = (map.points[a], map.points[b]);
            (a.x - b.x).hypot(a.y - b.y)
        };
        assert!(distance(0, 1) < 0.3 * distance(0, 2));
        assert_eq!(map.place(&[1.0, 0.0, 0.0]), map.points[0]);
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
        let pair = map(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        assert!((pair.points[0].x.abs() - 1.0).abs() < 1e-4 && pair.points[0].y.abs() < 1e-4, "{:?}", pair.points);
        assert!(map(&[[f32::NAN, 0.0, 1.0], [1.0, 0.0, 0.0]]).points.iter().all(|point| point.x.is_finite()));
    }
}
