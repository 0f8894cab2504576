//! The stamp in a model's folder: what was verified, so that it need not be hashed at every start.

use std::fs::Metadata;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::ModelError;
use super::catalogue::ModelFile;

const STAMP_FILE: &str = ".verified.json";

/// Files that had the right sum when they had this size and time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    files: Vec<StampedFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StampedFile {
    name: String,
    bytes: u64,
    modified_ns: u128,
    sha256: String,
}

impl Stamp {
    /// The stamp in `folder`; an unreadable one counts as none, and its files are verified anew.
    pub(super) fn read(folder: &Path) -> Self {
        std::fs::read(folder.join(STAMP_FILE))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Whether `file` is in `folder` as it was when it was verified.
    pub(super) fn holds(&self, folder: &Path, file: &ModelFile) -> bool {
        let Ok(meta) = folder.join(&file.name).metadata() else {
            return false;
        };
        meta.len() == file.bytes
            && self.files.iter().any(|stamped| {
                stamped.name == file.name
                    && stamped.sha256 == file.sha256
                    && stamped.bytes == meta.len()
                    && stamped.modified_ns == modified_ns(&meta)
            })
    }

    /// Records that `file` in `folder` was verified just now.
    pub(super) fn record(&mut self, folder: &Path, file: &ModelFile) -> Result<(), ModelError> {
        let path = folder.join(&file.name);
        let meta = path.metadata().map_err(ModelError::io(&path))?;
        self.files.retain(|stamped| stamped.name != file.name);
        self.files.push(StampedFile {
            name: file.name.clone(),
            bytes: meta.len(),
            modified_ns: modified_ns(&meta),
            sha256: file.sha256.clone(),
        });
        Ok(())
    }

    /// Writes the stamp into `folder`.
    pub(super) fn write(&self, folder: &Path) -> Result<(), ModelError> {
        let path = folder.join(STAMP_FILE);
        let bytes = serde_json::to_vec_pretty(self).map_err(std::io::Error::from);
        bytes.and_then(|bytes| std::fs::write(&path, bytes)).map_err(ModelError::io(&path))
    }
}

fn modified_ns(meta: &Metadata) -> u128 {
    meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |age| age.as_nanos())
}
