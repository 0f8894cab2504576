//! Office documents, books, mail and RTF, each made here from its smallest valid parts.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use outcrop::CancelToken;
use outcrop::extract::{DocumentKind, Extract, ExtractError, Extraction, extract_file};
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use super::support::{assert_sound, limits, pool};
use super::{heading_of, read_bytes};

/// Writes a ZIP archive of text entries.
pub(crate) fn write_zip(path: &Path, entries: &[(&str, &str)]) {
    let mut archive = zip::ZipWriter::new(fs::File::create(path).unwrap());
    for (name, text) in entries {
        // The entry that names the media type has to be stored plain.
        let method = if *name == "mimetype" { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        archive.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
}

fn try_zip(name: &str, entries: &[(&str, &str)]) -> Result<Extraction, ExtractError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write_zip(&path, entries);
    let result = extract_file(&path, &limits());
    if let Ok(extraction) = &result {
        assert_sound(extraction);
    }
    result
}

fn read_zip(name: &str, entries: &[(&str, &str)]) -> Extraction {
    try_zip(name, entries).unwrap()
}

const WORKBOOK_RELS: &str = r#"<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/>
    <Relationship Id="r2" Type="x/worksheet" Target="worksheets/sheet2.xml"/>
    <Relationship Id="r3" Type="x/sharedStrings" Target="sharedStrings.xml"/>
    <Relationship Id="r4" Type="x/styles" Target="styles.xml"/></Relationships>"#;

fn workbook<'a>(first: &'a str, second: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("[Content_Types].xml", "<Types/>"),
        (
            "_rels/.rels",
            r#"<Relationships><Relationship Id="r" Type="x/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
        ),
        (
            "xl/workbook.xml",
            r#"<workbook xmlns:r="r"><sheets><sheet name="Depths" sheetId="1" r:id="r1"/>
               <sheet name="Notes" sheetId="2" r:id="r2"/></sheets></workbook>"#,
        ),
        ("xl/_rels/workbook.xml.rels", WORKBOOK_RELS),
        ("xl/sharedStrings.xml", "<sst><si><t>Berth</t></si><si><r><t>Nor</t></r><r><t>th &amp; co</t></r></si></sst>"),
        ("xl/styles.xml", r#"<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#),
        ("xl/worksheets/sheet1.xml", first),
        ("xl/worksheets/sheet2.xml", second),
    ]
}

#[test]
fn a_workbook_keeps_sheets_rows_and_what_people_see() {
    let first = r#"<worksheet><sheetData>
        <row r="1"><c r="A1" t="inlineStr"><is><t>Soundings of the year</t></is></c></row>
        <row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3" t="inlineStr"><is><t>Depth</t></is></c>
            <c r="C3" t="inlineStr"><is><t>Measured</t></is></c></row>
        <row r="4"><c r="A4" t="s"><v>1</v></c><c r="B4"><v>4.5</v></c><c r="C4" s="1"><v>45000</v></c></row>
        <row r="9"><c r="A9" t="inlineStr"><is><t>South</t></is></c><c r="B9" t="e"><v>#DIV/0!</v></c></row>
        </sheetData></worksheet>"#;
    let second = r#"<worksheet><sheetData><row r="1"><c r="A1" t="b"><v>1</v></c></row></sheetData></worksheet>"#;
    let extraction = read_zip("depths.xlsx", &workbook(first, second));
    assert_eq!(extraction.kind, DocumentKind::Spreadsheet);
    let expected = "Depths\n\nSoundings of the year\nBerth: North & co; Depth: 4.5; Measured: 2023-03-15\n\
                    Berth: South; Depth: #DIV/0!\n\nNotes\n\ntrue";
    assert_eq!(extraction.text, expected);
    let at = extraction.text.find("Berth: South").unwrap();
    let place = extraction.place(at..at + 5);
    assert_eq!((place.heading, place.rows), (vec!["Depths".to_owned()], Some((9, 9))));
}

