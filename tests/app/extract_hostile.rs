//! Files that were cut off, locked, made to explode or made to go round in circles.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use outcrop::CancelToken;
use outcrop::extract::{Extract, ExtractError, ReadOptions, extract_file};
use zip::write::SimpleFileOptions;

use super::support::{fixture, limits, pool};
use super::{read, read_bytes};

fn error_of(name: &str) -> ExtractError {
    extract_file(&fixture(name), &limits()).unwrap_err()
}

#[test]
fn locked_and_scanned_files_say_what_they_need() {
    assert!(matches!(error_of("encrypted.pdf"), ExtractError::PasswordNeeded { .. }));
    assert!(matches!(error_of("scan.pdf"), ExtractError::NeedsOcr { pages: 1, .. }));
}

#[test]
fn a_pdf_cut_off_anywhere_is_damaged_and_never_half_a_document() {
    let whole = fs::read(fixture("many-pages.pdf")).unwrap();
    for percent in [1, 10, 33, 50, 75, 90, 98] {
        let result = read_bytes("cut.pdf", &whole[..whole.len() * percent / 100]);
        let Err(ExtractError::Damaged { path, format, .. }) = result else {
            panic!("at {percent} %: {result:?}");
        };
        assert_eq!(format, "PDF");
        assert!(path.ends_with("cut.pdf"));
    }
}

#[test]
fn a_page_tree_that_contains_itself_ends_with_an_error() {
    let started = Instant::now();
    let result = pool(limits()).extract(&fixture("cyclic.pdf"), &CancelToken::new());
    assert!(matches!(result, Err(ExtractError::OverBudget { .. })), "{result:?}");
    assert!(started.elapsed() < Duration::from_secs(20));
}

/// A PDF of so many pages with a line each; `catalog` goes into its root.
fn long_pdf(num_pages: usize, catalog: &str) -> Vec<u8> {
    let pages: Vec<Vec<String>> = (1..=num_pages).map(|page| vec![format!("Sheet {page} of the log.")]).collect();
    tests::pdf::pdf(&pages, catalog)
}

#[test]
fn a_pdf_of_ten_thousand_pages_is_read_with_progress_and_within_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.pdf");
    fs::write(&path, long_pdf(10_000, "")).unwrap();
    let mut pages_begun = 0;
    let extraction = outcrop::extract::extract_with_steps(&path, &ReadOptions::default(), &limits(), &mut |step| {
        pages_begun += usize::from(matches!(step, outcrop::extract::ExtractStep::Page { pages: 10_000, .. }));
    })
    .unwrap();
    assert_eq!((pages_begun, extraction.coverage.pages), (10_000, Some(10_000)));
    let at = extraction.text.find("Sheet 8765 of the log.").unwrap();
    assert_eq!(extraction.place(at..at + 5).pages, Some((8765, 8765)));

    let mut limits = limits();
    limits.document_secs = 0;
    let result = pool(limits).extract(&path, &CancelToken::new());
    let Err(ExtractError::TimedOut { detail, .. }) = result else { panic!("{result:?}") };
    assert!(detail.contains("took longer than 0 s"), "{detail}");
}

#[test]
fn printed_page_labels_are_told_beside_the_numbers() {
    let labels = "/PageLabels<</Nums[0<</S/r>>4<</S/D>>]>>";
    let extraction = read_bytes("preface.pdf", &long_pdf(9, labels)).unwrap();
    let note = "Printed page labels differ from page numbers: page 1 is labelled i, page 5 is labelled 1.";
    assert!(extraction.coverage.notes.iter().any(|other| other == note), "{:?}", extraction.coverage.notes);
    let plain = read_bytes("plain.pdf", &long_pdf(3, "")).unwrap();
    assert!(plain.coverage.notes.is_empty(), "{:?}", plain.coverage.notes);
}

#[test]
fn a_pdf_with_a_damaged_character_map_gives_no_garbage() {
    let bytes = fs::read(fixture("unmapped.pdf")).unwrap();
    let result = read_bytes("unmapped.pdf", &bytes);
    let Err(ExtractError::Damaged { detail, .. }) = result else {
        panic!("{result:?}");
    };
    assert!(detail.contains("which characters"), "{detail}");
}

#[test]
fn a_word_file_cut_off_anywhere_is_damaged() {
    let whole = fs::read(fixture("handbook.docx")).unwrap();
    for percent in [1, 10, 50, 90, 99] {
        let result = read_bytes("cut.docx", &whole[..whole.len() * percent / 100]);
        assert!(matches!(result, Err(ExtractError::Damaged { .. })), "at {percent} %: {result:?}");
    }
}

#[test]
fn a_word_file_whose_xml_ends_early_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("early.docx");
    let xml = "<w:document xmlns:w=\"w\"><w:body><w:p><w:r><w:t>half a sent";
    write_docx(&path, |document| document.write_all(xml.as_bytes()).unwrap());
    let result = extract_file(&path, &limits());
    assert!(matches!(result, Err(ExtractError::Damaged { .. })), "{result:?}");
}

