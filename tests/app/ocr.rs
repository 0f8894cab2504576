//! Reading pages that are pictures: text drawn as outlines in three fonts, and a page that looks scanned.
#![allow(clippy::format_collect, reason = "plainer to read in a test")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "extract_support.rs"]
#[allow(dead_code, reason = "this suite needs a part of it")]
mod support;

use std::fmt::Write as _;
use std::time::Instant;

use egui::FontDefinitions;
use outcrop::CancelToken;
use outcrop::extract::{DocumentKind, Extract, ExtractError, ExtractLimits, Extraction, OcrModels, PageRequest};
use outcrop::models::{self, Native};
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, MetadataProvider};
use support::{assert_sound, fixture, limits, pool};

const INTER: &[u8] = include_bytes!("../../assets/fonts/Inter.ttf");
/// Pages of each font in everyday runs; more are asked for by `OUTCROP_OCR_PAGES`.
const PAGES: usize = 1;
const WORDS: [&str; 40] = [
    "harbour", "Lantern", "north", "quay", "weather", "1847", "ropes", "signal", "The", "keeper", "wrote", "a",
    "letter", "about", "fog", "and", "tides", "Kett", "winter", "boats", "of", "oak", "from", "Aberlow", "carried",
    "salt,", "fish,", "wool", "to", "market;", "(see", "page", "12)", "every", "Tuesday", "before", "dawn.", "Nobody",
    "quite", "knew",
];

fn ocr_limits() -> ExtractLimits {
    let library = limits().pdfium.unwrap();
    let folder = library.ancestors().nth(2).unwrap();
    let models = OcrModels {
        runtime: models::library_path(folder, Native::OnnxRuntime),
        detector: folder.join(models::OCR).join("det.onnx"),
        recogniser: folder.join(models::OCR).join("rec.onnx"),
    };
    assert!(models.are_installed(), "{models:?}: run `make test`, which fetches them");
    ExtractLimits { ocr: Some(models), page_secs: 120, document_secs: 600, ..limits() }
}

/// Lines of words that look random, the same in every run.
fn lines(seed: usize, count: usize) -> Vec<String> {
    let mut state = seed as u64 + 1;
    let mut word = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        WORDS[(state >> 33) as usize % WORDS.len()]
    };
    (0..count).map(|_| (0..7).map(|_| word()).collect::<Vec<_>>().join(" ")).collect()
}

/// Draws glyphs as paths of a PDF page.
struct Pen<'a> {
    out: &'a mut String,
    x: f32,
    y: f32,
    at: (f32, f32),
}

impl Pen<'_> {
    fn point(&self, x: f32, y: f32) -> String {
        format!("{:.2} {:.2} ", self.x + x, self.y + y)
    }
}

impl OutlinePen for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.at = (x, y);
        let point = self.point(x, y);
        write!(self.out, "{point}m ").unwrap();
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.at = (x, y);
        let point = self.point(x, y);
        write!(self.out, "{point}l ").unwrap();
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        let third = |from: f32, control: f32| from + (control - from) * 2.0 / 3.0;
        let (x0, y0) = self.at;
        self.curve_to(third(x0, cx), third(y0, cy), third(x, cx), third(y, cy), x, y);
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        self.at = (x, y);
        let points = [self.point(ax, ay), self.point(bx, by), self.point(x, y)].concat();
        write!(self.out, "{points}c ").unwrap();
    }

    fn close(&mut self) {
        self.out.push_str("h ");
    }
}

/// Page content that shows lines in a font, as outlines.
fn outlines(font: &[u8], lines: &[String], size: f32) -> String {
    let font = FontRef::new(font).unwrap();
    let (map, glyphs) = (font.charmap(), font.outline_glyphs());
    let metrics = font.glyph_metrics(Size::new(size), LocationRef::default());
    let mut content = String::new();
    for (row, line) in lines.iter().enumerate() {
        let mut x = 60.0;
        for character in line.chars() {
            let glyph = map.map(character).unwrap();
            let mut pen = Pen { out: &mut content, x, y: 760.0 - 1.6 * size * row as f32, at: (0.0, 0.0) };
            if let Some(outline) = glyphs.get(glyph) {
                outline.draw(DrawSettings::unhinted(Size::new(size), LocationRef::default()), &mut pen).unwrap();
            }
            x += metrics.advance_width(glyph).unwrap();
        }
        content.push_str("f\n");
    }
    content
}

