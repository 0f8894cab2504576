//! The only memory mapping: committed blocks of the file as bytes, or a copy of them.
//!
//! Invariant: only committed blocks are mapped, after the file's real length was checked, and the
//! bytes of committed rows are never written again.

use std::ops::Range;

#[cfg(unix)]
use memmap2::Advice;
use memmap2::{Mmap, MmapOptions};

use crate::error::Error;

use super::disk::Disk;

/// A run of whole blocks.
#[derive(Debug)]
pub(crate) struct Segment {
    source: Source,
}

#[derive(Debug)]
enum Source {
    Mapped(Mmap),
    /// In words, so that every section is aligned.
    Copied(Vec<u64>),
}

impl Segment {
    /// Maps a range of the file.
    #[allow(unsafe_code, reason = "the one place where the file is mapped")]
    #[allow(clippy::disallowed_methods, reason = "the one place where the file is mapped")]
    pub(crate) fn map(disk: &Disk, offset: u64, len_bytes: usize) -> Result<Self, Error> {
        disk.check_len(offset.saturating_add(len_bytes as u64))?;
        // SAFETY: the range lies inside the file (checked above) and only committed rows of it are
        // read, which no writer of this crate changes: appends go past them, deletes to another
        // file, compactions to a new inode. The length is checked again before each search.
        let map = unsafe { MmapOptions::new().offset(offset).len(len_bytes).map(&disk.file) };
        Ok(Self { source: Source::Mapped(map.map_err(Error::io("map", &disk.path))?) })
    }

    /// Reads a range of the file into memory.
    pub(crate) fn copy(disk: &Disk, offset: u64, len_bytes: usize) -> Result<Self, Error> {
        disk.check_len(offset.saturating_add(len_bytes as u64))?;
        let mut words = vec![0_u64; len_bytes.div_ceil(8)];
        disk.read_at(&mut bytemuck::cast_slice_mut(&mut words)[..len_bytes], offset)?;
        Ok(Self { source: Source::Copied(words) })
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.source {
            Source::Mapped(map) => map,
            Source::Copied(words) => bytemuck::cast_slice(words),
        }
    }

    /// Whether a cut of the file can pull the bytes away.
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self.source, Source::Mapped(_))
    }

    /// Asks the system for a range that is needed now, unless it is in memory: to be asked costs a tenth of a scan.
    pub(crate) fn will_need(&self, range: Range<usize>) {
        if let Source::Mapped(map) = &self.source
            && !map.get(range.clone()).is_none_or(is_in_memory)
        {
            // A hint: on failure the pages are read when they are touched.
            let _ = advise_will_need(map, range);
        }
    }
}

/// Whether all of it is known to be in memory.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "a question to the system about the mapping")]
fn is_in_memory(mapped: &[u8]) -> bool {
    /// No system has smaller ones.
    const PAGE_BYTES: usize = 4096;
    // What stays unwritten, where pages are larger, counts as there.
    let mut pages = vec![1_u8; mapped.len().div_ceil(PAGE_BYTES)];
    // SAFETY: the range is mapped, and `pages` has at least a byte for each of its pages, which is all that is written.
    let answer = unsafe { libc::mincore(mapped.as_ptr().cast_mut().cast(), mapped.len(), pages.as_mut_ptr()) };
    answer == 0 && pages.iter().all(|page| page & 1 == 1)
}

#[cfg(not(target_os = "linux"))]
fn is_in_memory(_mapped: &[u8]) -> bool {
    false
}

/// Reads it in large pieces, which takes two thirds of the time of pages that are read as they are touched; a system that
/// does not know how is told that they will be needed.
#[cfg(target_os = "linux")]
fn advise_will_need(map: &Mmap, range: Range<usize>) -> std::io::Result<()> {
    map.advise_range(Advice::PopulateRead, range.start, range.len())
        .or_else(|_| map.advise_range(Advice::WillNeed, range.start, range.len()))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn advise_will_need(map: &Mmap, range: Range<usize>) -> std::io::Result<()> {
    map.advise_range(Advice::WillNeed, range.start, range.len())
}

#[cfg(not(unix))]
fn advise_will_need(_map: &Mmap, _range: Range<usize>) -> std::io::Result<()> {
    Ok(())
}
