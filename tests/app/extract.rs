//! Extraction of whole files: what each format gives, what hostile files do, and what always holds.
#![allow(clippy::format_collect, reason = "plainer to read in a test")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "extract_formats.rs"]
mod formats;
#[path = "extract_hostile.rs"]
mod hostile;
#[path = "extract_random.rs"]
mod random;
#[path = "extract_support.rs"]
mod support;

use std::fs;
use std::path::Path;

use outcrop::extract::{DocumentKind, ExtractError, Extraction, SpanPlace, extract_file};
use support::{assert_sound, fixture, limits};

fn read(name: &str) -> Extraction {
    let extraction = extract_file(&fixture(name), &limits()).unwrap();
    assert_sound(&extraction);
    extraction
}

/// Reads `bytes` as a file of this name.
fn read_bytes(name: &str, bytes: &[u8]) -> Result<Extraction, ExtractError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let result = extract_file(&path, &limits());
    if let Ok(extraction) = &result {
        assert_sound(extraction);
    }
    result
}

fn heading_of(extraction: &Extraction, words: &str) -> Vec<String> {
    let at = extraction.text.find(words).unwrap_or_else(|| {
        panic!("{words:?} is not in the text:\n{}", extraction.text);
    });
    extraction.place(at..at + words.len()).heading
}

#[test]
fn pdf_columns_drawn_line_by_line_are_read_one_after_the_other() {
    let extraction = read("columns.pdf");
    let at = |words: &str| extraction.text.find(words).unwrap_or_else(|| panic!("{words:?}"));
    assert!(at("moved to the town hall last year.") < at("The harbour master kept"));
    assert!(at("book of the last winter.") < at("This closing remark"));
    assert_eq!(extraction.title.as_deref(), Some("Keeper and Master"));
    assert_eq!(
        heading_of(&extraction, "Eleven circles remain open in the book"),
        ["Two records of one harbour, kept by two men"]
    );
}

#[test]
fn pdf_words_are_mended() {
    let text = read("prose.pdf").text;
    assert!(text.contains("before the new breakwater changed the currents."), "{text}");
    assert!(text.contains("which is a well-known problem for everyone"), "{text}");
    assert!(text.contains("the efficient office moved words without any space glyph"), "{text}");
    assert!(text.contains("The turned page lists the winter storage sheds."), "{text}");
}

#[test]
fn pdf_table_rows_stay_rows() {
    let extraction = read("prose.pdf");
    assert!(extraction.text.contains("South | Curlew | 40\nEast | Petrel | 55"));
    assert_eq!(heading_of(&extraction, "Curlew"), ["Tides and Timetables", "Departures"]);
}

#[test]
fn pdf_text_in_right_to_left_scripts_is_in_logical_order() {
    let text = read("rtl.pdf").text;
    assert!(text.contains("שלום עולם 1234 סוף"), "{text}");
}

#[test]
fn every_page_of_a_long_pdf_is_found_again() {
    let extraction = read("many-pages.pdf");
    assert_eq!(extraction.coverage.pages, Some(83));
    for number in 1..=83_u32 {
        let words = format!("Entry {number}: the watch on night {number} saw {} lights", number * 7);
        let at = extraction.text.find(&words).unwrap();
        let place = extraction.place(at..at + words.len());
        assert_eq!(place.pages, Some((number, number)), "{words}");
    }
    let pages = extraction.spans.iter().filter(|span| matches!(span.place, SpanPlace::Page(_)));
    let covered: usize = pages.map(|span| span.end - span.start).sum();
    assert_eq!(covered, extraction.text.len(), "every character has a page");
}

#[test]
fn pages_without_text_are_named_with_the_reason() {
    let mixed = read("mixed.pdf");
    assert_eq!(mixed.coverage.pages_without_text, [(1, "the page is an image without text".to_owned())]);
    assert_eq!(mixed.place(0..5).pages, Some((2, 2)));
    let prose = read("prose.pdf");
    assert_eq!(prose.coverage.pages_without_text, [(3, "the page is blank".to_owned())]);
}

#[test]
fn word_keeps_headings_lists_tables_and_what_was_not_deleted() {
    let extraction = read("handbook.docx");
    let text = &extraction.text;
    assert_eq!(extraction.title.as_deref(), Some("Handbook of the Signal Station"));
    assert!(text.contains("- Blue means wait.\n- Yellow means follow."), "{text}");
    assert!(text.contains("Flag: Yellow; Meaning: follow; Answer: one horn"), "{text}");
    assert!(text.contains("The lamp is cleaned every Tuesday & Friday."), "{text}");
    assert_eq!(heading_of(&extraction, "two horns"), ["Signal Station", "Flags"]);
    assert_eq!(heading_of(&extraction, "every Tuesday"), ["Maintenance"]);
}