#[test]
fn a_word_file_that_inflates_to_400_megabytes_is_refused_in_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.docx");
    write_docx(&path, |document| {
        document.write_all(b"<w:document xmlns:w=\"w\"><w:body>").unwrap();
        let paragraphs = "<w:p><w:r><w:t>                </w:t></w:r></w:p>".repeat(1 << 14);
        for _ in 0..=400 * (1 << 20) / paragraphs.len() {
            document.write_all(paragraphs.as_bytes()).unwrap();
        }
        document.write_all(b"</w:body></w:document>").unwrap();
    });
    let file_bytes = fs::metadata(&path).unwrap().len();
    assert!(file_bytes < 4 << 20, "the bomb itself has {file_bytes} bytes");
    let mut limits = limits();
    limits.memory_bytes = 768 << 20;
    let result = pool(limits).extract(&path, &CancelToken::new());
    let Err(ExtractError::OverBudget { detail, .. }) = result else {
        panic!("{result:?}");
    };
    assert!(detail.contains("word/document.xml inflates to"), "{detail}");
}

fn write_docx(path: &Path, write_document: impl FnOnce(&mut zip::ZipWriter<fs::File>)) {
    let mut archive = zip::ZipWriter::new(fs::File::create(path).unwrap());
    archive.start_file("word/document.xml", SimpleFileOptions::default().compression_level(Some(9))).unwrap();
    write_document(&mut archive);
    archive.finish().unwrap();
}

#[test]
fn odd_shapes_of_plain_text_are_kept() {
    let line = "word ".repeat(12_000);
    assert_eq!(read_bytes("line.txt", line.as_bytes()).unwrap().text.len(), 59_999);
    let blank = format!("a{}b", "\r\n".repeat(2000));
    assert_eq!(read_bytes("blank.txt", blank.as_bytes()).unwrap().text.lines().count(), 2001);
    let thai = "ภาษาไทยไม่มีช่องว่างระหว่างคำ".repeat(500);
    assert_eq!(read_bytes("thai.txt", thai.as_bytes()).unwrap().text, thai);
}

#[test]
fn empty_files_and_folders_are_errors() {
    for name in ["a.txt", "a.pdf", "a.docx", "a.csv", "a.json", "a.html", "a.md"] {
        let result = read_bytes(name, b"");
        assert!(matches!(result, Err(ExtractError::Empty { .. })), "{name}: {result:?}");
    }
    let result = read_bytes("blank.md", b" \n\n\t\n");
    assert!(matches!(result, Err(ExtractError::Empty { .. })), "{result:?}");
    let folder = tempfile::tempdir().unwrap();
    let result = extract_file(folder.path(), &limits());
    assert!(matches!(result, Err(ExtractError::Io { .. })), "{result:?}");
    let result = extract_file(&folder.path().join("gone.txt"), &limits());
    assert!(matches!(result, Err(ExtractError::Io { .. })), "{result:?}");
}

#[test]
fn more_text_than_the_budget_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.txt");
    fs::write(&path, "x".repeat(2000)).unwrap();
    let mut limits = limits();
    limits.text_bytes = 1000;
    let result = extract_file(&path, &limits);
    assert!(matches!(result, Err(ExtractError::OverBudget { .. })), "{result:?}");
}

#[test]
fn reading_twice_gives_the_same() {
    for name in ["columns.pdf", "prose.pdf", "handbook.docx"] {
        assert_eq!(read(name), read(name), "{name}");
    }
}

/// Properties are small whatever a document says: a long name around many elements, endless keywords, deep nesting.
#[test]
fn a_word_file_with_absurd_properties_is_read_at_once() {
    let long = "n".repeat(1 << 20);
    let nested = format!(r#"<P><p name="{long}">{}x{}</p></P>"#, "<a>".repeat(20_000), "</a>".repeat(20_000));
    let flat = format!(r#"<P><p name="{long}">{}</p></P>"#, "<a>x</a>".repeat(50_000));
    let many: String = (0..50_000).map(|n| format!(r#"<p name="n{n}"><a>{n}</a></p>"#)).collect();
    let keywords = format!("<c><keywords>{}</keywords></c>", "word, ".repeat(200_000));
    for (custom, core) in [(nested, String::new()), (flat, String::new()), (format!("<P>{many}</P>"), keywords)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("absurd.docx");
        let mut archive = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        let body = "<w:document><w:body><w:p><w:r><w:t>Text.</w:t></w:r></w:p></w:body></w:document>";
        for (name, xml) in
            [("word/document.xml", body), ("docProps/custom.xml", &custom), ("docProps/core.xml", core.as_str())]
        {
            archive.start_file(name, SimpleFileOptions::default()).unwrap();
            archive.write_all(xml.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
        let started = Instant::now();
        let extraction = extract_file(&path, &limits()).unwrap();
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        let metadata = extraction.metadata.unwrap();
        assert!(metadata.iter().count() <= 64, "{}", metadata.iter().count());
    }
}
