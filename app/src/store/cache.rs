//! The embedding cache: a text that was embedded once, in whichever document, is never embedded again by the same
//! model.

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::documents::Hash;
use crate::embed::TextRole;

/// The key of a text's vector: BLAKE3 of the model's fingerprint, the role and the text.
pub(crate) fn key(fingerprint: &str, role: TextRole, text: &str) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(fingerprint.len() as u64).to_le_bytes());
    hasher.update(fingerprint.as_bytes());
    hasher.update(match role {
        TextRole::Query => b"q",
        TextRole::Passage => b"p",
    });
    hasher.update(text.as_bytes());
    *hasher.finalize().as_bytes()
}

/// The cached vector, if it is there, has `dims` numbers and the checksum it was stored with.
pub(crate) fn get(connection: &Connection, key: &Hash, dims: usize) -> Result<Option<Vec<f32>>> {
    let found: Option<(Vec<u8>, Hash)> = connection
        .prepare_cached("SELECT vector, checksum FROM embeddings WHERE key = ?1")?
        .query_row([key.as_slice()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(found
        .filter(|(bytes, checksum)| bytes.len() == dims * 4 && is_intact(bytes, checksum))
        .map(|(bytes, _)| from_bytes(&bytes)))
}

/// Stores vectors under their keys.
pub(crate) fn put(connection: &Connection, entries: &[(Hash, &[f32])]) -> Result<()> {
    let mut insert =
        connection.prepare_cached("INSERT OR REPLACE INTO embeddings (key, vector, checksum) VALUES (?1, ?2, ?3)")?;
    for (key, vector) in entries {
        let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
        let checksum = blake3::hash(&bytes);
        insert.execute(params![key.as_slice(), bytes, checksum.as_bytes().as_slice()])?;
    }
    Ok(())
}

/// Keys of entries whose vector does not have its checksum.
pub(crate) fn damaged(connection: &Connection) -> Result<Vec<Vec<u8>>> {
    let mut select = connection.prepare("SELECT key, vector, checksum FROM embeddings")?;
    let mut rows = select.query([])?;
    let mut damaged = Vec::new();
    while let Some(row) = rows.next()? {
        let intact = match (row.get_ref(1)?.as_blob(), row.get::<_, Hash>(2)) {
            (Ok(bytes), Ok(checksum)) => bytes.len() % 4 == 0 && is_intact(bytes, &checksum),
            _ => false,
        };
        if !intact {
            damaged.push(row.get(0)?);
        }
    }
    Ok(damaged)
}

/// Removes entries; their texts are embedded again when needed.
pub(crate) fn remove(connection: &Connection, keys: &[Vec<u8>]) -> Result<()> {
    for key in keys {
        connection.execute("DELETE FROM embeddings WHERE key = ?1", [key])?;
    }
    Ok(())
}

fn is_intact(bytes: &[u8], checksum: &Hash) -> bool {
    blake3::hash(bytes).as_bytes() == checksum
}

fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}
