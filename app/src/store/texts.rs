//! Stored extractions: the text in parts, so that a passage is read without the rest of a long document.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde::{Deserialize, Serialize};

use super::DocumentId;
use super::documents::{Hash, json};
use crate::extract::{Coverage, DocumentKind, Extraction, Metadata, Span};

/// Bytes of a part; the last one of a document is shorter.
const PART_BYTES: usize = 1 << 16;

/// Everything of an extraction but its text.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Detail {
    kind: DocumentKind,
    title: Option<String>,
    spans: Vec<Span>,
    coverage: Coverage,
    #[serde(default)]
    metadata: Option<Metadata>,
}

/// Stores the extraction of a document, in place of an earlier one.
pub(crate) fn put(connection: &Connection, id: DocumentId, extraction: &Extraction) -> Result<()> {
    remove(connection, id)?;
    let detail = json(&Detail {
        kind: extraction.kind,
        title: extraction.title.clone(),
        spans: extraction.spans.clone(),
        coverage: extraction.coverage.clone(),
        metadata: extraction.metadata.clone(),
    })?;
    let hash = checksum(&detail, extraction.text.as_bytes());
    connection.execute(
        "INSERT INTO extractions (document, detail, hash) VALUES (?1, ?2, ?3)",
        params![id.0 as i64, detail, hash.as_slice()],
    )?;
    let mut insert = connection.prepare_cached("INSERT INTO texts (document, start, bytes) VALUES (?1, ?2, ?3)")?;
    for (part, bytes) in extraction.text.as_bytes().chunks(PART_BYTES).enumerate() {
        insert.execute(params![id.0 as i64, (part * PART_BYTES) as i64, bytes])?;
    }
    Ok(())
}

/// Removes the extraction of a document.
pub(crate) fn remove(connection: &Connection, id: DocumentId) -> Result<()> {
    connection.execute("DELETE FROM extractions WHERE document = ?1", [id.0 as i64])?;
    Ok(())
}

/// The stored extraction, or `None`. An `Err` inside says how the stored bytes are damaged.
pub(crate) fn get(connection: &Connection, id: DocumentId) -> Result<Option<std::result::Result<Extraction, String>>> {
    let found: Option<(String, Hash)> = connection
        .prepare_cached("SELECT detail, hash FROM extractions WHERE document = ?1")?
        .query_row([id.0 as i64], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((detail, hash)) = found else {
        return Ok(None);
    };
    let text = bytes(connection, id, 0..usize::MAX)?;
    Ok(Some(assemble(&detail, text, &hash)))
}

fn assemble(detail: &str, text: Vec<u8>, hash: &Hash) -> std::result::Result<Extraction, String> {
    if checksum(detail, &text) != *hash {
        return Err("the stored text does not have the checksum it was stored with".to_owned());
    }
    let text = String::from_utf8(text).map_err(|err| format!("the stored text: {err}"))?;
    let detail: Detail = serde_json::from_str(detail).map_err(|err| format!("the stored places: {err}"))?;
    let Detail { kind, title, spans, coverage, metadata } = detail;
    Ok(Extraction { kind, title, text, spans, coverage, metadata })
}

/// The text of a byte range; bytes that are no UTF-8 (damage) are replaced.
pub(crate) fn range(connection: &Connection, id: DocumentId, range: Range<usize>) -> Result<String> {
    let bytes = bytes(connection, id, range)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|err| String::from_utf8_lossy(err.as_bytes()).into_owned()))
}

fn bytes(connection: &Connection, id: DocumentId, range: Range<usize>) -> Result<Vec<u8>> {
    let first_part = range.start / PART_BYTES * PART_BYTES;
    let end = i64::try_from(range.end).unwrap_or(i64::MAX);
    let mut select = connection.prepare_cached(
        "SELECT start, bytes FROM texts WHERE document = ?1 AND start >= ?2 AND start < ?3 ORDER BY start",
    )?;
    let mut rows = select.query(params![id.0 as i64, first_part as i64, end])?;
    let mut text = Vec::new();
    while let Some(row) = rows.next()? {
        let start = row.get::<_, i64>(0)? as usize;
        let part = row.get_ref(1)?.as_blob()?;
        let from = range.start.saturating_sub(start).min(part.len());
        let to = range.end.saturating_sub(start).min(part.len());
        text.extend_from_slice(part.get(from..to).unwrap_or_default());
    }
    Ok(text)
}

fn checksum(detail: &str, text: &[u8]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(detail.len() as u64).to_le_bytes());
    hasher.update(detail.as_bytes());
    hasher.update(text);
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure is the test's message")]

    use super::*;
    use crate::store::schema;

    fn library() -> (tempfile::TempDir, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.db");
        let mut connection = Connection::open(&path).unwrap();
        schema::migrate(&mut connection, &path, schema::STEPS).unwrap();
        connection.execute("INSERT INTO documents (path, title, status) VALUES ('a', 'A', 'ready')", []).unwrap();
        (folder, connection)
    }

    fn extraction(text: String) -> Extraction {
        Extraction {
            kind: DocumentKind::Text,
            title: Some("T".to_owned()),
            spans: vec![Span { start: 0, end: text.len(), place: crate::extract::SpanPlace::Page(1) }],
            text,
            coverage: Coverage::default(),
            metadata: None,
        }
    }

    #[test]
    fn ranges_are_exact_across_parts() {
        let (_folder, connection) = library();
        let text: String = (0..60_000).map(|i| char::from(b'a' + (i % 26) as u8)).collect();
        let text = format!("{text}ü{text}{text}");
        put(&connection, DocumentId(1), &extraction(text.clone())).unwrap();
        for (start, end) in [
            (0, 10),
            (59_990, 60_010),
            (65_530, 65_540),
            (1, text.len()),
            (131_070, 131_080),
            (text.len() - 3, text.len()),
        ] {
            assert_eq!(range(&connection, DocumentId(1), start..end).unwrap(), text[start..end]);
        }
        let whole = get(&connection, DocumentId(1)).unwrap().unwrap().unwrap();
        assert_eq!(whole, extraction(text));
    }

    #[test]
    fn changed_text_is_noticed() {
        let (_folder, connection) = library();
        put(&connection, DocumentId(1), &extraction("some text".to_owned())).unwrap();
        connection.execute("UPDATE texts SET bytes = X'736F6D6520746578'", []).unwrap();
        assert!(get(&connection, DocumentId(1)).unwrap().unwrap().is_err());
    }
}
