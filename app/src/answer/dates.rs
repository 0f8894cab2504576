//! Dates of a text, however they are written: *1962-05-03*, *03.05.1962*, *3rd of May 1962*, *May 3, 1962*.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// English and German names of the months and their abbreviations.
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar"],
    &["february", "feb", "februar"],
    &["march", "mar", "märz"],
    &["april", "apr"],
    &["may", "mai"],
    &["june", "jun", "juni"],
    &["july", "jul", "juli"],
    &["august", "aug"],
    &["september", "sep", "sept"],
    &["october", "oct", "oktober", "okt"],
    &["november", "nov"],
    &["december", "dec", "dezember", "dez"],
];

/// A day of a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) year: u32,
    pub(super) month: usize,
    pub(super) day: u32,
}

impl Date {
    fn new(year: Option<u32>, month: Option<usize>, day: Option<u32>) -> Option<Self> {
        let (year, month, day) = (year?, month?, day?);
        let is_date = (1000..3000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
        is_date.then_some(Self { year, month, day })
    }

    /// As *1962-05-03*.
    pub(super) fn text(self) -> String {
        format!("{}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// The English name of its month, in lower case.
    pub(super) fn month_name(self) -> &'static str {
        MONTHS[self.month - 1][0]
    }
}

/// Whether a text is what [`Date::text`] gives.
pub(super) fn is_date(text: &str) -> bool {
    text.len() == 10 && text.bytes().enumerate().all(|(at, byte)| (at == 4 || at == 7) == (byte == b'-'))
}

/// The dates of `text` with their bytes, in order.
pub(super) fn dates(text: &str) -> Vec<(Range<usize>, Date)> {
    if !text.contains(|letter: char| letter.is_ascii_digit()) {
        return Vec::new();
    }
    let words: Vec<(usize, &str)> = text.unicode_word_indices().collect();
    let mut found = Vec::new();
    let mut first = 0;
    while first < words.len() {
        let Some((count, date)) = date_at(text, &words[first..]) else {
            first += 1;
            continue;
        };
        let (last, word) = words[first + count - 1];
        found.push((words[first].0..last + word.len(), date));
        first += count;
    }
    found
}

/// The date that begins with the first word, and of how many words it is.
fn date_at(text: &str, words: &[(usize, &str)]) -> Option<(usize, Date)> {
    let word = |index: usize| words.get(index).map_or("", |(_, word)| *word);
    if let Some(date) = dotted(word(0)) {
        return Some((1, date));
    }
    let gap = |index: usize| match (words.get(index), words.get(index + 1)) {
        (Some((at, word)), Some((next, _))) => &text[at + word.len()..*next],
        _ => "",
    };
    let (first_gap, second_gap) = (gap(0), gap(1));
    if first_gap == second_gap && matches!(first_gap, "-" | "/") {
        let month = number(word(1)).and_then(|month| usize::try_from(month).ok());
        return Date::new(year(word(0)), month, number(word(2))).map(|date| (3, date));
    }
    let is_loose = |count: usize| (0..count).all(|index| is_loose_gap(gap(index)));
    let of = usize::from(word(1) == "of");
    let day_first = Date::new(year(word(2 + of)), month(word(1 + of)), number(word(0)));
    if let Some(date) = day_first.filter(|_| is_loose(2 + of)) {
        return Some((3 + of, date));
    }
    let month_first = Date::new(year(word(2)), month(word(0)), number(word(1)));
    month_first.filter(|_| is_loose(2)).map(|date| (3, date))
}

fn is_loose_gap(gap: &str) -> bool {
    !gap.is_empty() && gap.chars().all(|letter| letter.is_whitespace() || matches!(letter, '.' | ','))
}

/// *03.05.1962*.
fn dotted(word: &str) -> Option<Date> {
    let mut parts = word.split('.');
    let (day, month, last) = (parts.next()?, parts.next()?, parts.next()?);
    let month = number(month).and_then(|month| usize::try_from(month).ok());
    Date::new(year(last), month, number(day)).filter(|_| parts.next().is_none())
}

fn month(word: &str) -> Option<usize> {
    let lower = word.to_lowercase();
    MONTHS.iter().position(|names| names.contains(&lower.as_str())).map(|index| index + 1)
}

fn year(word: &str) -> Option<u32> {
    word.parse().ok().filter(|_| word.len() == 4)
}

/// A number of one or two digits, an ordinal's ending left out.
fn number(word: &str) -> Option<u32> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    digits.parse().ok().filter(|_| digits.len() <= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_the_same_however_it_is_written() {
        for text in [
            "1962-05-03",
            "1962/5/3",
            "03.05.1962",
            "3 May 1962",
            "3rd of May 1962",
            "May 3, 1962",
            "May 3rd 1962",
            "3. Mai 1962",
            "3 May\n1962",
        ] {
            let sentence = format!("On {text} it began.");
            let found = dates(&sentence);
            let texts: Vec<(&str, String)> =
                found.iter().map(|(range, date)| (&sentence[range.clone()], date.text())).collect();
            assert_eq!(texts, [(text, "1962-05-03".to_owned())]);
            assert!(is_date(&texts[0].1));
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in ["1962-13-03", "3 boats 1962", "version 1.2.3", "10-12-14", "May 1962", "3 May", "3 May (1962"] {
            assert!(dates(text).is_empty(), "{text}");
        }
    }
}
