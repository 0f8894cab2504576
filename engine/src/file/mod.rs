//! The `.vec` file: fixed-width rows with ids, memory-mapped for readers, appended by one writer.
//!
//! Invariants: committed rows are never rewritten; a commit is one superblock write after
//! everything it refers to is on the device; a reader sees one epoch and nothing else.
//!
//! ```text
//! 0        superblock slot 0   (see `header.rs` for every byte)
//! 4 096    superblock slot 1
//! 65 536   block 0             (see `block.rs`), about 8 MiB
//! …        block b at 65 536 + b × block size
//! ```
//!
//! Beside `notes.vec` lie `notes.vec.lock` (held by the writer), once rows were deleted
//! `notes.vec.deleted-N` (see `tombstones.rs`), and if wanted `notes.vec.codes` (see `codes.rs`). Start reading at [`VectorFile`].

mod append;
mod block;
mod codes;
mod compact;
mod delete;
mod disk;
mod header;
mod layout;
mod map;
mod open;
mod snapshot;
mod tombstones;
mod verify;

use std::path::Path;
use std::sync::Arc;

use crate::bitmap::RowBitmap;
use crate::error::Error;
use crate::metric::{Dtype, Metric};

pub(crate) use block::BlockView;
pub(crate) use codes::{Codes, CodesView, MAX_CODE, approximate, code_stride};
pub(crate) use disk::{Disk, rename_durably, sibling};
pub use layout::MAX_DIMS;
pub use snapshot::Snapshot;
pub use verify::{Damage, VerifyReport};

use block::Block;
use disk::WriterLock;
use header::Superblock;

/// Bytes of a file's identity.
#[cfg(feature = "gpu")]
pub(crate) const UUID_BYTES: usize = 16;

/// What a new file holds.
///
/// ```
/// let spec = engine::FileSpec { metric: engine::Metric::Dot, ..engine::FileSpec::new(384) };
/// assert_eq!(spec.dims, 384);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FileSpec {
    /// Values per row, 1 to [`MAX_DIMS`].
    pub dims: u32,
    /// How values are stored.
    pub dtype: Dtype,
    /// The metric of searches that name none.
    pub metric: Metric,
    /// Scale every row to unit length when it is appended (rows of zeros stay zeros).
    pub is_normalised: bool,
    /// Size that blocks aim at, 64 KiB to 1 GiB; about 8 MiB if not given.
    pub block_bytes: Option<u64>,
}

impl FileSpec {
    /// 32-bit floats under cosine, stored as given.
    pub fn new(dims: u32) -> Self {
        Self { dims, dtype: Dtype::F32, metric: Metric::Cosine, is_normalised: false, block_bytes: None }
    }
}

/// A vector file, open for reading or as its one writer.
#[derive(Debug)]
pub struct VectorFile {
    disk: Arc<Disk>,
    lock: Option<WriterLock>,
    superblock: Superblock,
    blocks: Arc<[Block]>,
    deleted: Option<Arc<RowBitmap>>,
    codes: Option<Arc<Codes>>,
}

impl VectorFile {
    /// The committed rows as they are now, for readers.
    pub fn snapshot(&self) -> Snapshot {
        let (disk, blocks) = (Arc::clone(&self.disk), Arc::clone(&self.blocks));
        let (deleted, codes) = (self.deleted.clone(), self.codes.clone());
        Snapshot::new(disk, self.superblock.clone(), blocks, deleted, codes)
    }

    /// Values per row.
    pub fn dims(&self) -> usize {
        self.superblock.geometry.dims
    }

    /// The metric of searches that name none.
    pub fn metric(&self) -> Metric {
        self.superblock.metric
    }

    /// Committed rows, deleted ones among them.
    pub fn num_rows(&self) -> u64 {
        self.superblock.num_rows
    }

    /// Committed rows that are not deleted.
    pub fn num_live_rows(&self) -> u64 {
        self.superblock.num_rows - self.superblock.num_deleted
    }

    /// The highest id ever appended, deleted or not. The next one must exceed it.
    pub fn last_id(&self) -> Option<u64> {
        (self.superblock.num_rows > 0).then_some(self.superblock.last_id)
    }

    /// Whether a live row has this id.
    pub fn contains(&self, id: u64) -> bool {
        self.snapshot().contains(id)
    }

    /// The stored values of the live row with this id.
    pub fn vector(&self, id: u64) -> Option<Vec<f32>> {
        self.snapshot().vector(id)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.disk.path
    }

    /// Whether this handle may write.
    pub fn is_writer(&self) -> bool {
        self.lock.is_some()
    }

    fn check_writable(&self) -> Result<(), Error> {
        if self.lock.is_none() {
            return Err(Error::ReadOnly { path: self.disk.path.clone() });
        }
        Ok(())
    }

    /// Makes `next` the state of the file: everything it refers to is on the device already.
    fn commit(&mut self, next: Superblock) -> Result<(), Error> {
        self.disk.write_at(&next.encode(), (next.slot_index() * header::SLOT_BYTES) as u64)?;
        self.disk.sync()?;
        self.superblock = next;
        Ok(())
    }
}
