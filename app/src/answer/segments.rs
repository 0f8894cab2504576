//! Sentences and rows of a passage with the words that they say, the header of a table included.

use std::collections::HashSet;
use std::ops::Range;

use super::sentences::sentences;
use super::words::{Term, term_set};

/// A sentence or a row.
pub(super) struct Segment {
    /// Bytes of the passage.
    pub(super) range: Range<usize>,
    /// Its own words.
    pub(super) words: HashSet<Term>,
    /// The header of the table that it is a row of.
    pub(super) header: HashSet<Term>,
    /// Whether it is a row of a table or an item of a list.
    pub(super) is_row: bool,
}

/// The sentences and rows of `text`, in order.
pub(super) fn segments(text: &str) -> Vec<Segment> {
    let mut found: Vec<Segment> = Vec::new();
    let mut header: Option<(usize, HashSet<Term>)> = None;
    for range in sentences(text) {
        let part = &text[range.clone()];
        let words = term_set(part);
        let in_table = part.starts_with('|');
        header = match header.take() {
            _ if !in_table => None,
            // A table goes on while its lines follow each other.
            Some((end, words)) if text[end..range.start].trim().is_empty() => Some((range.end, words)),
            _ => Some((range.end, words.clone())),
        };
        let of_table = header.as_ref().map(|(_, words)| words.clone()).unwrap_or_default();
        found.push(Segment { is_row: in_table || is_list_item(part), header: of_table, words, range });
    }
    found
}

fn is_list_item(part: &str) -> bool {
    let number = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
    part.starts_with(['-', '*', '•', '+'])
        || part.contains('\t')
        || (number.len() < part.len() && number.starts_with([')', '.']) && number[1..].starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_know_their_header_and_sentences_have_none() {
        let text = "Read the mast.\n\n| Wind | Stops |\n|---|---|\n| 12 m/s | boats |\n\nThen go.\n\n- a list item.\n- another";
        let found = segments(text);
        let headers: Vec<usize> = found.iter().map(|segment| segment.header.len()).collect();
        assert_eq!(headers, [0, 2, 2, 2, 0, 0, 0]);
        let rows: Vec<bool> = found.iter().map(|segment| segment.is_row).collect();
        assert_eq!(rows, [false, true, true, true, false, true, true]);
    }
}
