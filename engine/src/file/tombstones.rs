//! Deleted rows: a bitmap in a file of its own beside the vectors, replaced as a whole.
//!
//! The superblock names the generation and the checksum of the tombstone file that counts;
//! `notes.vec` with generation 3 has `notes.vec.deleted-3`. All numbers are little-endian.
//!
//! | offset | bytes | field |
//! |-------:|------:|-------|
//! | 0  | 8  | magic `89 4F 43 44 0D 0A 1A 0A` |
//! | 8  | 8  | generation |
//! | 16 | 16 | uuid of the vector file |
//! | 32 | 8  | rows of the vector file when this was written |
//! | 40 | 8  | rows deleted |
//! | 48 | 16 | zero |
//! | 64 | 8 × ⌈rows / 64⌉ | one bit per row, lowest first; set = deleted |

use std::path::{Path, PathBuf};

use crate::bitmap::RowBitmap;
use crate::error::Error;

use super::disk::{Disk, rename_durably, sibling};
use super::header::Superblock;

const MAGIC: [u8; 8] = *b"\x89OCD\r\n\x1a\n";
const HEADER_BYTES: usize = 64;

/// Where the tombstones of a generation lie.
pub(crate) fn tombstone_path(path: &Path, generation: u64) -> PathBuf {
    sibling(path, &format!(".deleted-{generation}"))
}

/// Writes the tombstones that `superblock` will name and returns their checksum.
pub(crate) fn write(path: &Path, superblock: &Superblock, deleted: &RowBitmap) -> Result<u32, Error> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + deleted.words().len() * 8);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&superblock.tombstone_generation.to_le_bytes());
    bytes.extend_from_slice(&superblock.uuid);
    bytes.extend_from_slice(&superblock.num_rows.to_le_bytes());
    bytes.extend_from_slice(&deleted.num_set().to_le_bytes());
    bytes.resize(HEADER_BYTES, 0);
    bytes.extend_from_slice(bytemuck::cast_slice(deleted.words()));
    let target = tombstone_path(path, superblock.tombstone_generation);
    let draft = Disk::create(&sibling(&target, ".new"))?;
    draft.write_at(&bytes, 0)?;
    draft.sync()?;
    rename_durably(&draft.path, &target)?;
    Ok(crc32c::crc32c(&bytes))
}

/// Reads the tombstones that `superblock` names; `None` if nothing was ever deleted.
pub(crate) fn read(path: &Path, superblock: &Superblock) -> Result<Option<RowBitmap>, Error> {
    if superblock.tombstone_generation == 0 {
        return Ok(None);
    }
    let source = tombstone_path(path, superblock.tombstone_generation);
    let bytes = read_bounded(&source, superblock.num_rows)?;
    if crc32c::crc32c(&bytes) != superblock.tombstone_crc {
        return Err(Error::damaged(&source, "the checksum of the tombstones does not fit"));
    }
    let deleted = parse(&bytes, superblock).map_err(|defect| Error::damaged(&source, defect))?;
    Ok(Some(deleted))
}

/// Removes tombstones that count no more. Left-overs are harmless, so failures are ignored.
pub(crate) fn remove_stale(path: &Path, current_generation: u64) {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return;
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let prefix = format!("{name}.deleted-");
    let current = format!("{prefix}{current_generation}");
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_stale = entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix) && name != current);
        if is_stale {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn read_bounded(source: &Path, num_rows: u64) -> Result<Vec<u8>, Error> {
    let disk = Disk::open(source, false)?;
    let most_bytes = HEADER_BYTES as u64 + num_rows.div_ceil(64) * 8;
    let len_bytes = disk.len_bytes()?;
    if len_bytes < HEADER_BYTES as u64 || len_bytes > most_bytes {
        let defect =
            format!("tombstones of {num_rows} rows take {HEADER_BYTES} to {most_bytes} bytes, found {len_bytes}");
        return Err(Error::damaged(source, defect));
    }
    let mut bytes = vec![0; len_bytes as usize];
    disk.read_at(&mut bytes, 0)?;
    Ok(bytes)
}

fn parse(bytes: &[u8], superblock: &Superblock) -> Result<RowBitmap, String> {
    let (header, body) = bytes.split_at(HEADER_BYTES);
    let number = |offset: usize| u64::from_le_bytes(header[offset..offset + 8].try_into().unwrap_or_default());
    if header[..8] != MAGIC || header[16..32] != superblock.uuid {
        return Err("the tombstones belong to another file".to_owned());
    }
    if number(8) != superblock.tombstone_generation || number(32).div_ceil(64) * 8 != body.len() as u64 {
        return Err("the header of the tombstones contradicts the superblock".to_owned());
    }
    let words = body.as_chunks::<8>().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    let deleted = RowBitmap::from_words(words);
    if deleted.num_set() != superblock.num_deleted || number(40) != superblock.num_deleted {
        return Err(format!("{} rows are marked, expected {}", deleted.num_set(), superblock.num_deleted));
    }
    Ok(deleted)
}
