//! Seeded vectors and small files for the suites.

use std::path::PathBuf;

use engine::{FileSpec, Searcher, SearcherOptions, VectorFile};

/// A small, fast, seeded generator (`SplitMix64`).
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next_u64() % limit
    }

    /// From -1 to 1.
    pub(crate) fn value(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }

    pub(crate) fn values(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.value()).collect()
    }
}

/// A vector file in a folder that goes when this is dropped.
pub(crate) struct TempFile {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) file: VectorFile,
}

impl TempFile {
    pub(crate) fn create(spec: &FileSpec) -> Self {
        let folder = quick_folder();
        let file = VectorFile::create(&folder.path().join("rows.vec"), spec).unwrap();
        Self { folder, file }
    }

    /// A file of these rows with the ids 10, 20, 30 …
    pub(crate) fn with_rows(spec: &FileSpec, rows: &[f32]) -> Self {
        let mut made = Self::create(spec);
        let ids: Vec<u64> = (1..=(rows.len() / spec.dims as usize) as u64).map(|row| row * 10).collect();
        made.file.append(&ids, rows).unwrap();
        made
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("rows.vec")
    }
}

/// A folder in memory where the system has one: syncing hundreds of small files takes minutes on a disk.
fn quick_folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A searcher with this many threads, on the CPU alone.
pub(crate) fn cpu_searcher(threads: usize) -> Searcher {
    let options = SearcherOptions { gpu: engine::GpuMode::Off, threads: Some(threads) };
    Searcher::new(&options).unwrap()
}
