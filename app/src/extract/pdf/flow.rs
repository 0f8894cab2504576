//! From lines to paragraphs: wrapped lines joined, hyphens at line ends undone, headings by type size.

use std::collections::{BTreeMap, HashSet};

use super::lines::{LEADER, Line};
use crate::extract::sections::SectionWriter;
use crate::extract::{ExtractError, SpanPlace, TextBuilder};

/// A heading is larger than the body by this factor.
const HEADING_SIZE: f32 = 1.12;
/// A heading is not longer than this.
const LONGEST_HEADING_CHARS: usize = 160;
/// If more of the lines than one in this many look like headings, type size says nothing.
const LINES_PER_HEADING: usize = 4;
/// Levels of headings told apart.
const DEEPEST_HEADING: usize = 6;

/// The lines of one page, in reading order.
pub(super) struct PageLines {
    pub(super) number: u32,
    pub(super) lines: Vec<Line>,
}

/// Writes all pages; the first heading of the highest level among the first two pages is the title.
pub(super) fn write_pages(built: &mut TextBuilder, pages: &[PageLines]) -> Result<Option<String>, ExtractError> {
    let type_sizes = TypeSizes::of(pages);
    let mut writer = FlowWriter { built, compounds: compounds(pages), sections: SectionWriter::default(), title: None };
    for page in pages {
        writer.write_page(page, &type_sizes)?;
    }
    let FlowWriter { built, sections, title, .. } = writer;
    sections.finish(built);
    Ok(title.map(|(_, title)| title))
}

/// Which type sizes are headings.
struct TypeSizes {
    /// Sizes of headings in half points, largest first.
    headings: Vec<i32>,
}

impl TypeSizes {
    fn of(pages: &[PageLines]) -> Self {
        let lines = || pages.iter().flat_map(|page| &page.lines);
        let mut chars_by_size: BTreeMap<i32, usize> = BTreeMap::new();
        for line in lines() {
            *chars_by_size.entry(half_points(line.size)).or_default() += line.num_chars();
        }
        let most = chars_by_size.iter().max_by_key(|(_, chars)| **chars);
        let body = most.map_or(0, |(size, _)| *size);
        let is_larger = |size: i32| size as f32 >= body as f32 * HEADING_SIZE;
        let mut headings: Vec<i32> = lines()
            .filter(|line| could_be_heading(line))
            .map(|line| half_points(line.size))
            .filter(|size| is_larger(*size))
            .collect();
        if headings.len() * LINES_PER_HEADING > lines().count() {
            headings.clear();
        }
        headings.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
        headings.dedup();
        Self { headings }
    }

    /// The level of a line that is a heading, from 1.
    fn heading_level(&self, line: &Line) -> Option<u8> {
        if !could_be_heading(line) {
            return None;
        }
        let size = half_points(line.size);
        let level = self.headings.iter().position(|other| *other == size)?;
        Some(level.min(DEEPEST_HEADING - 1) as u8 + 1)
    }
}

fn half_points(size: f32) -> i32 {
    (size * 2.0).round() as i32
}

fn could_be_heading(line: &Line) -> bool {
    let has_letter = line.cells.iter().any(|cell| cell.chars().any(char::is_alphabetic));
    let leads_to_a_page = line.cells.iter().any(|cell| cell.contains(LEADER.trim()));
    has_letter && !leads_to_a_page && line.cells.len() == 1 && line.num_chars() <= LONGEST_HEADING_CHARS
}

/// Words that the document writes with a hyphen inside a line: their hyphen is not undone at a line's end.
fn compounds(pages: &[PageLines]) -> HashSet<String> {
    let lines = pages.iter().flat_map(|page| &page.lines);
    let words = lines.flat_map(|line| &line.cells).flat_map(|cell| cell.split_whitespace());
    let trim = |word: &str| {
        let trimmed = word.trim_matches(|c: char| !c.is_alphanumeric());
        trimmed.to_lowercase()
    };
    words.map(trim).filter(|word| word.contains('-')).collect()
}

struct FlowWriter<'a> {
    built: &'a mut TextBuilder,
    compounds: HashSet<String>,
    sections: SectionWriter,
    title: Option<(u8, String)>,
}

/// How a line follows the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Join {
    /// Same paragraph.
    Wrap,
    /// New line.
    Line,
    /// New paragraph.
    Paragraph,
}

