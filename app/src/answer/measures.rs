//! Numbers with the units beside them: *145 euros per hour*, *$145*, *12 m/s*, *5 million*.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use super::dates::dates;
use super::words::{number, stem_of};

/// Units by the name that all their forms are taken for. The last forms of some are stems.
const UNITS: [(&str, &[&str]); 42] = [
    ("euro", &["euro", "euros", "eur", "€"]),
    ("dollar", &["dollar", "dollars", "usd", "$"]),
    ("pound", &["pound", "pounds", "gbp", "£", "lb", "lbs"]),
    ("yen", &["yen", "jpy", "¥"]),
    ("franc", &["franc", "francs", "chf"]),
    ("crown", &["crown", "crowns", "krone", "kroner", "krona", "kronor"]),
    ("cent", &["cent", "cents"]),
    ("percent", &["percent", "pct", "%"]),
    ("degree", &["degree", "degrees", "°"]),
    ("metre", &["metre", "metres", "meter", "meters", "m", "metr"]),
    ("kilometre", &["kilometre", "kilometres", "kilometer", "kilometers", "km", "kilometr"]),
    ("centimetre", &["centimetre", "centimetres", "centimeter", "centimeters", "cm", "centimetr"]),
    ("millimetre", &["millimetre", "millimetres", "millimeter", "millimeters", "mm", "millimetr"]),
    ("mile", &["mile", "miles", "mi"]),
    ("foot", &["foot", "feet", "ft"]),
    ("inch", &["inch", "inches"]),
    ("yard", &["yard", "yards", "yd"]),
    ("hectare", &["hectare", "hectares", "ha", "hectar"]),
    ("acre", &["acre", "acres"]),
    ("gram", &["gram", "grams", "gramme", "grammes", "g"]),
    ("kilogram", &["kilogram", "kilograms", "kg", "kilo", "kilos"]),
    ("milligram", &["milligram", "milligrams", "mg"]),
    ("tonne", &["tonne", "tonnes", "ton", "tons", "t", "tonn"]),
    ("litre", &["litre", "litres", "liter", "liters", "l", "litr"]),
    ("millilitre", &["millilitre", "millilitres", "milliliter", "milliliters", "ml", "millilitr"]),
    ("second", &["second", "seconds", "sec", "secs", "s"]),
    ("minute", &["minute", "minutes", "min", "mins", "minut"]),
    ("hour", &["hour", "hours", "h", "hr", "hrs", "hourly"]),
    ("day", &["day", "days", "daily", "daili"]),
    ("week", &["week", "weeks", "weekly"]),
    ("month", &["month", "months", "monthly"]),
    ("year", &["year", "years", "yr", "yrs", "annual", "annually", "annum", "yearly"]),
    ("decade", &["decade", "decades", "decad"]),
    ("century", &["century", "centuries", "centuri"]),
    ("watt", &["watt", "watts", "w"]),
    ("kilowatt", &["kilowatt", "kilowatts", "kw"]),
    ("volt", &["volt", "volts", "v"]),
    ("knot", &["knot", "knots", "kn", "kt"]),
    ("hundred", &["hundred", "hundreds"]),
    ("thousand", &["thousand", "thousands"]),
    ("million", &["million", "millions", "mn"]),
    ("billion", &["billion", "billions", "bn"]),
];
/// Units after which another one may follow.
const MULTIPLIERS: [&str; 4] = ["hundred", "thousand", "million", "billion"];
/// What a number names rather than counts.
const LABELS: [&str; 32] = [
    "act",
    "annex",
    "appendix",
    "article",
    "chapter",
    "class",
    "clause",
    "day",
    "equation",
    "figure",
    "grade",
    "group",
    "item",
    "level",
    "line",
    "no",
    "number",
    "page",
    "paragraph",
    "part",
    "phase",
    "question",
    "room",
    "route",
    "row",
    "rule",
    "section",
    "step",
    "table",
    "type",
    "unit",
    "version",
];

/// A number with what it counts or measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Measure {
    /// The number, as in a term.
    pub(super) number: String,
    /// Its units by name, a multiplier before them.
    pub(super) units: Vec<String>,
    /// What it counts by, as in *per hour*, or the stem of the things counted.
    pub(super) others: Vec<String>,
    /// All of it as it is written.
    pub(super) written: String,
}

impl Measure {
    /// Whether nothing says what the number counts.
    pub(super) fn is_bare(&self) -> bool {
        self.units.is_empty() && self.others.is_empty()
    }
}

/// The name of the unit that a word, its stem or a sign stands for.
pub(super) fn unit(form: &str) -> Option<&'static str> {
    UNITS.iter().find(|(_, forms)| forms.contains(&form)).map(|(name, _)| *name)
}

/// Every unit and every stem of a text.
pub(super) fn said(text: &str) -> HashSet<String> {
    let signs = text.chars().filter(|letter| !letter.is_alphanumeric());
    let units = signs.filter_map(|sign| unit(sign.encode_utf8(&mut [0; 4])).map(str::to_owned));
    let words = text.unicode_words().flat_map(|word| {
        let name = unit(&word.to_lowercase()).map(str::to_owned);
        name.into_iter().chain(stem_of(word))
    });
    units.chain(words).collect()
}

/// The numbers of a text with their units; dates and names like *7b* are left out.
pub(super) fn measures(text: &str) -> Vec<Measure> {
    let dates = dates(text);
    let words: Vec<(usize, &str)> = text.unicode_word_indices().collect();
    let is_number = |(at, word): &(usize, &str)| {
        let number = number(&word.to_lowercase())?;
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
        (is_plain && !dates.iter().any(|(range, _)| range.contains(at))).then_some(number)
    };
    let measured = |index: usize| Some(measure(text, &words, index, is_number(&words[index])?));
    (0..words.len()).filter_map(measured).collect()
}

