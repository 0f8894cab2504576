//! Statements about chunkings and chunks. Every function runs inside the caller's transaction.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use super::documents::{json, json_column};
use super::{ChunkId, ChunkRecord, DocumentId, keywords, texts};
use crate::chunk::ChunkerConfig;
use crate::extract::Place;

/// Chunkings kept per document beside the active one.
const KEPT_CHUNKINGS: i64 = 3;

/// What a chunking was made with: the same key gives the same chunks and vectors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChunkingKey {
    pub(crate) config: ChunkerConfig,
    pub(crate) context: bool,
    pub(crate) fingerprint: String,
}

/// A chunk about to be stored.
#[derive(Clone, Debug)]
pub(crate) struct NewChunk {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) tokens: usize,
    pub(crate) left_similarity: Option<f32>,
    pub(crate) right_similarity: Option<f32>,
    pub(crate) place: Place,
    /// What the keyword index gets.
    pub(crate) passage: String,
}

/// The key of a document's active chunking.
pub(crate) fn active_key(connection: &Connection, id: DocumentId) -> Result<Option<ChunkingKey>> {
    connection
        .prepare_cached("SELECT config, context, fingerprint FROM chunkings WHERE document = ?1 AND active")?
        .query_row([id.0 as i64], |row| {
            Ok(ChunkingKey { config: json_column(row, 0)?, context: row.get(1)?, fingerprint: row.get(2)? })
        })
        .optional()
}

/// Stores a chunking and makes it the active one; `ids` are those of its rows in the vector file.
pub(crate) fn put_active(
    connection: &Connection,
    document: DocumentId,
    key: &ChunkingKey,
    embedder: &str,
    chunks: &[(ChunkId, NewChunk)],
) -> Result<()> {
    deactivate(connection, document)?;
    let config = json(&key.config)?;
    forget_inactive(connection, document, &config)?;
    connection.execute(
        "INSERT INTO chunkings (document, config, context, fingerprint, embedder, active)
         VALUES (?1, ?2, ?3, ?4, ?5, 1)",
        params![document.0 as i64, config, key.context, key.fingerprint, embedder],
    )?;
    let chunking = connection.last_insert_rowid();
    for (position, (id, chunk)) in chunks.iter().enumerate() {
        let terms = keywords::put(connection, *id, &chunk.passage)?;
        insert(connection, chunking, position, *id, chunk, terms)?;
    }
    Ok(())
}

fn insert(
    connection: &Connection,
    chunking: i64,
    position: usize,
    id: ChunkId,
    chunk: &NewChunk,
    terms: usize,
) -> Result<()> {
    connection
        .prepare_cached(
            r#"INSERT INTO chunks (id, chunking, position, start, "end", tokens, terms, left_similarity,
                                  right_similarity, place)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"#,
        )?
        .execute(params![
            id.0 as i64,
            chunking,
            position as i64,
            chunk.start as i64,
            chunk.end as i64,
            chunk.tokens as i64,
            terms as i64,
            chunk.left_similarity,
            chunk.right_similarity,
            json(&chunk.place)?,
        ])?;
    Ok(())
}

/// Makes no chunking of a document the active one; its passages leave the keyword index.
pub(crate) fn deactivate(connection: &Connection, document: DocumentId) -> Result<()> {
    keywords::remove_document(connection, document)?;
    connection.execute("UPDATE chunkings SET active = 0 WHERE document = ?1", [document.0 as i64])?;
    Ok(())
}

/// Removes every chunking of a document (its text changed).
pub(crate) fn remove_all(connection: &Connection, document: DocumentId) -> Result<()> {
    keywords::remove_document(connection, document)?;
    connection.execute("DELETE FROM chunkings WHERE document = ?1", [document.0 as i64])?;
    Ok(())
}

fn forget_inactive(connection: &Connection, document: DocumentId, config: &str) -> Result<()> {
    connection.execute(
        "DELETE FROM chunkings WHERE document = ?1 AND NOT active AND (config = ?2 OR id NOT IN (
             SELECT id FROM chunkings WHERE document = ?1 AND NOT active ORDER BY id DESC LIMIT ?3))",
        params![document.0 as i64, config, KEPT_CHUNKINGS],
    )?;
    Ok(())
}

/// Ids of the chunks of a document's active chunking, by id.
pub(crate) fn active_ids(connection: &Connection, document: DocumentId) -> Result<Vec<u64>> {
    connection
        .prepare_cached(
            "SELECT chunks.id FROM chunks JOIN chunkings ON chunkings.id = chunks.chunking
             WHERE chunkings.document = ?1 AND chunkings.active ORDER BY chunks.id",
        )?
        .query_map([document.0 as i64], |row| Ok(row.get::<_, i64>(0)? as u64))?
        .collect()
}

/// The chunks of a document's active chunking, in order.
pub(crate) fn of_document(connection: &Connection, id: DocumentId) -> Result<Vec<ChunkRecord>> {
    connection
        .prepare_cached(
            r#"SELECT c.id, k.document, c.position, c.start, c."end", c.tokens, c.left_similarity,
                      c.right_similarity, c.place
               FROM chunks c JOIN chunkings k ON k.id = c.chunking
               WHERE k.document = ?1 AND k.active ORDER BY c.position"#,
        )?
        .query_map([id.0 as i64], |row| record(connection, row))?
        .collect()
}

/// One chunk.
pub(crate) fn by_id(connection: &Connection, id: u64) -> Result<Option<ChunkRecord>> {
    connection
        .prepare_cached(
            r#"SELECT c.id, k.document, c.position, c.start, c."end", c.tokens, c.left_similarity,
                      c.right_similarity, c.place
               FROM chunks c JOIN chunkings k ON k.id = c.chunking WHERE c.id = ?1"#,
        )?
        .query_row([id as i64], |row| record(connection, row))
        .optional()
}

fn record(connection: &Connection, row: &Row<'_>) -> Result<ChunkRecord> {
    let document = DocumentId(row.get::<_, i64>(1)? as u64);
    let (start, end) = (row.get::<_, i64>(3)? as usize, row.get::<_, i64>(4)? as usize);
    Ok(ChunkRecord {
        id: ChunkId(row.get::<_, i64>(0)? as u64),
        document,
        index: row.get::<_, i64>(2)? as usize,
        start,
        end,
        text: texts::range(connection, document, start..end)?,
        place: json_column(row, 8)?,
        tokens: row.get::<_, i64>(5)? as usize,
        left_similarity: row.get(6)?,
        right_similarity: row.get(7)?,
    })
}

/// Takes the next `count` chunk ids, none of which was ever used and all of which are above `last_used`.
pub(crate) fn reserve_ids(connection: &Connection, count: usize, last_used: u64) -> Result<u64> {
    let next: i64 = connection.query_row("SELECT value FROM meta WHERE name = 'next_chunk'", [], |row| row.get(0))?;
    let first = next.max(last_used as i64 + 1);
    connection.execute("UPDATE meta SET value = ?1 WHERE name = 'next_chunk'", [first + count as i64])?;
    Ok(first as u64)
}