/// Two cells in opposite corners would make a dense table of 17 billion cells.
#[test]
fn a_workbook_with_cells_in_far_corners_is_read_at_once() {
    let sheet = r#"<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c></row>
        <row r="1048576"><c r="XFD1048576"><v>2</v></c></row></sheetData></worksheet>"#;
    let started = Instant::now();
    let extraction = read_zip("corners.xlsx", &workbook(sheet, "<worksheet><sheetData/></worksheet>"));
    assert_eq!(extraction.text, "Depths\n\n1\n2");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_workbook_that_inflates_over_the_budget_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.xlsx");
    let rows = format!("<worksheet><sheetData>{}</sheetData></worksheet>", "<row/>".repeat(20_000_000 / 6));
    write_zip(&path, &workbook(&rows, "<worksheet/>"));
    let mut limits = limits();
    limits.text_bytes = 10 << 20;
    let result = pool(limits).extract(&path, &CancelToken::new());
    let Err(ExtractError::OverBudget { detail, .. }) = result else { panic!("{result:?}") };
    assert!(detail.contains("inflates to"), "{detail}");
}

#[test]
fn an_open_document_workbook_is_read() {
    // Most programs write no white space between the elements, some do.
    for space in ["", "\n  "] {
        let cell = |attributes: &str, text: &str| {
            format!(
                "{space}<table:table-cell office:value-type={attributes}><text:p>{text}</text:p></table:table-cell>"
            )
        };
        let row = |cells: [String; 2]| format!("{space}<table:table-row>{}{space}</table:table-row>", cells.concat());
        let names = row([cell("\"string\"", "Port"), cell("\"string\"", "Height")]);
        let heights = row([cell("\"string\"", "Aber"), cell("\"float\" office:value=\"3.2\"", "3.2")]);
        let content = format!(
            "<office:document-content xmlns:office=\"o\" xmlns:table=\"t\" xmlns:text=\"x\"><office:body>\
             <office:spreadsheet><table:table table:name=\"Tides\">{names}{heights}{space}</table:table>\
             </office:spreadsheet></office:body></office:document-content>"
        );
        let entries = [
            ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
            ("META-INF/manifest.xml", "<manifest/>"),
            ("content.xml", content.as_str()),
        ];
        let extraction = read_zip("tides.ods", &entries);
        assert_eq!(extraction.text, "Tides\n\nPort: Aber; Height: 3.2", "{space:?}");
        assert_eq!(heading_of(&extraction, "Aber"), ["Tides"]);
    }
}

