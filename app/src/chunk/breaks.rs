//! Where a text may be cut well: lists of places from coarse to fine.

use std::ops::Range;

use super::graphemes::Graphemes;
use super::sentences::{Starts, starts};

/// Places where a chunk may start, sorted, for one kind of cut.
pub(crate) type Places = Vec<usize>;

/// Kinds of cut from the best to the worst. A worse group is used only where no place of a better group is in
/// reach; inside a group a finer level is preferred to a chunk that would be nearly empty. White space and then
/// any grapheme come after the last group and need no list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Breaks {
    pub(crate) groups: Vec<Vec<Places>>,
}

impl Breaks {
    /// Paragraphs, lines, sentences; then clauses.
    pub(crate) fn prose(text: &str, graphemes: &Graphemes) -> Self {
        let Starts { paragraphs, lines, sentences } = starts(text, graphemes);
        Self { groups: vec![vec![paragraphs, lines, sentences], vec![clauses(text, graphemes)]] }
    }

    /// Paragraphs; then sentences; then clauses.
    pub(crate) fn paragraphs(text: &str, graphemes: &Graphemes) -> Self {
        let Starts { paragraphs, sentences, .. } = starts(text, graphemes);
        Self { groups: vec![vec![paragraphs], vec![sentences], vec![clauses(text, graphemes)]] }
    }

    /// Sentences; then clauses.
    pub(crate) fn sentences(text: &str, graphemes: &Graphemes) -> Self {
        let sentences = starts(text, graphemes).sentences;
        Self { groups: vec![vec![sentences], vec![clauses(text, graphemes)]] }
    }

    /// Prose whose `blocks` (code, tables) stay whole where they can; then the lines inside them.
    pub(crate) fn around_blocks(text: &str, graphemes: &Graphemes, blocks: &[Range<usize>]) -> Self {
        let mut breaks = Self::prose(text, graphemes);
        let lines = line_starts(text, graphemes);
        for level in &mut breaks.groups[0] {
            level.retain(|&place| !is_inside(place, blocks));
        }
        breaks.groups.insert(1, vec![lines]);
        breaks
    }

    /// The levels of a grammar, outermost first; then lines.
    pub(crate) fn source_code(text: &str, graphemes: &Graphemes, levels: Vec<Places>) -> Self {
        Self { groups: vec![levels, vec![line_starts(text, graphemes)]] }
    }

    /// One level for each of the caller's separators.
    pub(crate) fn separators(text: &str, graphemes: &Graphemes, separators: &[String]) -> Self {
        let levels = separators.iter().map(|separator| separated(text, graphemes, separator));
        Self { groups: vec![levels.collect()] }
    }

    /// The earliest place of the first group in `range`.
    pub(crate) fn first_in(&self, range: &Range<usize>) -> Option<usize> {
        let levels = self.groups.first()?.iter();
        levels.filter_map(|places| first_from(places, range.start)).filter(|&place| place < range.end).min()
    }
}

/// The first place that is not before `from`.
fn first_from(places: &Places, from: usize) -> Option<usize> {
    places.get(places.partition_point(|&place| place < from)).copied()
}

/// The last place that is not after `to`.
pub(crate) fn last_up_to(places: &Places, to: usize) -> Option<usize> {
    places[..places.partition_point(|&place| place <= to)].last().copied()
}

fn is_inside(place: usize, blocks: &[Range<usize>]) -> bool {
    let next = blocks.partition_point(|block| block.start < place);
    next > 0 && place < blocks[next - 1].end
}

/// Every line that is not blank, wraps included.
fn line_starts(text: &str, graphemes: &Graphemes) -> Places {
    let after = text.match_indices('\n').map(|(at, _)| at + 1);
    content_starts(text, graphemes, after)
}

/// After a comma, semicolon or colon that ends a word, or their CJK forms.
fn clauses(text: &str, graphemes: &Graphemes) -> Places {
    let after = text.char_indices().filter_map(|(at, letter)| {
        let next = at + letter.len_utf8();
        let ends = match letter {
            ',' | ';' | ':' => text[next..].starts_with(char::is_whitespace),
            '，' | '、' | '；' | '：' | '،' | '؛' => true,
            _ => false,
        };
        ends.then_some(next)
    });
    content_starts(text, graphemes, after)
}

/// Behind each separator; one that starts with white space and goes on with a mark (`\n## `) opens what follows,
/// so the cut is before the mark.
fn separated(text: &str, graphemes: &Graphemes, separator: &str) -> Places {
    let lead = separator.len() - separator.trim_start().len();
    let cut = if lead > 0 && lead < separator.len() { lead } else { separator.len() };
    let after = text.match_indices(separator).map(|(at, _)| at + cut);
    content_starts(text, graphemes, after)
}

/// Moves each position on to the next content; drops doubles and those inside a grapheme.
fn content_starts(text: &str, graphemes: &Graphemes, positions: impl Iterator<Item = usize>) -> Places {
    let mut places = Places::new();
    for position in positions {
        if places.last().is_some_and(|&last| position <= last) || !graphemes.is_boundary(position) {
            continue;
        }
        let place = graphemes.skip_blank(text, position);
        if place < text.len() {
            places.push(place);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn separated_at(text: &str, separator: &str) -> Places {
        separated(text, &Graphemes::new(text), separator)
    }

    #[test]
    fn separators_stay_at_the_end_of_the_left_side_unless_they_open_the_right() {
        assert_eq!(separated_at("a; b; c", "; "), [3, 6]);
        assert_eq!(separated_at("a\n## b\n## c", "\n## "), [2, 7]);
        assert_eq!(separated_at("a\n\n\n\nb", "\n\n"), [5]);
    }

    #[test]
    fn separators_inside_graphemes_do_not_cut() {
        assert!(separated_at("a \u{301}b", " ").is_empty());
    }

    #[test]
    fn blocks_keep_their_inner_places_for_the_second_group() {
        let text = "Intro.\n\n```\nlet a;\n\nlet b;\n```\n\nEnd.";
        let block = 8..30;
        let breaks = Breaks::around_blocks(text, &Graphemes::new(text), &[block]);
        assert_eq!(breaks.groups[0][0], [0, 8, 32]);
        assert!(breaks.groups[1][0].contains(&20));
    }
}
