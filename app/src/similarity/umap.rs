//! UMAP: a layout of the plane in which near neighbours stay near (McInnes, Healy & Melville 2018, "UMAP: Uniform
//! manifold approximation and projection for dimension reduction").
//!
//! Our own because the crates that were looked at cannot be seeded: a map that changes from run to run cannot be
//! compared with itself. The neighbours are exact, the layout is sequential, so the same rows give the same map.
//!
//! Start at [`layout`]: neighbours become a graph of weights ([`edges`]), whose edges pull and whose other pairs push.

use super::neighbours::Neighbours;
use crate::dice::Dice;
use crate::progress::CancelToken;

/// Neighbours that a row is held by.
pub(super) const NEIGHBOURS: usize = 15;
/// The curve `1 / (1 + A·d^2B)` that fits a least distance of 0.1 and a spread of 1 (the paper's defaults).
const A: f64 = 1.576_943;
const B: f64 = 0.895_061;
/// Pairs that push for each that pulls.
const PUSHES: usize = 5;
/// Longest step of a point along an axis.
const LONGEST_STEP: f64 = 4.0;
/// Where the layout begins lies within this.
const START_RADIUS: f64 = 10.0;
/// Steps of the bisection that finds a row's bandwidth.
const BISECTIONS: usize = 64;
const SEED: u64 = 0x7A3D_51C9;

/// Two rows that belong together.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Edge {
    one: u32,
    other: u32,
    /// How much: from 0 to 1.
    weight: f64,
}

/// Lays out the rows that have these neighbours, from a first guess (their principal components, up to 1 in size).
/// `on_done` gets the share that is done. `None` when it was cancelled.
pub(super) fn layout(
    neighbours: &Neighbours,
    guess: &[[f64; 2]],
    cancel: &CancelToken,
    on_done: &dyn Fn(f64),
) -> Option<Vec<[f64; 2]>> {
    let mut dice = Dice::new(SEED);
    let mut points: Vec<[f64; 2]> =
        guess.iter().map(|place| place.map(|at| START_RADIUS * at + 1e-3 * dice.around_zero())).collect();
    let edges = edges(neighbours, points.len());
    let num_epochs = if points.len() <= 2000 { 400 } else { 200 };
    let heaviest = edges.iter().map(|edge| edge.weight).fold(0.0, f64::max);
    // An edge pulls in every so-manieth epoch, the heaviest in each.
    let every: Vec<f64> = edges.iter().map(|edge| heaviest / edge.weight).collect();
    let mut due = every.clone();
    for epoch in 0..num_epochs {
        if cancel.is_cancelled() {
            return None;
        }
        let now = f64::from(epoch);
        let rate = 1.0 - now / f64::from(num_epochs);
        for ((edge, every), due) in edges.iter().zip(&every).zip(&mut due) {
            if *due > now {
                continue;
            }
            *due += every;
            for (from, to) in [(edge.one, edge.other), (edge.other, edge.one)] {
                pull(&mut points, from as usize, to as usize, rate);
                for _ in 0..PUSHES {
                    let other = dice.below(points.len());
                    push(&mut points, from as usize, other, rate);
                }
            }
        }
        on_done(f64::from(epoch + 1) / f64::from(num_epochs));
    }
    Some(points)
}

/// Moves two points towards each other.
fn pull(points: &mut [[f64; 2]], from: usize, to: usize, rate: f64) {
    let (between, squared) = between(points[from], points[to]);
    if squared <= 0.0 {
        return;
    }
    let force = -2.0 * A * B * squared.powf(B - 1.0) / (A * squared.powf(B) + 1.0);
    for axis in 0..2 {
        let step = (force * between[axis]).clamp(-LONGEST_STEP, LONGEST_STEP) * rate;
        points[from][axis] += step;
        points[to][axis] -= step;
    }
}

/// Moves a point away from another.
fn push(points: &mut [[f64; 2]], from: usize, other: usize, rate: f64) {
    if from == other {
        return;
    }
    let (between, squared) = between(points[from], points[other]);
    let force = 2.0 * B / ((0.001 + squared) * (A * squared.powf(B) + 1.0));
    for axis in 0..2 {
        let step =
            if squared > 0.0 { (force * between[axis]).clamp(-LONGEST_STEP, LONGEST_STEP) } else { LONGEST_STEP };
        points[from][axis] += step * rate;
    }
}

/// From the second point to the first, and the square of the distance.
fn between(one: [f64; 2], other: [f64; 2]) -> ([f64; 2], f64) {
    let between = [one[0] - other[0], one[1] - other[1]];
    (between, between[0] * between[0] + between[1] * between[1])
}

