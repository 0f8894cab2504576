//! Making and opening files.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use crate::error::Error;

use super::block::Block;
use super::disk::{Disk, WriterLock, rename_durably, sibling};
use super::header::{NUM_SLOTS, SLOT_BYTES, SlotDefect, Superblock, supported_format};
use super::layout::{BLOCKS_START_BYTES, Geometry};
use super::map::Segment;
use super::{FileSpec, VectorFile, codes, tombstones};

/// How often a reader starts over because a writer moved on while it was opening.
const OPEN_ATTEMPTS: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Write,
    Map,
    Copy,
}

impl VectorFile {
    /// Makes a new, empty file and becomes its writer.
    ///
    /// # Errors
    /// If the file exists, another writer has it, `spec` cannot be laid out, or the disk refuses.
    pub fn create(path: &Path, spec: &FileSpec) -> Result<Self, Error> {
        let superblock = first_superblock(spec)?;
        let lock = WriterLock::acquire(path)?;
        if path.exists() {
            let source = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
            return Err(Error::io("create", path)(source));
        }
        let draft = Disk::create(&sibling(path, ".new"))?;
        write_empty(&draft, &superblock)?;
        rename_durably(&draft.path, path)?;
        Self::load(path, Access::Write, Some(lock))
    }

    /// Opens a file as its one writer.
    ///
    /// # Errors
    /// If another writer has the file, or it is missing, damaged, cut off or of a newer format.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Disk::open(path, true)?;
        let lock = WriterLock::acquire(path)?;
        let file = Self::load(path, Access::Write, Some(lock))?;
        tombstones::remove_stale(path, file.superblock.tombstone_generation);
        let _ = std::fs::remove_file(sibling(path, ".compact"));
        Ok(file)
    }

    /// Opens a file for reading, beside a writer if there is one.
    ///
    /// # Errors
    /// If the file is missing, damaged, cut off or of a newer format.
    pub fn open_read_only(path: &Path) -> Result<Self, Error> {
        Self::load(path, Access::Map, None)
    }

    /// Reads a whole file into memory instead of mapping it, for file systems where a mapping
    /// cannot be trusted (network shares, media that may be pulled out).
    ///
    /// # Errors
    /// As [`VectorFile::open_read_only`].
    pub fn open_in_memory(path: &Path) -> Result<Self, Error> {
        Self::load(path, Access::Copy, None)
    }

    /// Moves a read-only handle to the newest commit. Earlier snapshots stay as they are.
    ///
    /// # Errors
    /// As [`VectorFile::open_read_only`].
    pub fn refresh(&mut self) -> Result<(), Error> {
        if self.lock.is_none() {
            *self = Self::load(&self.disk.path, Access::Map, None)?;
        }
        Ok(())
    }

    fn load(path: &Path, access: Access, lock: Option<WriterLock>) -> Result<Self, Error> {
        let mut attempt = 1;
        loop {
            let disk = Arc::new(Disk::open(path, access == Access::Write)?);
            let superblock = read_superblock(&disk)?;
            match tombstones::read(path, &superblock) {
                Ok(deleted) => {
                    let blocks = load_blocks(&disk, &superblock, access)?;
                    let deleted = deleted.map(Arc::new);
                    let mut file = Self { disk, lock, superblock, blocks, deleted, codes: None };
                    file.check_tail()?;
                    // Codes are mapped, which is what a copy avoids.
                    if access != Access::Copy {
                        file.codes = codes::load(&file.snapshot())?.map(Arc::new);
                    }
                    return Ok(file);
                }
                // The writer may have replaced the tombstones between our two reads.
                Err(_) if attempt < OPEN_ATTEMPTS && lock.is_none() => attempt += 1,
                Err(err) => return Err(err),
            }
        }
    }

    /// Compares the last block with what the superblock says of it.
    fn check_tail(&self) -> Result<(), Error> {
        let snapshot = self.snapshot();
        let Some(last) = snapshot.num_blocks().checked_sub(1) else {
            return Ok(());
        };
        let block = snapshot.block(last);
        if crc32c::crc32c(bytemuck::cast_slice(block.checksums())) != self.superblock.tail_crc {
            return Err(self.tail_defect(last, "its checksum table does not fit the superblock"));
        }
        if block.ids().last() != Some(&self.superblock.last_id) {
            return Err(self.tail_defect(last, "its last id is not that of the superblock"));
        }
        Ok(())
    }

    fn tail_defect(&self, block: usize, defect: &str) -> Error {
        Error::damaged(self.path(), format!("block {block}: {defect}"))
    }
}

/// The blocks `range` of the file as one segment.
pub(super) fn map_blocks(disk: &Disk, geometry: Geometry, start: u64, end: u64) -> Result<Vec<Block>, Error> {
    segment_blocks(disk, geometry, start, end, Access::Map)
}