/// A PDF with these contents, a page each.
fn pdf(pages: &[String]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    let mut add = |body: String| {
        offsets.push(bytes.len());
        bytes.extend_from_slice(format!("{} 0 obj\n{body}\nendobj\n", offsets.len()).as_bytes());
    };
    add("<</Type/Catalog/Pages 2 0 R>>".to_owned());
    let kids: String = (0..pages.len()).map(|page| format!("{} 0 R ", 3 + 2 * page)).collect();
    add(format!("<</Type/Pages/Count {}/Kids[{kids}]>>", pages.len()));
    for (page, content) in pages.iter().enumerate() {
        add(format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {} 0 R>>", 4 + 2 * page));
        add(format!("<</Length {}>>stream\n{content}\nendstream", content.len()));
    }
    let start = bytes.len();
    let mut end = format!("xref\n0 {}\n0000000000 65535 f \n", offsets.len() + 1);
    end.extend(offsets.iter().map(|offset| format!("{offset:010} 00000 n \n")));
    writeln!(end, "trailer<</Size {}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF", offsets.len() + 1).unwrap();
    bytes.extend_from_slice(end.as_bytes());
    bytes
}

fn read_pdf(bytes: &[u8], limits: ExtractLimits) -> Result<Extraction, ExtractError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scan.pdf");
    std::fs::write(&path, bytes).unwrap();
    pool(limits).extract(&path, &CancelToken::new())
}

/// Edits from one text to the other, per character of the first; white space counts as one space.
fn error_rate(expected: &str, found: &str) -> f64 {
    let normal = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect::<Vec<_>>();
    let (expected, found) = (normal(expected), normal(found));
    let mut above: Vec<usize> = (0..=found.len()).collect();
    for (row, wanted) in expected.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, character) in found.iter().enumerate() {
            let changed = above[column] + usize::from(wanted != character);
            current.push(changed.min(above[column + 1] + 1).min(current[column] + 1));
        }
        above = current;
    }
    above[found.len()] as f64 / expected.len() as f64
}

fn fonts() -> Vec<(&'static str, Vec<u8>)> {
    let built_in = FontDefinitions::default();
    let font = |name: &str| (*built_in.font_data[name].font).as_ref().to_vec();
    vec![("Inter", INTER.to_vec()), ("Hack", font("Hack")), ("Ubuntu-Light", font("Ubuntu-Light"))]
}

fn pages_of_each_font() -> usize {
    std::env::var("OUTCROP_OCR_PAGES").ok().and_then(|pages| pages.parse().ok()).unwrap_or(PAGES)
}

#[test]
fn outlines_in_three_fonts_are_read() {
    for (name, font) in fonts() {
        let pages: Vec<Vec<String>> = (0..pages_of_each_font()).map(|page| lines(page, 30)).collect();
        let contents: Vec<String> = pages.iter().map(|lines| outlines(&font, lines, 11.0)).collect();
        let begun = Instant::now();
        let extraction = read_pdf(&pdf(&contents), ocr_limits()).unwrap();
        let secs = begun.elapsed().as_secs_f64() / pages.len() as f64;
        assert_sound(&extraction);
        let rate = error_rate(&pages.concat().join(" "), &extraction.text);
        eprintln!("{name}: {} pages, character error rate {:.2} %, {secs:.1} s a page", pages.len(), 100.0 * rate);
        assert!(rate < 0.02, "{name}: {rate}\n{}", extraction.text);
        assert_eq!(extraction.coverage.pages_without_text, []);
        assert!(extraction.coverage.notes.iter().any(|note| note.contains("OCR")), "{:?}", extraction.coverage.notes);
    }
}

