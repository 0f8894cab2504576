//! Running headers and footers: lines at the edge of the pages that come again on page after page. The first of
//! each is kept, so that no words are lost; the others, and page numbers, would stand in the middle of sentences.

use std::collections::{BTreeSet, HashMap};

use super::glyphs::Fragment;

/// Pages that show a line at their edge before it counts as running.
const FEWEST_PAGES: usize = 3;
/// And the share of all pages: one in this many, because left and right pages may differ.
const PAGES_PER_REPEAT: usize = 4;
/// A page with fewer lines is too short to have an edge.
const FEWEST_LINES: usize = 5;
/// Lines at the top, and at the bottom, that are its edge.
const EDGE_LINES: usize = 2;
/// Height in points within which lines of different pages stand at the same place.
const SAME_PLACE_POINTS: f32 = 4.0;

/// What makes two lines on different pages the same: text with every number alike, and place.
type Key = (String, i32);

/// Takes running lines away; the number of pages that had any.
pub(super) fn drop_running_lines(pages: &mut [Vec<Fragment>]) -> usize {
    let edges: Vec<Vec<usize>> = pages.iter().map(|page| edge_fragments(page)).collect();
    let mut num_pages: HashMap<Key, usize> = HashMap::new();
    for (page, edge) in pages.iter().zip(&edges) {
        let keys: BTreeSet<Key> = edge.iter().map(|at| key_of(&page[*at])).collect();
        for key in keys {
            *num_pages.entry(key).or_default() += 1;
        }
    }
    let fewest = FEWEST_PAGES.max(pages.len() / PAGES_PER_REPEAT);
    num_pages.retain(|_, pages| *pages >= fewest);
    let mut seen = BTreeSet::new();
    let mut changed = 0;
    for (page, edge) in pages.iter_mut().zip(&edges) {
        let is_repeat = |at: &usize| {
            let key = key_of(&page[*at]);
            let is_page_number = key.0 == "#";
            num_pages.contains_key(&key) && (!seen.insert(key) || is_page_number)
        };
        let repeats: BTreeSet<usize> = edge.iter().copied().filter(is_repeat).collect();
        changed += usize::from(!repeats.is_empty());
        let mut at = 0;
        page.retain(|_| {
            at += 1;
            !repeats.contains(&(at - 1))
        });
    }
    changed
}

fn key_of(fragment: &Fragment) -> Key {
    let mut text = String::new();
    for character in fragment.text.chars() {
        if !character.is_numeric() {
            text.push(character);
        } else if !text.ends_with('#') {
            text.push('#');
        }
    }
    (text, (fragment.baseline / SAME_PLACE_POINTS).round() as i32)
}

/// The fragments on the first and last lines of a page.
fn edge_fragments(page: &[Fragment]) -> Vec<usize> {
    let mut baselines: Vec<f32> = upright(page).map(|(_, fragment)| fragment.baseline).collect();
    baselines.sort_by(f32::total_cmp);
    baselines.dedup_by(|a, b| (*a - *b).abs() < SAME_PLACE_POINTS);
    if baselines.len() < FEWEST_LINES {
        return Vec::new();
    }
    let top = baselines[EDGE_LINES - 1] + SAME_PLACE_POINTS;
    let bottom = baselines[baselines.len() - EDGE_LINES] - SAME_PLACE_POINTS;
    let edge = upright(page).filter(|(_, f)| f.baseline < top || f.baseline > bottom);
    edge.map(|(at, _)| at).collect()
}

fn upright(page: &[Fragment]) -> impl Iterator<Item = (usize, &Fragment)> {
    page.iter().enumerate().filter(|(_, fragment)| fragment.turns == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: usize, num_lines: u8) -> Vec<Fragment> {
        let fragment =
            |text: String, baseline: f32| Fragment { text, left: 50.0, right: 200.0, baseline, size: 10.0, turns: 0 };
        let mut fragments =
            vec![fragment(format!("Report 41, page {number}"), 20.0), fragment(number.to_string(), 800.0)];
        for line in 0..num_lines {
            let text = format!("text {number} of line {line}{}", "x".repeat(number));
            fragments.push(fragment(text, 60.0 + 12.0 * f32::from(line)));
        }
        fragments
    }

    #[test]
    fn repeated_lines_at_the_edge_stay_only_once() {
        let mut pages: Vec<_> = (0..6).map(|number| page(number, 8)).collect();
        assert_eq!(drop_running_lines(&mut pages), 6);
        let kept = pages.iter().flatten().filter(|f| f.text.starts_with("Report"));
        assert_eq!(kept.count(), 1);
        assert_eq!(pages.iter().map(Vec::len).sum::<usize>(), 6 * 8 + 1);
    }

    #[test]
    fn pages_of_a_few_lines_and_short_documents_lose_nothing() {
        let mut short_pages: Vec<_> = (0..6).map(|number| page(number, 1)).collect();
        assert_eq!(drop_running_lines(&mut short_pages), 0);
        let mut few_pages: Vec<_> = (0..2).map(|number| page(number, 8)).collect();
        assert_eq!(drop_running_lines(&mut few_pages), 0);
    }
}
