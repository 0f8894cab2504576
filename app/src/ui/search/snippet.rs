//! Passages with the query's words marked.

use std::ops::Range;

use egui::text::{LayoutJob, TextFormat};
use egui::{FontId, Ui};

use super::super::theme::{palette, strong_font};

/// Characters of a passage that a list shows.
const SNIPPET_CHARS: usize = 420;
/// A word of a text is marked when it shares this many letters with a word of the query.
const SHARED_LETTERS: usize = 4;

/// The whole of `text` with the words of `query` marked.
pub(in crate::ui) fn marked(ui: &Ui, text: &str, query: &str, size: f32) -> LayoutJob {
    layout(ui, text.trim(), &matches(text.trim(), query), size)
}

/// The stretch of `text` where most words of `query` stand, in one paragraph.
pub(super) fn around_match(ui: &Ui, text: &str, query: &str, size: f32) -> LayoutJob {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let stretch = densest(&flat, &matches(&flat, query));
    let shown = &flat[stretch.clone()];
    let shown = if stretch.start > 0 { format!("… {shown}") } else { shown.to_owned() };
    layout(ui, &shown, &matches(&shown, query), size)
}

fn layout(ui: &Ui, text: &str, marks: &[Range<usize>], size: f32) -> LayoutJob {
    let colours = palette(ui);
    let line_height = Some((size * 1.42).round());
    let plain = TextFormat { line_height, ..TextFormat::simple(FontId::proportional(size), colours.ink) };
    let mark = TextFormat { background: colours.mark, font_id: FontId::new(size, strong_font()), ..plain.clone() };
    let mut job = LayoutJob::default();
    let mut done = 0;
    for range in marks {
        job.append(&text[done..range.start], 0.0, plain.clone());
        job.append(&text[range.clone()], 0.0, mark.clone());
        done = range.end;
    }
    job.append(&text[done..], 0.0, plain);
    job
}

/// Where words of `text` match words of `query`.
fn matches(text: &str, query: &str) -> Vec<Range<usize>> {
    let wanted: Vec<String> = words(query).map(|word| query[word].to_lowercase()).filter(|word| counts(word)).collect();
    words(text).filter(|word| wanted.iter().any(|wanted| same(wanted, &text[word.clone()].to_lowercase()))).collect()
}

fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    use unicode_segmentation::UnicodeSegmentation;
    text.unicode_word_indices().map(|(start, word)| start..start + word.len())
}

/// English words that stand in every passage.
const COMMON_WORDS: [&str; 44] = [
    "all", "and", "any", "are", "but", "can", "did", "does", "for", "from", "had", "has", "have", "her", "him", "his",
    "how", "into", "its", "many", "much", "not", "one", "our", "out", "per", "she", "that", "the", "their", "them",
    "they", "this", "was", "were", "what", "when", "where", "which", "who", "why", "will", "with", "you",
];

/// Words of one or two Latin letters and the commonest English ones say too little to be marked.
fn counts(word: &str) -> bool {
    let says_something = word.chars().count() > 2 && !COMMON_WORDS.contains(&word);
    says_something || !word.is_ascii() || word.chars().all(char::is_numeric)
}

/// The same word, or the same stem with another short ending.
fn same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let shared = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let longer = one.chars().count().max(other.chars().count());
    shared >= SHARED_LETTERS && longer - shared <= 3
}

/// A stretch of about [`SNIPPET_CHARS`] characters with as many marks as possible, from a word's start.
fn densest(text: &str, marks: &[Range<usize>]) -> Range<usize> {
    let reach = |start: usize| text[start..].char_indices().nth(SNIPPET_CHARS).map_or(text.len(), |(at, _)| start + at);
    let held = |start: usize| {
        let end = reach(start);
        marks.iter().filter(|mark| mark.start >= start && mark.end <= end).count()
    };
    let first = marks.iter().map(|mark| mark.start).max_by_key(|start| (held(*start), std::cmp::Reverse(*start)));
    let start = match first {
        Some(first) if reach(0) < first + SNIPPET_CHARS / 2 => before(text, first),
        _ => 0,
    };
    start..reach(start)
}

/// A little before `byte`, at a word's start.
fn before(text: &str, byte: usize) -> usize {
    let lead = text[..byte].char_indices().rev().nth(60).map_or(0, |(at, _)| at);
    text[lead..byte].find(' ').map_or(lead, |space| lead + space + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(text: &'a str, query: &str) -> Vec<&'a str> {
        matches(text, query).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn words_and_their_inflections_are_marked() {
        assert_eq!(
            found("Valves close; the valve was closed.", "closing valve"),
            ["Valves", "close", "valve", "closed"]
        );
        assert_eq!(found("Code BENCH 42 and benches", "bench 42"), ["BENCH", "42", "benches"]);
        assert!(found("to be or not for the box", "what is it of the").is_empty());
    }

    #[test]
    fn the_snippet_shows_where_the_words_stand() {
        let filler = "filler words go on and on here ".repeat(60);
        let text = format!("{filler}the granite outcrop stands. {filler}");
        let stretch = densest(&text, &matches(&text, "granite outcrop"));
        assert!(text[stretch].contains("granite outcrop"));
        assert_eq!(densest("short", &[]), 0..5);
    }

    #[test]
    fn cutting_respects_characters() {
        let text = "岩層の露頭 ".repeat(200);
        for query in ["露頭", "none"] {
            let stretch = densest(text.trim(), &matches(text.trim(), query));
            assert!(text.get(stretch).is_some());
        }
    }
}
