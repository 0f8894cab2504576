//! The vector side of a library: the [`VectorIndex`] trait, and one index per embedding model.
//!
//! The default index is the engine's file. A library that outgrows one machine can stand on another index behind
//! the same calls: rows are added before the database knows of them, and a search names the rows it may see.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::database::hold;
use super::{LibraryPaths, StoreError};

/// Vectors by id, ids strictly increasing in the order they are added.
pub trait VectorIndex: Send + Sync {
    /// Dimensions of a row.
    fn dims(&self) -> usize;

    /// Adds rows (`ids.len() * dims` floats) and returns when they are safe on disk. `ids` strictly increase and are
    /// above every id ever added.
    ///
    /// # Errors
    /// The rows do not fit, or cannot be written.
    fn append(&self, ids: &[u64], rows: &[f32]) -> Result<(), StoreError>;

    /// Forgets rows; unknown ids are ignored.
    ///
    /// # Errors
    /// The change cannot be written.
    fn delete(&self, ids: &[u64]) -> Result<(), StoreError>;

    /// Ids of the rows that are there, increasing.
    ///
    /// # Errors
    /// They cannot be read.
    fn ids(&self) -> Result<Vec<u64>, StoreError>;

    /// The highest id ever added and not yet compacted away.
    fn last_id(&self) -> Option<u64>;

    /// The `k` rows of highest cosine with `query` among `allowed` (increasing ids; unknown ones are ignored), best
    /// first, ties by lower id.
    ///
    /// # Errors
    /// The query does not fit, or the rows cannot be read.
    fn search(&self, query: &[f32], k: usize, allowed: &Arc<Vec<u64>>) -> Result<VectorHits, StoreError>;

    /// What is damaged, a sentence each; empty when every checksum is right.
    ///
    /// # Errors
    /// The rows cannot be read.
    fn verify(&self) -> Result<Vec<String>, StoreError>;

    /// Takes back the space of forgotten rows once they are many.
    ///
    /// # Errors
    /// The rows cannot be written anew; the old ones are still there.
    fn compact(&self) -> Result<(), StoreError>;

    /// Makes searches of many rows faster, with the same answer, where enough were added since it was done last.
    ///
    /// # Errors
    /// What it needs cannot be written; searches go on as before.
    fn quicken(&self) -> Result<(), StoreError>;
}

/// What a vector search found.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorHits {
    /// Id and cosine, best first.
    pub hits: Vec<(u64, f64)>,
    /// `cpu` or `gpu`.
    pub backend: &'static str,
}

/// Opens indexes by the fingerprint of their model.
pub(crate) trait OpenIndex: Send + Sync {
    /// Opens an index, or makes it with `make_dims` dimensions; `None` when it is not there and may not be made.
    fn open(
        &self,
        paths: &LibraryPaths,
        fingerprint: &str,
        is_writer: bool,
        make_dims: Option<usize>,
    ) -> Result<Option<Arc<dyn VectorIndex>>, StoreError>;
}

/// The indexes of one library, opened when first needed.
pub(crate) struct VectorFiles {
    paths: LibraryPaths,
    opener: Box<dyn OpenIndex>,
    is_writer: bool,
    open: Mutex<BTreeMap<String, Slot>>,
}

type Slot = Result<Arc<dyn VectorIndex>, StoreError>;

impl VectorFiles {
    pub(crate) fn new(paths: LibraryPaths, opener: Box<dyn OpenIndex>, is_writer: bool) -> Self {
        Self { paths, opener, is_writer, open: Mutex::default() }
    }

    /// Closes every index, to be opened for reading only; those that were refused stay so.
    pub(crate) fn stop_writing(&mut self) {
        self.is_writer = false;
        hold(&self.open).retain(|_, slot| slot.is_err());
    }

    /// The index of a model, if it has one.
    pub(crate) fn get(&self, fingerprint: &str) -> Result<Option<Arc<dyn VectorIndex>>, StoreError> {
        self.get_or_open(fingerprint, None)
    }

    /// The index of a model, made if it is not there.
    pub(crate) fn get_or_make(&self, fingerprint: &str, dims: usize) -> Result<Arc<dyn VectorIndex>, StoreError> {
        let index = self.get_or_open(fingerprint, Some(dims))?;
        let index = index.ok_or_else(|| StoreError::ReadOnly { path: self.paths.vectors(fingerprint) })?;
        if index.dims() != dims {
            return Err(StoreError::damaged(
                &self.paths.vectors(fingerprint),
                format!("the file holds vectors of {} dimensions but the model gives {dims}", index.dims()),
            ));
        }
        Ok(index)
    }

    fn get_or_open(
        &self,
        fingerprint: &str,
        make_dims: Option<usize>,
    ) -> Result<Option<Arc<dyn VectorIndex>>, StoreError> {
        let mut open = hold(&self.open);
        if let Some(slot) = open.get(fingerprint) {
            return slot.clone().map(Some);
        }
        let found = self.opener.open(&self.paths, fingerprint, self.is_writer, make_dims);
        match &found {
            Ok(Some(index)) => drop(open.insert(fingerprint.to_owned(), Ok(index.clone()))),
            Err(err @ StoreError::Damaged { .. }) => {
                open.insert(fingerprint.to_owned(), Err(err.clone()));
            }
            Ok(None) | Err(_) => {}
        }
        found
    }

    /// Refuses every use of an index from now on, because it is not what the database says.
    pub(crate) fn refuse(&self, fingerprint: &str, detail: impl Into<String>) {
        let err = StoreError::damaged(&self.paths.vectors(fingerprint), detail);
        hold(&self.open).insert(fingerprint.to_owned(), Err(err));
    }

    /// Closes an index and forgets that it was damaged.
    pub(crate) fn close(&self, fingerprint: &str) {
        hold(&self.open).remove(fingerprint);
    }

    /// Fingerprints that have a file.
    pub(crate) fn fingerprints(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.paths.vectors_folder()) else {
            return Vec::new();
        };
        let mut found: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| name.strip_suffix(".vec").map(str::to_owned))
            .collect();
        found.sort();
        found
    }
}

impl std::fmt::Debug for VectorFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VectorFiles").field("paths", &self.paths).finish_non_exhaustive()
    }
}