fn slide(body: &str) -> String {
    format!(r#"<p:sld xmlns:p="p" xmlns:a="a" xmlns:r="r"><p:cSld><p:spTree>{body}</p:spTree></p:cSld></p:sld>"#)
}

#[test]
fn a_presentation_keeps_the_order_of_its_slides_titles_tables_and_notes() {
    let shape = |kind: &str, text: &str| {
        format!(
            r#"<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{text}</a:t>
            </a:r></a:p></p:txBody></p:sp>"#
        )
    };
    let cell = |text: &str| format!("<a:tc><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>");
    let table = format!(
        "<p:graphicFrame><a:tbl><a:tr>{}{}</a:tr><a:tr>{}{}</a:tr></a:tbl></p:graphicFrame>",
        cell("Lamp"),
        cell("Range"),
        cell("Main"),
        cell("12 miles")
    );
    let first = slide(&(shape("title", "Lights of the bay") + &shape("body", "Three lamps burn all night.")));
    let second = slide(&(shape("title", "Ranges") + &table + &shape("sldNum", "2")));
    let notes = slide(&(shape("body", "Mention the fog horn.") + &shape("sldNum", "1")));
    let extraction = read_zip(
        "lights.pptx",
        &[
            (
                "ppt/presentation.xml",
                r#"<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="rId9"/>
                   <p:sldId id="257" r:id="rId2"/></p:sldIdLst></p:presentation>"#,
            ),
            (
                "ppt/_rels/presentation.xml.rels",
                r#"<Relationships><Relationship Id="rId2" Type="x/slide" Target="slides/slide1.xml"/>
                   <Relationship Id="rId9" Type="x/slide" Target="slides/slide7.xml"/></Relationships>"#,
            ),
            ("ppt/slides/slide7.xml", &first),
            ("ppt/slides/slide1.xml", &second),
            (
                "ppt/slides/_rels/slide7.xml.rels",
                r#"<Relationships><Relationship Id="r1" Type="x/notesSlide" Target="../notesSlides/n.xml"/></Relationships>"#,
            ),
            ("ppt/notesSlides/n.xml", &notes),
        ],
    );
    assert_eq!(
        extraction.text,
        "Lights of the bay\n\n- Three lamps burn all night.\n\nNotes: Mention the fog horn.\n\nRanges\n\n\
         Lamp: Main; Range: 12 miles"
    );
    assert_eq!((extraction.kind, extraction.coverage.pages), (DocumentKind::Slides, Some(2)));
    assert_eq!(extraction.title.as_deref(), Some("Lights of the bay"));
    let at = extraction.text.find("12 miles").unwrap();
    let place = extraction.place(at..at + 1);
    assert_eq!((place.pages, place.heading), (Some((2, 2)), vec!["Ranges".to_owned()]));
}

const ODT: &str = r#"<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b"><office:body><office:text>
    <text:tracked-changes><text:p>deleted words</text:p></text:tracked-changes>
    <text:h text:outline-level="1">Signals</text:h>
    <text:p>A lamp<text:s text:c="2"/>swings<text:note><text:note-citation>1</text:note-citation>
    <text:note-body><text:p>Twice an hour.</text:p></text:note-body></text:note> at dusk.</text:p>
    <text:h text:outline-level="2">Flags</text:h>
    <text:list><text:list-item><text:p>blue</text:p><text:list><text:list-item><text:p>pale</text:p></text:list-item>
    </text:list></text:list-item></text:list>
    <table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Flag</text:p></table:table-cell>
    <table:table-cell><text:p>Meaning</text:p></table:table-cell></table:table-row></table:table-header-rows>
    <table:table-row><table:table-cell><text:p>red</text:p></table:table-cell><table:table-cell><text:p>stop</text:p>
    </table:table-cell></table:table-row></table:table></office:text></office:body></office:document-content>"#;

#[test]
fn an_open_document_text_keeps_headings_lists_notes_and_tables() {
    let entries = [
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", "<manifest/>"),
        ("content.xml", ODT),
        ("meta.xml", "<meta><dc:title>Signal book</dc:title></meta>"),
    ];
    let extraction = read_zip("signals.odt", &entries);
    let text = &extraction.text;
    assert_eq!(extraction.title.as_deref(), Some("Signal book"));
    assert!(text.contains("A lamp  swings [1: Twice an hour.] at dusk."), "{text}");
    assert!(text.contains("- blue\n  - pale"), "{text}");
    assert!(text.contains("Flag: red; Meaning: stop") && !text.contains("deleted"), "{text}");
    assert_eq!(heading_of(&extraction, "red"), ["Signals", "Flags"]);
    // The content decides, not the name.
    assert_eq!(read_zip("renamed.bin", &entries).kind, DocumentKind::Odt);
}

#[test]
fn an_encrypted_open_document_says_so() {
    let manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>";
    let entries = [
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", manifest),
        ("content.xml", "\u{1}\u{2}"),
    ];
    let result = try_zip("locked.odt", &entries);
    assert!(matches!(result, Err(ExtractError::Encrypted { .. })), "{result:?}");
}

fn book(encryption: Option<&str>) -> Vec<(&str, &str)> {
    let mut entries = vec![
        ("mimetype", "application/epub+zip"),
        (
            "META-INF/container.xml",
            r#"<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>"#,
        ),
        (
            "OPS/book.opf",
            r#"<package xmlns:dc="d"><metadata><dc:title>The Long Watch</dc:title></metadata><manifest>
               <item id="two" href="two%20b.xhtml"/><item id="one" href="one.xhtml"/></manifest>
               <spine><itemref idref="one"/><itemref idref="two"/></spine></package>"#,
        ),
        (
            "OPS/one.xhtml",
            "<?xml version='1.0'?><html><head><title/></head><body><h1>Dusk</h1><p>The first lamp.</p></body></html>",
        ),
        ("OPS/two b.xhtml", "<html><body><h1>Dawn</h1><p>The last lamp.</p></body></html>"),
    ];
    entries.extend(encryption.map(|xml| ("META-INF/encryption.xml", xml)));
    entries
}

#[test]
fn a_book_is_read_in_the_order_of_its_spine() {
    let extraction = read_zip("watch.epub", &book(None));
    assert_eq!(extraction.text, "Dusk\n\nThe first lamp.\n\nDawn\n\nThe last lamp.");
    assert_eq!(extraction.title.as_deref(), Some("The Long Watch"));
    assert_eq!(heading_of(&extraction, "last"), ["Dawn"]);
}

#[test]
fn a_locked_book_says_so_and_hidden_fonts_lock_nothing() {
    let method = |algorithm: &str| format!("<e><EncryptionMethod Algorithm='{algorithm}'/></e>");
    let locked = method("http://www.w3.org/2001/04/xmlenc#aes256-cbc");
    assert!(matches!(try_zip("locked.epub", &book(Some(&locked))), Err(ExtractError::Encrypted { .. })));
    let fonts = method("http://www.idpf.org/2008/embedding");
    assert!(try_zip("fonts.epub", &book(Some(&fonts))).is_ok());
}

#[test]
fn mail_and_rich_text_are_told_apart_by_content_or_name() {
    let mail = "Received: by quay\nFrom: a@quay.example\nSubject: Ropes\n\nBring the long ropes.\n";
    for name in ["ropes.eml", "saved"] {
        let extraction = read_bytes(name, mail.as_bytes()).unwrap();
        assert_eq!((extraction.kind, extraction.title.as_deref()), (DocumentKind::Mail, Some("Ropes")), "{name}");
        assert!(extraction.text.contains("Bring the long ropes."));
    }
    let rtf = read_bytes("letter.doc", br"{\rtf1\ansi Dear keeper,\par}").unwrap();
    assert_eq!((rtf.kind, rtf.text.as_str()), (DocumentKind::Rtf, "Dear keeper,"));
}

#[test]
fn office_files_cut_off_anywhere_are_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    write_zip(&whole, &workbook("<worksheet/>", "<worksheet/>"));
    let bytes = fs::read(&whole).unwrap();
    for name in ["cut.xlsx", "cut.pptx", "cut.odt", "cut.epub", "cut.ods"] {
        for percent in [2, 30, 60, 95] {
            let result = read_bytes(name, &bytes[..bytes.len() * percent / 100]);
            assert!(matches!(result, Err(ExtractError::Damaged { .. })), "{name} at {percent} %: {result:?}");
        }
    }
}