/// Grey paper, turned by a degree, with specks.
#[test]
fn a_page_that_looks_scanned_is_read() {
    let lines = lines(7, 24);
    let mut content = "0.86 g 0 0 595 842 re f 0.25 g\n".to_owned();
    for speck in 0..400_usize {
        let (x, y) = (speck * 7919 % 595, speck * 104_729 % 842);
        writeln!(content, "{x} {y} 0.8 0.8 re f").unwrap();
    }
    let (sin, cos) = 1.0_f32.to_radians().sin_cos();
    writeln!(content, "{cos:.5} {sin:.5} {:.5} {cos:.5} 10 -6 cm", -sin).unwrap();
    content += &outlines(INTER, &lines, 11.5);
    let extraction = read_pdf(&pdf(&[content]), ocr_limits()).unwrap();
    let rate = error_rate(&lines.join(" "), &extraction.text);
    eprintln!("scanned-looking page: character error rate {:.2} %", 100.0 * rate);
    assert!(rate < 0.05, "{rate}\n{}", extraction.text);
}

#[test]
fn a_scanned_file_becomes_text_and_a_page_of_a_mixed_one_too() {
    let scan = pool(ocr_limits()).extract(&fixture("scan.pdf"), &CancelToken::new()).unwrap();
    assert_sound(&scan);
    assert_eq!(scan.coverage.pages_without_text, []);
    let mixed = pool(ocr_limits()).extract(&fixture("mixed.pdf"), &CancelToken::new()).unwrap();
    assert_sound(&mixed);
    assert_eq!(mixed.place(0..5).pages, Some((1, 1)));
}

#[test]
fn a_picture_without_text_is_not_ready_with_nothing() {
    let content = "0.2 0.5 0.3 rg 100 100 300 300 re f 0.9 g 200 200 90 90 re f".to_owned();
    let result = read_pdf(&pdf(&[content]), ocr_limits());
    assert!(matches!(result, Err(ExtractError::Empty { .. })), "{result:?}");
}

#[test]
fn a_damaged_model_leaves_the_pages_unread_and_says_so() {
    let mut limits = ocr_limits();
    let models = limits.ocr.as_mut().unwrap();
    models.detector = fixture("scan.pdf");
    let text = "BT ET".to_owned();
    let pages = [outlines(INTER, &lines(1, 5), 11.0), text];
    let result = read_pdf(&pdf(&pages), limits);
    assert!(matches!(result, Err(ExtractError::NeedsOcr { pages: 2, .. })), "{result:?}");
}

/// A page of text as pixels.
fn drawn(lines: &[String], width: u32) -> image::RgbImage {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.pdf");
    std::fs::write(&path, pdf(&[outlines(INTER, lines, 11.0)])).unwrap();
    let request = PageRequest { page: 1, width, quote: String::new() };
    let page = pool(ocr_limits()).draw_page(&path, &request, &CancelToken::new()).unwrap();
    let rgba = image::RgbaImage::from_raw(page.width, page.height, page.rgba).unwrap();
    image::DynamicImage::from(rgba).into_rgb8()
}

#[test]
fn image_files_are_read_and_their_words_boxed() {
    let lines = lines(3, 12);
    let picture = drawn(&lines, 1400);
    let folder = tempfile::tempdir().unwrap();
    for name in ["page.png", "page.jpg", "page.webp", "page.tif"] {
        let path = folder.path().join(name);
        picture.save(&path).unwrap();
        let extraction = pool(ocr_limits()).extract(&path, &CancelToken::new()).unwrap();
        assert_sound(&extraction);
        assert_eq!((extraction.kind, extraction.coverage.pages), (DocumentKind::Image, Some(1)), "{name}");
        let rate = error_rate(&lines.join(" "), &extraction.text);
        // A JPEG loses some.
        assert!(rate < 0.04, "{name}: {rate}\n{}", extraction.text);
        assert_eq!(extraction.place(0..extraction.text.len()).pages, Some((1, 1)));
    }
    let request = PageRequest { page: 1, width: 700, quote: lines[5].clone() };
    let page = pool(ocr_limits()).draw_page(&folder.path().join("page.png"), &request, &CancelToken::new()).unwrap();
    assert_eq!((page.width, page.pages), (700, 1));
    let found = page.boxes.first().expect("the line is boxed");
    // The sixth of twelve lines on a page drawn at half the size.
    let ink = |y: f32| picture.get_pixel((found.left + 2.0) as u32 * 2, y as u32 * 2).0[0] < 128;
    let rows = (found.top as u32..=found.bottom as u32).filter(|y| ink(*y as f32)).count();
    assert!(page.boxes.len() <= 2 && found.bottom - found.top < 30.0 && rows > 0, "{:?}", page.boxes);
}

