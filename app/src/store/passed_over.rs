//! Pictures of folders in which no text was found: they are no documents, and are read again only when they change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::documents::{path_column, path_value};
use super::{DocumentId, Hash, Store, StoreError, documents};

/// Forgets that the file of a document was passed over.
pub(crate) fn forget_document(connection: &Connection, id: DocumentId) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM passed_over WHERE path = (SELECT path FROM documents WHERE id = ?1)")?
        .execute([id.0 as i64])?;
    Ok(())
}

impl Store {
    /// Paths of the files that were passed over.
    pub(crate) fn passed_over(&self) -> std::result::Result<BTreeSet<PathBuf>, StoreError> {
        self.database.read(|connection| {
            let mut paths = connection.prepare_cached("SELECT path FROM passed_over")?;
            paths.query_map([], |row| path_column(row, 0))?.collect()
        })
    }

    /// The mark with which the file at `path` was passed over.
    pub(crate) fn passed_over_mark(&self, path: &Path) -> std::result::Result<Option<Hash>, StoreError> {
        self.database.read(|connection| {
            connection
                .prepare_cached("SELECT mark FROM passed_over WHERE path = ?1")?
                .query_row([path_value(path)], |row| row.get(0))
                .optional()
        })
    }

    /// Passes over the file at `path` from now on. `document`, which is not searchable, is dropped.
    pub(crate) fn pass_over(
        &self,
        path: &Path,
        mark: &Hash,
        document: Option<DocumentId>,
    ) -> std::result::Result<(), StoreError> {
        self.database.write_quietly(|transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO passed_over (path, mark) VALUES (?1, ?2)",
                params![path_value(path), mark.as_slice()],
            )?;
            document.map_or(Ok(()), |id| documents::delete(transaction, id))
        })
    }

    /// Forgets files that were passed over.
    pub(crate) fn forget_passed_over(&self, paths: &[PathBuf]) -> std::result::Result<(), StoreError> {
        self.database.write_quietly(|transaction| {
            paths.iter().try_for_each(|path| {
                transaction.execute("DELETE FROM passed_over WHERE path = ?1", [path_value(path)]).map(drop)
            })
        })
    }
}
