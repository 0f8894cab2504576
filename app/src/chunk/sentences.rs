//! Lines, paragraphs and sentences of a text, as the places where they start.
//!
//! Sentence boundaries are those of UAX 29 without the ones after abbreviations, initials and list numbers, and
//! without line ends in the middle of wrapped prose (text out of PDF is full of them).

use unicode_segmentation::UnicodeSegmentation;

use super::graphemes::Graphemes;

/// Where paragraphs, lines and sentences start; each list is sorted and contains the one before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Starts {
    /// After at least one blank line.
    pub(crate) paragraphs: Vec<usize>,
    /// Paragraphs, and lines that are more than a wrap of the line before.
    pub(crate) lines: Vec<usize>,
    /// Lines, and sentences inside them.
    pub(crate) sentences: Vec<usize>,
}

/// The segmenter looks ahead from every position after a full stop, which costs the square of a hostile run of
/// brackets or spaces; windows bound that.
const WINDOW_BYTES: usize = 512;
/// How far a window reaches back, so that no end of a sentence falls between two windows.
const WINDOW_LAP_BYTES: usize = 64;
/// A line shorter than this ends because its author ended it.
const WRAPPED_LINE_BYTES: usize = 45;

/// No abbreviation is longer.
const ABBREVIATION_BYTES: usize = 16;

/// Never end a sentence.
const ALWAYS_ABBREVIATED: &[&str] = &[
    "capt", "cf", "col", "dr", "e.g", "gen", "hon", "i.e", "lt", "mme", "mr", "mrs", "ms", "mt", "prof", "rev", "sgt",
    "viz", "vs", "z.b", "d.h",
];
/// End no sentence before a number.
const ABBREVIATED_BEFORE_NUMBER: &[&str] = &[
    "al", "app", "art", "ca", "ch", "eq", "eqs", "fig", "figs", "no", "nos", "nr", "p", "pp", "sec", "tab", "vol",
    "vols", "approx",
];

/// Finds all three kinds of start.
pub(crate) fn starts(text: &str, graphemes: &Graphemes) -> Starts {
    let mut starts = Starts::default();
    let mut previous: Option<&str> = None;
    let mut blank_before = true;
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        if content.is_empty() {
            blank_before = true;
        } else {
            let at = graphemes.skip_blank(text, line_start);
            let is_hard = blank_before || !previous.is_some_and(|above| is_wrap(above, content));
            starts.add_line(at, blank_before, is_hard);
            starts.add_sentences(text, at..line_start + line.len(), graphemes);
            (previous, blank_before) = (Some(content), false);
        }
        line_start += line.len();
    }
    starts
}

impl Starts {
    fn add_line(&mut self, at: usize, is_paragraph: bool, is_line: bool) {
        if is_paragraph {
            self.paragraphs.push(at);
        }
        if is_line {
            self.lines.push(at);
            self.sentences.push(at);
        }
    }

    /// Adds the sentences that start inside one line.
    fn add_sentences(&mut self, text: &str, line: std::ops::Range<usize>, graphemes: &Graphemes) {
        let mut from = line.start;
        let mut letters = Letters { start: line.start, checked: line.start, seen: false };
        while from < line.end {
            let window_end = floor_char(text, from + WINDOW_BYTES).clamp(from, line.end);
            let mut found = None;
            for (offset, _) in text[from..window_end].split_sentence_bound_indices().skip(1) {
                let at = graphemes.skip_blank(text, from + offset);
                if at < line.end && letters.end_sentence(text, at) && graphemes.is_boundary(at) {
                    self.sentences.push(at);
                    letters = Letters { start: at, checked: at, seen: false };
                }
                found = Some(from + offset);
            }
            if window_end == line.end {
                break;
            }
            let lap = floor_char(text, window_end - WINDOW_LAP_BYTES);
            from = found.map_or(lap, |at| at.max(lap)).max(from + 1);
            from = ceil_char(text, from);
        }
    }
}

/// Whether the sentence that is being read has letters so far. Every byte is looked at once, however many boundaries
/// turn out to be none.
struct Letters {
    start: usize,
    checked: usize,
    seen: bool,
}

impl Letters {
    /// Whether a boundary that the segmenter found at `at` ends the sentence for a reader.
    fn end_sentence(&mut self, text: &str, at: usize) -> bool {
        if at <= self.checked {
            return false;
        }
        self.seen = self.seen || text[self.checked..at].chars().any(char::is_alphabetic);
        self.checked = at;
        self.seen && !ends_abbreviated(text[self.start..at].trim_end(), &text[at..])
    }
}

/// Whether `line` goes on with the prose of the line `above` it.
fn is_wrap(above: &str, line: &str) -> bool {
    let last = above.chars().next_back();
    let runs_on =
        last.is_some_and(|last| last.is_alphanumeric() || ",-–—'’".contains(last)) || ends_abbreviated(above, line);
    let goes_on = line.chars().next().is_some_and(|first| first.is_alphanumeric() || "(\"'“‘".contains(first));
    above.len() >= WRAPPED_LINE_BYTES && runs_on && goes_on && !starts_item(line)
}

