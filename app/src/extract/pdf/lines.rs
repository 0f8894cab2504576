//! From fragments to lines, in reading order.

use super::columns::reading_order;
use super::glyphs::{Fragment, WIDE_GAP, is_right_to_left};

/// A line of text with its place. Coordinates as in [`Fragment`].
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The pieces between wide gaps: one for prose, more for the row of a table.
    pub(super) cells: Vec<String>,
    pub(super) left: f32,
    pub(super) right: f32,
    pub(super) baseline: f32,
    pub(super) size: f32,
    /// Column or stretch of the page, counted in reading order.
    pub(super) group: usize,
}

impl Line {
    pub(super) fn num_chars(&self) -> usize {
        self.cells.iter().map(|cell| cell.chars().count()).sum()
    }

    pub(super) fn last_text(&self) -> &str {
        self.cells.last().map_or("", String::as_str)
    }

    /// About how wide its first word is, in points.
    pub(super) fn first_word_width(&self) -> f32 {
        let char_width = (self.right - self.left) / self.num_chars().max(1) as f32;
        let word = self.cells.first().and_then(|cell| cell.split(' ').next());
        word.map_or(0.0, |word| word.chars().count() as f32 * char_width)
    }
}

/// The lines of a page. Text that is turned against most of the page comes last.
pub(super) fn page_lines(fragments: Vec<Fragment>) -> Vec<Line> {
    let mut by_turns: [Vec<Fragment>; 4] = Default::default();
    for fragment in fragments {
        by_turns[usize::from(fragment.turns % 4)].push(fragment);
    }
    by_turns.sort_by_key(|fragments| std::cmp::Reverse(fragments.len()));
    let mut lines = Vec::new();
    let groups = by_turns.into_iter().flat_map(reading_order);
    for (group, fragments) in groups.enumerate() {
        join_lines(fragments, group, &mut lines);
    }
    lines
}

fn join_lines(fragments: Vec<Fragment>, group: usize, lines: &mut Vec<Line>) {
    lines.extend(rows(fragments).into_iter().map(|row| join_row(row, group)));
}

/// The fragments of a page in the order in which [`page_lines`] reads them.
pub(super) fn in_reading_order(fragments: Vec<Fragment>) -> Vec<Fragment> {
    let mut by_turns: [Vec<Fragment>; 4] = Default::default();
    for fragment in fragments {
        by_turns[usize::from(fragment.turns % 4)].push(fragment);
    }
    by_turns.sort_by_key(|fragments| std::cmp::Reverse(fragments.len()));
    by_turns.into_iter().flat_map(reading_order).flat_map(rows).flatten().collect()
}

/// Fragments that stand on one line each, from top to bottom, in each from left to right.
fn rows(mut fragments: Vec<Fragment>) -> Vec<Vec<Fragment>> {
    fragments.sort_by(|a, b| a.baseline.total_cmp(&b.baseline));
    let mut rows: Vec<Vec<Fragment>> = Vec::new();
    for fragment in fragments {
        match rows.last_mut() {
            Some(row) if row.iter().any(|other| is_beside(other, &fragment)) => row.push(fragment),
            _ => rows.push(vec![fragment]),
        }
    }
    for row in &mut rows {
        row.sort_by(|a, b| a.left.total_cmp(&b.left));
    }
    rows
}

/// Whether two fragments stand on one line: their heights overlap by half of the smaller one, and the larger
/// one's baseline is near.
fn is_beside(a: &Fragment, b: &Fragment) -> bool {
    let overlap = a.bottom().min(b.bottom()) - a.top().max(b.top());
    let distance = (a.baseline - b.baseline).abs();
    overlap > 0.5 * a.size.min(b.size) && distance < 0.45 * a.size.max(b.size)
}

fn join_row(row: Vec<Fragment>, group: usize) -> Line {
    let size = dominant_size(&row);
    let bounds = |f: fn(&Fragment) -> f32, pick: fn(f32, f32) -> f32, start: f32| row.iter().map(f).fold(start, pick);
    let left = bounds(|f| f.left, f32::min, f32::INFINITY);
    let right = bounds(|f| f.right, f32::max, f32::NEG_INFINITY);
    let largest = row.iter().max_by(|a, b| a.size.total_cmp(&b.size));
    let baseline = largest.map_or(0.0, |fragment| fragment.baseline);
    Line { cells: join_cells(row), left, right, baseline, size, group }
}

/// The type size of most characters.
fn dominant_size(row: &[Fragment]) -> f32 {
    let longest = row.iter().max_by_key(|fragment| fragment.text.len());
    longest.map_or(0.0, |fragment| fragment.size)
}

fn join_cells(row: Vec<Fragment>) -> Vec<String> {
    let is_rtl = row.iter().any(|f| f.text.chars().any(is_right_to_left));
    let mut cells: Vec<String> = Vec::new();
    let mut previous_right = f32::NEG_INFINITY;
    for fragment in row {
        let gap = fragment.left - previous_right;
        previous_right = previous_right.max(fragment.right);
        match cells.last_mut() {
            Some(cell) if gap < WIDE_GAP * fragment.size => {
                if is_rtl {
                    *cell = format!("{} {cell}", fragment.text);
                } else {
                    if gap > 0.15 * fragment.size {
                        cell.push(' ');
                    }
                    cell.push_str(&fragment.text);
                }
            }
            _ => cells.push(fragment.text),
        }
    }
    if is_rtl {
        cells.reverse();
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(text: &str, left: f32, baseline: f32, size: f32) -> Fragment {
        Fragment {
            text: text.to_owned(),
            left,
            right: left + 0.5 * size * text.chars().count() as f32,
            baseline,
            size,
            turns: 0,
        }
    }

    #[test]
    fn cells_and_a_raised_number_stay_on_their_line() {
        let lines = page_lines(vec![
            fragment("price", 200.0, 100.4, 10.0),
            fragment("part", 50.0, 100.0, 10.0),
            fragment("2", 70.5, 96.5, 6.0),
            fragment("below", 50.0, 112.0, 10.0),
        ]);
        let cells: Vec<_> = lines.iter().map(|line| line.cells.clone()).collect();
        assert_eq!(cells, [vec!["part2", "price"], vec!["below"]]);
    }

    #[test]
    fn turned_text_comes_after_the_rest() {
        let mut turned = fragment("margin", 0.0, 0.0, 10.0);
        turned.turns = 1;
        let lines = page_lines(vec![turned, fragment("one", 50.0, 100.0, 10.0), fragment("two", 50.0, 112.0, 10.0)]);
        let first: Vec<_> = lines.iter().map(|line| line.cells[0].as_str()).collect();
        assert_eq!(first, ["one", "two", "margin"]);
    }
}