/// Writes the superblock of a file without rows.
pub(super) fn write_empty(disk: &Disk, superblock: &Superblock) -> Result<(), Error> {
    disk.grow(BLOCKS_START_BYTES)?;
    disk.write_at(&superblock.encode(), (superblock.slot_index() * SLOT_BYTES) as u64)?;
    disk.sync()
}

/// A number that no other file has.
pub(super) fn fresh_uuid() -> [u8; 16] {
    use std::hash::{BuildHasher, RandomState};
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let high = RandomState::new().hash_one((now.as_nanos(), std::process::id()));
    let low = RandomState::new().hash_one(high);
    ((u128::from(high) << 64) | u128::from(low)).to_le_bytes()
}

fn first_superblock(spec: &FileSpec) -> Result<Superblock, Error> {
    let geometry =
        Geometry::new(spec.dims, spec.dtype, spec.block_bytes).map_err(|reason| Error::BadSpec { reason })?;
    let (code, penalty) = spec.metric.to_header();
    if crate::metric::Metric::from_header(code, penalty).is_none() {
        return Err(Error::BadSpec { reason: format!("the penalty is {penalty}, expected a finite number") });
    }
    Ok(Superblock {
        uuid: fresh_uuid(),
        epoch: 1,
        metric: spec.metric,
        is_normalised: spec.is_normalised,
        geometry,
        num_rows: 0,
        last_id: 0,
        tombstone_generation: 0,
        num_deleted: 0,
        tail_crc: 0,
        tombstone_crc: 0,
    })
}

fn read_superblock(disk: &Disk) -> Result<Superblock, Error> {
    let len_bytes = disk.len_bytes()?;
    let mut slots = [[0_u8; SLOT_BYTES]; NUM_SLOTS];
    for (index, slot) in slots.iter_mut().enumerate() {
        let start = (index * SLOT_BYTES) as u64;
        let available = len_bytes.saturating_sub(start).min(SLOT_BYTES as u64) as usize;
        disk.read_at(&mut slot[..available], start)?;
    }
    choose_superblock(disk, slots.each_ref().map(Superblock::decode))
}

fn choose_superblock(disk: &Disk, slots: [Result<Superblock, SlotDefect>; NUM_SLOTS]) -> Result<Superblock, Error> {
    let mut newest: Option<Superblock> = None;
    let mut worst = SlotDefect::NoMagic;
    for (index, slot) in slots.into_iter().enumerate() {
        match slot {
            Ok(superblock) if superblock.slot_index() != index => {
                worst = SlotDefect::Contents(format!("slot {index} holds epoch {}", superblock.epoch));
            }
            Ok(superblock) => {
                if newest.as_ref().is_none_or(|best| best.epoch < superblock.epoch) {
                    newest = Some(superblock);
                }
            }
            Err(SlotDefect::Unsupported(found)) => {
                return Err(Error::UnsupportedFormat { found, supported: supported_format(), path: disk.path.clone() });
            }
            Err(SlotDefect::NoMagic) => {}
            Err(defect) => worst = defect,
        }
    }
    newest.ok_or_else(|| match worst {
        SlotDefect::NoMagic => Error::NotAVectorFile { path: disk.path.clone() },
        SlotDefect::Contents(defect) => Error::damaged(&disk.path, format!("superblock: {defect}")),
        _ => Error::damaged(&disk.path, "the checksum of the superblock does not fit"),
    })
}

fn load_blocks(disk: &Disk, superblock: &Superblock, access: Access) -> Result<Arc<[Block]>, Error> {
    let num_blocks = superblock.geometry.num_blocks(superblock.num_rows);
    if num_blocks == 0 {
        return Ok(Arc::new([]));
    }
    Ok(segment_blocks(disk, superblock.geometry, 0, num_blocks, access)?.into())
}

fn segment_blocks(disk: &Disk, geometry: Geometry, start: u64, end: u64, access: Access) -> Result<Vec<Block>, Error> {
    let too_large = || Error::damaged(&disk.path, format!("{end} blocks do not fit in memory addresses"));
    let offset = geometry.block_offset(start).ok_or_else(too_large)?;
    let len = end.checked_sub(start).and_then(|blocks| blocks.checked_mul(geometry.block_bytes as u64));
    let len_bytes = len.and_then(|len| isize::try_from(len).ok()).ok_or_else(too_large)? as usize;
    let segment = Arc::new(match access {
        Access::Copy => Segment::copy(disk, offset, len_bytes)?,
        Access::Write | Access::Map => Segment::map(disk, offset, len_bytes)?,
    });
    let block = |offset_in_segment| Block {
        segment: Arc::clone(&segment),
        offset_in_segment,
        num_checked: Arc::new(AtomicUsize::new(0)),
    };
    Ok((0..len_bytes).step_by(geometry.block_bytes).map(block).collect())
}
