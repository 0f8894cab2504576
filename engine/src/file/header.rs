//! The superblock: 4096 bytes that say what a file is and how much of it is committed.
//!
//! Two slots lie at offsets 0 and 4096. A commit writes the slot that does not hold the current
//! epoch, with the epoch after it; a reader takes the valid slot with the highest epoch. All
//! numbers are little-endian.
//!
//! | offset | bytes | field |
//! |-------:|------:|-------|
//! | 0    | 8  | magic `89 4F 43 56 0D 0A 1A 0A` (`\x89OCV\r\n\x1a\n`: text-mode copies break it) |
//! | 8    | 4  | version, 1 |
//! | 12   | 4  | endian tag `0x0A0B0C0D` |
//! | 16   | 8  | incompatible features: an unknown bit forbids reading |
//! | 24   | 8  | compatible features: an unknown bit may be ignored |
//! | 32   | 16 | uuid, new for every file and at every compaction |
//! | 48   | 8  | epoch, from 1 |
//! | 56   | 4  | value type: 1 = f32, 2 = f16 |
//! | 60   | 4  | default metric: 1 = cosine, 2 = dot, 3 = L2, 4 = penalised dot |
//! | 64   | 8  | penalty (f64), for metric 4 |
//! | 72   | 4  | flags: bit 0 = rows are scaled to unit length at append |
//! | 76   | 4  | dimensions, 1 to 65 536 |
//! | 80   | 8  | row stride in bytes, a multiple of 64 |
//! | 88   | 8  | rows per block |
//! | 96   | 8  | block size in bytes, a multiple of 65 536 |
//! | 104  | 8  | committed rows |
//! | 112  | 8  | id of the last committed row, 0 if there is none |
//! | 120  | 8  | generation of the tombstone file, 0 = none |
//! | 128  | 8  | rows deleted |
//! | 136  | 4  | CRC32C of the checksums of the last block's committed rows, 0 if there is none |
//! | 140  | 4  | CRC32C of the tombstone file, 0 if there is none |
//! | 144  | 3948 | zero |
//! | 4092 | 4  | CRC32C of bytes 0 to 4091 |

use bytemuck::{Pod, Zeroable};

use crate::metric::{Dtype, Metric};

use super::layout::Geometry;

#[cfg(not(target_endian = "little"))]
compile_error!("vector files are little-endian and read in place; this target is big-endian");

/// Bytes of a slot.
pub(crate) const SLOT_BYTES: usize = 4096;
/// Number of slots.
pub(crate) const NUM_SLOTS: usize = 2;

const MAGIC: [u8; 8] = *b"\x89OCV\r\n\x1a\n";
const VERSION: u32 = 1;
const ENDIAN_TAG: u32 = 0x0A0B_0C0D;
const KNOWN_INCOMPATIBLE: u64 = 0;
const FLAG_NORMALISED: u32 = 1;
const CRC_OFFSET: usize = SLOT_BYTES - 4;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RawSuperblock {
    magic: [u8; 8],
    version: u32,
    endian_tag: u32,
    incompatible: u64,
    compatible: u64,
    uuid: [u8; 16],
    epoch: u64,
    dtype: u32,
    metric: u32,
    penalty: f64,
    flags: u32,
    dims: u32,
    stride_bytes: u64,
    rows_per_block: u64,
    block_bytes: u64,
    num_rows: u64,
    last_id: u64,
    tombstone_generation: u64,
    num_deleted: u64,
    tail_crc: u32,
    tombstone_crc: u32,
}

/// A superblock whose every field was checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Superblock {
    pub(crate) uuid: [u8; 16],
    pub(crate) epoch: u64,
    pub(crate) metric: Metric,
    pub(crate) is_normalised: bool,
    pub(crate) geometry: Geometry,
    pub(crate) num_rows: u64,
    pub(crate) last_id: u64,
    pub(crate) tombstone_generation: u64,
    pub(crate) num_deleted: u64,
    pub(crate) tail_crc: u32,
    pub(crate) tombstone_crc: u32,
}

/// Why a slot does not hold a superblock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SlotDefect {
    /// Never written, or not of this format.
    NoMagic,
    /// Right magic, wrong checksum: a write that was cut off, or damage.
    Checksum,
    /// Right checksum, from a newer program.
    Unsupported(String),
    /// Right checksum, impossible contents.
    Contents(String),
}

impl Superblock {
    /// The bytes of a slot.
    pub(crate) fn encode(&self) -> [u8; SLOT_BYTES] {
        let (metric, penalty) = self.metric.to_header();
        let raw = RawSuperblock {
            magic: MAGIC,
            version: VERSION,
            endian_tag: ENDIAN_TAG,
            incompatible: 0,
            compatible: 0,
            uuid: self.uuid,
            epoch: self.epoch,
            dtype: self.geometry.dtype.to_header(),
            metric,
            penalty,
            flags: if self.is_normalised { FLAG_NORMALISED } else { 0 },
            dims: self.geometry.dims as u32,
            stride_bytes: self.geometry.stride_bytes as u64,
            rows_per_block: self.geometry.rows_per_block as u64,
            block_bytes: self.geometry.block_bytes as u64,
            num_rows: self.num_rows,
            last_id: self.last_id,
            tombstone_generation: self.tombstone_generation,
            num_deleted: self.num_deleted,
            tail_crc: self.tail_crc,
            tombstone_crc: self.tombstone_crc,
        };
        let mut slot = [0; SLOT_BYTES];
        slot[..size_of::<RawSuperblock>()].copy_from_slice(bytemuck::bytes_of(&raw));
        let crc = crc32c::crc32c(&slot[..CRC_OFFSET]);
        slot[CRC_OFFSET..].copy_from_slice(&crc.to_le_bytes());
        slot
    }

