//! Whatever the bytes are: an extraction that is sound or a typed error, never a panic.

use std::fs;

use outcrop::CancelToken;
use outcrop::extract::{Extract, ExtractError};
use proptest::prelude::*;

use super::read_bytes;
use super::support::{assert_sound, fixture, limits, pool};

const NAMES: [&str; 14] = [
    "a.txt", "a.md", "a.html", "a.csv", "a.json", "a.docx", "a.rs", "a", "a.eml", "a.mbox", "a.rtf", "a.xlsx", "a.tsv",
    "a.epub",
];

/// Text that is rich in what the formats give a meaning.
const PIECES: [&str; 30] = [
    "# head\n",
    "```\n",
    "<p>",
    "</div>",
    "<table><tr><td>",
    "\"",
    ",",
    ";",
    "\n",
    "\r\n",
    "{\"a\":",
    "[1,",
    "]}",
    "word ",
    "é",
    "漢字",
    "\u{feff}",
    "\0",
    "---\ntitle: t\n---\n",
    "<h2>",
    "&amp;",
    "<!--",
    "\t",
    "> - ",
    "{\\rtf1 ",
    "\\u-1 \\'e",
    "\\cell\\row",
    "From a 10:00 2026\n",
    "Subject: x\n\n",
    "Content-Type: multipart/mixed; boundary=b\n\n--b\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), name in 0..NAMES.len()) {
        drop(read_bytes(NAMES[name], &bytes));
    }

    #[test]
    fn random_markup_never_panics(
        pieces in proptest::collection::vec(0..PIECES.len(), 0..80),
        name in 0..NAMES.len(),
    ) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        drop(read_bytes(NAMES[name], text.as_bytes()));
    }

    #[test]
    fn damaged_word_files_never_panic(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let mut bytes = fs::read(fixture("handbook.docx")).unwrap();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        drop(read_bytes("changed.docx", &bytes));
    }
}

/// PDFium is not ours: damaged files go through the worker, as in the product. It may die, the host may not, and
/// the next document is read.
#[test]
fn damaged_pdf_files_are_sound_or_fail_alone() {
    let pool = pool(limits());
    let cancel = CancelToken::new();
    let folder = tempfile::tempdir().unwrap();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for round in 0..120 {
        let mut bytes = fs::read(fixture(["columns.pdf", "prose.pdf", "rtl.pdf"][round % 3])).unwrap();
        for _ in 0..=random(30) {
            let at = random(bytes.len());
            bytes[at] = random(256) as u8;
        }
        let path = folder.path().join(format!("{round}.pdf"));
        fs::write(&path, bytes).unwrap();
        match pool.extract(&path, &cancel) {
            Ok(extraction) => assert_sound(&extraction),
            Err(ExtractError::Cancelled { .. } | ExtractError::Io { .. } | ExtractError::MissingLibrary { .. }) => {
                panic!("round {round} failed for another reason")
            }
            Err(_) => {}
        }
    }
    assert_sound(&pool.extract(&fixture("columns.pdf"), &cancel).unwrap());
}