#[test]
fn a_slide_that_is_missing_is_damage_and_not_a_shorter_document() {
    let result = try_zip(
        "gone.pptx",
        &[
            ("ppt/presentation.xml", r#"<p xmlns:r="r"><sldId id="1" r:id="a"/></p>"#),
            ("ppt/_rels/presentation.xml.rels", r#"<R><Relationship Id="a" Target="slides/s.xml"/></R>"#),
        ],
    );
    assert!(matches!(result, Err(ExtractError::Damaged { .. })), "{result:?}");
}

const CORE: &str = r"<cp:coreProperties><dc:creator>Ada Petrel</dc:creator><dc:title>Harbour plan</dc:title>
    <cp:keywords>harbour; quay</cp:keywords><dcterms:created>2024-05-31T09:00:00Z</dcterms:created></cp:coreProperties>";
const CUSTOM: &str = r#"<Properties><property name="Budget"><vt:i4>1200</vt:i4></property></Properties>"#;

/// `name=value|value` of everything a document says of itself.
fn said(extraction: &Extraction) -> Vec<String> {
    let metadata = extraction.metadata.as_ref().unwrap();
    metadata.iter().map(|(name, values)| format!("{name}={}", values.join("|"))).collect()
}

#[test]
fn what_office_documents_say_of_themselves_is_read() {
    let body = "<w:document><w:body><w:p><w:r><w:t>Dredge the basin.</w:t></w:r></w:p></w:body></w:document>";
    let entries = [("word/document.xml", body), ("docProps/core.xml", CORE), ("docProps/custom.xml", CUSTOM)];
    let expected = ["author=Ada Petrel", "budget=1200", "created=2024-05-31", "keyword=harbour|quay"];
    let extraction = read_zip("plan.docx", &entries);
    assert_eq!(
        (said(&extraction), extraction.title.as_deref()),
        (expected.map(str::to_owned).to_vec(), Some("Harbour plan"))
    );
    let sheet = r#"<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData></worksheet>"#;
    let mut entries = workbook(sheet, "<worksheet><sheetData/></worksheet>");
    entries.extend([("docProps/core.xml", CORE), ("docProps/custom.xml", CUSTOM)]);
    assert_eq!(said(&read_zip("plan.xlsx", &entries)), expected);
}

#[test]
fn what_open_documents_and_books_say_of_themselves_is_read() {
    let meta = r#"<office:document-meta><office:meta><meta:initial-creator>Ada Petrel</meta:initial-creator>
        <dc:date>2025-01-02T10:00:00</dc:date><meta:creation-date>2024-05-31T09:00:00</meta:creation-date>
        <meta:user-defined meta:name="Review date">2026-01-01</meta:user-defined></office:meta></office:document-meta>"#;
    let content = "<office:document-content><office:body><office:text><text:p>Dredge.</text:p></office:text></office:body></office:document-content>";
    let odt = [("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", content), ("meta.xml", meta)];
    let expected = ["author=Ada Petrel", "created=2024-05-31", "modified=2025-01-02", "review-date=2026-01-01"];
    assert_eq!(said(&read_zip("plan.odt", &odt)), expected);
    let opf = r#"<package><metadata><dc:title>Tides</dc:title><dc:creator>Ada</dc:creator><dc:creator>Bo</dc:creator>
        <dc:date>2019</dc:date><dc:language>en</dc:language></metadata>
        <manifest><item id="c" href="c.xhtml"/></manifest><spine><itemref idref="c"/></spine></package>"#;
    let epub = [
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", r#"<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>"#),
        ("b.opf", opf),
        (
            "c.xhtml",
            r#"<html><head><meta name="author" content="The chapter's"/></head><body><p>Once.</p></body></html>"#,
        ),
    ];
    assert_eq!(said(&read_zip("tides.epub", &epub)), ["author=Ada|Bo", "language=en", "published=2019"]);
}

#[test]
fn what_texts_say_of_themselves_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, expected) in [
        (
            "a.md",
            "---\ntitle: Tides\ntags: [harbour, quay]\nrating: 4.5\n---\n\nText.",
            &["rating=4.5", "tag=harbour|quay", "title=Tides"][..],
        ),
        (
            "b.html",
            r#"<html lang="en"><head><meta name="author" content="Ada"><meta property="article:published_time"
               content="2024-05-31T10:00:00Z"><meta name="viewport" content="x"></head><body><p>Text.</p></body></html>"#,
            &["author=Ada", "language=en", "published=2024-05-31"],
        ),
        (
            "c.eml",
            "From: Ada Petrel <ada@example.org>\nTo: bo@example.org\nSubject: Tides\nDate: Fri, 31 May 2024 10:00:00 +0000\n\nText.\n",
            &["from=Ada Petrel <ada@example.org>", "sent=2024-05-31", "to=bo@example.org"],
        ),
        ("d.rtf", r"{\rtf1{\info{\author Ada Petrel}}Text.}", &["author=Ada Petrel"]),
        ("e.txt", "Text.", &[]),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        assert_eq!(said(&extract_file(&path, &limits()).unwrap()), expected, "{name}");
    }
}