    /// Reads a slot, trusting nothing in it.
    pub(crate) fn decode(slot: &[u8; SLOT_BYTES]) -> Result<Self, SlotDefect> {
        let raw: RawSuperblock = bytemuck::pod_read_unaligned(&slot[..size_of::<RawSuperblock>()]);
        if raw.magic != MAGIC {
            return Err(SlotDefect::NoMagic);
        }
        if crc32c::crc32c(&slot[..CRC_OFFSET]).to_le_bytes() != slot[CRC_OFFSET..] {
            return Err(SlotDefect::Checksum);
        }
        check_support(&raw)?;
        Self::from_raw(&raw).map_err(SlotDefect::Contents)
    }

    fn from_raw(raw: &RawSuperblock) -> Result<Self, String> {
        let dtype = Dtype::from_header(raw.dtype).ok_or_else(|| format!("unknown value type {}", raw.dtype))?;
        let metric = Metric::from_header(raw.metric, raw.penalty)
            .ok_or_else(|| format!("unknown metric {} with penalty {}", raw.metric, raw.penalty))?;
        let geometry = Geometry::from_header(raw.dims, dtype, raw.stride_bytes, raw.rows_per_block, raw.block_bytes)?;
        if geometry.required_bytes(raw.num_rows).is_none() {
            return Err(format!("{} rows do not fit in any file", raw.num_rows));
        }
        if raw.num_deleted > raw.num_rows {
            return Err(format!("{} of {} rows are deleted", raw.num_deleted, raw.num_rows));
        }
        Ok(Self {
            uuid: raw.uuid,
            epoch: raw.epoch,
            metric,
            is_normalised: raw.flags & FLAG_NORMALISED != 0,
            geometry,
            num_rows: raw.num_rows,
            last_id: raw.last_id,
            tombstone_generation: raw.tombstone_generation,
            num_deleted: raw.num_deleted,
            tail_crc: raw.tail_crc,
            tombstone_crc: raw.tombstone_crc,
        })
    }

    /// The slot that holds this epoch.
    pub(crate) fn slot_index(&self) -> usize {
        (self.epoch % NUM_SLOTS as u64) as usize
    }
}

fn check_support(raw: &RawSuperblock) -> Result<(), SlotDefect> {
    if raw.version != VERSION {
        return Err(SlotDefect::Unsupported(format!("version {}", raw.version)));
    }
    if raw.endian_tag != ENDIAN_TAG {
        return Err(SlotDefect::Unsupported(format!("byte order {:#010x}", raw.endian_tag)));
    }
    if raw.incompatible & !KNOWN_INCOMPATIBLE != 0 {
        return Err(SlotDefect::Unsupported(format!("features {:#x}", raw.incompatible)));
    }
    Ok(())
}

/// What this engine reads, for messages.
pub(crate) fn supported_format() -> String {
    format!("version {VERSION} without incompatible features")
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    fn sample() -> Superblock {
        Superblock {
            uuid: *b"0123456789abcdef",
            epoch: 7,
            metric: Metric::DOT_PENALIZED,
            is_normalised: true,
            geometry: Geometry::new(384, Dtype::F16, None).expect("sound"),
            num_rows: 12_345,
            last_id: 99_999,
            tombstone_generation: 3,
            num_deleted: 17,
            tail_crc: 0xDEAD_BEEF,
            tombstone_crc: 0x1234_5678,
        }
    }

    #[test]
    fn comes_back_as_written() {
        assert_eq!(Superblock::decode(&sample().encode()), Ok(sample()));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let slot = sample().encode();
        for bit in (0..SLOT_BYTES * 8).step_by(5).chain(0..1200) {
            let mut flipped = slot;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Superblock::decode(&flipped).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn offsets_are_those_of_the_table() {
        assert_eq!(size_of::<RawSuperblock>(), 144);
        assert_eq!(offset_of!(RawSuperblock, uuid), 32);
        assert_eq!(offset_of!(RawSuperblock, dtype), 56);
        assert_eq!(offset_of!(RawSuperblock, flags), 72);
        assert_eq!(offset_of!(RawSuperblock, stride_bytes), 80);
        assert_eq!(offset_of!(RawSuperblock, num_rows), 104);
        assert_eq!(offset_of!(RawSuperblock, tombstone_generation), 120);
        assert_eq!(offset_of!(RawSuperblock, tombstone_crc), 140);
    }

    #[test]
    fn a_newer_version_is_named() {
        let mut slot = sample().encode();
        slot[8] = 2;
        let crc = crc32c::crc32c(&slot[..CRC_OFFSET]);
        slot[CRC_OFFSET..].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(Superblock::decode(&slot), Err(SlotDefect::Unsupported("version 2".to_owned())));
    }
}
