//! The keyword index: an FTS5 table without content, fed with [`super::tokens`], read posting by posting.
//!
//! The scores are computed in [`crate::retrieve`], not with FTS5's `bm25()`: that one clamps the weight of a word
//! in more than half of the passages to nothing, which makes the ranking of a small library meaningless.

use rusqlite::{Connection, Result, params};

use super::{ChunkId, tokens};

/// Puts a passage into the index and gives its length in tokens.
pub(crate) fn put(connection: &Connection, id: ChunkId, passage: &str) -> Result<usize> {
    let tokens = tokens::index_tokens(passage);
    connection
        .prepare_cached("INSERT INTO keywords (rowid, terms) VALUES (?1, ?2)")?
        .execute(params![id.0 as i64, tokens.join(" ")])?;
    Ok(tokens.len())
}

/// Takes the passages of a document's active chunking out of the index.
pub(crate) fn remove_document(connection: &Connection, document: super::DocumentId) -> Result<()> {
    connection.execute(
        "DELETE FROM keywords WHERE rowid IN (
             SELECT chunks.id FROM chunks JOIN chunkings ON chunkings.id = chunks.chunking
             WHERE chunkings.document = ?1 AND chunkings.active)",
        [document.0 as i64],
    )?;
    Ok(())
}

/// Passages that hold `token`, by id, with how often.
pub(crate) fn postings(connection: &Connection, token: &str) -> Result<Vec<(u64, u32)>> {
    let mut select = connection.prepare_cached("SELECT doc FROM keyword_postings WHERE term = ?1")?;
    let mut rows = select.query([token])?;
    let mut postings: Vec<(u64, u32)> = Vec::new();
    while let Some(row) = rows.next()? {
        let id = row.get::<_, i64>(0)? as u64;
        match postings.last_mut() {
            Some((last, count)) if *last == id => *count += 1,
            _ => postings.push((id, 1)),
        }
    }
    Ok(postings)
}

/// Ids in the index, by id.
pub(crate) fn ids(connection: &Connection) -> Result<Vec<u64>> {
    connection
        .prepare("SELECT id FROM keywords_docsize ORDER BY id")?
        .query_map([], |row| Ok(row.get::<_, i64>(0)? as u64))?
        .collect()
}

/// Empties the index.
pub(crate) fn clear(connection: &Connection) -> Result<()> {
    connection.execute("INSERT INTO keywords (keywords) VALUES ('delete-all')", []).map(|_| ())
}
