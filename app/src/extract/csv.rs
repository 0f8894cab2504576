//! Tables as text: every row becomes one line `header: value; header: value`, so that it can be understood on
//! its own and is never cut in the middle of a quoted line break.

use std::path::Path;

use csv::{ReaderBuilder, StringRecord};

use super::decode::decode_as;
use super::rows::{RowWriter, is_header};
use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, ReadOptions, TextBuilder};

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Records looked at to find the delimiter.
const SAMPLE_RECORDS: usize = 200;
/// A field with more line breaks than this comes from a quote that was never closed.
const MOST_LINES_IN_FIELD: usize = 200;

/// Reads `bytes` as a table.
pub(super) fn read(
    bytes: &[u8],
    path: &Path,
    options: &ReadOptions,
    limits: &ExtractLimits,
) -> Result<Extraction, ExtractError> {
    let decoded = decode_as(bytes, options)?;
    let mut built = TextBuilder::new(limits);
    built.coverage.notes.extend(decoded.note);
    let (named, table) = split_delimiter_line(decoded.text.trim_start_matches('\u{feff}'));
    let dialect = Dialect {
        delimiter: named.unwrap_or_else(|| find_delimiter(table, path)),
        has_quotes: quotes_are_balanced(table),
    };
    if !dialect.has_quotes {
        built.note("A quotation mark is never closed, so quotation marks were read as text.");
    }
    push_rows(&mut built, table, dialect)?;
    built.finish(DocumentKind::Csv)
}

#[derive(Clone, Copy)]
struct Dialect {
    delimiter: u8,
    has_quotes: bool,
}

/// The records of a table; white space lines are no records.
fn records(table: &str, dialect: Dialect) -> impl Iterator<Item = StringRecord> {
    let reader = ReaderBuilder::new()
        .delimiter(dialect.delimiter)
        .quoting(dialect.has_quotes)
        .has_headers(false)
        .flexible(true)
        .from_reader(table.as_bytes());
    reader.into_records().map_while(Result::ok).filter(|record| record.iter().any(|field| !field.trim().is_empty()))
}

/// Spreadsheet programs may put `sep=;` in front of the table.
fn split_delimiter_line(text: &str) -> (Option<u8>, &str) {
    let Some((first, rest)) = text.split_once('\n') else {
        return (None, text);
    };
    match first.trim_end_matches('\r').as_bytes() {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter] => (Some(*delimiter), rest),
        _ => (None, text),
    }
}

/// The delimiter under which most records have the same number of fields, more than one.
fn find_delimiter(table: &str, path: &Path) -> u8 {
    let is_tsv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"));
    let score = |delimiter: &u8| {
        let (consistent, width) = consistency(table, *delimiter);
        let bonus = if is_tsv && *delimiter == b'\t' { 1.0 } else { 0.0 };
        (consistent + bonus, width)
    };
    let mut best = (b',', (0.0, 0));
    for delimiter in DELIMITERS {
        let scored = score(&delimiter);
        if scored > best.1 {
            best = (delimiter, scored);
        }
    }
    best.0
}

/// The share of sampled records as wide as the first one, and that width; nothing if it is one field.
fn consistency(table: &str, delimiter: u8) -> (f64, usize) {
    let dialect = Dialect { delimiter, has_quotes: true };
    let widths: Vec<usize> = records(table, dialect).take(SAMPLE_RECORDS).map(|record| record.len()).collect();
    match widths.first() {
        Some(&width) if width > 1 => {
            let same = widths.iter().filter(|other| **other == width).count();
            (same as f64 / widths.len() as f64, width)
        }
        _ => (0.0, 0),
    }
}

/// Whether quotation marks come in pairs. If not, the last one would swallow the rest of the table.
fn quotes_are_balanced(table: &str) -> bool {
    let quotes = table.bytes().filter(|byte| *byte == b'"').count();
    if quotes.is_multiple_of(2) {
        return true;
    }
    let swallows = table.rsplit_once('"').map_or("", |(_, rest)| rest);
    swallows.lines().count() <= 1 && swallows.len() < MOST_LINES_IN_FIELD
}

fn push_rows(built: &mut TextBuilder, table: &str, dialect: Dialect) -> Result<(), ExtractError> {
    let mut rows = RowWriter::default();
    let mut records = records(table, dialect).peekable();
    let Some(first) = records.next() else {
        return Ok(());
    };
    match records.peek() {
        None => {
            rows.add_header(first.iter());
            built.push(&rows.header_line())?;
        }
        Some(second) if is_header(first.iter(), second.iter()) => rows.add_header(first.iter()),
        Some(_) => {
            built.note("The table has no header row.");
            rows.write(built, first.iter())?;
        }
    }
    for record in records {
        rows.write(built, record.iter())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;
    use crate::extract::SpanPlace;

    fn read_text(table: &str) -> Extraction {
        read(table.as_bytes(), Path::new("table.csv"), &ReadOptions::default(), &ExtractLimits::default()).unwrap()
    }

    #[test]
    fn each_row_repeats_the_header_and_has_its_number() {
        let extraction = read_text("name,price\nbolt,2.50\nnut,0.75\n");
        assert_eq!(extraction.text, "name: bolt; price: 2.50\nname: nut; price: 0.75");
        let rows: Vec<_> = extraction.spans.iter().map(|span| &span.place).collect();
        assert_eq!(rows, [&SpanPlace::Row(1), &SpanPlace::Row(2)]);
        assert_eq!(extraction.place(30..31).rows, Some((2, 2)));
    }

    #[test]
    fn every_delimiter_is_found() {
        for delimiter in [",", ";", "\t", "|"] {
            let table =
                ["id|note", "1|one, two; three", "2|\"quoted\""].map(|line| line.replace('|', delimiter)).join("\n");
            if delimiter == "," || delimiter == ";" {
                let table = table.replace("one, two; three", "one two three");
                assert!(read_text(&table).text.contains("note: one two three"), "{delimiter}");
            } else {
                assert!(read_text(&table).text.contains("note: one, two; three"), "{delimiter}");
            }
        }
    }

    #[test]
    fn decimal_commas_do_not_split_a_semicolon_table() {
        let extraction = read_text("Ort;Höhe;Länge\nA;1,5;2,25\nB;3,0;4,75\n");
        assert!(extraction.text.starts_with("Ort: A; Höhe: 1,5; Länge: 2,25\n"));
    }

    #[test]
    fn quoted_line_breaks_stay_inside_their_row() {
        let extraction = read_text("id;text\n1;\"first\r\nsecond\"\n2;\"say \"\"hi\"\"\"\n");
        assert_eq!(extraction.text, "id: 1; text: first second\nid: 2; text: say \"hi\"");
    }

    #[test]
    fn a_quote_that_is_never_closed_swallows_nothing() {
        let extraction = read_text("id,text\n1,\"open\n2,two\n3,three\n");
        assert!(extraction.text.contains("id: 3; text: three"));
        assert_eq!(extraction.coverage.notes.len(), 1);
    }

    #[test]
    fn a_table_of_numbers_has_no_header() {
        let extraction = read_text("1,2\n3,4\n");
        assert_eq!(extraction.text, "1; 2\n3; 4");
    }

    #[test]
    fn the_delimiter_line_of_spreadsheets_is_obeyed() {
        let extraction = read_text("sep=;\r\na;b\r\n1,5;x\r\n");
        assert_eq!(extraction.text, "a: 1,5; b: x");
    }
}
