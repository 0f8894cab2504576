//! Headings and blocks (code fences, tables) of Markdown, found line by line.

use std::ops::Range;

/// A line without its line end, and where it starts.
type Line<'a> = (usize, &'a str);

fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut next = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = next;
        next += line.len();
        (start, line.trim_end())
    })
}

/// Code fences and tables, in order. A fence that is never closed goes on to the end of the text.
pub(super) fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut fence: Option<(usize, &str)> = None;
    let mut table: Option<Range<usize>> = None;
    for (start, line) in lines(text) {
        match (fence, fence_mark(line)) {
            (Some((opened, open)), Some(mark)) if closes(open, mark, line) => {
                blocks.push(opened..start + line.len());
                fence = None;
            }
            (Some(_), _) => {}
            (None, Some(mark)) => {
                blocks.extend(table.take().filter(|rows| is_table(&text[rows.clone()])));
                fence = Some((start, mark));
            }
            (None, None) if line.contains('|') => {
                let opened = table.map_or(start, |rows| rows.start);
                table = Some(opened..start + line.len());
            }
            (None, None) => {
                blocks.extend(table.take().filter(|rows| is_table(&text[rows.clone()])));
            }
        }
    }
    blocks.extend(table.filter(|rows| is_table(&text[rows.clone()])));
    blocks.extend(fence.map(|(opened, _)| opened..text.len()));
    blocks
}

/// The run of backticks or tildes that opens or closes a fence.
fn fence_mark(line: &str) -> Option<&str> {
    let content = line.trim_start();
    let indent_bytes = line.len() - content.len();
    let mark = content.chars().next().filter(|mark| "`~".contains(*mark))?;
    let run = &content[..content.len() - content.trim_start_matches(mark).len()];
    let is_inline = mark == '`' && content[run.len()..].contains('`');
    (run.len() >= 3 && indent_bytes <= 3 && !is_inline).then_some(run)
}

fn closes(open: &str, mark: &str, line: &str) -> bool {
    mark.starts_with(open) && line.trim() == mark
}

/// Two or more rows, the second made of dashes, colons and bars.
fn is_table(rows: &str) -> bool {
    let rule = rows.lines().nth(1).unwrap_or_default();
    rule.contains('-') && rule.chars().all(|letter| "-:| \t".contains(letter))
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// Where its line starts.
    pub(super) start: usize,
    /// 1 for the highest.
    pub(super) level: usize,
    /// Its words.
    pub(super) title: String,
}

/// Headings outside blocks: `# Title`; a line between blank ones that is underlined with `===` or `---`; and, out of
/// wikis and AsciiDoc, `== Title ==` and `== Title`.
pub(super) fn headings(text: &str, blocks: &[Range<usize>]) -> Vec<Heading> {
    let mut headings = Vec::new();
    let (mut above, mut is_alone) = ((0, ""), true);
    for (start, line) in lines(text) {
        let next = blocks.partition_point(|block| block.start <= start);
        if next > 0 && start < blocks[next - 1].end {
            (above, is_alone) = ((start, ""), true);
            continue;
        }
        if let Some((level, title)) = marked(line) {
            headings.push(Heading { start, level, title: title.to_owned() });
        } else if is_alone && !above.1.is_empty() && is_underline(line) && marked(above.1).is_none() {
            let level = if line.trim().starts_with('=') { 1 } else { 2 };
            headings.push(Heading { start: above.0, level, title: above.1.to_owned() });
        }
        is_alone = above.1.is_empty();
        above = (start, line.trim());
    }
    headings
}

/// Level and words of a line that is a heading by its own marks.
fn marked(line: &str) -> Option<(usize, &str)> {
    atx(line).or_else(|| equals(line))
}

fn atx(line: &str) -> Option<(usize, &str)> {
    let content = line.trim_start_matches(' ');
    let title = content.trim_start_matches('#');
    let level = content.len() - title.len();
    let is_heading = line.len() - content.len() <= 3
        && (1..=6).contains(&level)
        && (title.is_empty() || title.starts_with([' ', '\t']));
    is_heading.then(|| (level, title.trim().trim_end_matches('#').trim_end()))
}

/// `= Title =` to `====== Title ======`, spaces between the marks allowed; without the marks at the end from `==` on.
fn equals(line: &str) -> Option<(usize, &str)> {
    let line = line.trim();
    let is_mark = |letter: char| letter == '=' || letter == ' ';
    let marks = |part: &str| part.matches('=').count();
    let title = line.trim_start_matches(is_mark);
    let level = marks(&line[..line.len() - title.len()]);
    let kept = title.trim_end_matches(is_mark);
    let closing = marks(&title[kept.len()..]);
    let is_spaced = line[..line.len() - title.len()].ends_with(' ');
    let is_closed = closing == level || (closing == 0 && level >= 2);
    (line.starts_with('=') && is_spaced && (1..=6).contains(&level) && is_closed && !kept.is_empty())
        .then_some((level, kept))
}

fn is_underline(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_both_kinds_are_found_outside_blocks() {
        let text = "Title\n=====\n\n# One\ntext\n```\n# not one\n```\n## Two\n#hash tag\na\nb\n---\n";
        let found: Vec<&str> =
            headings(text, &blocks(text)).iter().filter_map(|heading| text[heading.start..].lines().next()).collect();
        assert_eq!(found, ["Title", "# One", "## Two"]);
    }

    #[test]
    fn headings_have_levels_and_words() {
        let text = "# One #\n\nTwo\n---\n\n = Wiki = \n = = Deeper = = \n== Ascii\n= not one\na == b\n=====\n";
        let found = headings(text, &[]);
        let found: Vec<(usize, &str)> = found.iter().map(|heading| (heading.level, heading.title.as_str())).collect();
        assert_eq!(found, [(1, "One"), (2, "Two"), (1, "Wiki"), (2, "Deeper"), (2, "Ascii")]);
    }

    #[test]
    fn fences_close_with_their_own_mark_only() {
        let text = "````rust\n```\n````\nafter";
        assert_eq!(blocks(text), vec![0..17; 1]);
        assert_eq!(blocks("a\n~~~\nnever closed"), vec![2..18; 1]);
        assert!(blocks("```inline``` code").is_empty());
    }

    #[test]
    fn tables_need_a_rule() {
        let text = "a | b\n--|--\n1 | 2\n\nthis | that\nnothing";
        assert_eq!(blocks(text), vec![0..17; 1]);
    }
}
