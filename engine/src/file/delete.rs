//! Deleting rows: a new tombstone file, then a commit that names it.

use std::sync::Arc;

use crate::bitmap::RowBitmap;
use crate::error::Error;

use super::{VectorFile, tombstones};

impl VectorFile {
    /// Deletes the live rows with these ids, in any order, and returns how many there were.
    ///
    /// The rows vanish from new snapshots; their space comes back with [`VectorFile::compact`].
    ///
    /// # Errors
    /// If the handle is read-only or the disk refuses; then nothing is deleted.
    pub fn delete(&mut self, ids: &[u64]) -> Result<usize, Error> {
        self.check_writable()?;
        let snapshot = self.snapshot();
        let mut deleted = self.deleted.as_deref().cloned().unwrap_or_else(|| RowBitmap::with_rows(0));
        deleted.grow(self.num_rows());
        let rows = ids.iter().filter_map(|&id| snapshot.row_of(id));
        let num_new = rows.filter(|&row| deleted.insert(row)).count();
        if num_new > 0 {
            self.commit_deleted(deleted)?;
        }
        Ok(num_new)
    }

    fn commit_deleted(&mut self, deleted: RowBitmap) -> Result<(), Error> {
        let mut next = self.superblock.clone();
        next.epoch += 1;
        next.tombstone_generation += 1;
        next.num_deleted = deleted.num_set();
        next.tombstone_crc = tombstones::write(self.path(), &next, &deleted)?;
        self.commit(next)?;
        self.deleted = Some(Arc::new(deleted));
        tombstones::remove_stale(self.path(), self.superblock.tombstone_generation);
        Ok(())
    }
}
