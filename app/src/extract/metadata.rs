//! [`Metadata`]: what a document says of itself.
//!
//! Invariant: documents are hostile input. However much one says, what is kept of it is small: few names, few values of
//! each, short and on one line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Properties kept of a document.
const MOST_NAMES: usize = 64;
/// Values kept of a property.
const MOST_VALUES: usize = 32;
/// Bytes of a name.
const NAME_BYTES: usize = 64;
/// Bytes of a value.
const VALUE_BYTES: usize = 300;
/// Bytes of all of them.
const MOST_BYTES: usize = 16 << 10;

/// What a document says of itself: properties by name (lower case, such as `author`), each with its values.
///
/// Dates are written as `2026-05-31`, or as much of that as the document says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Metadata(BTreeMap<String, Vec<String>>);

impl Metadata {
    /// Adds a value to a property; nothing if either is blank, or the same value is there. White space in it becomes
    /// one space, and a time its day, but in a title.
    pub fn add(&mut self, name: &str, value: &str) {
        let name = property_name(name);
        if name.is_empty() || self.is_full(&name) {
            return;
        }
        let value = one_line(value);
        let value = if name == "title" { None } else { day_of_time(&value) }.unwrap_or(value);
        if value.is_empty() || self.values(&name).contains(&value) {
            return;
        }
        let kept_bytes: usize = self.0.values().flatten().map(String::len).sum();
        if kept_bytes + value.len() <= MOST_BYTES {
            self.0.entry(name).or_default().push(value);
        }
    }

    fn is_full(&self, name: &str) -> bool {
        match self.0.get(name) {
            Some(values) => values.len() >= MOST_VALUES,
            None => self.0.len() >= MOST_NAMES,
        }
    }

    /// The values of a property, in the document's order; none where it says nothing of it.
    pub fn values(&self, name: &str) -> &[String] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Every property with its values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(name, values)| (name.as_str(), values.as_slice()))
    }
}

/// A property's name as it is kept: lower case, letters, digits and `_.:/`, with `-` for anything else between them, and
/// `author`, `keyword` and `tag` also where there are several. Empty if nothing is left or it is too long.
pub fn property_name(name: &str) -> String {
    if name.len() > 4 * NAME_BYTES {
        return String::new();
    }
    let is_plain = |letter: char| letter.is_alphanumeric() || "_.:/".contains(letter);
    let words: Vec<&str> = name.split(|letter| !is_plain(letter)).filter(|word| !word.is_empty()).collect();
    let name = words.join("-").to_lowercase();
    match name.as_str() {
        // Written both ways for the same.
        "authors" => "author".to_owned(),
        "keywords" => "keyword".to_owned(),
        "tags" => "tag".to_owned(),
        _ if name.len() <= NAME_BYTES => name,
        _ => String::new(),
    }
}

fn one_line(value: &str) -> String {
    let words = value.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let mut line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    line.truncate(line.floor_char_boundary(VALUE_BYTES));
    line
}

/// The day of a time as XML, HTML and mail write it (`2026-05-31T09:00:00Z`) or as PDF does (`D:20260531090000Z`).
fn day_of_time(value: &str) -> Option<String> {
    if let Some(digits) = value.strip_prefix("D:") {
        let digits: String = digits.chars().take_while(char::is_ascii_digit).take(8).collect();
        return match digits.len() {
            4 | 5 => Some(digits[..4].to_owned()),
            6 | 7 => Some(format!("{}-{}", &digits[..4], &digits[4..6])),
            8 => Some(format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..])),
            _ => None,
        };
    }
    let day = value.get(..10).filter(|day| is_day(day))?;
    let time = value[10..].strip_prefix(['T', ' '])?;
    is_time(time).then(|| day.to_owned())
}