impl FlowWriter<'_> {
    fn write_page(&mut self, page: &PageLines, sizes: &TypeSizes) -> Result<(), ExtractError> {
        let start = self.built.len();
        let shapes = GroupShape::of(&page.lines);
        let mut at = 0;
        while at < page.lines.len() {
            let lines = &page.lines[at..];
            if let Some(level) = sizes.heading_level(&lines[0]) {
                let num_lines = heading_lines(lines, sizes, level);
                self.write_heading(&lines[..num_lines], level, page.number)?;
                at += num_lines;
                continue;
            }
            let previous = at.checked_sub(1).map(|before| &page.lines[before]);
            let previous = previous.filter(|line| sizes.heading_level(line).is_none());
            let join = match previous {
                Some(previous) => how_to_join(previous, &lines[0], &shapes),
                None => Join::Paragraph,
            };
            let is_row = is_table_row(previous, &lines[0], lines.get(1));
            self.write_line(&lines[0], join, is_row, at == 0)?;
            at += 1;
        }
        let last = page.lines.last();
        if last.is_some_and(|line| line.cells.len() == 1 && !ends_sentence(line.last_text())) {
            self.built.break_line();
        } else {
            self.built.break_paragraph();
        }
        self.built.mark(start, SpanPlace::Page(page.number));
        Ok(())
    }

    fn write_heading(&mut self, lines: &[Line], level: u8, page: u32) -> Result<(), ExtractError> {
        let cells: Vec<_> = lines.iter().flat_map(|line| &line.cells).map(String::as_str).collect();
        let title = cells.join(" ");
        let start = self.built.len();
        if !self.built.text().ends_with('\n') {
            self.built.break_paragraph();
        }
        let start = start.max(self.built.len());
        self.sections.begin(self.built, level, &title, start);
        if page <= 2 && self.title.as_ref().is_none_or(|(other, _)| level < *other) {
            self.title = Some((level, title.clone()));
        }
        self.built.push(&title)?;
        self.built.push("\n\n")
    }

    fn write_line(&mut self, line: &Line, join: Join, is_row: bool, is_first: bool) -> Result<(), ExtractError> {
        let text = line.cells.join(if is_row { " | " } else { " " });
        if is_first {
            return self.built.push(&text);
        }
        match join {
            Join::Paragraph => {
                if !self.built.text().ends_with("\n\n") {
                    self.built.break_paragraph();
                }
            }
            Join::Line => self.built.break_line(),
            Join::Wrap if self.undo_hyphen(&text) => {}
            Join::Wrap if is_unspaced_end(self.built.text()) && is_unspaced_start(&text) => {}
            Join::Wrap => self.built.push(" ")?,
        }
        self.built.push(&text)
    }

    /// Whether a word goes on in `next`; then its hyphen at the end of the text is taken away, unless the word
    /// has one of its own.
    fn undo_hyphen(&mut self, next: &str) -> bool {
        let Some((head, tail)) = split_word(self.built.text(), next) else {
            return false;
        };
        if !self.compounds.contains(&format!("{head}-{tail}")) {
            self.built.pop();
        }
        true
    }
}

/// The two halves of a word with a hyphen at the end of `text`, in lower case.
fn split_word(text: &str, next: &str) -> Option<(String, String)> {
    let before = text.strip_suffix(['-', '\u{2010}'])?;
    let head = before.rsplit(|c: char| !c.is_alphanumeric() && c != '-').next()?;
    let tail = next.split(|c: char| !c.is_alphanumeric() && c != '-').next()?;
    let continues = next.starts_with(char::is_lowercase) && head.ends_with(char::is_alphabetic);
    continues.then(|| (head.to_lowercase(), tail.to_lowercase()))
}

fn heading_lines(lines: &[Line], sizes: &TypeSizes, level: u8) -> usize {
    let mut count = 1;
    while count < lines.len()
        && count < 4
        && sizes.heading_level(&lines[count]) == Some(level)
        && lines[count].group == lines[count - 1].group
        && lines[count].baseline - lines[count - 1].baseline < 1.6 * lines[count].size
    {
        count += 1;
    }
    count
}

/// Width and line distance of the lines of a group.
struct GroupShape {
    left: f32,
    right: f32,
    pitch: f32,
}

impl GroupShape {
    /// The shape of each group, by its number.
    fn of(lines: &[Line]) -> Vec<Self> {
        let num_groups = lines.last().map_or(0, |line| line.group + 1);
        let mut groups: Vec<Vec<&Line>> = vec![Vec::new(); num_groups];
        for line in lines {
            groups[line.group].push(line);
        }
        groups.iter().map(|lines| Self::of_group(lines)).collect()
    }

    fn of_group(lines: &[&Line]) -> Self {
        let pairs = lines.windows(2).map(|pair| pair[1].baseline - pair[0].baseline);
        let mut pitches: Vec<f32> = pairs.filter(|pitch| *pitch > 0.0).collect();
        pitches.sort_by(f32::total_cmp);
        Self {
            left: lines.iter().map(|line| line.left).fold(f32::INFINITY, f32::min),
            right: lines.iter().map(|line| line.right).fold(f32::NEG_INFINITY, f32::max),
            pitch: pitches.get(pitches.len() / 2).copied().unwrap_or(0.0),
        }
    }
}