/// The graph: each row's neighbours by how near they are for it, either side's view united (`a + b - ab`). In order of
/// rows.
fn edges(neighbours: &Neighbours, num_rows: usize) -> Vec<Edge> {
    if neighbours.per_row == 0 {
        return Vec::new();
    }
    let mut directed = Vec::with_capacity(neighbours.rows.len());
    for row in 0..num_rows {
        let nearest = neighbours.of(row).map(|(_, distance)| distance).find(|distance| *distance > 0.0);
        let nearest = f64::from(nearest.unwrap_or(0.0));
        let bandwidth = bandwidth(neighbours, row, nearest);
        for (other, distance) in neighbours.of(row) {
            let beyond = (f64::from(distance) - nearest).max(0.0);
            let weight = (-beyond / bandwidth).exp();
            let (one, other) = (row.min(other) as u32, row.max(other) as u32);
            directed.push(Edge { one, other, weight });
        }
    }
    directed.sort_by_key(|edge| (edge.one, edge.other));
    let united = directed.chunk_by(|a, b| (a.one, a.other) == (b.one, b.other)).map(|views| {
        let weight = views.iter().fold(0.0, |united, view| united + view.weight - united * view.weight);
        Edge { weight, ..views[0] }
    });
    // What would never pull in all epochs is no edge.
    united.filter(|edge| edge.weight > 1e-3).collect()
}

/// The bandwidth at which a row's neighbours weigh the binary logarithm of their number together.
fn bandwidth(neighbours: &Neighbours, row: usize, nearest: f64) -> f64 {
    let wanted = (neighbours.per_row as f64 + 1.0).log2();
    let (mut low, mut high, mut middle) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..BISECTIONS {
        let beyond = |distance: f32| (f64::from(distance) - nearest).max(0.0);
        let weight: f64 = neighbours.of(row).map(|(_, distance)| (-beyond(distance) / middle).exp()).sum();
        if (weight - wanted).abs() < 1e-5 {
            break;
        }
        if weight > wanted {
            high = middle;
            middle = f64::midpoint(low, high);
        } else {
            low = middle;
            middle = if high.is_finite() { f64::midpoint(low, high) } else { middle * 2.0 };
        }
    }
    let distances = neighbours.of(row).map(|(_, distance)| f64::from(distance));
    let mean = distances.sum::<f64>() / neighbours.per_row as f64;
    middle.clamp(1e-3 * mean.max(1e-6), 1e6)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    fn neighbours(vectors: &[f32], dims: usize) -> Neighbours {
        Neighbours::find(vectors, dims, NEIGHBOURS, &CancelToken::new(), &|_| {}).unwrap()
    }

    #[test]
    fn weights_lie_between_nothing_and_one_and_the_nearest_weighs_most() {
        let vectors: Vec<f32> = (0..40).flat_map(|row| [(row as f32 * 0.1).cos(), (row as f32 * 0.1).sin()]).collect();
        let edges = edges(&neighbours(&vectors, 2), 40);
        assert!(edges.iter().all(|edge| edge.weight > 0.0 && edge.weight <= 1.0 && edge.one < edge.other));
        assert!(edges.windows(2).all(|pair| (pair[0].one, pair[0].other) < (pair[1].one, pair[1].other)));
        let weight = |one: u32, other: u32| {
            edges.iter().find(|edge| (edge.one, edge.other) == (one, other)).map_or(0.0, |edge| edge.weight)
        };
        assert!((weight(20, 21) - 1.0).abs() < 1e-3 && weight(20, 21) > weight(20, 23) + 0.05);
        assert!(weight(0, 39).abs() < f64::EPSILON);
    }

    #[test]
    fn a_bandwidth_makes_the_weights_add_up() {
        let vectors: Vec<f32> =
            (0..60).flat_map(|row| [(row as f32 * 0.07).cos(), (row as f32 * 0.07).sin()]).collect();
        let found = neighbours(&vectors, 2);
        let nearest = f64::from(found.distances[30 * NEIGHBOURS]);
        let bandwidth = bandwidth(&found, 30, nearest);
        let weights = found.of(30).map(|(_, distance)| (-(f64::from(distance) - nearest).max(0.0) / bandwidth).exp());
        assert!((weights.sum::<f64>() - 4.0).abs() < 1e-3);
    }

    #[test]
    fn cancelled_work_gives_nothing() {
        let cancel = CancelToken::new();
        cancel.cancel();
        let found = neighbours(&[1.0, 0.0, 0.0, 1.0, 0.6, 0.8], 2);
        assert!(layout(&found, &[[0.0; 2]; 3], &cancel, &|_| {}).is_none());
    }
}
