//! [`Date`]: a day, as `2026-05-31`.

use serde::{Deserialize, Serialize};

const SECS_PER_DAY: i64 = 86_400;

/// A day of the Gregorian calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Seconds from the start of 1970 to the start of this day.
    pub fn start_secs(self) -> i64 {
        let year = i64::from(self.year) - 1;
        let before_year = year * 365 + year / 4 - year / 100 + year / 400;
        let before_month: i64 = (1..self.month).map(|month| i64::from(days_in(self.year, month))).sum();
        // 719 162 days lie between the start of year 1 and 1970.
        (before_year + before_month + i64::from(self.day) - 1 - 719_162) * SECS_PER_DAY
    }
}

fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_in(year: u16, month: u8) -> u8 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl std::str::FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no date; expected for example 2026-05-31");
        let is_shaped = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !is_shaped {
            return Err(wrong());
        }
        let number = |range: std::ops::Range<usize>| text[range].parse::<u16>().map_err(|_| wrong());
        let (year, month, day) = (number(0..4)?, number(5..7)? as u8, number(8..10)? as u8);
        let exists = year > 0 && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
        if exists { Ok(Self { year, month, day }) } else { Err(wrong()) }
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl TryFrom<String> for Date {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Date> for String {
    fn from(date: Date) -> Self {
        date.to_string()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure is the test's message")]

    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        for (text, days) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2000-03-01", 11_017),
            ("2024-02-29", 19_782),
            ("2026-11-30", 20_787),
        ] {
            let date: Date = text.parse().unwrap();
            assert_eq!(date.start_secs(), days * SECS_PER_DAY, "{text}");
            assert_eq!(date.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for text in [
            "",
            "2026",
            "2026-2-1",
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "0000-01-01",
            "20260-1-01",
            "２０２６-01-01",
            "2026-01-32",
            "today",
        ] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
    }

    #[test]
    fn json_has_the_day_as_people_write_it() {
        let date: Date = "2026-05-31".parse().unwrap();
        assert_eq!(serde_json::to_string(&date).unwrap(), "\"2026-05-31\"");
        assert_eq!(serde_json::from_str::<Date>("\"2026-05-31\"").unwrap(), date);
        assert!(serde_json::from_str::<Date>("\"May\"").is_err());
    }
}
