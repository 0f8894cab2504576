//! Statements about documents. Every function runs inside the caller's transaction.

use std::path::{Path, PathBuf};

use rusqlite::types::{FromSqlError, Type, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{DocumentId, DocumentProfile, DocumentRecord, DocumentStatus};
use crate::chunk::ChunkerConfig;
use crate::extract::{DocumentKind, Metadata, ReadOptions};

/// BLAKE3 of a file's bytes.
pub(crate) type Hash = [u8; 32];

/// What ingestion needs to know of a document that is already there.
#[derive(Clone, Debug)]
pub(crate) struct KnownDocument {
    pub(crate) id: DocumentId,
    pub(crate) path: PathBuf,
    pub(crate) status: DocumentStatus,
    /// Of the bytes it was read from; of a document that is not ready the mark of [`set_mark`].
    pub(crate) hash: Option<Hash>,
    pub(crate) reason: Option<String>,
    /// The format that it was read as last.
    pub(crate) kind: Option<DocumentKind>,
    /// Whether what it says of itself was kept when it was read.
    pub(crate) has_metadata: bool,
    /// How its file is read.
    pub(crate) read: ReadOptions,
    /// What it is cut with, also while it is not ready.
    pub(crate) chunker: Option<ChunkerConfig>,
    /// The [`text_hash`] of the text that it was cut in last, once that is gone.
    pub(crate) cut_mark: Option<Hash>,
    /// How often in a row reading took too long.
    pub(crate) timeouts: u32,
}

const KNOWN_COLUMNS: &str =
    "id, path, status, hash, reason, kind, read, chunker, cut_mark, timeouts, metadata IS NOT NULL";

/// BLAKE3 of a text: places in it mean the same as long as this does.
pub(crate) fn text_hash(text: &str) -> Hash {
    *blake3::hash(text.as_bytes()).as_bytes()
}

/// Marks bytes with how they are read.
pub(crate) fn text_mark(hash: &Hash, read: &ReadOptions) -> Hash {
    if read.is_empty() {
        return *hash;
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(hash);
    for option in [&read.encoding, &read.html_selector, &read.json_field] {
        let text = option.as_deref().unwrap_or_default();
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// Puts a file in the queue; a document with this path stays as it is.
pub(crate) fn enqueue(connection: &Connection, path: &Path, bytes: u64) -> Result<()> {
    let title = file_name(path);
    connection
        .prepare_cached(
            "INSERT INTO documents (path, title, status, bytes) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (path) DO NOTHING",
        )?
        .execute(params![path_value(path), title, status_text(DocumentStatus::Queued), bytes as i64])?;
    Ok(())
}

/// The document of a path.
pub(crate) fn by_path(connection: &Connection, path: &Path) -> Result<Option<KnownDocument>> {
    connection
        .prepare_cached(&format!("SELECT {KNOWN_COLUMNS} FROM documents WHERE path = ?1"))?
        .query_row([path_value(path)], known)
        .optional()
}

/// Ready documents with these bytes, by id.
pub(crate) fn ready_by_hash(connection: &Connection, hash: &Hash) -> Result<Vec<KnownDocument>> {
    connection
        .prepare_cached(&format!(
            "SELECT {KNOWN_COLUMNS} FROM documents WHERE hash = ?1 AND status = 'ready' ORDER BY id"
        ))?
        .query_map([hash.as_slice()], known)?
        .collect()
}

fn known(row: &Row<'_>) -> Result<KnownDocument> {
    Ok(KnownDocument {
        id: DocumentId(row.get::<_, i64>(0)? as u64),
        path: path_column(row, 1)?,
        status: status_column(row, 2)?,
        hash: row.get(3)?,
        reason: row.get(4)?,
        kind: optional_json(row, 5)?,
        read: json_column(row, 6)?,
        chunker: optional_json(row, 7)?,
        cut_mark: row.get(8)?,
        timeouts: row.get(9)?,
        has_metadata: row.get(10)?,
    })
}

/// Gives a document another path (the file was renamed), and another title where the file's name was the title.
pub(crate) fn rename(connection: &Connection, id: DocumentId, path: &Path) -> Result<()> {
    let (old_path, title) = path_and_title(connection, id)?;
    let title = if title == file_name(&old_path) { file_name(path) } else { title };
    connection.execute(
        "UPDATE documents SET path = ?2, title = ?3 WHERE id = ?1",
        params![id.0 as i64, path_value(path), title],
    )?;
    Ok(())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Records why a document is not ready.
pub(crate) fn set_status(
    connection: &Connection,
    id: DocumentId,
    status: DocumentStatus,
    reason: Option<&str>,
) -> Result<()> {
    connection.execute(
        "UPDATE documents SET status = ?2, reason = ?3 WHERE id = ?1",
        params![id.0 as i64, status_text(status), reason],
    )?;
    Ok(())
}

/// Remembers a hash with a document that is not ready.
pub(crate) fn set_mark(connection: &Connection, id: DocumentId, mark: Option<&Hash>) -> Result<()> {
    let mark = mark.map(<[u8; 32]>::as_slice);
    connection.execute("UPDATE documents SET hash = ?2 WHERE id = ?1", params![id.0 as i64, mark])?;
    Ok(())
}

/// Remembers the text of a document whose text is about to go.
pub(crate) fn set_cut_mark(connection: &Connection, id: DocumentId, text: &str) -> Result<()> {
    let hash = text_hash(text);
    connection.execute("UPDATE documents SET cut_mark = ?2 WHERE id = ?1", params![id.0 as i64, hash.as_slice()])?;
    Ok(())
}

/// Remembers how often in a row reading took too long.
pub(crate) fn set_timeouts(connection: &Connection, id: DocumentId, timeouts: u32) -> Result<()> {
    connection.execute("UPDATE documents SET timeouts = ?2 WHERE id = ?1", params![id.0 as i64, timeouts])?;
    Ok(())
}

/// Keeps what a document says of itself; `None` where nothing is known of it.
pub(crate) fn set_metadata(connection: &Connection, id: DocumentId, metadata: Option<&Metadata>) -> Result<()> {
    let metadata = metadata.map(json).transpose()?;
    connection.execute("UPDATE documents SET metadata = ?2 WHERE id = ?1", params![id.0 as i64, metadata])?;
    Ok(())
}

/// Remembers how a file is read and cut, where these are given, and how often reading took too long.
pub(crate) fn set_wishes(
    connection: &Connection,
    id: DocumentId,
    read: Option<&ReadOptions>,
    chunker: Option<&ChunkerConfig>,
    timeouts: u32,
) -> Result<()> {
    connection.execute(
        "UPDATE documents SET read = coalesce(?2, read), chunker = coalesce(?3, chunker), timeouts = ?4 WHERE id = ?1",
        params![id.0 as i64, read.map(json).transpose()?, chunker.map(json).transpose()?, timeouts],
    )?;
    Ok(())
}

/// Number of pages of a document.
pub(crate) fn pages(connection: &Connection, id: DocumentId) -> Result<Option<u32>> {
    let pages: Option<Option<u32>> = connection
        .prepare_cached("SELECT pages FROM documents WHERE id = ?1")?
        .query_row([id.0 as i64], |row| row.get(0))
        .optional()?;
    Ok(pages.flatten())
}

/// Path and title of a document.
pub(crate) fn path_and_title(connection: &Connection, id: DocumentId) -> Result<(PathBuf, String)> {
    connection
        .prepare_cached("SELECT path, title FROM documents WHERE id = ?1")?
        .query_row([id.0 as i64], |row| Ok((path_column(row, 0)?, row.get(1)?)))
}

/// Id and path of every document.
pub(crate) fn paths(connection: &Connection) -> Result<Vec<(DocumentId, PathBuf)>> {
    connection
        .prepare_cached("SELECT id, path FROM documents")?
        .query_map([], |row| Ok((DocumentId(row.get::<_, i64>(0)? as u64), path_column(row, 1)?)))?
        .collect()
}

/// Every document that can be searched; what they say of themselves only where that is asked for.
pub(crate) fn list_ready(connection: &Connection, with_metadata: bool) -> Result<Vec<DocumentProfile>> {
    connection
        .prepare_cached(
            "SELECT id, path, kind, title, pages, bytes, CASE WHEN ?1 THEN metadata END
             FROM documents WHERE status = 'ready'",
        )?
        .query_map([with_metadata], profile)?
        .collect()
}

fn profile(row: &Row<'_>) -> Result<DocumentProfile> {
    Ok(DocumentProfile {
        id: DocumentId(row.get::<_, i64>(0)? as u64),
        path: path_column(row, 1)?,
        kind: optional_json(row, 2)?,
        title: row.get(3)?,
        pages: row.get(4)?,
        bytes: row.get::<_, i64>(5)? as u64,
        metadata: optional_json(row, 6)?,
    })
}

/// Whether a document is there.
pub(crate) fn exists(connection: &Connection, id: DocumentId) -> Result<bool> {
    connection.prepare_cached("SELECT 1 FROM documents WHERE id = ?1")?.exists([id.0 as i64])
}

/// Deletes a document's row and everything that hangs on it (the keyword index excepted).
pub(crate) fn delete(connection: &Connection, id: DocumentId) -> Result<()> {
    connection.execute("DELETE FROM documents WHERE id = ?1", [id.0 as i64])?;
    Ok(())
}

/// Files that waited when the process ended can only be added again.
pub(crate) fn cancel_queued(connection: &Connection, reason: &str) -> Result<usize> {
    connection.execute("UPDATE documents SET status = 'cancelled', reason = ?1 WHERE status = 'queued'", [reason])
}

/// Every document, by id.
pub(crate) fn list(connection: &Connection) -> Result<Vec<DocumentRecord>> {
    connection
        .prepare_cached(
            "SELECT d.id, d.path, d.title, d.status, d.reason, d.kind, d.pages, d.pages_without_text, d.bytes,
                    coalesce(c.config, d.chunker), c.embedder, (SELECT count(*) FROM chunks WHERE chunking = c.id),
                    d.read, d.metadata
             FROM documents d LEFT JOIN chunkings c ON c.document = d.id AND c.active
             ORDER BY d.id",
        )?
        .query_map([], record)?
        .collect()
}

fn record(row: &Row<'_>) -> Result<DocumentRecord> {
    Ok(DocumentRecord {
        id: DocumentId(row.get::<_, i64>(0)? as u64),
        path: path_column(row, 1)?,
        title: row.get(2)?,
        status: status_column(row, 3)?,
        reason: row.get(4)?,
        kind: optional_json(row, 5)?,
        pages: row.get(6)?,
        pages_without_text: json_column(row, 7)?,
        bytes: row.get::<_, i64>(8)? as u64,
        chunker: optional_json(row, 9)?,
        embedder: row.get(10)?,
        chunks: row.get::<_, i64>(11)? as usize,
        read: json_column(row, 12)?,
        metadata: optional_json(row, 13)?,
    })
}

/// The status as the database spells it.
pub(crate) fn status_text(status: DocumentStatus) -> &'static str {
    match status {
        DocumentStatus::Ready => "ready",
        DocumentStatus::Failed => "failed",
        DocumentStatus::NeedsOcr => "needs-ocr",
        DocumentStatus::Encrypted => "encrypted",
        DocumentStatus::Queued => "queued",
        DocumentStatus::Cancelled => "cancelled",
    }
}

fn status_column(row: &Row<'_>, index: usize) -> Result<DocumentStatus> {
    let text: String = row.get(index)?;
    serde_json::from_value(serde_json::Value::String(text))
        .map_err(|err| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(err)))
}

/// A value as JSON text for a column.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|err| rusqlite::Error::ToSqlConversionFailure(Box::new(err)))
}

/// A value out of a column of JSON text.
pub(crate) fn json_column<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> Result<T> {
    parse_json(row.get_ref(index)?.as_str()?, index)
}

fn optional_json<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> Result<Option<T>> {
    let text: Option<String> = row.get(index)?;
    text.map(|text| parse_json(&text, index)).transpose()
}

fn parse_json<T: DeserializeOwned>(text: &str, index: usize) -> Result<T> {
    serde_json::from_str(text)
        .map_err(|err| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(err)))
}

/// A path as TEXT, or as BLOB where it is not UTF-8.
pub(crate) fn path_value(path: &Path) -> Value {
    match path.to_str() {
        Some(text) => Value::Text(text.to_owned()),
        None => path_bytes(path),
    }
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> Value {
    use std::os::unix::ffi::OsStrExt;
    Value::Blob(path.as_os_str().as_bytes().to_owned())
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Value {
    Value::Text(path.to_string_lossy().into_owned())
}

/// The path that [`path_value`] wrote.
pub(crate) fn path_column(row: &Row<'_>, index: usize) -> Result<PathBuf> {
    match row.get_ref(index)? {
        ValueRef::Text(text) => Ok(PathBuf::from(String::from_utf8_lossy(text).into_owned())),
        ValueRef::Blob(bytes) => Ok(path_from_bytes(bytes)),
        _ => Err(FromSqlError::InvalidType.into()),
    }
}

#[cfg(unix)]
fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
