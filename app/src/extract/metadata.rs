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

/// What a document says of itself: properties by name (lower case, such as `author`), each with its values.
///
/// Dates are written as `2026-05-31`, or as much of that as the document says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Metadata(BTreeMap<String, Vec<String>>);

impl Metadata {
    /// Adds a value to a property; nothing if either is blank, or the same value is there. White space in it becomes
    /// one space, and a time becomes its day.
    pub fn add(&mut self, name: &str, value: &str) {
        let name = property_name(name);
        let value = one_line(value);
        let value = day_of_time(&value).unwrap_or(value);
        if name.is_empty() || value.is_empty() || (self.0.len() >= MOST_NAMES && !self.0.contains_key(&name)) {
            return;
        }
        let values = self.0.entry(name).or_default();
        if values.len() < MOST_VALUES && !values.contains(&value) {
            values.push(value);
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

/// A property's name as it is kept: lower case, with `-` for white space. Empty if it is none.
pub fn property_name(name: &str) -> String {
    let name = name.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase();
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.:/".contains(letter);
    if name.len() <= NAME_BYTES && name.chars().all(is_plain) { name } else { String::new() }
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
    (time.starts_with(|letter: char| letter.is_ascii_digit()) && time.contains(':')).then(|| day.to_owned())
}

/// Whether a text is a day, as `2026-05-31`.
pub fn is_day(text: &str) -> bool {
    text.len() == 10 && is_part_of_day(text)
}

/// Whether a text is a year, a month or a day: `2026`, `2026-05`, `2026-05-31`.
pub fn is_part_of_day(text: &str) -> bool {
    let digits = |byte: &u8| byte.is_ascii_digit();
    matches!(text.len(), 4 | 7 | 10)
        && text.bytes().enumerate().all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { digits(&byte) })
}

/// The properties at the head of a Markdown file, YAML (`name: value`) or TOML (`name = value`): those with a value of
/// their own or a list of them. What is nested deeper is passed over.
pub(super) fn add_front_matter(metadata: &mut Metadata, text: &str) {
    let mut list_of: Option<&str> = None;
    for line in text.lines() {
        let item = line.trim_start().strip_prefix("- ");
        match (item, list_of) {
            (Some(item), Some(name)) => metadata.add(name, unquoted(item)),
            _ if line.starts_with([' ', '\t', '#', '-']) => {}
            _ => {
                list_of = None;
                // A table of TOML: what follows is nested.
                if line.starts_with('[') {
                    return;
                }
                let Some((name, value)) = line.split_once([':', '=']) else { continue };
                let (name, value) = (unquoted(name), value.trim());
                let list = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                match list {
                    Some(list) => list.split(',').for_each(|item| metadata.add(name, unquoted(item))),
                    None if value.is_empty() => list_of = Some(name),
                    // Blocks and references of YAML.
                    None if value.starts_with(['|', '>', '&', '*', '{']) => {}
                    None => metadata.add(name, unquoted(value)),
                }
            }
        }
    }
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    // A remark after a value.
    text.split(" #").next().unwrap_or_default().trim_end()
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
            ("a=b", "x"),
        ] {
            metadata.add(name, value);
        }
        assert_eq!(listed(&metadata), ["author=Ada Petrel|Bo", "review-date=2026-05-31"]);
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
    }

    #[test]
    fn times_become_days_and_other_texts_stay() {
        for (value, expected) in [
            ("D:20240131120000+01'00'", "2024-01-31"),
            ("D:2024", "2024"),
            ("D:202403", "2024-03"),
            ("2024-01-31 12:00", "2024-01-31"),
            ("2024-01-31", "2024-01-31"),
            ("2024-01-31 to 2024-02-03", "2024-01-31 to 2024-02-03"),
            ("D: drive", "D: drive"),
        ] {
            let mut metadata = Metadata::default();
            metadata.add("date", value);
            assert_eq!(metadata.values("date"), [expected], "{value}");
        }
    }

    #[test]
    fn front_matter_gives_values_and_lists() {
        let yaml = "title: \"Tide tables\"\nrating: 4.5 # of five\ntags: [tides, 'harbour']\nauthors:\n  - Ada\n  - Bo\n\
                    nested:\n  deep: 1\nlong: |\n  text\nurl: https://example.org/a\n# remark: x\n";
        let mut metadata = Metadata::default();
        add_front_matter(&mut metadata, yaml);
        let expected =
            ["authors=Ada|Bo", "rating=4.5", "tags=tides|harbour", "title=Tide tables", "url=https://example.org/a"];
        assert_eq!(listed(&metadata), expected);
        let mut metadata = Metadata::default();
        add_front_matter(&mut metadata, "title = \"Tides\"\ndraft = true\n[extra]\ncolour = \"red\"\n");
        assert_eq!(listed(&metadata), ["draft=true", "title=Tides"]);
    }
}
