//! Sentences of a passage as byte ranges.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// Ranges of the sentences of `text`, trimmed, none blank. A line end ends a sentence unless the next line goes
/// on in lower case, as wrapped lines of PDF files do.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
    let joined = join_wrapped_lines(text);
    joined
        .split_sentence_bound_indices()
        .filter_map(|(start, sentence)| trimmed(text, start..start + sentence.len()))
        .collect()
}

/// The same text, byte for byte as long, with the line ends inside sentences turned into spaces.
fn join_wrapped_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\n') {
        let (line, tail) = rest.split_at(at);
        let next = &tail[1..];
        joined.push_str(line);
        joined.push(if goes_on(line, next) { ' ' } else { '\n' });
        rest = next;
    }
    joined.push_str(rest);
    joined
}

fn goes_on(line: &str, next: &str) -> bool {
    let ends_open = !line.trim_end().ends_with(['.', '!', '?', ':', ';', '|']) && !line.trim().is_empty();
    let starts_low = next
        .trim_start_matches([' ', '\t'])
        .starts_with(|letter: char| letter.is_lowercase() || letter.is_ascii_digit());
    ends_open && starts_low
}

/// `range` without white space at its ends; `None` if nothing is left.
pub(super) fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    let end = range.start + part.trim_end().len();
    (start < end).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn full_stops_and_line_ends_separate() {
        assert_eq!(
            texts("One is 3.81 m. Two?\n\nName: Ada\nTown: Storr"),
            ["One is 3.81 m.", "Two?", "Name: Ada", "Town: Storr"]
        );
    }

    #[test]
    fn wrapped_lines_stay_together() {
        assert_eq!(texts("The tuff is old\nand hard. It\nis grey."), ["The tuff is old\nand hard.", "It\nis grey."]);
    }

    #[test]
    fn chinese_sentences_separate() {
        assert_eq!(texts("温度为十度。湿度为五成。"), ["温度为十度。", "湿度为五成。"]);
    }

    proptest! {
        #[test]
        fn ranges_increase_and_cover_what_is_not_blank(text in "[a-zA-Zé。. \n]{0,80}") {
            let mut next = 0;
            for range in sentences(&text) {
                prop_assert!(range.start >= next && range.end > range.start);
                prop_assert!(text[next..range.start].trim().is_empty());
                next = range.end;
            }
            prop_assert!(text[next..].trim().is_empty());
        }
    }
}
