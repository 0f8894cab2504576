//! Words of a text as evidence: stems, numbers, pairs of ideographs. Grammar words carry none.

use std::collections::HashSet;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use super::dates::{Date, dates, is_date};

static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    "a about after all also am an and any are as at be been being but by can could did do does doing for from \
     had has have having he her here him his how i if in into is it its just me more most my no nor not of on \
     one or other our out over own same she should so some such than that the their them then there these they \
     this those through to too under until up very was we were what when where which while who whom whose why \
     will with would you your s t"
        .split_whitespace()
        .collect()
});

/// One word of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Term {
    /// Its stem in lower case, or the number as written without grouping commas.
    pub(super) text: String,
    /// Whether it has digits: such words must match exactly to count as support.
    pub(super) has_digits: bool,
}

impl Term {
    /// Whether it is a day of a year, as *1962-05-03*.
    pub(super) fn is_date(&self) -> bool {
        self.has_digits && is_date(&self.text)
    }
}

/// The words of `text` that carry meaning, in order but for dates, which come first. A date, however it is written, is a word of its own, and its day,
/// month and year are words too.
pub(super) fn terms(text: &str) -> Vec<Term> {
    let stemmer = Stemmer::create(Algorithm::English);
    let dates = dates(text);
    let mut found: Vec<Term> = dates.iter().flat_map(|(_, date)| terms_of_date(*date, &stemmer)).collect();
    let mut ideograph_before: Option<&str> = None;
    for (at, word) in text.unicode_word_indices() {
        if dates.iter().any(|(range, _)| range.contains(&at)) {
            continue;
        }
        if is_ideograph(word) {
            found.extend(ideograph_before.map(|before| plain(format!("{before}{word}"))));
            ideograph_before = Some(word);
            continue;
        }
        ideograph_before = None;
        found.extend(term(word, &stemmer));
    }
    found
}

fn terms_of_date(date: Date, stemmer: &Stemmer) -> [Term; 4] {
    let number = |text: String| Term { text, has_digits: true };
    let month = plain(stemmer.stem(date.month_name()).into_owned());
    [number(date.text()), number(date.day.to_string()), month, number(date.year.to_string())]
}

/// The stem of one word in lower case; `None` for grammar words and numbers.
pub(super) fn stem_of(word: &str) -> Option<String> {
    let term = term(word, &Stemmer::create(Algorithm::English))?;
    (!term.has_digits).then_some(term.text)
}

/// [`terms`] without repetitions.
pub(super) fn term_set(text: &str) -> HashSet<Term> {
    terms(text).into_iter().collect()
}

fn term(word: &str, stemmer: &Stemmer) -> Option<Term> {
    let lower = word.to_lowercase();
    if let Some(number) = number(&lower) {
        return Some(Term { text: number, has_digits: true });
    }
    let bare = lower.trim_end_matches("'s").trim_end_matches("’s");
    if STOP_WORDS.contains(bare) {
        return None;
    }
    Some(plain(stemmer.stem(bare).into_owned()))
}

/// English words for numbers. "One" is left out: it is a pronoun more often than a number.
const NUMBER_WORDS: [(&str, &str); 21] = [
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("thirteen", "13"),
    ("fourteen", "14"),
    ("fifteen", "15"),
    ("sixteen", "16"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("forty", "40"),
    ("fifty", "50"),
    ("sixty", "60"),
    ("ninety", "90"),
];

/// A word as a number, however it is written: without grouping commas, leading zeros and the ending of an ordinal.
pub(super) fn number(lower: &str) -> Option<String> {
    if let Some((_, digits)) = NUMBER_WORDS.iter().find(|(word, _)| *word == lower) {
        return Some((*digits).to_owned());
    }
    if !lower.contains(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let digits = ungrouped(lower);
    let ordinal = ["st", "nd", "rd", "th"].iter().find_map(|ending| digits.strip_suffix(ending));
    let bare = ordinal.filter(|bare| bare.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or(&digits);
    let stripped = bare.trim_start_matches('0');
    let starts_with_digit = stripped.starts_with(|letter: char| letter.is_ascii_digit());
    Some(if starts_with_digit { stripped } else { bare }.to_owned())
}

/// Without the commas of `1,250,000`; other commas (`0.5,0.5`) stand between numbers and stay.
fn ungrouped(number: &str) -> String {
    let mut groups = number.split(',');
    let first = groups.next().unwrap_or_default();
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let leads = (1..=3).contains(&first.len()) && is_digits(first);
    let is_group = |group: &str| {
        let whole = group.split('.').next().unwrap_or_default();
        whole.len() == 3 && is_digits(whole)
    };
    if leads && groups.all(is_group) { number.replace(',', "") } else { number.to_owned() }
}

fn plain(text: String) -> Term {
    Term { text, has_digits: false }
}

/// Chinese and Japanese have no spaces: one character says little, two next to each other say much.
fn is_ideograph(word: &str) -> bool {
    let mut letters = word.chars();
    let first = letters.next();
    letters.next().is_none()
        && first.is_some_and(|letter| {
            matches!(u32::from(letter), 0x3040..=0x30ff | 0x3400..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        terms(text).into_iter().map(|term| term.text).collect()
    }

    #[test]
    fn grammar_goes_and_forms_fall_together() {
        assert_eq!(texts("The glaciers are melting"), texts("a glacier melts"));
    }

    #[test]
    fn numbers_are_kept_and_marked() {
        let found = terms("It costs 1,250 euros");
        assert!(found.contains(&Term { text: "1250".to_owned(), has_digits: true }));
    }

    #[test]
    fn a_number_is_the_same_however_it_is_written() {
        assert_eq!(texts("on the 3rd of twelve, 03 and 0.5"), ["3", "12", "3", "0.5"]);
        assert_eq!(texts("007b"), ["7b"]);
        assert_eq!(texts("1,250,000 and 1,250.75"), ["1250000", "1250.75"]);
        assert_eq!(texts("0.5,0.5 and 12,5"), ["0.5,0.5", "12,5"]);
    }

    #[test]
    fn a_date_is_one_word_and_three() {
        assert_eq!(texts("since 3rd of May 1962"), ["1962-05-03", "3", "may", "1962", "sinc"]);
        assert_eq!(texts("1962-05-03"), texts("May 3, 1962"));
        assert!(terms("03.05.1962")[0].is_date());
    }

    #[test]
    fn ideographs_count_in_pairs() {
        assert_eq!(texts("温度和"), ["温度", "度和"]);
    }
}