fn how_to_join(previous: &Line, line: &Line, shapes: &[GroupShape]) -> Join {
    let Some(shape) = shapes.get(previous.group) else {
        return Join::Paragraph;
    };
    let starts_lower = line.cells[0].starts_with(char::is_lowercase);
    let same_size = half_points(previous.size) == half_points(line.size);
    if previous.group != line.group {
        let goes_on = starts_lower && same_size && !ends_sentence(previous.last_text());
        return if goes_on { Join::Wrap } else { Join::Paragraph };
    }
    let distance = line.baseline - previous.baseline;
    let usual = shape.pitch.min(1.6 * line.size).max(line.size);
    if distance > 1.3 * usual || !same_size {
        return Join::Paragraph;
    }
    if previous.cells.len() > 1 || line.cells.len() > 1 || starts_item(&line.cells[0]) {
        return Join::Line;
    }
    let is_indented = |line: &Line| line.left > shape.left + 0.8 * line.size;
    let after_sentence = ends_sentence(previous.last_text());
    if is_indented(line) && !is_indented(previous) && after_sentence {
        return Join::Paragraph;
    }
    let left_room = shape.right - previous.right;
    let fits = left_room > line.first_word_width() + line.size;
    if fits && !starts_lower { Join::Line } else { Join::Wrap }
}

fn ends_sentence(text: &str) -> bool {
    let text = text.trim_end().trim_end_matches(['"', '”', '’', '\'', ')', ']']);
    text.ends_with(['.', '!', '?', ':', '…', '。', '！', '？'])
}

fn is_table_row(previous: Option<&Line>, line: &Line, next: Option<&Line>) -> bool {
    let is_row = |line: Option<&Line>| line.is_some_and(|line| line.cells.len() > 1);
    is_row(Some(line)) && (is_row(previous) || is_row(next))
}

/// Whether a line begins an item of a list.
fn starts_item(text: &str) -> bool {
    if text.starts_with(['•', '◦', '▪', '‣', '·', '–', '—', '*', '▸', '●', '○', '■']) {
        return true;
    }
    let Some((label, _)) = text.split_once(' ') else {
        return false;
    };
    let is_label = |label: &str| label.len() <= 3 && label.chars().all(|c| c.is_ascii_alphanumeric());
    label == "-"
        || label.strip_suffix('.').is_some_and(|l| matches!(l.len(), 1..=2) && l.bytes().all(|b| b.is_ascii_digit()))
        || label.strip_suffix(')').is_some_and(|l| is_label(l.trim_start_matches('(')))
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}')
}

fn is_unspaced_end(text: &str) -> bool {
    text.ends_with(is_unspaced)
}

fn is_unspaced_start(text: &str) -> bool {
    text.starts_with(is_unspaced)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;
    use crate::extract::{DocumentKind, ExtractLimits, Extraction};

    fn line(text: &str, baseline: f32, size: f32) -> Line {
        Line {
            cells: text.split(" | ").map(str::to_owned).collect(),
            left: 50.0,
            right: 50.0 + 4.0 * text.len() as f32,
            baseline,
            size,
            group: 0,
        }
    }

    fn written(pages: &[PageLines]) -> Extraction {
        let mut built = TextBuilder::new(&ExtractLimits::default());
        built.title = write_pages(&mut built, pages).unwrap();
        built.finish(DocumentKind::Pdf).unwrap()
    }

    fn page(number: u32, texts: &[&str]) -> PageLines {
        let lines = texts.iter().zip(1_u8..);
        let lines = lines.map(|(text, row)| line(text, 12.0 * f32::from(row), 10.0));
        PageLines { number, lines: lines.collect() }
    }

    #[test]
    fn wrapped_lines_are_joined_and_hyphens_undone() {
        let extraction = written(&[page(
            1,
            &[
                "a well-known effect is the inter-",
                "nal one; it is also a well-",
                "known cause of the things that",
                "Follow from it in many ways here",
            ],
        )]);
        assert_eq!(
            extraction.text,
            "a well-known effect is the internal one; it is also a well-known cause of the things that \
             Follow from it in many ways here"
        );
    }

    #[test]
    fn every_byte_of_a_page_has_its_number() {
        let extraction = written(&[page(1, &["First page."]), page(3, &["third", "- item"])]);
        assert_eq!(extraction.text, "First page.\n\nthird\n- item");
        assert_eq!(extraction.place(0..11).pages, Some((1, 1)));
        assert_eq!(extraction.place(13..25).pages, Some((3, 3)));
    }

    #[test]
    fn table_rows_keep_their_cells_apart() {
        let extraction = written(&[page(1, &["Part | Price", "bolt | 2.50", "nut | 0.75"])]);
        assert_eq!(extraction.text, "Part | Price\nbolt | 2.50\nnut | 0.75");
    }

    #[test]
    fn larger_lines_are_headings() {
        let mut lines = vec![line("The Title of It", 20.0, 20.0), line("Part one", 50.0, 14.0)];
        for row in 0..10_u8 {
            lines.push(line("words of the body text that fill the line", 70.0 + 12.0 * f32::from(row), 10.0));
        }
        let extraction = written(&[PageLines { number: 1, lines }]);
        assert_eq!(extraction.title.as_deref(), Some("The Title of It"));
        let heading = extraction.place(40..41).heading;
        assert_eq!(heading, ["The Title of It", "Part one"]);
    }
}
