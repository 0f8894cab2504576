//! The packer: fills chunks up to the cap and cuts them at the best place in reach. It alone keeps the
//! invariants of chunking; the chunkers only give it places.

use std::ops::Range;

use super::breaks::{Breaks, last_up_to};
use super::config::{ChunkerConfig, ChunkerKind};
use super::merge::MergeRules;
use super::ruler::Ruler;

/// Sizes in the measure's unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) size: usize,
    pub(crate) overlap: usize,
    pub(crate) min_size: usize,
    /// Count the overlap in words.
    pub(crate) overlaps_words: bool,
}

impl From<&ChunkerConfig> for Limits {
    fn from(config: &ChunkerConfig) -> Self {
        let ChunkerConfig { size, overlap, min_size, .. } = *config;
        Self { size, overlap, min_size, overlaps_words: config.kind == ChunkerKind::Paragraph }
    }
}

/// Packs every section and merges the chunks that came out smaller than the minimum.
pub(crate) fn pack_sections(packer: &Packer<'_>, sections: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    for section in sections {
        packer.pack(section.clone(), &mut chunks);
    }
    packer.merge_small(&chunks)
}

/// A chunk that fills less than this part of the cap is cut at a finer place instead.
const NEARLY_EMPTY_PART: usize = 4;

/// Cuts sections of one text into chunks.
#[derive(Clone, Copy)]
pub(crate) struct Packer<'a> {
    pub(crate) ruler: Ruler<'a>,
    pub(crate) breaks: &'a Breaks,
    pub(crate) limits: Limits,
}

