//! From fragments to lines, in reading order.

use super::columns::reading_order;
use super::glyphs::{Fragment, WIDE_GAP, is_right_to_left};

/// What a row of leading dots becomes.
pub(super) const LEADER: &str = " … ";
/// Fewer dots than this are punctuation.
const FEWEST_LEADER_DOTS: usize = 5;

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

fn join_lines(mut fragments: Vec<Fragment>, group: usize, lines: &mut Vec<Line>) {
    fragments.sort_by(|a, b| a.baseline.total_cmp(&b.baseline));
    let mut row: Vec<Fragment> = Vec::new();
    for fragment in fragments {
        if !row.is_empty() && !row.iter().any(|other| is_beside(other, &fragment)) {
            lines.push(join_row(std::mem::take(&mut row), group));
        }
        row.push(fragment);
    }
    if !row.is_empty() {
        lines.push(join_row(row, group));
    }
}

/// Whether two fragments stand on one line: their heights overlap by half of the smaller one, and the larger
/// one's baseline is near.
fn is_beside(a: &Fragment, b: &Fragment) -> bool {
    let overlap = a.bottom().min(b.bottom()) - a.top().max(b.top());
    let distance = (a.baseline - b.baseline).abs();
    overlap > 0.5 * a.size.min(b.size) && distance < 0.45 * a.size.max(b.size)
}

fn join_row(mut row: Vec<Fragment>, group: usize) -> Line {
    row.sort_by(|a, b| a.left.total_cmp(&b.left));
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
    for cell in &mut cells {
        *cell = shorten_leaders(cell);
    }
    cells
}

/// Dots that lead the eye to a page number, as in a table of contents, become one mark.
fn shorten_leaders(text: &str) -> String {
    let mut shortened = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('.') {
        let after = rest[at..].trim_start_matches(['.', ' ']);
        let dots = rest[at..rest.len() - after.len()].matches('.').count();
        if dots < FEWEST_LEADER_DOTS {
            let next = rest.len() - after.len();
            shortened.push_str(&rest[..next]);
        } else {
            shortened.push_str(rest[..at].trim_end());
            shortened.push_str(LEADER);
        }
        rest = after;
    }
    shortened.push_str(rest);
    shortened
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
    fn leading_dots_become_one_mark_and_other_dots_stay() {
        assert_eq!(shorten_leaders("2.1 Tides . . . . . . . . 14"), "2.1 Tides … 14");
        assert_eq!(shorten_leaders("Index........31"), "Index … 31");
        assert_eq!(shorten_leaders("Wait... e.g. v1.2. Done."), "Wait... e.g. v1.2. Done.");
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
