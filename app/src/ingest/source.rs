//! A file's bytes, as far as ingestion looks at them itself: their checksum.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::progress::CancelToken;
use crate::store::Hash;

const BUFFER_BYTES: usize = 1 << 18;

/// BLAKE3 of a file's bytes and how many there are; `None` when cancelled.
pub(super) fn fingerprint(path: &Path, cancel: &CancelToken) -> std::io::Result<Option<(Hash, u64)>> {
    // Opening a pipe would wait for somebody to write to it.
    if !path.metadata()?.is_file() {
        return Err(std::io::Error::other("this is not a regular file"));
    }
    let mut file = File::open(path)?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        match file.read(&mut buffer)? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        };
    }
    Ok(Some((*hasher.finalize().as_bytes(), hasher.count())))
}
