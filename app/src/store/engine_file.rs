//! The default [`VectorIndex`]: the engine's memory-mapped file, searched exactly on the CPU or the GPU.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use engine::{FileSpec, Metric, Precision, Query, RowFilter, Searcher, Snapshot, VectorFile};

use super::database::hold;
use super::vectors::OpenIndex;
use super::{LibraryPaths, StoreError, VectorHits, VectorIndex};

/// Forgotten rows that are kept until they are this many and outnumber the others.
const MIN_FORGOTTEN_ROWS: u64 = 4096;

/// Rows without codes that are searched fast enough as they are.
const MOST_UNCODED_ROWS: u64 = 20_000;
/// Codes are written anew once more than one row in this many has none.
const CODED_PER_UNCODED: u64 = 4;

/// A filter that passes less than one row in this many is not kept.
const FEW_OF_ALL: u64 = 8;

/// Opens the engine's files; they share one searcher, which owns the threads and the GPU.
#[derive(Debug)]
pub(crate) struct EngineFiles {
    searcher: Arc<Searcher>,
}

impl EngineFiles {
    pub(crate) fn new(searcher: Arc<Searcher>) -> Self {
        Self { searcher }
    }
}

impl OpenIndex for EngineFiles {
    fn open(
        &self,
        paths: &LibraryPaths,
        fingerprint: &str,
        is_writer: bool,
        make_dims: Option<usize>,
    ) -> Result<Option<Arc<dyn VectorIndex>>, StoreError> {
        let path = paths.vectors(fingerprint);
        let file = match (path.exists(), is_writer, make_dims) {
            (true, true, _) => VectorFile::open(&path),
            (true, false, _) => VectorFile::open_read_only(&path),
            (false, true, Some(dims)) => VectorFile::create(&path, &FileSpec::new(dims as u32)),
            (false, ..) => return Ok(None),
        };
        let file = file.map_err(|err| vector_error(&path, &err))?;
        Ok(Some(Arc::new(EngineFile::new(file, self.searcher.clone()))))
    }
}

/// One vector file.
#[derive(Debug)]
struct EngineFile {
    /// Held while rows are written; searches use the snapshot.
    file: Mutex<VectorFile>,
    snapshot: RwLock<Snapshot>,
    searcher: Arc<Searcher>,
    filter: Mutex<Option<KeptFilter>>,
}

/// The filter of the last search; most searches name the same rows.
#[derive(Clone, Debug)]
struct KeptFilter {
    allowed: Arc<Vec<u64>>,
    epoch: u64,
    filter: Arc<RowFilter>,
}

impl EngineFile {
    fn new(file: VectorFile, searcher: Arc<Searcher>) -> Self {
        Self { snapshot: RwLock::new(file.snapshot()), file: Mutex::new(file), searcher, filter: Mutex::default() }
    }

    fn snapshot(&self) -> Snapshot {
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the file and shows the change to later searches.
    fn change<T>(&self, change: impl FnOnce(&mut VectorFile) -> Result<T, engine::Error>) -> Result<T, StoreError> {
        let mut file = hold(&self.file);
        let result = change(&mut file).map_err(|err| vector_error(file.path(), &err));
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = file.snapshot();
        result
    }

    /// The rows as they are now; one that another process appended is looked for when a search names it.
    fn snapshot_with(&self, allowed: &[u64]) -> Result<Snapshot, StoreError> {
        let snapshot = self.snapshot();
        if allowed.last().copied() <= snapshot.last_id() {
            return Ok(snapshot);
        }
        self.change(VectorFile::refresh)?;
        Ok(self.snapshot())
    }

    fn filter(&self, snapshot: &Snapshot, allowed: &Arc<Vec<u64>>) -> Arc<RowFilter> {
        let mut kept = hold(&self.filter);
        if let Some(kept) = kept.as_ref()
            && Arc::ptr_eq(&kept.allowed, allowed)
            && kept.epoch == snapshot.epoch()
        {
            return kept.filter.clone();
        }
        let filter = Arc::new(RowFilter::from_ids(snapshot, allowed));
        // Few rows are named by a single search, and soon made again; they must not push out the library's own filter.
        if allowed.len() as u64 >= snapshot.num_rows() / FEW_OF_ALL {
            *kept = Some(KeptFilter { allowed: allowed.clone(), epoch: snapshot.epoch(), filter: filter.clone() });
        }
        filter
    }
}

impl VectorIndex for EngineFile {
    fn dims(&self) -> usize {
        self.snapshot().dims()
    }

    fn append(&self, ids: &[u64], rows: &[f32]) -> Result<(), StoreError> {
        self.change(|file| file.append(ids, rows))
    }

    fn delete(&self, ids: &[u64]) -> Result<(), StoreError> {
        self.change(|file| file.delete(ids).map(|_| ()))
    }

    fn ids(&self) -> Result<Vec<u64>, StoreError> {
        Ok(self.snapshot().ids().collect())
    }

    fn last_id(&self) -> Option<u64> {
        self.snapshot().last_id()
    }

