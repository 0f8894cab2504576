//! Markers (`[1]`, `[2, 3]`, `[?]`) and code spans as they stand in a text.

/// Longest `[12, 3]` that is looked at; anything longer is text.
const MAX_MARKER_BYTES: usize = 24;

/// What a bracket opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket<'t> {
    /// A marker; what stands between its brackets.
    Marker(&'t str),
    /// Text.
    Text,
    /// A marker as far as it goes.
    Open,
}

/// What the bracket is that `text` begins with.
pub(super) fn bracket(text: &str) -> Bracket<'_> {
    let close = text.find(']');
    let inside = &text[1..close.unwrap_or(text.len())];
    let may_be_marker = inside.len() < MAX_MARKER_BYTES
        && inside.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, ',' | ' ' | ';' | '?'));
    let says_which = inside.contains(|letter: char| letter.is_ascii_digit() || letter == '?');
    match close {
        None if may_be_marker => Bracket::Open,
        Some(_) if may_be_marker && says_which => Bracket::Marker(inside),
        _ => Bracket::Text,
    }
}

/// The numbers of a marker, 0 for what is none.
pub(super) fn numbers(inside: &str) -> impl Iterator<Item = u32> {
    let named = inside.split([',', ' ', ';']).filter(|number| !number.is_empty());
    named.map(|number| number.parse().unwrap_or(0))
}

/// Bytes of the backticks that `text` begins with.
pub(super) fn num_backticks(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// Bytes of the code span that `text` begins with: to as many backticks as it begins with, in the same line.
pub(super) fn code_span(text: &str) -> Option<usize> {
    let count = num_backticks(text);
    let line = text.split('\n').next().unwrap_or(text);
    let mut at = count;
    while count > 0 && at < line.len() {
        at += line[at..].find('`')?;
        let closing = num_backticks(&line[at..]);
        at += closing;
        if closing == count {
            return Some(at);
        }
    }
    None
}

/// A line without its markers outside code spans, and the numbers that they named. What is left of nested ones
/// is taken out too.
pub(super) fn without_markers(line: &str) -> (String, Vec<u32>) {
    let (mut text, mut named) = (line.to_owned(), Vec::new());
    loop {
        let (next, found) = without_outer_markers(&text);
        if found.is_empty() {
            return (next, named);
        }
        named.extend(found);
        text = next;
    }
}

fn without_outer_markers(line: &str) -> (String, Vec<u32>) {
    let (mut text, mut named) = (String::with_capacity(line.len()), Vec::new());
    let mut rest = line;
    while let Some(at) = rest.find(['[', '`']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let length = match (from.starts_with('`'), bracket(from)) {
            (true, _) => code_span(from).unwrap_or(num_backticks(from)),
            (false, Bracket::Marker(inside)) => {
                named.extend(numbers(inside));
                text.truncate(text.trim_end_matches(' ').len());
                rest = &from[inside.len() + 2..];
                continue;
            }
            _ => 1,
        };
        text.push_str(&from[..length]);
        rest = &from[length..];
    }
    text.push_str(rest);
    (text, named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_span_ends_at_as_many_backticks_in_its_line() {
        assert_eq!(code_span("`a[0]` b"), Some(6));
        assert_eq!(code_span("``a ` b`` c"), Some(9));
        for open in ["`a[0]", "`a\nb`", "``a`", "``"] {
            assert_eq!(code_span(open), None, "{open}");
        }
    }

    #[test]
    fn markers_are_taken_out_of_a_row_and_not_out_of_code() {
        assert_eq!(without_markers("| a [1] | `b[0]` [2, 3] |"), ("| a | `b[0]` |".to_owned(), vec![1, 2, 3]));
        assert_eq!(without_markers("| [[9]1] ` [4] |").0, "| ` |");
        assert_eq!(without_markers("| x[i] | [] |"), ("| x[i] | [] |".to_owned(), vec![]));
    }
}
