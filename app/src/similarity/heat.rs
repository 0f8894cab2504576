//! The similarity of every row with every other, summed up in cells where there are more rows than pixels.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::ramp;
use crate::figure::{Anchor, Canvas, Font, theme};
use crate::progress::CancelToken;

/// Cells of a similarity matrix. A cell covers `span` rows a side and holds their mean cosine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// Rows of the matrix.
    pub num_rows: usize,
    /// Columns of the matrix.
    pub num_columns: usize,
    /// Rows (and columns) of a cell.
    pub span: usize,
    /// Mean cosines, row of cells by row of cells.
    pub cells: Vec<f32>,
    /// Lowest and highest of them, the diagonal of a matrix with itself left out: the ends of the colours.
    pub range: (f32, f32),
}

/// Cells a side: more than this no window shows.
const MOST_CELLS: usize = 1000;
/// Rows of a tile, a multiple of the span.
const TILE_ROWS: usize = 256;

impl HeatMap {
    /// Compares unit-length rows of `dims` numbers with each other. `on_done` gets the rows compared so far, from
    /// any thread. `None` when it was cancelled.
    pub fn compute(
        vectors: &[f32],
        dims: usize,
        cancel: &CancelToken,
        on_done: &(dyn Fn(usize) + Sync),
    ) -> Option<Self> {
        let num_rows = vectors.len() / dims.max(1);
        let span = num_rows.div_ceil(MOST_CELLS).max(1);
        let across = num_rows.div_ceil(span);
        let mut cells = vec![0.0_f32; across * across];
        let done = AtomicUsize::new(0);
        let cell_rows = (TILE_ROWS / span).max(1);
        cells.par_chunks_mut((cell_rows * across).max(1)).enumerate().for_each(|(stripe, cells)| {
            let rows = stripe * cell_rows * span..((stripe + 1) * cell_rows * span).min(num_rows);
            fill_stripe(cells, vectors, dims, &rows, span, cancel);
            on_done(done.fetch_add(rows.len(), Ordering::Relaxed) + rows.len());
        });
        (!cancel.is_cancelled()).then(|| {
            let range = range(&cells, across);
            Self { num_rows, num_columns: num_rows, span, cells, range }
        })
    }

    /// Cells in a row of cells.
    pub fn across(&self) -> usize {
        self.num_columns.div_ceil(self.span.max(1))
    }

    /// Rows of cells.
    pub fn down(&self) -> usize {
        self.num_rows.div_ceil(self.span.max(1))
    }

    /// The mean cosine of the cell that holds a pair.
    pub fn at(&self, row: usize, column: usize) -> Option<f32> {
        let inside = row < self.num_rows && column < self.num_columns;
        inside.then(|| self.cells.get(row / self.span * self.across() + column / self.span).copied()).flatten()
    }

    /// How high a cosine is among those of the map, 0 to 1.
    pub fn share(&self, cosine: f32) -> f32 {
        let (low, high) = self.range;
        if high - low < 1e-6 { 1.0 } else { ((cosine - low) / (high - low)).clamp(0.0, 1.0) }
    }

    /// Pixels of the map, one for each cell, as red, green, blue.
    pub fn pixels(&self) -> Vec<u8> {
        self.cells.iter().flat_map(|&cosine| ramp(self.share(cosine))).collect()
    }

    /// The map as a drawing.
    pub fn to_svg(&self, title: &str) -> String {
        const SIDE: f64 = 800.0;
        const LEFT: f64 = 40.0;
        const TOP: f64 = 84.0;
        let mut canvas = Canvas::new(SIDE + 2.0 * LEFT, SIDE + TOP + 60.0, theme().colour("ground"));
        canvas.title(&format!("Similarity of the chunks of {title}"));
        let ink = Font { size: 20.0, colour: theme().colour("ink"), is_strong: true };
        canvas.text((LEFT, 40.0), Anchor::Start, &ink, title);
        let (low, high) = self.range;
        let secondary = Font { size: 13.0, colour: theme().colour("ink_secondary"), is_strong: false };
        let summary = format!("{} chunks · cosine {low:.2} (dark) to {high:.2} (light)", self.num_rows);
        canvas.text((LEFT, 64.0), Anchor::Start, &secondary, &summary);
        self.draw_cells(&mut canvas, (LEFT, TOP), SIDE);
        canvas.text((LEFT, TOP + SIDE + 24.0), Anchor::Start, &secondary, "1");
        let last = self.num_columns.to_string();
        canvas.text((LEFT + SIDE, TOP + SIDE + 24.0), Anchor::End, &secondary, &last);
        canvas.finish()
    }

    /// Runs of cells of one colour as one rectangle each; at most [`DRAWN_CELLS`] a side.
    fn draw_cells(&self, canvas: &mut Canvas, (left, top): (f64, f64), side: f64) {
        let (across, down) = (self.across(), self.down());
        let step = across.max(down).div_ceil(DRAWN_CELLS).max(1);
        let size = side / across.max(down).div_ceil(step).max(1) as f64;
        for row in (0..down).step_by(step) {
            let colour = |column: usize| ramp(self.share(self.cells[row * across + column]));
            let mut column = 0;
            while column < across {
                let ink = colour(column);
                let mut end = column + step;
                while end < across && colour(end) == ink {
                    end += step;
                }
                let [red, green, blue] = ink;
                let at = (left + (column / step) as f64 * size, top + (row / step) as f64 * size);
                let width = (end - column).div_ceil(step) as f64 * size;
                let fill = format!("rgb({red},{green},{blue})");
                canvas.rect(at, (width + 0.3, size + 0.3), &fill, "shape-rendering=\"crispEdges\"");
                column = end;
            }
        }
    }