fn measure(text: &str, words: &[(usize, &str)], index: usize, number: String) -> Measure {
    let (start, word) = words[index];
    let mut end = start + word.len();
    let (mut units, mut others) = (Vec::new(), Vec::new());
    let before = text[..start].trim_end_matches([' ', '\u{a0}']).chars().next_back();
    units.extend(before.filter(|sign| "€$£¥".contains(*sign)).and_then(unit_of_sign));
    let after = text[end..].trim_start_matches([' ', '\u{a0}']);
    if let Some((sign, unit)) = after.chars().next().and_then(|sign| Some((sign, unit_of_sign(sign)?))) {
        units.push(unit);
        end = text.len() - after.len() + sign.len_utf8();
    }
    let mut next = index + 1;
    while let Some((at, word)) = words.get(next).filter(|(at, _)| is_beside(&text[end..*at])) {
        let lower = word.to_lowercase();
        let is_per_cent = lower == "per" && words.get(next + 1).is_some_and(|(_, word)| *word == "cent");
        let Some(name) = unit(&lower).or(is_per_cent.then_some("percent")) else {
            let is_label = index.checked_sub(1).is_some_and(|index| is_label(words[index].1));
            let is_counted = units.is_empty() && !is_label && !is_year(&number) && is_plural(word);
            if is_counted {
                others.extend(stem_of(word));
                end = at + word.len();
            }
            break;
        };
        units.push(name.to_owned());
        next += 1 + usize::from(is_per_cent);
        end = words[next - 1].0 + words[next - 1].1.len();
        if !MULTIPLIERS.contains(&name) {
            break;
        }
    }
    let counted_by = if units.is_empty() { None } else { rate(text, end, words.get(next..).unwrap_or_default()) };
    if let Some((unit, unit_end)) = counted_by {
        others.push(unit.to_owned());
        end = unit_end;
    }
    let start = start
        - before.filter(|sign| "€$£¥".contains(*sign) && text[..start].ends_with(*sign)).map_or(0, char::len_utf8);
    Measure { number, units, others, written: text[start..end].to_owned() }
}

/// The unit after *per* or a slash, and where it ends.
fn rate(text: &str, end: usize, next: &[(usize, &str)]) -> Option<(&'static str, usize)> {
    let (at, word) = next.first()?;
    let (at, word) = match text[end..*at].trim() {
        "/" => (at, word),
        "" if word.eq_ignore_ascii_case("per") => next.get(1).map(|(at, word)| (at, word))?,
        _ => return None,
    };
    unit(&word.to_lowercase()).map(|unit| (unit, at + word.len()))
}

fn unit_of_sign(sign: char) -> Option<String> {
    let is_sign = !sign.is_alphanumeric();
    unit(sign.encode_utf8(&mut [0; 4])).filter(|_| is_sign).map(str::to_owned)
}

/// Whether nothing but a space or a hyphen stands between a number and the next word.
fn is_beside(gap: &str) -> bool {
    gap.chars().all(|letter| matches!(letter, ' ' | '\u{a0}' | '-' | '\n')) && gap.len() <= 2
}

fn is_plural(word: &str) -> bool {
    let is_low = word.chars().all(char::is_lowercase);
    is_low && word.len() > 3 && word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending))
}

fn is_label(word: &str) -> bool {
    LABELS.contains(&word.to_lowercase().as_str())
}

fn is_year(number: &str) -> bool {
    number.len() == 4 && number.parse::<u32>().is_ok_and(|year| (1000..3000).contains(&year))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, Vec<String>, Vec<String>)> {
        measures(text).into_iter().map(|measure| (measure.number, measure.units, measure.others)).collect()
    }

    fn one(number: &str, units: &[&str], others: &[&str]) -> Vec<(String, Vec<String>, Vec<String>)> {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        vec![(number.to_owned(), owned(units), owned(others))]
    }

    #[test]
    fn a_unit_is_the_same_however_it_is_written() {
        for text in ["145 euros", "€145", "145€", "145 EUR", "€ 145"] {
            assert_eq!(found(text), one("145", &["euro"], &[]), "{text}");
        }
        for text in ["145 dollars per hour", "$145 per hour", "145 $/h", "145 dollars/hour"] {
            assert_eq!(found(text), one("145", &["dollar"], &["hour"]), "{text}");
        }
        for text in ["5 %", "5%", "5 percent", "five per cent"] {
            assert_eq!(found(text), one("5", &["percent"], &[]), "{text}");
        }
        assert_eq!(found("a 21-day notice"), one("21", &["day"], &[]));
        assert_eq!(found("12 m/s"), one("12", &["metre"], &["second"]));
        assert_eq!(found("5 million dollars"), one("5", &["million", "dollar"], &[]));
    }

    #[test]
    fn counted_things_are_plural_and_labels_count_nothing() {
        assert_eq!(found("twelve boats sail"), one("12", &[], &["boat"]));
        for text in ["Rule 7 says", "in 1962 boats sailed", "| 145 | euros |", "between 12 and 15", "12, boats"] {
            assert!(measures(text).iter().all(Measure::is_bare), "{text}");
        }
        assert!(measures("on 3 May 1962 and 7b").is_empty());
    }

    #[test]
    fn a_measure_is_written_as_it_stands() {
        let written: Vec<String> =
            measures("$145 per hour or 12 m/s or 3 boats").into_iter().map(|measure| measure.written).collect();
        assert_eq!(written, ["$145 per hour", "12 m/s", "3 boats"]);
    }
}