impl Packer<'_> {
    /// Appends the chunks of one section to `chunks`. Overlap stays inside the section.
    pub(crate) fn pack(&self, section: Range<usize>, chunks: &mut Vec<Range<usize>>) {
        let text = self.ruler.text;
        let section = self.ruler.graphemes().trim(text, section);
        if self.ruler.adds_up() && !section.is_empty() && self.ruler.size(section.clone()) <= self.limits.size {
            chunks.push(section);
            return;
        }
        let (mut start, mut cut) = (section.start, section.start);
        while cut < section.end {
            let (chunk_start, next_cut) = self.next_cut(start, cut, section.end);
            let end = self.ruler.graphemes().trim_end(text, cut, next_cut);
            chunks.push(chunk_start..end);
            cut = self.ruler.graphemes().skip_blank(text, next_cut);
            start = self.overlap_start(chunk_start, end, cut);
        }
    }

    /// Merges the ranges that are smaller than the minimum with the one before them, else the one after.
    pub(crate) fn merge_small(&self, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
        if self.limits.min_size == 0 {
            return ranges.to_vec();
        }
        let rules = MergeRules {
            is_small: &|range| self.ruler.size(range.clone()) < self.limits.min_size,
            fits: &|range| self.ruler.size(range) <= self.limits.size,
            prefers_left: &|_| true,
        };
        rules.merge(ranges)
    }

    /// Where the chunk that repeats from `start` and is new from `cut` on ends. The repeated part is given up if
    /// it leaves no room for anything new, and where it is counted in words also if it would divide a paragraph.
    fn next_cut(&self, start: usize, cut: usize, end: usize) -> (usize, usize) {
        let next = self.cut_after(cut, cut, end);
        if start < cut
            && let Some(repeating) = self.cut_after(start, cut, end)
            && !(self.limits.overlaps_words && self.is_whole(next, end) && !self.is_whole(Some(repeating), end))
        {
            return (start, repeating);
        }
        (cut, next.unwrap_or_else(|| self.ruler.graphemes().next(cut).min(end)))
    }

    /// Whether a cut is at the end of the section or at a place of the best group.
    fn is_whole(&self, cut: Option<usize>, end: usize) -> bool {
        let best = self.breaks.groups.first();
        let is_best =
            |cut: usize| best.is_some_and(|group| group.iter().any(|level| level.binary_search(&cut).is_ok()));
        cut.is_some_and(|cut| cut == end || is_best(cut))
    }

    fn cut_after(&self, start: usize, cut: usize, end: usize) -> Option<usize> {
        let mut reach = self.ruler.furthest_end(start, end, self.limits.size);
        while reach > cut {
            let next = if reach == end { end } else { self.best_break(cut, reach) };
            let content_end = self.ruler.graphemes().trim_end(self.ruler.text, cut, next);
            if self.ruler.size(start..content_end) <= self.limits.size {
                return Some(next);
            }
            // The measure is not even: a shorter text may be larger. Try the next shorter one.
            reach = self.ruler.graphemes().floor(content_end.saturating_sub(1));
        }
        None
    }

    /// The best place to cut in `cut..=reach`; `reach` itself if there is none.
    fn best_break(&self, cut: usize, reach: usize) -> usize {
        for group in &self.breaks.groups {
            let in_reach = |places| last_up_to(places, reach).filter(|&place| place > cut);
            let mut candidates = group.iter().filter_map(in_reach);
            let filled = candidates.clone().find(|&place| !self.is_nearly_empty(cut..place));
            if let Some(place) = filled.or_else(|| candidates.next()) {
                return place;
            }
        }
        self.last_word_start(cut, reach).filter(|&place| !self.is_nearly_empty(cut..place)).unwrap_or(reach)
    }

    fn is_nearly_empty(&self, range: Range<usize>) -> bool {
        let Limits { size, overlap, min_size, .. } = self.limits;
        self.ruler.size(range) < min_size.max((size - overlap) / NEARLY_EMPTY_PART)
    }

    /// The last place up to `reach` where white space ends.
    fn last_word_start(&self, cut: usize, reach: usize) -> Option<usize> {
        let (text, graphemes) = (self.ruler.text, self.ruler.graphemes());
        if text[cut..reach].ends_with(char::is_whitespace) {
            return Some(reach);
        }
        let spaces = text[cut..reach].char_indices().rev().filter(|(_, letter)| letter.is_whitespace());
        let mut starts = spaces.map(|(at, letter)| cut + at + letter.len_utf8());
        starts.find(|&place| graphemes.is_boundary(place))
    }

    /// Where the next chunk starts to repeat the last one, which went from `last_start` to `last_end`.
    fn overlap_start(&self, last_start: usize, last_end: usize, cut: usize) -> usize {
        let graphemes = self.ruler.graphemes();
        let floor = graphemes.next(last_start);
        if self.limits.overlap == 0 || floor >= last_end {
            return cut;
        }
        if self.limits.overlaps_words {
            // Words may be as long as the text: no more than half a chunk is repeated, so that every chunk goes on.
            let earliest = self.ruler.earliest_start(floor, last_end, self.limits.size / 2);
            let start = self.words_before(earliest, last_end);
            return if start > earliest { start } else { self.first_word_start(earliest, last_end) }.min(cut);
        }
        let earliest = self.ruler.earliest_start(floor, last_end, self.limits.overlap);
        let wanted = self.limits.overlap / NEARLY_EMPTY_PART;
        let sentence = self.breaks.first_in(&(earliest..last_end));
        let start = sentence.filter(|&place| self.ruler.size(place..last_end) >= wanted);
        start.unwrap_or_else(|| self.first_word_start(earliest, last_end)).min(cut)
    }

    /// Where the last `overlap` words before `end` begin, no earlier than `floor`.
    fn words_before(&self, floor: usize, end: usize) -> usize {
        let (text, graphemes) = (self.ruler.text, self.ruler.graphemes());
        let mut is_word = false;
        let (mut words, mut start) = (0, end);
        for (at, letter) in text[floor..end].char_indices().rev() {
            if letter.is_whitespace() {
                is_word = false;
                continue;
            }
            words += usize::from(!is_word);
            if words > self.limits.overlap {
                break;
            }
            is_word = true;
            if graphemes.is_boundary(floor + at) {
                start = floor + at;
            }
        }
        start
    }

    /// The first word that starts in the range; its own start if white space does not divide it.
    fn first_word_start(&self, from: usize, to: usize) -> usize {
        let (text, graphemes) = (self.ruler.text, self.ruler.graphemes());
        let content = graphemes.skip_blank(text, from).min(to);
        if content > from || text[..from].ends_with(char::is_whitespace) {
            return content;
        }
        let mut spaces = text[from..to].char_indices().filter(|(_, letter)| letter.is_whitespace());
        let word = spaces.find_map(|(at, _)| {
            let place = graphemes.skip_blank(text, from + at);
            (graphemes.is_boundary(from + at) && place < to).then_some(place)
        });
        word.unwrap_or(content)
    }
}