/// `3. Text`, `b) text`.
fn starts_item(line: &str) -> bool {
    let (marker, text) = line.split_once(char::is_whitespace).unwrap_or_default();
    let number = marker.strip_suffix(['.', ')']).unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    !text.is_empty() && (is_number || number.chars().count() == 1)
}

/// Whether the full stop at the end of `before` belongs to an abbreviation, given what follows it.
fn ends_abbreviated(before: &str, after: &str) -> bool {
    let Some(before) = before.strip_suffix('.') else {
        return false;
    };
    let near = ceil_char(before, before.len().saturating_sub(ABBREVIATION_BYTES));
    let word_start = before[near..].rfind(|letter: char| letter.is_whitespace() || "([".contains(letter));
    let word_start = word_start.map(|at| near + at);
    if word_start.is_none() && near > 0 {
        return false;
    }
    let word_at = word_start.map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
    let word = &before[word_at..];
    is_initial(before, word_at) || is_listed(word, after)
}

fn is_listed(word: &str, after: &str) -> bool {
    if word.len() > 6 {
        return false;
    }
    let word = word.to_lowercase();
    let before_number = after.starts_with(|letter: char| letter.is_ascii_digit() || letter == '[');
    ALWAYS_ABBREVIATED.contains(&word.as_str()) || before_number && ABBREVIATED_BEFORE_NUMBER.contains(&word.as_str())
}

/// The `W` of `George W. Bush` or `J. Smith`, but not the `C` of `vitamin C`.
fn is_initial(before: &str, word_at: usize) -> bool {
    let mut letters = before[word_at..].chars();
    let is_letter = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
    let word_before = before[..word_at].split_whitespace().next_back();
    is_letter && word_before.is_none_or(|word| word.starts_with(char::is_uppercase))
}

fn floor_char(text: &str, position: usize) -> usize {
    let mut position = position.min(text.len());
    while !text.is_char_boundary(position) {
        position -= 1;
    }
    position
}

fn ceil_char(text: &str, position: usize) -> usize {
    let mut position = position.min(text.len());
    while !text.is_char_boundary(position) {
        position += 1;
    }
    position
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(text: &str) -> Vec<&str> {
        let starts = starts(text, &Graphemes::new(text)).sentences;
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        starts.iter().zip(ends).map(|(&start, end)| text[start..end].trim()).collect()
    }

    #[test]
    fn abbreviations_initials_and_decimals_do_not_end_sentences() {
        let text = "Dr. Ahn met Jo J. Smith, e.g. Tuesday. See Fig. 3 for pi = 3.14 m. No. That is all.";
        let expected = ["Dr. Ahn met Jo J. Smith, e.g. Tuesday.", "See Fig. 3 for pi = 3.14 m.", "No.", "That is all."];
        assert_eq!(sentences(text), expected);
    }

    #[test]
    fn single_letters_end_sentences_when_they_are_no_initials() {
        assert_eq!(sentences("It holds vitamin C. Eat it."), ["It holds vitamin C.", "Eat it."]);
    }

    #[test]
    fn cjk_full_stops_end_sentences_without_spaces() {
        assert_eq!(sentences("岩石很硬。水很软！对吗？对。"), ["岩石很硬。", "水很软！", "对吗？", "对。"]);
    }

    #[test]
    fn wrapped_prose_is_one_sentence_and_list_items_are_many() {
        let wrapped = "The layer that was laid down first lies deepest and\nis the oldest of them all.";
        assert_eq!(sentences(wrapped).len(), 1);
        let wrapped = "The layer that was laid down first lies deepest, says Dr.\nAhn. It is old.";
        assert_eq!(sentences(wrapped).len(), 2);
        assert_eq!(sentences("1. granite\n2. basalt\n- chalk"), ["1. granite", "2. basalt", "- chalk"]);
    }

    #[test]
    fn paragraphs_start_after_blank_lines_only() {
        let text = "one\n \n\ntwo\nthree";
        let starts = starts(text, &Graphemes::new(text));
        assert_eq!(starts.paragraphs, [0, 7]);
        assert_eq!(starts.lines, [0, 7, 11]);
    }

    #[test]
    fn long_sentences_are_not_cut_by_the_window() {
        let sentence = format!("A{}.", " word".repeat(400));
        let text = format!("{sentence} {sentence}");
        assert_eq!(sentences(&text), [sentence.as_str(), sentence.as_str()]);
    }

    #[test]
    fn hostile_runs_take_no_quadratic_time() {
        let repeated =
            ["0. 1. ", "1! 2! ", "%.", "e.g. ", "A. ", "A.B.", "一.", "(1) "].map(|piece| piece.repeat(60_000));
        let closing = format!("end.{}", ")".repeat(200_000));
        let long_word = format!("{} A. B. C. D", "x".repeat(200_000));
        for text in repeated.iter().chain([&closing, &long_word]) {
            let clock = std::time::Instant::now();
            starts(text, &Graphemes::new(text));
            assert!(clock.elapsed().as_secs() < 5, "{:?}: {:?}", &text[..6], clock.elapsed());
        }
    }
}
