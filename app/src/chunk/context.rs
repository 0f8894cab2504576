//! What may stand before a chunk where it is embedded and indexed: the headings that it lies under. Never part of
//! what is cited.

use std::ops::Range;

use super::outline::{Heading, blocks, headings};

/// Characters of title and headings, so that they never outweigh the passage.
const MAX_CONTEXT_CHARS: usize = 200;

/// A passage with its context in front: the parts that say something, each once, joined by ` > `, on a line of their
/// own. Without any, the passage alone.
pub fn with_context<'a>(parts: impl Iterator<Item = &'a str>, text: &str) -> String {
    let mut context = String::new();
    for part in parts.map(str::trim) {
        if part.is_empty() || context == part {
            continue;
        }
        if !context.is_empty() {
            context.push_str(" > ");
        }
        context.push_str(part);
    }
    let context: String = context.chars().take(MAX_CONTEXT_CHARS).collect();
    if context.is_empty() { text.to_owned() } else { format!("{context}\n{text}") }
}

/// The headings of a text whose reader found none: Markdown's, and those of wikis and AsciiDoc.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    headings: Vec<Heading>,
}

impl Outline {
    /// Reads `text` once.
    pub fn new(text: &str) -> Self {
        Self { headings: headings(text, &blocks(text)) }
    }

    /// The headings over the byte `position`, from the highest to the one that it stands under.
    pub fn path_at(&self, position: usize) -> Vec<&str> {
        let before = self.headings.partition_point(|heading| heading.start <= position);
        let mut level = usize::MAX;
        let mut path = Vec::new();
        for heading in self.headings[..before].iter().rev() {
            if heading.level < level {
                level = heading.level;
                path.push(heading.title.as_str());
            }
        }
        path.reverse();
        path
    }
}

/// `range` widened by `count` of the `segments` (sentences) on each side: what is embedded of a chunk that is to be
/// found by its surroundings too.
pub fn surrounded(range: &Range<usize>, segments: &[Range<usize>], count: usize) -> Range<usize> {
    if count == 0 {
        return range.clone();
    }
    let first = segments.partition_point(|segment| segment.end <= range.start);
    let after = segments.partition_point(|segment| segment.start < range.end);
    let start = first.checked_sub(1).map_or(range.start, |last| segments[last.saturating_sub(count - 1)].start);
    let end = segments.get((after + count - 1).min(segments.len().saturating_sub(1)));
    let end = end.filter(|_| after < segments.len()).map_or(range.end, |segment| segment.end);
    start.min(range.start)..end.max(range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_is_short_and_says_each_part_once() {
        let parts = ["Pump", " ", "Pump", "Reset"];
        assert_eq!(with_context(parts.into_iter(), "Hold it."), "Pump > Reset\nHold it.");
        assert_eq!(with_context([].into_iter(), "x"), "x");
        let long = "t".repeat(1000);
        assert_eq!(with_context([long.as_str()].into_iter(), "x").chars().count(), MAX_CONTEXT_CHARS + 2);
    }

    #[test]
    fn paths_follow_the_levels() {
        let text = "# A\ntext\n## B\ntext\n### C\n## D\nend";
        let outline = Outline::new(text);
        let at = |part: &str| outline.path_at(text.find(part).unwrap_or_default());
        assert_eq!(at("### C"), ["A", "B", "C"]);
        assert_eq!(at("end"), ["A", "D"]);
        assert_eq!(outline.path_at(0), ["A"]);
        assert!(Outline::new("no headings").path_at(5).is_empty());
    }

    #[test]
    fn surroundings_stay_inside_the_text() {
        let segments = [0..5, 6..10, 11..20, 21..30];
        assert_eq!(surrounded(&(6..10), &segments, 1), 0..20);
        assert_eq!(surrounded(&(11..30), &segments, 2), 0..30);
        assert_eq!(surrounded(&(0..5), &segments, 1), 0..10);
        assert_eq!(surrounded(&(6..10), &segments, 0), 6..10);
        assert_eq!(surrounded(&(2..4), &[], 3), 2..4);
    }
}