/// Whether all of a text is a time of day, `09:00`, `09:00:30.5Z`, `09:00 +01:00`.
fn is_time(text: &str) -> bool {
    let clock = text.trim_end_matches(|letter: char| letter.is_ascii_uppercase()).trim_end();
    let (clock, zone) = clock.split_once(['+', '-']).unwrap_or((clock, "00"));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = clock.trim_end().split(':').collect();
    let (last, whole) = parts.split_last().unwrap_or((&"", &[]));
    let last = last.replacen('.', "", 1);
    matches!(whole.len(), 1 | 2)
        && whole.iter().all(|part| part.len() == 2 && are_digits(part))
        && are_digits(&last)
        && are_digits(&zone.replacen(':', "", 1))
}

/// Whether a text is a day, as `2026-05-31`.
fn is_day(text: &str) -> bool {
    text.len() == 10 && is_part_of_day(text)
}

/// Whether a text is a year, a month or a day: `2026`, `2026-05`, `2026-05-31`.
pub fn is_part_of_day(text: &str) -> bool {
    let digits = |byte: &u8| byte.is_ascii_digit();
    let number = |range: std::ops::Range<usize>| text.get(range).and_then(|digits| digits.parse().ok());
    let month: Option<u8> = number(5..7);
    let day: Option<u8> = number(8..10);
    matches!(text.len(), 4 | 7 | 10)
        && month.is_none_or(|month| (1..=12).contains(&month))
        && day.is_none_or(|day| (1..=31).contains(&day))
        && text.bytes().enumerate().all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { digits(&byte) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(metadata: &Metadata) -> Vec<String> {
        metadata.iter().map(|(name, values)| format!("{name}={}", values.join("|"))).collect()
    }

    #[test]
    fn values_are_short_single_lines_said_once() {
        let mut metadata = Metadata::default();
        for (name, value) in [
            ("Author", " Ada\n\tPetrel "),
            ("author", "Ada Petrel"),
            ("author", "Bo"),
            ("Review Date", "2026-05-31T09:00:00Z"),
            ("", "x"),
            ("blank", " \u{0} "),
            ("(?)", "x"),
            ("Reviewed by (QA)", "Bo"),
        ] {
            metadata.add(name, value);
        }
        assert_eq!(listed(&metadata), ["author=Ada Petrel|Bo", "review-date=2026-05-31", "reviewed-by-qa=Bo"]);
        metadata.add("long", &"ä".repeat(1000));
        assert_eq!(metadata.values("long")[0].len(), VALUE_BYTES);
    }

    #[test]
    fn a_document_cannot_say_more_than_is_kept() {
        let mut metadata = Metadata::default();
        for number in 0..1000 {
            metadata.add(&format!("name{number}"), "x");
            metadata.add("name0", &number.to_string());
        }
        assert_eq!(metadata.iter().count(), MOST_NAMES);
        assert_eq!(metadata.values("name0").len(), MOST_VALUES);
        for number in 0..1000 {
            metadata.add(&format!("name{}", number % MOST_NAMES), &format!("{number} {}", "x".repeat(500)));
        }
        assert!(metadata.iter().flat_map(|(_, values)| values).map(String::len).sum::<usize>() <= MOST_BYTES);
    }

    #[test]
    fn times_become_days_and_other_texts_stay() {
        for (value, expected) in [
            ("D:20240131120000+01'00'", "2024-01-31"),
            ("D:2024", "2024"),
            ("D:202403", "2024-03"),
            ("2024-01-31 12:00", "2024-01-31"),
            ("2024-01-31", "2024-01-31"),
            ("2024-01-31T12:00:30.5+01:00", "2024-01-31"),
            ("2024-01-31 12:00:30 UTC", "2024-01-31"),
            ("2024-01-31 to 2024-02-03", "2024-01-31 to 2024-02-03"),
            ("2024-01-31 10:00 Standup", "2024-01-31 10:00 Standup"),
            ("2024-01-31 3 boats: a log", "2024-01-31 3 boats: a log"),
            ("D: drive", "D: drive"),
        ] {
            let mut metadata = Metadata::default();
            metadata.add("date", value);
            assert_eq!(metadata.values("date"), [expected], "{value}");
        }
    }
}
