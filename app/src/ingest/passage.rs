//! What is embedded and indexed of a chunk: its text, with the title and the heading path in front where the options
//! ask for it. What is cited is always the chunk's own range of the text.

use std::path::Path;

use crate::chunk::context;
use crate::extract::{DocumentKind, Extraction, Place};

/// The title shown for a document: its own, else the file's name.
pub(super) fn title(extraction: &Extraction, path: &Path) -> String {
    let own = extraction.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    own.map_or_else(|| file_name(path), str::to_owned)
}

/// What stands in front of the passages of a document beside their headings: the title, or for source code the end of
/// the path, which says more than any line of it.
pub(super) fn document_context(extraction: &Extraction, path: &Path) -> String {
    if extraction.kind == DocumentKind::Code { path_end(path) } else { title(extraction, path) }
}

/// A passage with its context in front.
pub(super) fn with_context(document_context: &str, place: &Place, text: &str) -> String {
    let parts = std::iter::once(document_context).chain(place.heading.iter().map(String::as_str));
    context::with_context(parts, text)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn path_end(path: &Path) -> String {
    let parts: Vec<_> = path.iter().rev().take(3).map(|part| part.to_string_lossy()).collect();
    let parts: Vec<_> = parts.iter().rev().map(AsRef::as_ref).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(heading: &[&str]) -> Place {
        Place { heading: heading.iter().map(|&part| part.to_owned()).collect(), ..Place::default() }
    }

    #[test]
    fn context_names_title_and_headings_once() {
        assert_eq!(with_context("Pump", &place(&["Pump", "Reset"]), "Hold it."), "Pump > Reset\nHold it.");
        assert_eq!(with_context(" ", &place(&[]), "Hold it."), "Hold it.");
        assert_eq!(with_context("A", &place(&["B"]), "x"), "A > B\nx");
    }

    #[test]
    fn code_is_named_by_the_end_of_its_path() {
        assert_eq!(path_end(Path::new("/home/me/app/src/store/mod.rs")), "src/store/mod.rs");
        assert_eq!(path_end(Path::new("mod.rs")), "mod.rs");
    }
}
