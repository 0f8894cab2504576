//! [`Condition`]: what a document has to say of itself to be searched.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::extract::{is_part_of_day, property_name};

/// A condition on a property of documents, written `author=ada*`, `created>=2024-05`, `pages<20`, or `author` alone for
/// documents that have the property at all.
///
/// A property with several values fulfils it where one of them does; `!=` is the opposite of `=`, so that a document
/// without the property fulfils it. Days, months and years are compared as far as both sides say (`created=2024` is that
/// whole year). Else `=` compares texts, without notice of upper and lower case and with `*` for any letters, and the
/// signs for order compare numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Condition {
    name: String,
    /// `None` where the property only has to be there.
    test: Option<(Comparison, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// Longer ones first, where one begins like another.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("=", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::More),
];

impl Condition {
    /// The property it is about.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it compares the property with something, and does not only ask whether it is there.
    pub fn is_comparison(&self) -> bool {
        self.test.is_some()
    }

    /// Whether a document fulfils it whose property has `values`; none where it has no such property.
    pub fn is_fulfilled<'v>(&self, mut values: impl Iterator<Item = &'v str>) -> bool {
        match &self.test {
            None => values.next().is_some(),
            Some((Comparison::NotEqual, wanted)) => !values.any(|value| is_equal(value, wanted)),
            Some((Comparison::Equal, wanted)) => values.any(|value| is_equal(value, wanted)),
            Some((comparison, wanted)) => {
                values.any(|value| order(value, wanted).is_some_and(|order| comparison.allows(order)))
            }
        }
    }
}

impl Comparison {
    fn allows(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::More => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Days by time, as far as both say.
fn order_of_days(value: &str, wanted: &str) -> Option<Ordering> {
    let length = value.len().min(wanted.len());
    (is_part_of_day(value) && is_part_of_day(wanted)).then(|| value[..length].cmp(&wanted[..length]))
}

/// Days by time, numbers by size; `None` where these two cannot be put in order.
fn order(value: &str, wanted: &str) -> Option<Ordering> {
    order_of_days(value, wanted).or_else(|| number(value)?.partial_cmp(&number(wanted)?))
}

fn is_equal(value: &str, wanted: &str) -> bool {
    match order_of_days(value, wanted) {
        Some(order) => order.is_eq(),
        None => matches_wildcards(&value.to_lowercase(), &wanted.to_lowercase()),
    }
}

/// Whether all of `text` is `pattern`, in which `*` stands for any letters.
fn matches_wildcards(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    let Some(mut rest) = rest.strip_suffix(last) else {
        return false;
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    true
}

impl std::str::FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let signs = COMPARISONS.iter().filter_map(|(sign, comparison)| Some((text.find(sign)?, sign, comparison)));
        // Of those that begin at the same place the longest is meant, which comes first.
        let first = signs.min_by_key(|(at, ..)| *at);
        let (name, test) = match first {
            None => (text, None),
            Some((at, sign, comparison)) => (&text[..at], Some((*comparison, text[at + sign.len()..].trim()))),
        };
        let is_odd = name.contains(['!', '~', '≥', '≤', '≠', '?', '*', '"', ';', '|']);
        let name = property_name(name.trim());
        if name.is_empty() || is_odd {
            return Err(format!(
                "{text:?} names no property; expected for example author=ada*, created>=2024-05 or pages<20"
            ));
        }
        let Some((comparison, wanted)) = test else {
            return Ok(Self { name, test: None });
        };
        let unquoted = wanted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let wanted = unquoted.unwrap_or(wanted);
        if wanted.is_empty() || wanted.starts_with(['=', '<', '>']) {
            return Err(format!(
                "{text:?} compares {name} with nothing; expected one sign and a value, as in author=ada*"
            ));
        }
        let is_ordered = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        if is_ordered && number(wanted).is_none() && !is_part_of_day(wanted) {
            return Err(format!(
                "{wanted:?} in {text:?} is no number and no day such as 2026-05-31; texts can be compared with = and != only"
            ));
        }
        Ok(Self { name, test: Some((comparison, wanted.to_owned())) })
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        let Some((comparison, wanted)) = &self.test else {
            return Ok(());
        };
        let sign = COMPARISONS.iter().find(|(_, other)| other == comparison).map_or("", |(sign, _)| sign);
        write!(f, "{sign}{wanted}")
    }
}

impl TryFrom<String> for Condition {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> Self {
        condition.to_string()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure is the test's message")]

    use super::*;

    fn holds(condition: &str, values: &[&str]) -> bool {
        condition.parse::<Condition>().unwrap().is_fulfilled(values.iter().copied())
    }

    #[test]
    fn values_are_compared_as_what_both_sides_are() {
        for (condition, value, expected) in [
            ("author=ada*", "Ada Petrel", true),
            ("author=*petrel", "Ada Petrel", true),
            ("author=*a*e*l", "Ada Petrel", true),
            ("author=ada", "Ada Petrel", false),
            ("author=*", "", true),
            ("author=a*a", "a", false),
            ("author!=Bo", "Ada", true),
            ("author!=ADA", "Ada", false),
            ("pages<20", "9", true),
            ("pages<20", "100", false),
            ("rating>=4.5", "4.50", true),
            ("author=\"Ada Petrel\"", "Ada Petrel", true),
            ("keywords=tides", "tides", true),
            ("version=1.1", "1.10", false),
            ("id=7", "007", false),
            ("published<2020-06-15", "2019", true),
            ("published>=2018-05", "2019", true),
            ("published=2019", "2019-05", true),
            ("published!=2019", "2019-05", false),
            ("rating>1", "good", false),
            ("created=2024", "2024-05-31", true),
            ("created>2024", "2024-05-31", false),
            ("created>=2024-06", "2024-05-31", false),
            ("created<2024-06-01", "2024-05-31", true),
            ("created<=2024-05", "2024-05-31", true),
            ("year=2024", "2024", true),
            ("Review Date > 2024-01-01", "2024-05-31", true),
        ] {
            assert_eq!(holds(condition, &[value]), expected, "{condition} with {value:?}");
        }
    }

    #[test]
    fn one_of_several_values_is_enough_and_none_is_not_equal() {
        assert!(holds("tag=tides", &["boats", "Tides"]) && !holds("tag!=tides", &["boats", "tides"]));
        assert!(holds("tag!=tides", &[]) && !holds("tag=tides", &[]) && !holds("tag<2", &[]));
        assert!(holds("tag", &["x"]) && !holds("tag", &[]));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for text in
            ["", "=x", "author=", "author==ada", "author>ada", "(?)=1", "!=2", "!author", "author!", "a=>1", "a~b"]
        {
            assert!(text.parse::<Condition>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn conditions_are_text_in_json() {
        let text = "\"created>=2024-05\"";
        let condition: Condition = serde_json::from_str(text).unwrap();
        assert_eq!((condition.name(), serde_json::to_string(&condition).unwrap().as_str()), ("created", text));
        assert!(serde_json::from_str::<Condition>("\"=\"").is_err());
    }
}
