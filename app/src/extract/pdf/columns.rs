//! Reading order: finds columns of prose and puts them one after the other. Tables stay rows.
//!
//! A gutter is a strip that few fragments cross. The fragments that do cross it, such as a title over two
//! columns, cut the page into bands; a band with prose on both sides of the gutter is read left side first, and
//! each side in the same way again.

use super::glyphs::Fragment;

/// Columns inside columns.
const DEEPEST_SPLIT: usize = 6;
/// Fragments on a page beyond which columns are not looked for.
const MOST_FRAGMENTS: usize = 20_000;
/// Width of the strips that are counted, in points.
const STRIP_POINTS: f32 = 2.0;
/// Lines on each side of a gutter.
const FEWEST_LINES: usize = 3;
/// Average words and characters of a fragment that make it prose and not a table's cell.
const PROSE_WORDS: f32 = 3.0;
const PROSE_CHARS: f32 = 15.0;

/// The fragments in reading order, a group for each column or stretch between columns.
pub(super) fn reading_order(fragments: Vec<Fragment>) -> Vec<Vec<Fragment>> {
    let mut groups = Vec::new();
    if fragments.len() > MOST_FRAGMENTS {
        groups.push(fragments);
    } else {
        split(fragments, DEEPEST_SPLIT, &mut groups);
    }
    groups
}

fn split(fragments: Vec<Fragment>, splits_left: usize, groups: &mut Vec<Vec<Fragment>>) {
    let gutter = if splits_left == 0 { None } else { find_gutter(&fragments) };
    let Some(gutter) = gutter else {
        groups.push(fragments);
        return;
    };
    let mut plain = Vec::new();
    for band in bands(fragments, gutter) {
        if !band.is_columns() {
            plain.extend(band.spanning);
            plain.extend(band.left);
            plain.extend(band.right);
            continue;
        }
        plain.extend(band.spanning);
        push_group(groups, &mut plain);
        split(band.left, splits_left - 1, groups);
        split(band.right, splits_left - 1, groups);
    }
    push_group(groups, &mut plain);
}

fn push_group(groups: &mut Vec<Vec<Fragment>>, plain: &mut Vec<Fragment>) {
    if !plain.is_empty() {
        groups.push(std::mem::take(plain));
    }
}

/// What lies between two stretches of fragments that cross the gutter, after the upper of them.
#[derive(Default)]
struct Band {
    spanning: Vec<Fragment>,
    left: Vec<Fragment>,
    right: Vec<Fragment>,
}

impl Band {
    fn is_columns(&self) -> bool {
        is_prose_column(&self.left) && is_prose_column(&self.right)
    }
}

/// Cuts the fragments, from top to bottom, at those that cross the gutter.
fn bands(mut fragments: Vec<Fragment>, gutter: f32) -> Vec<Band> {
    fragments.sort_by(|a, b| a.top().total_cmp(&b.top()));
    let mut bands = vec![Band::default()];
    for fragment in fragments {
        let Some(band) = bands.last_mut() else {
            continue;
        };
        if fragment.right <= gutter {
            band.left.push(fragment);
        } else if fragment.left >= gutter {
            band.right.push(fragment);
        } else if band.left.is_empty() && band.right.is_empty() {
            band.spanning.push(fragment);
        } else {
            bands.push(Band { spanning: vec![fragment], ..Band::default() });
        }
    }
    bands
}

fn is_prose_column(fragments: &[Fragment]) -> bool {
    let count = fragments.len() as f32;
    let words: usize = fragments.iter().map(|f| f.text.split_whitespace().count()).sum();
    let chars: usize = fragments.iter().map(|f| f.text.chars().count()).sum();
    let is_unspaced = words as f32 / (chars.max(1) as f32) < 0.06;
    num_lines(fragments) >= FEWEST_LINES
        && chars as f32 / count >= if is_unspaced { 8.0 } else { PROSE_CHARS }
        && (is_unspaced || words as f32 / count >= PROSE_WORDS)
}

fn num_lines(fragments: &[Fragment]) -> usize {
    let mut baselines: Vec<f32> = fragments.iter().map(|fragment| fragment.baseline).collect();
    baselines.sort_by(f32::total_cmp);
    baselines.dedup_by(|a, b| (*a - *b).abs() < 2.0);
    baselines.len()
}