#[test]
fn a_table_in_a_table_keeps_columns_and_heading() {
    let extraction = read("handbook.docx");
    let row = "Watch: Night; People: (Name: Orla, Duty: lamp), (Name: Tadeusz, Duty: radio)";
    assert!(extraction.text.contains(row), "{}", extraction.text);
    let at = extraction.text.find(row).unwrap();
    let place = extraction.place(at..at + row.len());
    assert_eq!(place.heading, ["Signal Station", "Crew"]);
    assert_eq!(place.rows, Some((1, 1)));
}

#[test]
fn a_long_table_with_quoted_line_breaks_has_whole_rows() {
    let mut table = String::from("Nr;Name;Bemerkung\n");
    for row in 1..=3500 {
        table.push_str(&format!("{row};Teil {row};\"erste Zeile\r\nzweite; Zeile {row}\"\r\n"));
    }
    let extraction = read_bytes("teile.csv", table.as_bytes()).unwrap();
    assert_eq!(extraction.kind, DocumentKind::Csv);
    assert_eq!(extraction.text.lines().count(), 3500);
    let row = "Nr: 3141; Name: Teil 3141; Bemerkung: erste Zeile zweite; Zeile 3141";
    let at = extraction.text.find(row).unwrap();
    let place = extraction.place(at..at + row.len());
    assert_eq!((place.rows, place.lines), (Some((3141, 3141)), (3141, 3141)));
}

#[test]
fn text_in_any_encoding_is_the_same_text() {
    let text = "Die Fähre legt um 7 Uhr ab.\nÜber das Wetter weiß man wenig: café, naïve, Größe.\n";
    let utf16 = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    for (name, bytes) in [
        ("utf8.txt", text.as_bytes().to_vec()),
        ("bom.txt", format!("\u{feff}{text}").into_bytes()),
        ("little.txt", utf16(u16::to_le_bytes)),
        ("big.txt", utf16(u16::to_be_bytes)),
        ("latin.txt", latin),
    ] {
        assert_eq!(read_bytes(name, &bytes).unwrap().text, text.trim_end(), "{name}");
    }
    let shift_jis = fs::read(fixture("shift-jis.txt")).unwrap();
    assert!(std::str::from_utf8(&shift_jis).is_err());
    assert!(read("shift-jis.txt").text.contains("港の灯台は夜だけ光ります。"));
}

#[test]
fn kinds_come_from_content_and_then_the_name() {
    for (name, bytes, kind) in [
        ("page.txt", "<!DOCTYPE html><h1>Quay</h1><p>x", DocumentKind::Html),
        ("notes", "just words", DocumentKind::Text),
        ("a.rs", "fn main() {}", DocumentKind::Code),
        ("a.jsonl", "{\"a\": 1}\n{\"a\": 2}\n", DocumentKind::Json),
        ("a.md", "# A\n\nb", DocumentKind::Markdown),
    ] {
        assert_eq!(read_bytes(name, bytes.as_bytes()).unwrap().kind, kind, "{name}");
    }
    let moved = fs::read(fixture("columns.pdf")).unwrap();
    assert_eq!(read_bytes("columns.txt", &moved).unwrap().kind, DocumentKind::Pdf);
}

#[test]
fn what_is_not_read_is_called_by_its_name() {
    for (name, bytes, found) in [
        ("a.md", b"GIF89a\x01\0\x01\0\0".as_slice(), "a GIF image"),
        ("a.txt", b"\x7fELF\x02\x01\x01\0\0\0", "a program"),
        (
            "a.doc",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\0\0",
            "an Office file of the time before 2007 (save it in the newer format)",
        ),
        ("a.csv", b"\x00\x01\x02\x03\x04\x05\x06\x07", "binary data"),
    ] {
        let result = read_bytes(name, bytes);
        let Err(ExtractError::Unsupported { path, found: named }) = result else {
            panic!("{name}: {result:?}");
        };
        assert_eq!(named, found);
        assert!(path.ends_with(Path::new(name)));
    }
}

#[test]
fn a_missing_library_says_where_it_was_looked_for() {
    let mut limits = limits();
    limits.pdfium = None;
    // The library is loaded once for a process, so this is asked of a process that has not loaded it.
    let result = outcrop::extract::Extract::extract(
        &support::pool(limits),
        &fixture("columns.pdf"),
        &outcrop::CancelToken::new(),
    );
    assert!(matches!(result, Err(ExtractError::MissingLibrary { .. })), "{result:?}");
}
