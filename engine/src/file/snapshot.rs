//! A view of the committed rows at one moment.
//!
//! Invariant: nothing that a writer does later changes what a snapshot shows.

use std::path::Path;
use std::sync::Arc;

use crate::bitmap::RowBitmap;
use crate::error::Error;
use crate::metric::{Dtype, Metric};

use super::block::{Block, BlockView};
use super::codes::Codes;
use super::disk::Disk;
use super::header::Superblock;
use super::layout::Geometry;

/// An immutable view of a vector file: cheap to clone, shared freely between threads.
///
/// Readers keep searching their snapshot while the writer appends, deletes or compacts.
#[derive(Clone, Debug)]
pub struct Snapshot {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    disk: Arc<Disk>,
    superblock: Superblock,
    blocks: Arc<[Block]>,
    deleted: Option<Arc<RowBitmap>>,
    codes: Option<Arc<Codes>>,
}

impl Snapshot {
    pub(crate) fn new(
        disk: Arc<Disk>,
        superblock: Superblock,
        blocks: Arc<[Block]>,
        deleted: Option<Arc<RowBitmap>>,
        codes: Option<Arc<Codes>>,
    ) -> Self {
        Self { inner: Arc::new(Inner { disk, superblock, blocks, deleted, codes }) }
    }

    /// Values per row.
    pub fn dims(&self) -> usize {
        self.geometry().dims
    }

    /// How the values are stored.
    pub fn dtype(&self) -> Dtype {
        self.geometry().dtype
    }

    /// The metric of searches that name none.
    pub fn metric(&self) -> Metric {
        self.inner.superblock.metric
    }

    /// Committed rows, deleted ones among them.
    pub fn num_rows(&self) -> u64 {
        self.inner.superblock.num_rows
    }

    /// Committed rows that are not deleted.
    pub fn num_live_rows(&self) -> u64 {
        self.inner.superblock.num_rows - self.inner.superblock.num_deleted
    }

    /// The highest id ever appended, deleted or not.
    pub fn last_id(&self) -> Option<u64> {
        (self.num_rows() > 0).then_some(self.inner.superblock.last_id)
    }

    /// Counts the commits of the file.
    pub fn epoch(&self) -> u64 {
        self.inner.superblock.epoch
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.inner.disk.path
    }

    /// Whether a live row has this id.
    pub fn contains(&self, id: u64) -> bool {
        self.live_row_of(id).is_some()
    }

    /// The stored values of the live row with this id.
    pub fn vector(&self, id: u64) -> Option<Vec<f32>> {
        let row = self.live_row_of(id)?;
        let mut values = vec![0.0; self.dims()];
        let (block, row_in_block) = self.locate(row);
        block.read_row(row_in_block, &mut values);
        Some(values)
    }

    /// The ids of all live rows, in order.
    pub fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        let live = |(row, &id): (u64, &u64)| (!self.is_deleted(row)).then_some(id);
        self.blocks().flat_map(move |block| (block.first_row..).zip(block.ids()).filter_map(live).collect::<Vec<_>>())
    }

    /// Rows with int8 codes, from the first; see [`crate::VectorFile::write_codes`].
    pub fn num_coded_rows(&self) -> u64 {
        self.codes().map_or(0, Codes::num_rows)
    }

    /// The codes, unless their file was cut off since it was mapped.
    pub(crate) fn codes(&self) -> Option<&Codes> {
        self.inner.codes.as_deref().filter(|codes| codes.is_whole())
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.inner.superblock.geometry
    }

    pub(crate) fn superblock(&self) -> &Superblock {
        &self.inner.superblock
    }

    pub(crate) fn uuid(&self) -> [u8; 16] {
        self.inner.superblock.uuid
    }

    pub(crate) fn deleted(&self) -> Option<&RowBitmap> {
        self.inner.deleted.as_deref()
    }

    pub(crate) fn is_deleted(&self, row: u64) -> bool {
        self.deleted().is_some_and(|deleted| deleted.contains(row))
    }

    pub(crate) fn num_blocks(&self) -> usize {
        self.geometry().num_blocks(self.num_rows()) as usize
    }

    /// The committed rows of a block.
    pub(crate) fn block(&self, index: usize) -> BlockView<'_> {
        let geometry = self.geometry();
        let first_row = index as u64 * geometry.rows_per_block as u64;
        let num_rows = (self.num_rows() - first_row).min(geometry.rows_per_block as u64) as usize;
        self.inner.blocks[index].view(geometry, first_row, num_rows)
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = BlockView<'_>> {
        (0..self.num_blocks()).map(|index| self.block(index))
    }

    /// Asks the system for a block that is needed now.
    pub(crate) fn will_need(&self, index: usize) {
        if let Some(block) = self.inner.blocks.get(index) {
            let start = block.offset_in_segment;
            block.segment.will_need(start..start + self.geometry().block_bytes);
        }
    }

    /// Fails if the file was cut off since it was mapped.
    pub(crate) fn check_len(&self) -> Result<(), Error> {
        let is_mapped = self.inner.blocks.iter().any(|block| block.segment.is_mapped());
        match self.geometry().required_bytes(self.num_rows()) {
            Some(expected_bytes) if is_mapped => self.inner.disk.check_len(expected_bytes),
            _ => Ok(()),
        }
    }

    /// Fails if a row of the block lost its checksum.
    pub(crate) fn check_block(&self, index: usize) -> Result<BlockView<'_>, Error> {
        let block = self.block(index);
        match block.first_damaged_row() {
            None => Ok(block),
            Some(row) => {
                let row = block.first_row + row as u64;
                Err(Error::damaged(self.path(), format!("block {index}: the checksum of row {row} does not fit")))
            }
        }
    }

    /// Block and row in the block of a row of the file.
    pub(crate) fn locate(&self, row: u64) -> (BlockView<'_>, usize) {
        let (block, row_in_block) = self.block_index(row);
        (self.block(block), row_in_block)
    }

    /// The same with the number of the block.
    pub(crate) fn block_index(&self, row: u64) -> (usize, usize) {
        let rows_per_block = self.geometry().rows_per_block as u64;
        ((row / rows_per_block) as usize, (row % rows_per_block) as usize)
    }

    /// The row with this id, deleted or not.
    pub(crate) fn row_of(&self, id: u64) -> Option<u64> {
        let row = self.first_row_in(id, 0, self.num_rows());
        (row < self.num_rows() && self.id_of(row) == id).then_some(row)
    }

    pub(crate) fn id_of(&self, row: u64) -> u64 {
        let (block, row_in_block) = self.locate(row);
        block.ids()[row_in_block]
    }

    /// The first row of `low..high` whose id is at least `id`, or `high`.
    pub(crate) fn first_row_in(&self, id: u64, mut low: u64, mut high: u64) -> u64 {
        while low < high {
            let middle = low + (high - low) / 2;
            if self.id_of(middle) < id {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn live_row_of(&self, id: u64) -> Option<u64> {
        self.row_of(id).filter(|&row| !self.is_deleted(row))
    }
}
