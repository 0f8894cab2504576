//! Compaction: the live rows in a new file that takes the old one's place.

use std::sync::Arc;

use crate::error::Error;

use super::block::BlockView;
use super::codes::codes_path;
use super::disk::{Disk, rename_durably, sibling};
use super::header::Superblock;
use super::open::{fresh_uuid, map_blocks, write_empty};
use super::snapshot::Snapshot;
use super::{VectorFile, tombstones};

impl VectorFile {
    /// Rewrites the file without its deleted rows. Ids stay; snapshots taken before stay valid.
    ///
    /// The file gets a new identity, so filters made before are refused afterwards.
    ///
    /// # Errors
    /// If a row is damaged, the handle is read-only or the disk refuses; then the file is as before.
    pub fn compact(&mut self) -> Result<(), Error> {
        self.check_writable()?;
        if self.superblock.num_deleted == 0 {
            return Ok(());
        }
        let path = self.disk.path.clone();
        let mut disk = Disk::create(&sibling(&path, ".compact"))?;
        let superblock = copy_live_rows(&self.snapshot(), &disk)?;
        rename_durably(&disk.path, &path)?;
        disk.path = path;
        self.adopt(disk, superblock)?;
        tombstones::remove_stale(&self.disk.path, 0);
        // Codes of the file before are refused by their uuid; this only frees their space.
        let _ = std::fs::remove_file(codes_path(&self.disk.path));
        Ok(())
    }

    fn adopt(&mut self, disk: Disk, superblock: Superblock) -> Result<(), Error> {
        let num_blocks = superblock.geometry.num_blocks(superblock.num_rows);
        let blocks = match num_blocks {
            0 => Vec::new(),
            _ => map_blocks(&disk, superblock.geometry, 0, num_blocks)?,
        };
        self.disk = Arc::new(disk);
        self.superblock = superblock;
        self.blocks = blocks.into();
        self.deleted = None;
        self.codes = None;
        Ok(())
    }
}

/// Writes the live rows of `source` to an empty file and commits them.
fn copy_live_rows(source: &Snapshot, target: &Disk) -> Result<Superblock, Error> {
    let geometry = source.geometry();
    let mut superblock = Superblock {
        uuid: fresh_uuid(),
        epoch: source.superblock().epoch + 1,
        num_rows: source.num_live_rows(),
        tombstone_generation: 0,
        num_deleted: 0,
        tombstone_crc: 0,
        ..source.superblock().clone()
    };
    target.grow(geometry.required_bytes(superblock.num_rows).unwrap_or(u64::MAX))?;
    let mut image = BlockImage::new(geometry.block_bytes);
    let mut next_block = 0;
    for index in 0..source.num_blocks() {
        let block = source.check_block(index)?;
        let live = (0..block.num_rows).filter(|&row| !source.is_deleted(block.first_row + row as u64));
        for row in live {
            image.push(&block, row);
            if image.num_rows == geometry.rows_per_block {
                target.write_at(&image.bytes, geometry.block_offset(next_block).unwrap_or(u64::MAX))?;
                superblock.tail_crc = image.finish(geometry.checksums_offset());
                next_block += 1;
            }
        }
    }
    if image.num_rows > 0 {
        target.write_at(&image.bytes, geometry.block_offset(next_block).unwrap_or(u64::MAX))?;
        superblock.tail_crc = image.finish(geometry.checksums_offset());
    }
    if superblock.num_rows == 0 {
        superblock.tail_crc = 0;
    }
    target.sync()?;
    write_empty(target, &superblock)?;
    Ok(superblock)
}

/// A block that fills up.
struct BlockImage {
    bytes: Vec<u8>,
    num_rows: usize,
}

impl BlockImage {
    fn new(block_bytes: usize) -> Self {
        Self { bytes: vec![0; block_bytes], num_rows: 0 }
    }

    /// Copies a row with its id, norm and checksum, which do not depend on where it lies.
    fn push(&mut self, block: &BlockView<'_>, row: usize) {
        let (geometry, at) = (block.geometry, self.num_rows);
        let mut put = |offset: usize, bytes: &[u8]| {
            self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        };
        put(at * geometry.stride_bytes, block.row_bytes(row));
        put(geometry.ids_offset() + at * 8, &block.ids()[row].to_le_bytes());
        put(geometry.norms_offset() + at * 8, &block.norms()[row].to_le_bytes());
        put(geometry.checksums_offset() + at * 4, &block.checksums()[row].to_le_bytes());
        self.num_rows += 1;
    }

    /// Empties the image and returns the checksum of its checksums.
    fn finish(&mut self, checksums_offset: usize) -> u32 {
        let crc = crc32c::crc32c(&self.bytes[checksums_offset..][..self.num_rows * 4]);
        self.bytes.fill(0);
        self.num_rows = 0;
        crc
    }
}