    fn search(&self, query: &[f32], k: usize, allowed: &Arc<Vec<u64>>) -> Result<VectorHits, StoreError> {
        let snapshot = self.snapshot_with(allowed)?;
        let filter = self.filter(&snapshot, allowed);
        let query = Query {
            k,
            metric: Some(Metric::Cosine),
            filter: Some(&filter),
            precision: Precision::Certified,
            ..Query::new(query)
        };
        let outcome = self.searcher.search(&snapshot, &query).map_err(|err| vector_error(snapshot.path(), &err))?;
        if let Some(fault) = &outcome.gpu_fault {
            tracing::warn!("the CPU finished a search because the GPU failed: {fault}");
        }
        let hits = outcome.hits.into_iter().next().unwrap_or_default();
        Ok(VectorHits {
            hits: hits.into_iter().map(|hit| (hit.id, hit.score)).collect(),
            backend: outcome.backend.name(),
        })
    }

    fn verify(&self) -> Result<Vec<String>, StoreError> {
        let file = hold(&self.file);
        match file.verify() {
            Ok(report) => Ok(report.damage.iter().map(describe).collect()),
            Err(err) => match vector_error(file.path(), &err) {
                StoreError::Damaged { detail, .. } => Ok(vec![detail]),
                other => Err(other),
            },
        }
    }

    fn compact(&self) -> Result<(), StoreError> {
        let forgotten = |file: &VectorFile| file.num_rows() - file.num_live_rows();
        self.change(|file| {
            let is_worth_it = forgotten(file) >= MIN_FORGOTTEN_ROWS && forgotten(file) > file.num_live_rows();
            if is_worth_it { file.compact() } else { Ok(()) }
        })
    }

    fn quicken(&self) -> Result<(), StoreError> {
        let snapshot = self.snapshot();
        let coded = snapshot.num_coded_rows();
        if snapshot.num_rows() - coded <= MOST_UNCODED_ROWS.max(coded / CODED_PER_UNCODED) {
            return Ok(());
        }
        self.change(VectorFile::write_codes)
    }
}

fn describe(damage: &engine::Damage) -> String {
    format!("block {}, from row {}: {}", damage.block, damage.row, damage.defect)
}

fn vector_error(path: &Path, err: &engine::Error) -> StoreError {
    use engine::Error;
    match err {
        Error::Io { source, .. } => StoreError::io(path, source),
        Error::Damaged { defect, .. } => StoreError::damaged(path, format!("damaged vector file, {defect}")),
        Error::Truncated { found_bytes, expected_bytes, .. } => StoreError::damaged(
            path,
            format!("the vector file was cut off: it has {found_bytes} bytes, expected {expected_bytes}"),
        ),
        Error::NotAVectorFile { .. } => {
            StoreError::damaged(path, "not a vector file (no superblock starts with its magic bytes)")
        }
        Error::UnsupportedFormat { found, supported, .. } => StoreError::damaged(
            path,
            format!("the vector file needs format {found} but this version of Outcrop reads {supported}"),
        ),
        Error::Locked { .. } | Error::ReadOnly { .. } => StoreError::ReadOnly { path: path.to_owned() },
        other => StoreError::Vectors { path: path.to_owned(), detail: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use engine::SearcherOptions;

    use super::*;

    #[test]
    fn many_rows_get_codes_and_the_same_answers() {
        let folder = tempfile::tempdir().unwrap();
        let file = VectorFile::create(&folder.path().join("rows.vec"), &FileSpec::new(4)).unwrap();
        let options = SearcherOptions { gpu: engine::GpuMode::Off, threads: Some(2) };
        let index = EngineFile::new(file, Arc::new(Searcher::new(&options).unwrap()));
        let count = MOST_UNCODED_ROWS + 500;
        let ids: Arc<Vec<u64>> = Arc::new((1..=count).collect());
        let rows = |ids: &[u64]| -> Vec<f32> {
            ids.iter().flat_map(|&id| (0..4_u64).map(move |axis| ((id * 7 + axis * 3) as f32 * 0.37).sin())).collect()
        };
        let (first, rest) = ids.split_at(MOST_UNCODED_ROWS as usize);
        index.append(first, &rows(first)).unwrap();
        index.quicken().unwrap();
        assert_eq!(index.snapshot().num_coded_rows(), 0, "few rows need none");
        index.append(rest, &rows(rest)).unwrap();
        let query = [0.3, -0.2, 0.9, 0.1];
        let before = index.search(&query, 10, &ids).unwrap().hits;
        index.quicken().unwrap();
        assert_eq!(index.snapshot().num_coded_rows(), count);
        assert_eq!(index.search(&query, 10, &ids).unwrap().hits, before);
        assert!(index.verify().unwrap().is_empty());

        let few: Arc<Vec<u64>> = Arc::new(vec![3, 70, 900]);
        assert_eq!(index.search(&query, 10, &few).unwrap().hits.len(), 3);
        let kept = hold(&index.filter).clone().unwrap();
        assert!(Arc::ptr_eq(&kept.allowed, &ids), "a search among few leaves the filter of all");
    }
}