#[test]
fn words_of_a_scanned_page_are_boxed() {
    let lines = lines(9, 10);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scan.pdf");
    std::fs::write(&path, pdf(&[outlines(INTER, &lines, 11.0)])).unwrap();
    let request = PageRequest { page: 1, width: 900, quote: lines[4].clone() };
    let page = pool(ocr_limits()).draw_page(&path, &request, &CancelToken::new()).unwrap();
    let found = page.boxes.first().expect("the line is boxed");
    assert!(found.bottom - found.top < 40.0 && found.right <= 900.0, "{:?}", page.boxes);
}

#[test]
fn every_picture_of_a_tiff_is_a_page() {
    let pages = [lines(4, 4), lines(5, 4), lines(6, 4)];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fax.tiff");
    let mut encoder = tiff::encoder::TiffEncoder::new(std::fs::File::create(&path).unwrap()).unwrap();
    for lines in &pages {
        let picture = drawn(lines, 1000);
        let (width, height) = picture.dimensions();
        encoder.write_image::<tiff::encoder::colortype::RGB8>(width, height, picture.as_raw()).unwrap();
    }
    drop(encoder);
    let extraction = pool(ocr_limits()).extract(&path, &CancelToken::new()).unwrap();
    assert_sound(&extraction);
    assert_eq!(extraction.coverage.pages, Some(3));
    let rate = error_rate(&pages.concat().join(" "), &extraction.text);
    assert!(rate < 0.03, "{rate}\n{}", extraction.text);
    let last = extraction.text.len() - 5;
    assert_eq!(extraction.place(last..last + 1).pages, Some((3, 3)));
    let request = PageRequest { page: 4, width: 700, quote: String::new() };
    let beyond = pool(ocr_limits()).draw_page(&path, &request, &CancelToken::new());
    assert!(matches!(beyond, Err(ExtractError::Damaged { .. })));
}

/// The checksum of a chunk of a PNG.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32| if sum & 1 == 1 { 0xEDB8_8320 ^ (sum >> 1) } else { sum >> 1 };
    !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum)))
}

#[test]
fn pictures_without_text_and_damaged_ones_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        pool(ocr_limits()).extract(&path, &CancelToken::new())
    };
    let encoded = |side: u32| {
        let plain = image::RgbImage::from_pixel(side, side, image::Rgb([40, 120, 80]));
        let mut bytes = std::io::Cursor::new(Vec::new());
        plain.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        bytes.into_inner()
    };
    let plain = encoded(200);
    assert!(matches!(read("plain.png", &plain), Err(ExtractError::PictureWithoutText { .. })));
    assert!(matches!(read("icon.png", &encoded(16)), Err(ExtractError::Unsupported { .. })));
    for cut in [9, 40, plain.len() - 20] {
        let found = read("cut.png", &plain[..cut]);
        assert!(matches!(found, Err(ExtractError::Damaged { .. })), "{cut}: {found:?}");
    }
    // Headers that claim too many pixels a side, and too many in all.
    for sides in [[0, 0, 255, 255, 0, 0, 0, 9], [0, 0, 110, 0, 0, 0, 110, 0]] {
        let mut huge = plain.clone();
        huge[16..24].copy_from_slice(&sides);
        let sum = crc32(&huge[12..29]).to_be_bytes();
        huge[29..33].copy_from_slice(&sum);
        let found = read("huge.png", &huge);
        assert!(matches!(found, Err(ExtractError::OverBudget { .. })), "{found:?}");
    }
}

#[test]
fn without_models_a_picture_waits_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.png");
    drawn(&lines(3, 2), 400).save(&path).unwrap();
    let found = pool(limits()).extract(&path, &CancelToken::new());
    assert!(matches!(found, Err(ExtractError::NeedsOcr { pages: 1, .. })), "{found:?}");
}
