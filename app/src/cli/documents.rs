//! `outcrop documents` and `outcrop remove`.

use super::Ending;
use super::args::RemoveVerb;
use super::error::CliError;
use super::output::{human_bytes, print_line, print_table};
use super::session::Session;
use crate::ingest;
use crate::library::Access;
use crate::store::{DocumentId, DocumentRecord, DocumentStatus};

/// Lists every document.
pub(super) fn list(session: &Session) -> Result<Ending, CliError> {
    let documents = session.open_library(Access::Read)?.documents()?;
    session.print(&documents, |documents| print_documents(documents))?;
    Ok(Ending::Done)
}

fn print_documents(documents: &[DocumentRecord]) {
    if documents.is_empty() {
        return print_line("the library is empty; add documents with `outcrop ingest PATH…`");
    }
    let header = ["id", "status", "pages", "chunks", "size", "chunker", "path"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(documents.iter().map(document_row)).collect();
    print_table(&rows);
    for document in documents.iter().filter(|document| document.reason.is_some()) {
        print_line(&format!("{}: {}", document.id.0, document.reason.as_deref().unwrap_or_default()));
    }
}

fn document_row(document: &DocumentRecord) -> Vec<String> {
    let pages = match (document.pages, document.pages_without_text.len()) {
        (None, _) => "-".to_owned(),
        (Some(pages), 0) => pages.to_string(),
        (Some(pages), empty) => format!("{pages} ({empty} without text)"),
    };
    let chunker = document.chunker.as_ref().map_or_else(
        || "-".to_owned(),
        |chunker| format!("{} {}/{}", word(&chunker.kind), chunker.size, chunker.overlap),
    );
    vec![
        document.id.0.to_string(),
        status_word(document.status),
        pages,
        document.chunks.to_string(),
        human_bytes(document.bytes),
        chunker,
        document.path.display().to_string(),
    ]
}

/// The name that JSON has for a value of a fieldless enum.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A status as people and JSON read it.
pub(super) fn status_word(status: DocumentStatus) -> String {
    word(&status)
}

/// Removes documents named by id, path or glob.
pub(super) fn remove(session: &Session, verb: &RemoveVerb) -> Result<Ending, CliError> {
    let library = session.open_library(Access::Write)?;
    let documents = library.documents()?;
    let mut ids = Vec::new();
    for name in &verb.documents {
        ids.extend(find(&documents, name)?);
    }
    ids.sort_unstable();
    ids.dedup();
    let removed = library.remove(&ids)?;
    session.print(&serde_json::json!({ "removed": ids }), |_| {
        for document in documents.iter().filter(|document| ids.contains(&document.id)) {
            print_line(&format!("removed  {}", document.path.display()));
        }
        print_line(&format!("{removed} removed; the files stay where they are"));
    })?;
    Ok(Ending::Done)
}

/// The document of an id or a path, else all documents under a folder, else those whose path a glob matches.
fn find(documents: &[DocumentRecord], name: &str) -> Result<Vec<DocumentId>, CliError> {
    let absolute = ingest::absolute(std::path::Path::new(name));
    let is_it = |document: &&DocumentRecord| {
        name.parse().is_ok_and(|id: u64| document.id == DocumentId(id))
            || document.path.to_str() == Some(name)
            || absolute == document.path
    };
    if let Some(document) = documents.iter().find(is_it) {
        return Ok(vec![document.id]);
    }
    // Nothing, as from an unset variable, is no folder: every path would be in it.
    let is_under = |document: &&DocumentRecord| !name.is_empty() && document.path.starts_with(&absolute);
    let under: Vec<DocumentId> = documents.iter().filter(is_under).map(|document| document.id).collect();
    // A file of this name is meant by its name, brackets and all.
    if under.is_empty() && name.contains(['*', '?', '[', '{']) && !absolute.exists() {
        return matching(documents, name);
    }
    if under.is_empty() {
        return Err(CliError::failed(
            "no such document",
            format!("{name:?} is neither the id nor the path of a document, nor a folder with documents in it"),
            Some("`outcrop documents` lists them"),
        ));
    }
    Ok(under)
}

/// The documents whose path a glob matches. A relative one begins in the working directory; `*` stays within a folder
/// and `**` does not, as in a shell.
fn matching(documents: &[DocumentRecord], pattern: &str) -> Result<Vec<DocumentId>, CliError> {
    let unreadable =
        |err: &dyn std::fmt::Display| CliError::Usage(format!("the glob {pattern:?} cannot be read: {err}"));
    let here = std::env::current_dir().map_err(|err| unreadable(&err))?;
    let here = ingest::absolute(&here).to_string_lossy().replace('\\', "/");
    let is_absolute = std::path::Path::new(pattern).is_absolute();
    let whole = if is_absolute { pattern.to_owned() } else { format!("{}/{pattern}", globset::escape(&here)) };
    let glob = globset::GlobBuilder::new(&whole).literal_separator(true).build().map_err(|err| unreadable(&err))?;
    let glob = glob.compile_matcher();
    let is_match = |document: &&DocumentRecord| glob.is_match(&document.path);
    let matched: Vec<DocumentId> = documents.iter().filter(is_match).map(|document| document.id).collect();
    if matched.is_empty() {
        return Err(CliError::failed(
            "no such document",
            format!("{pattern:?} matches the path of none of the {} documents", documents.len()),
            Some("`outcrop documents` lists them"),
        ));
    }
    Ok(matched)
}