/// The middle of the strip that divides the fragments best: crossed by few, with many on both sides.
fn find_gutter(fragments: &[Fragment]) -> Option<f32> {
    let left = fragments.iter().map(|f| f.left).min_by(f32::total_cmp)?;
    let right = fragments.iter().map(|f| f.right).max_by(f32::total_cmp)?;
    let num_strips = ((right - left) / STRIP_POINTS) as usize;
    if fragments.len() < 2 * FEWEST_LINES || !(20..20_000).contains(&num_strips) {
        return None;
    }
    let strip_of = |x: f32| (((x - left) / STRIP_POINTS) as usize).min(num_strips - 1);
    let mut crossed = vec![0_usize; num_strips];
    for fragment in fragments {
        for strip in &mut crossed[strip_of(fragment.left)..=strip_of(fragment.right)] {
            *strip += 1;
        }
    }
    let inner = num_strips / 8..num_strips - num_strips / 8;
    let run = emptiest_run(&crossed, inner)?;
    let most_crossed = crossed.iter().copied().max().unwrap_or(0);
    let is_clear = crossed[run.start] * 4 <= most_crossed;
    let middle = (run.start + run.end) as f32 / 2.0;
    is_clear.then_some(left + middle * STRIP_POINTS)
}

/// The widest stretch of strips, inside `inner`, that are crossed as seldom as the best of them.
#[allow(clippy::needless_range_loop, reason = "the index one past the end closes the last run")]
fn emptiest_run(crossed: &[usize], inner: std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
    let fewest = crossed[inner.clone()].iter().copied().min()?;
    let mut best: Option<std::ops::Range<usize>> = None;
    let mut start = inner.start;
    for at in inner.start..=inner.end {
        if at < inner.end && crossed[at] == fewest {
            continue;
        }
        if at > start && best.as_ref().is_none_or(|best| at - start > best.len()) {
            best = Some(start..at);
        }
        start = at + 1;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(text: &str, left: f32, baseline: f32) -> Fragment {
        Fragment { text: text.to_owned(), left, right: left + 5.0 * text.len() as f32, baseline, size: 10.0, turns: 0 }
    }

    fn order(fragments: Vec<Fragment>) -> Vec<String> {
        let groups = reading_order(fragments);
        groups.into_iter().flatten().map(|f| f.text).collect()
    }

    #[test]
    fn columns_under_a_title_are_read_one_after_the_other() {
        let mut fragments = vec![fragment(&"title over both columns".repeat(4), 50.0, 50.0)];
        for line in 0..6_u8 {
            let y = 80.0 + 12.0 * f32::from(line);
            fragments.push(fragment(&format!("left column has line {line} of it"), 50.0, y));
            fragments.push(fragment(&format!("right column has line {line} of it"), 300.0, y + 3.0));
        }
        fragments.push(fragment(&"footer over both columns".repeat(4), 50.0, 300.0));
        let texts = order(fragments);
        let at = |start: &str| texts.iter().position(|text| text.starts_with(start));
        assert_eq!(at("title"), Some(0));
        assert_eq!(at("left column has line 5"), Some(6));
        assert_eq!(at("right column has line 0"), Some(7));
        assert_eq!(at("footer"), Some(13));
    }

    #[test]
    fn three_columns_are_split_twice() {
        let mut fragments = Vec::new();
        for line in 0..5_u8 {
            for column in 0..3_u8 {
                let text = format!("column {column} has some words {line}");
                let x = 40.0 + 180.0 * f32::from(column);
                fragments.push(fragment(&text, x, 80.0 + 12.0 * f32::from(line)));
            }
        }
        let texts = order(fragments);
        for (at, text) in texts.iter().enumerate() {
            assert!(text.starts_with(&format!("column {}", at / 5)), "{texts:?}");
        }
    }

    #[test]
    fn the_cells_of_a_table_stay_together() {
        let mut fragments = Vec::new();
        for row in 0..8_u8 {
            let y = 80.0 + 12.0 * f32::from(row);
            fragments.push(fragment(&format!("part {row}"), 50.0, y));
            fragments.push(fragment("12.50", 300.0, y));
        }
        let groups = reading_order(fragments);
        assert_eq!(groups.len(), 1);
    }
}
