//! Which rows a search may return.

use crate::bitmap::RowBitmap;
use crate::error::Error;
use crate::file::Snapshot;

/// A set of rows of one file. Rows appended after it was made are not in it.
#[derive(Clone, Debug)]
pub struct RowFilter {
    uuid: [u8; 16],
    rows: RowBitmap,
}

impl RowFilter {
    /// The rows that have one of these ids. Ids that the file does not hold are passed over.
    ///
    /// Fastest with sorted ids: each is looked for after the one before.
    pub fn from_ids(snapshot: &Snapshot, ids: &[u64]) -> Self {
        let mut rows = RowBitmap::with_rows(snapshot.num_rows());
        // A file that was cut under us must not be read through its mapping; the search says what happened to it.
        let ids = if snapshot.check_len().is_ok() { ids } else { &[] };
        let (mut previous, mut start) = (0, 0);
        for &id in ids {
            if id < previous {
                start = 0;
            }
            let row = find_from(snapshot, id, start);
            if row < snapshot.num_rows() && snapshot.id_of(row) == id {
                rows.insert(row);
            }
            (previous, start) = (id, row);
        }
        Self { uuid: snapshot.uuid(), rows }
    }

    /// The rows whose id passes `is_wanted`.
    pub fn from_predicate(snapshot: &Snapshot, mut is_wanted: impl FnMut(u64) -> bool) -> Self {
        let mut rows = RowBitmap::with_rows(snapshot.num_rows());
        let is_whole = snapshot.check_len().is_ok();
        for block in snapshot.blocks().filter(|_| is_whole) {
            for (row, &id) in (block.first_row..).zip(block.ids()) {
                if is_wanted(id) {
                    rows.insert(row);
                }
            }
        }
        Self { uuid: snapshot.uuid(), rows }
    }

    /// Rows in the set, deleted ones among them.
    pub fn num_rows(&self) -> u64 {
        self.rows.num_set()
    }

    pub(crate) fn contains(&self, row: u64) -> bool {
        self.rows.contains(row)
    }

    pub(crate) fn check_belongs_to(&self, snapshot: &Snapshot) -> Result<(), Error> {
        if self.uuid != snapshot.uuid() {
            return Err(Error::ForeignFilter { path: snapshot.path().to_owned() });
        }
        Ok(())
    }

    pub(crate) fn words(&self) -> &[u64] {
        self.rows.words()
    }
}

/// The first row from `start` on with at least this id, in doubling steps: close ids are found fast.
fn find_from(snapshot: &Snapshot, id: u64, start: u64) -> u64 {
    let (mut low, mut step) = (start, 1);
    while low + step < snapshot.num_rows() && snapshot.id_of(low + step) < id {
        low += step;
        step *= 2;
    }
    snapshot.first_row_in(id, low, (low + step + 1).min(snapshot.num_rows()))
}
