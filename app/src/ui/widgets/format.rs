//! Numbers and places as people write them.

use crate::chunk::{ChunkerConfig, ChunkerKind, Unit};
use crate::extract::Place;
use crate::state::Pace;

/// `3 180` with a thin space between thousands.
pub(crate) fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3 * 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push('\u{202F}');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 file`, `3 180 files`.
pub(crate) fn counted(number: usize, word: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {word}{plural}", count(number))
}

/// `12 KB`, `3.4 MB`.
pub(crate) fn bytes(number: u64) -> String {
    let (mut value, mut unit) = (number as f64, "B");
    for larger in ["KB", "MB", "GB", "TB"] {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    if unit == "B" || value >= 9.95 { format!("{value:.0} {unit}") } else { format!("{value:.1} {unit}") }
}

/// `8 s`, `3 min`, `2 h`.
pub(crate) fn seconds(secs: f64) -> String {
    match secs {
        secs if secs < 90.0 => format!("{secs:.0} s"),
        secs if secs < 90.0 * 60.0 => format!("{:.0} min", secs / 60.0),
        secs => format!("{:.0} h", secs / 3600.0),
    }
}

/// `embedding 1 200 of 9 488 segments · 105/s · 79 s left`.
pub(crate) fn pace(verb: &str, pace: &Pace, things: &str) -> String {
    let mut line = format!("{verb} {} of {} {things}", count(pace.done), count(pace.total));
    if let (Some(rate), Some(secs)) = (pace.per_sec(), pace.secs_left()) {
        line.push_str(&format!("  ·  {rate:.0}/s  ·  {} left", seconds(secs)));
    }
    line.trim_end().to_owned()
}

/// The day in UTC, as `2026-05-31`, of seconds since 1970.
pub(crate) fn day(secs: u64) -> String {
    // Years begin in March, so that a leap day is the last of its year.
    let days = secs / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `12 ms`, `3.4 s`.
pub(crate) fn millis(millis: f64) -> String {
    match millis {
        millis if millis < 9.95 => format!("{millis:.1} ms"),
        millis if millis < 1000.0 => format!("{millis:.0} ms"),
        millis => format!("{:.1} s", millis / 1000.0),
    }
}

/// `pp. 3–4 · rows 7–9 · Plan › Costs`, or lines when nothing better is known.
pub(crate) fn place(place: &Place) -> String {
    let range = |(first, last): (u32, u32), one: &str, many: &str| {
        if first == last { format!("{one} {first}") } else { format!("{many} {first}–{last}") }
    };
    let mut parts = Vec::new();
    parts.extend(place.pages.map(|pages| range(pages, "p.", "pp.")));
    parts.extend(place.rows.map(|rows| range(rows, "row", "rows")));
    if !place.heading.is_empty() {
        parts.push(place.heading.join(" › "));
    }
    if parts.is_empty() && place.lines.0 > 0 {
        parts.push(range(place.lines, "line", "lines"));
    }
    parts.join("  ·  ")
}

/// The chunker's word.
pub(crate) fn chunker_word(kind: ChunkerKind) -> &'static str {
    match kind {
        ChunkerKind::Recursive => "Recursive",
        ChunkerKind::Markdown => "Markdown",
        ChunkerKind::Sentence => "Sentence",
        ChunkerKind::Semantic => "Semantic",
        ChunkerKind::Structure => "Structure",
        ChunkerKind::Cluster => "Cluster",
        ChunkerKind::Fixed => "Fixed",
        ChunkerKind::Paragraph => "Paragraph",
        ChunkerKind::MaxMin => "Max–min",
        ChunkerKind::Code => "Code",
        ChunkerKind::Manual => "Edited",
    }
}

/// `Recursive 1 000 / 100`.
pub(crate) fn chunker(config: &ChunkerConfig) -> String {
    let unit = if config.unit == Unit::Tokens { " tokens" } else { "" };
    format!("{} {} / {}{unit}", chunker_word(config.kind), count(config.size), count(config.overlap))
}

/// The unit's short word.
pub(crate) fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Chars => "characters",
        Unit::Tokens => "tokens",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(count(1_234_567), "1\u{202F}234\u{202F}567");
        assert_eq!(counted(1, "file"), "1 file");
        assert_eq!(counted(0, "file"), "0 files");
        assert_eq!([bytes(0), bytes(999), bytes(1500), bytes(34_824_680)], ["0 B", "999 B", "1.5 KB", "35 MB"]);
        assert_eq!([seconds(8.2), seconds(200.0), seconds(9000.0)], ["8 s", "3 min", "2 h"]);
        assert_eq!([millis(0.41), millis(12.0), millis(3400.0)], ["0.4 ms", "12 ms", "3.4 s"]);
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for text in ["1970-01-01", "2000-02-29", "2024-12-31", "2026-03-01", "2100-03-01"] {
            let date: Result<crate::retrieve::Date, _> = text.parse();
            let secs = date.map(crate::retrieve::Date::start_secs).unwrap_or_default();
            assert_eq!(day(secs as u64 + 86_399), text);
        }
    }

    #[test]
    fn places_prefer_pages_rows_and_headings_to_lines() {
        let mut at = Place { lines: (3, 9), ..Place::default() };
        assert_eq!(place(&at), "lines 3–9");
        at.pages = Some((7, 7));
        at.heading = vec!["Plan".to_owned(), "Costs".to_owned()];
        assert_eq!(place(&at), "p. 7  ·  Plan › Costs");
    }
}
