//! Table rows as lines that can be understood on their own. Shared by every format with tables.

use std::borrow::Cow;

use super::{ExtractError, SpanPlace, TextBuilder};

/// A header with longer fields than this is a row of text.
const LONGEST_HEADER_CHARS: usize = 80;

/// Writes the rows of one table, each a line `header: value; header: value` marked with its number.
#[derive(Default)]
pub(super) struct RowWriter {
    header: Vec<String>,
    rows_written: u32,
}

impl RowWriter {
    /// Names the columns; a second header row refines the names of the first.
    pub(super) fn add_header<'f>(&mut self, fields: impl Iterator<Item = &'f str>) {
        for (column, field) in fields.enumerate() {
            let field = one_line(field);
            match self.header.get_mut(column) {
                Some(name) if field.is_empty() || *name == field => {}
                Some(name) if name.is_empty() => *name = field.into_owned(),
                Some(name) => *name = format!("{name} / {field}"),
                None => self.header.push(field.into_owned()),
            }
        }
    }

    /// The names of the columns as a line of text, for a table without rows.
    pub(super) fn header_line(&self) -> String {
        self.header.join("; ")
    }

    /// The next row is number `row + 1`, for sheets whose rows have numbers of their own.
    pub(super) fn skip_to(&mut self, row: u32) {
        self.rows_written = row;
    }

    /// Writes one row below the header. Empty fields are left out; a row of them counts but has no text.
    ///
    /// # Errors
    /// The text would be over the budget.
    pub(super) fn write<'f>(
        &mut self,
        built: &mut TextBuilder,
        fields: impl Iterator<Item = &'f str>,
    ) -> Result<(), ExtractError> {
        self.rows_written += 1;
        built.break_line();
        let start = built.len();
        for (column, field) in fields.enumerate() {
            let value = one_line(field);
            if value.is_empty() {
                continue;
            }
            if built.len() > start {
                built.push("; ")?;
            }
            if let Some(name) = self.header.get(column).filter(|name| !name.is_empty()) {
                built.push(name)?;
                built.push(if name.ends_with(':') { " " } else { ": " })?;
            }
            built.push(&value)?;
        }
        if built.len() > start {
            built.push("\n")?;
        }
        built.mark(start, SpanPlace::Row(self.rows_written));
        Ok(())
    }
}

/// A field without line breaks and doubled spaces.
fn one_line(field: &str) -> Cow<'_, str> {
    let trimmed = field.trim();
    if trimmed.contains(['\n', '\r', '\t']) || trimmed.contains("  ") {
        let words: Vec<_> = trimmed.split_whitespace().collect();
        words.join(" ").into()
    } else {
        trimmed.into()
    }
}

/// Whether the first row names the columns: it does unless it looks like the data below it, with a number where
/// that has numbers, or like text, or stands over none of it: then its names would be written nowhere.
pub(super) fn is_header<'f>(first: impl Iterator<Item = &'f str>, second: impl Iterator<Item = &'f str>) -> bool {
    let mut number_pairs = 0;
    let mut numbers_below = 0;
    let mut stands_over = false;
    let second: Vec<&str> = second.collect();
    for (name, below) in first.zip(second.iter().copied()) {
        if name.chars().count() > LONGEST_HEADER_CHARS {
            return false;
        }
        number_pairs += usize::from(is_number(name) && is_number(below));
        numbers_below += usize::from(is_number(below));
        stands_over |= !name.trim().is_empty() && !below.trim().is_empty();
    }
    if !stands_over && second.iter().any(|field| !field.trim().is_empty()) {
        return false;
    }
    number_pairs == 0 || number_pairs * 2 <= numbers_below
}

fn is_number(field: &str) -> bool {
    let field = field.trim().trim_start_matches(['-', '+', '$', '€', '£']);
    let belongs = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '%' | ' ' | '-' | '/' | ':' | 'e' | 'E');
    field.starts_with(|c: char| c.is_ascii_digit()) && field.chars().all(belongs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(first: &[&str], second: &[&str]) -> bool {
        is_header(first.iter().copied(), second.iter().copied())
    }

    #[test]
    fn names_over_data_are_a_header_and_data_over_data_is_not() {
        assert!(header(&["name", "price"], &["bolt", "2.50"]));
        assert!(header(&["region", "2020", "share"], &["north", "17", "0.5"]));
        assert!(header(&["a", "b"], &["x", "y"]));
        assert!(!header(&["1", "2"], &["3", "4"]));
        assert!(!header(&["1"], &["", "", "2"]));
        assert!(!header(&[&"long text ".repeat(20), "b"], &["x", "y"]));
    }

    #[test]
    fn a_second_header_row_refines_the_first() {
        let mut rows = RowWriter::default();
        rows.add_header(["", "Sales", "Sales"].into_iter());
        rows.add_header(["Region", "2023", "2024"].into_iter());
        assert_eq!(rows.header_line(), "Region; Sales / 2023; Sales / 2024");
    }
}