    /// The cells as CSV: first row and column of each cell, and its mean cosine.
    pub fn to_csv(&self) -> String {
        let mut csv = "first_chunk,first_other,span,cosine\n".to_owned();
        for (index, cosine) in self.cells.iter().enumerate() {
            let (row, column) = (index / self.across().max(1) * self.span, index % self.across().max(1) * self.span);
            csv.push_str(&format!("{},{},{},{cosine:.4}\n", row + 1, column + 1, self.span));
        }
        csv
    }
}

/// Cells a side of a drawing, which has an element for each.
const DRAWN_CELLS: usize = 250;

/// Fills the cells of `rows`, tile by tile.
fn fill_stripe(
    cells: &mut [f32],
    vectors: &[f32],
    dims: usize,
    rows: &Range<usize>,
    span: usize,
    cancel: &CancelToken,
) {
    let num_rows = vectors.len() / dims.max(1);
    let across = num_rows.div_ceil(span);
    let tile_columns = (TILE_ROWS / span).max(1) * span;
    let mut scores = vec![0.0_f32; rows.len() * tile_columns];
    for first in (0..num_rows).step_by(tile_columns) {
        if cancel.is_cancelled() {
            return;
        }
        let columns = first..(first + tile_columns).min(num_rows);
        let tile = &mut scores[..rows.len() * columns.len()];
        let part = |rows: &Range<usize>| &vectors[rows.start * dims..rows.end * dims];
        engine::dot_tile(part(rows), part(&columns), dims, tile);
        for (row, scores) in tile.chunks_exact(columns.len()).enumerate() {
            let cells = &mut cells[row / span * across..];
            for (column, score) in scores.iter().enumerate() {
                cells[(first + column) / span] += if score.is_finite() { *score } else { 0.0 };
            }
        }
    }
    for (index, cell) in cells.iter_mut().enumerate() {
        let (row, column) = (rows.start + index / across * span, index % across * span);
        let inside = |start: usize| (num_rows - start).min(span);
        *cell /= (inside(row) * inside(column)) as f32;
    }
}

/// Lowest and highest cell, the diagonal left out where there are others.
fn range(cells: &[f32], across: usize) -> (f32, f32) {
    let is_other = |index: usize| across < 2 || index / across != index % across;
    let others = cells.iter().enumerate().filter(|(index, _)| is_other(*index)).map(|(_, cell)| *cell);
    let (low, high) =
        others.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), cell| (low.min(cell), high.max(cell)));
    if low.is_finite() { (low, high) } else { (0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;
    use crate::similarity::cosine;

    fn rows(count: usize) -> Vec<f32> {
        (0..count).flat_map(|index| [(index as f32 * 0.01).cos(), (index as f32 * 0.01).sin()]).collect()
    }

    fn map(count: usize) -> HeatMap {
        HeatMap::compute(&rows(count), 2, &CancelToken::new(), &|_| {}).unwrap()
    }

    #[test]
    fn every_cell_is_the_cosine_of_its_pair() {
        let (vectors, map) = (rows(300), map(300));
        assert_eq!((map.across(), map.span), (300, 1));
        for (row, column) in [(0, 0), (7, 255), (299, 256), (256, 299)] {
            let expected = cosine(&vectors[row * 2..][..2], &vectors[column * 2..][..2]);
            assert!((map.at(row, column).unwrap() - expected).abs() < 1e-5);
        }
        assert_eq!(map.at(300, 0), None);
        assert_eq!(map.pixels().len(), 300 * 300 * 3);
    }

    #[test]
    fn many_rows_share_cells_and_cells_are_means() {
        let (vectors, map) = (rows(2500), map(2500));
        assert_eq!((map.span, map.across()), (3, 834));
        let mean = |from: usize, to: usize| {
            let pairs = (from..from + 3).flat_map(|row| (to..to + 3).map(move |column| (row, column)));
            pairs.map(|(row, column)| cosine(&vectors[row * 2..][..2], &vectors[column * 2..][..2])).sum::<f32>() / 9.0
        };
        assert!((map.at(600, 1200).unwrap() - mean(600, 1200)).abs() < 1e-5);
        assert!(map.at(2499, 2499).unwrap() > 0.99, "the last cell holds fewer rows");
    }

    #[test]
    fn no_rows_and_few_rows_are_no_trouble() {
        for count in 0..4 {
            let map = map(count);
            assert_eq!(map.cells.len(), count * count);
            let svg = map.to_svg("few");
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
        let same = HeatMap::compute(&[1.0, 0.0, 1.0, 0.0, 0.0, 0.0], 2, &CancelToken::new(), &|_| {}).unwrap();
        assert!(same.pixels().len() == 27 && same.share(0.5).is_finite());
    }

    #[test]
    fn cancelled_work_gives_nothing() {
        let cancel = CancelToken::new();
        cancel.cancel();
        assert!(HeatMap::compute(&rows(600), 2, &cancel, &|_| {}).is_none());
    }
}
