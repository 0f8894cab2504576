//! What the suites over extraction share: the fixtures, the pool and the PDFium library.

use std::path::{Path, PathBuf};

use outcrop::extract::{ExtractLimits, Extraction, SpanPlace};
use outcrop::worker::{ExtractPool, WorkerBinary};
use tests::outcrop_binary;

/// A committed file of `tests/data/extract`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/extract").join(name)
}

/// The product's limits with the installed PDFium.
pub(crate) fn limits() -> ExtractLimits {
    let library = pdfium_library();
    assert!(library.is_file(), "the PDFium library is not at {}: run `make test`, which fetches it", library.display());
    ExtractLimits { pdfium: Some(library), ..ExtractLimits::default() }
}

fn pdfium_library() -> PathBuf {
    let from_env = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let models = from_env("OUTCROP_MODELS").unwrap_or_else(|| {
        let home = from_env("OUTCROP_HOME").or_else(|| Some(from_env("XDG_DATA_HOME")?.join("outcrop")));
        let user = || from_env("HOME").unwrap().join(".local/share/outcrop");
        home.unwrap_or_else(user).join("models")
    });
    models.join("pdfium").join(format!("{}pdfium{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX))
}

/// A pool of the product's workers.
pub(crate) fn pool(limits: ExtractLimits) -> ExtractPool {
    ExtractPool::new(WorkerBinary::resolve(Some(outcrop_binary())).unwrap(), limits)
}

/// What holds of every extraction, whatever the document was.
pub(crate) fn assert_sound(extraction: &Extraction) {
    let text = &extraction.text;
    assert!(!text.trim().is_empty(), "no text");
    assert!(!text.contains(['\0', '\r', '\u{feff}']), "forbidden characters");
    let mut last_ends = [0; 3];
    let mut last_start = 0;
    for span in &extraction.spans {
        assert!(span.start < span.end && span.end <= text.len(), "{span:?}");
        assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end), "{span:?}");
        assert!(span.start >= last_start, "not sorted: {span:?}");
        last_start = span.start;
        let kind = match &span.place {
            SpanPlace::Page(page) => {
                assert!(*page > 0);
                0
            }
            SpanPlace::Section(path) => {
                assert!(path.iter().all(|title| !title.trim().is_empty()) && !path.is_empty());
                1
            }
            SpanPlace::Row(row) => {
                assert!(*row > 0);
                2
            }
        };
        assert!(span.start >= last_ends[kind], "overlap: {span:?}");
        last_ends[kind] = span.end;
    }
}
