//! Where the words of a quotation stand among the fragments of a page.
//!
//! Letters and digits are compared alone, so that line ends, hyphens and spaces do not matter. The longest stretch
//! that both share is found first, then what is left before and after it, as with a `diff`.

use std::ops::Range;

use super::glyphs::{Fragment, is_right_to_left};

/// Shortest stretch that begins a match, in letters; shorter quotations must be found whole.
const MIN_FIRST: usize = 8;
/// Shortest stretch beside one that was found.
const MIN_NEXT: usize = 3;
/// How far from a stretch the next one may be, in letters of the page for each letter that is left.
const MAX_SPREAD: usize = 3;
/// Most letters of a quotation that are looked for.
const MAX_LETTERS: usize = 6000;

/// Characters of one fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    fragment: usize,
    characters: Range<usize>,
}

impl Stretch {
    /// The part of the fragment, placed by its share of the characters.
    pub(super) fn of(&self, fragments: &[Fragment]) -> Fragment {
        let mut part = fragments[self.fragment].clone();
        let count = part.text.chars().count().max(1) as f32;
        // Right-to-left text stands in logical order: its characters cannot be counted from the left.
        if !part.text.chars().any(is_right_to_left) {
            let width = part.right - part.left;
            part.right = part.left + width * self.characters.end as f32 / count;
            part.left += width * self.characters.start as f32 / count;
        }
        part
    }
}

/// A letter with its place on the page.
struct Letter {
    value: char,
    fragment: usize,
    position: usize,
}

/// The stretches of `fragments` (in reading order) that hold the words of `quote`; none if they are not there.
pub(super) fn find(fragments: &[Fragment], quote: &str) -> Vec<Stretch> {
    let page = letters(fragments);
    let wanted: Vec<char> = plain(quote).map(|(_, value)| value).take(MAX_LETTERS).collect();
    let mut found = Vec::new();
    let least = MIN_FIRST.min(wanted.len()).max(1);
    align(&page, 0..page.len(), &wanted, least, &mut found);
    found.sort_by_key(|range| range.start);
    stretches(&page, &found)
}

fn letters(fragments: &[Fragment]) -> Vec<Letter> {
    let of = |(fragment, text): (usize, &Fragment)| {
        plain(&text.text).map(move |(position, value)| Letter { value, fragment, position }).collect::<Vec<_>>()
    };
    fragments.iter().enumerate().flat_map(of).collect()
}

/// Letters and digits in lower case, each with its position among the characters.
fn plain(text: &str) -> impl Iterator<Item = (usize, char)> {
    let kept = text.chars().enumerate().filter(|(_, value)| value.is_alphanumeric());
    kept.map(|(position, value)| (position, value.to_lowercase().next().unwrap_or(value)))
}

/// Adds the ranges of the page that hold `wanted`.
fn align(page: &[Letter], within: Range<usize>, wanted: &[char], least: usize, found: &mut Vec<Range<usize>>) {
    let Some((at, from, length)) =
        longest_common(&page[within.clone()], wanted).filter(|(_, _, length)| *length >= least)
    else {
        return;
    };
    let start = within.start + at;
    let (before, after) = (&wanted[..from], &wanted[from + length..]);
    let reach = |letters: &[char]| letters.len() * MAX_SPREAD;
    align(page, within.start.max(start.saturating_sub(reach(before)))..start, before, MIN_NEXT, found);
    let end = start + length;
    align(page, end..within.end.min(end + reach(after)), after, MIN_NEXT, found);
    found.push(start..end);
}

/// The longest stretch that both have: where it starts in each, and how long it is.
fn longest_common(page: &[Letter], wanted: &[char]) -> Option<(usize, usize, usize)> {
    let mut best = (0, 0, 0);
    // Lengths of the common endings at the letter of the page before this one.
    let mut endings = vec![0_usize; wanted.len() + 1];
    for (at, letter) in page.iter().enumerate() {
        let mut diagonal = 0;
        for (from, value) in wanted.iter().enumerate() {
            let above = endings[from + 1];
            endings[from + 1] = if letter.value == *value { diagonal + 1 } else { 0 };
            diagonal = above;
            if endings[from + 1] > best.2 {
                best = (at + 1 - endings[from + 1], from + 1 - endings[from + 1], endings[from + 1]);
            }
        }
    }
    (best.2 > 0).then_some(best)
}

/// Ranges of letters as stretches of fragments; those that follow each other in one fragment become one.
fn stretches(page: &[Letter], ranges: &[Range<usize>]) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for letter in ranges.iter().flat_map(|range| &page[range.clone()]) {
        let next = letter.position + 1;
        match found.last_mut() {
            // Signs and spaces between two letters of the match belong to it.
            Some(last) if last.fragment == letter.fragment && letter.position <= last.characters.end + 2 => {
                last.characters.end = next;
            }
            _ => found.push(Stretch { fragment: letter.fragment, characters: letter.position..next }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragments(texts: &[&str]) -> Vec<Fragment> {
        let fragment = |(row, text): (usize, &&str)| Fragment {
            text: (*text).to_owned(),
            left: 100.0,
            right: 100.0 + 10.0 * text.chars().count() as f32,
            baseline: 20.0 * row as f32,
            size: 12.0,
            turns: 0,
        };
        texts.iter().enumerate().map(fragment).collect()
    }

    fn marked(texts: &[&str], quote: &str) -> Vec<String> {
        let found = find(&fragments(texts), quote);
        let text = |stretch: &Stretch| {
            texts[stretch.fragment].chars().skip(stretch.characters.start).take(stretch.characters.len()).collect()
        };
        found.iter().map(text).collect()
    }

    #[test]
    fn a_quotation_over_two_lines_is_marked_on_both() {
        let page = ["The tuff lies between two flows and is hy-", "phenated here. Its age is 3.81 Ma."];
        assert_eq!(marked(&page, "flows and is hyphenated here."), ["flows and is hy", "phenated here"]);
        assert_eq!(marked(&page, "Its age is 3.81 Ma."), ["Its age is 3.81 Ma"]);
    }

    #[test]
    fn a_header_between_two_halves_is_left_out() {
        let page = ["the first half of the passage", "PAGE HEADER", "and the second half of it"];
        assert_eq!(
            marked(&page, "the first half of the passage and the second half of it"),
            ["the first half of the passage", "and the second half of it"]
        );
    }

    #[test]
    fn the_part_on_this_page_is_marked() {
        let page = ["which ended in the spring of 1962.", "Another paragraph follows."];
        assert_eq!(
            marked(&page, "A long quotation that began on the page before, which ended in the spring of 1962."),
            ["which ended in the spring of 1962"]
        );
    }

    #[test]
    fn what_is_not_there_is_not_marked() {
        assert!(marked(&["A page about other things."], "quartz and feldspar make granite").is_empty());
        assert!(marked(&["A page."], "").is_empty() && marked(&[], "words").is_empty());
    }

    #[test]
    fn a_part_is_placed_by_its_share_of_the_line() {
        let fragments = fragments(&["abcd efgh ijkl"]);
        let found = find(&fragments, "efgh");
        let part = found[0].of(&fragments);
        assert!((part.left - 150.0).abs() < 0.1 && (part.right - 190.0).abs() < 0.1, "{part:?}");
    }
}
