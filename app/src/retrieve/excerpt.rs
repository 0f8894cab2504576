//! Which words of a passage match a query, and the stretch of it that shows most of them.

use std::ops::Range;

/// A word of a text matches when it shares this many letters with a word of the query.
const SHARED_LETTERS: usize = 4;

/// Where words of `text` match words of `query`: byte ranges, increasing.
pub fn word_matches(text: &str, query: &str) -> Vec<Range<usize>> {
    let wanted: Vec<String> = words(query).map(|word| query[word].to_lowercase()).filter(|word| counts(word)).collect();
    words(text).filter(|word| wanted.iter().any(|wanted| same(wanted, &text[word.clone()].to_lowercase()))).collect()
}

/// A stretch of about `num_chars` characters of `text` with as many of `matches` in it as possible, from a word's start:
/// a byte range.
pub fn densest_stretch(text: &str, matches: &[Range<usize>], num_chars: usize) -> Range<usize> {
    let reach = |start: usize| text[start..].char_indices().nth(num_chars).map_or(text.len(), |(at, _)| start + at);
    let held = |start: usize| {
        let end = reach(start);
        matches.iter().filter(|found| found.start >= start && found.end <= end).count()
    };
    let first = matches.iter().map(|found| found.start).max_by_key(|start| (held(*start), std::cmp::Reverse(*start)));
    let start = match first {
        Some(first) if reach(0) < first + num_chars / 2 => before(text, first),
        _ => 0,
    };
    start..reach(start)
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

/// A little before `byte`, at a word's start.
fn before(text: &str, byte: usize) -> usize {
    let lead = text[..byte].char_indices().rev().nth(60).map_or(0, |(at, _)| at);
    text[lead..byte].find(' ').map_or(lead, |space| lead + space + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(text: &'a str, query: &str) -> Vec<&'a str> {
        word_matches(text, query).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn words_and_their_inflections_match() {
        assert_eq!(
            found("Valves close; the valve was closed.", "closing valve"),
            ["Valves", "close", "valve", "closed"]
        );
        assert_eq!(found("Code BENCH 42 and benches", "bench 42"), ["BENCH", "42", "benches"]);
        assert!(found("to be or not for the box", "what is it of the").is_empty());
    }

    #[test]
    fn the_stretch_shows_where_the_words_stand() {
        let filler = "filler words go on and on here ".repeat(60);
        let text = format!("{filler}the granite outcrop stands. {filler}");
        for num_chars in [80, 300, 420] {
            let stretch = densest_stretch(&text, &word_matches(&text, "granite outcrop"), num_chars);
            assert!(text[stretch].contains("granite outcrop"));
        }
        assert_eq!(densest_stretch("short", &[], 420), 0..5);
    }

    #[test]
    fn cutting_respects_characters() {
        let text = "岩層の露頭 ".repeat(200);
        for query in ["露頭", "none"] {
            let stretch = densest_stretch(text.trim(), &word_matches(text.trim(), query), 420);
            assert!(text.get(stretch).is_some());
        }
    }
}
