//! Exact top-k over memory-mapped vector files.
//!
//! Open a file, search, append, delete, verify. Every answer is exact: the k rows with the
//! highest canonical score (a sum in f64 in one fixed order), ties by lower id, the same on every
//! backend, batch size and thread count.
//!
//! ```
//! use engine::{FileSpec, Query, Searcher, SearcherOptions, VectorFile};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("notes.vec");
//! let mut file = VectorFile::create(&path, &FileSpec::new(3))?;
//! file.append(&[1, 2, 3], &[1.0, 0.0, 0.0, /**/ 0.0, 1.0, 0.0, /**/ 0.6, 0.8, 0.0])?;
//!
//! let searcher = Searcher::new(&SearcherOptions::default())?;
//! let outcome = searcher.search(&file.snapshot(), &Query { k: 2, ..Query::new(&[0.0, 1.0, 0.0]) })?;
//! let ids: Vec<u64> = outcome.hits[0].iter().map(|hit| hit.id).collect();
//! assert_eq!(ids, [2, 3]);
//! # Ok(())
//! # }
//! ```
//!
//! | to | see |
//! |---|---|
//! | make, open, append, delete, compact, verify a file | [`VectorFile`], [`FileSpec`] |
//! | read while a writer goes on | [`Snapshot`] |
//! | search, on the CPU or a GPU | [`Searcher`], [`Query`], [`SearchOutcome`] |
//! | search among some rows | [`RowFilter`] |
//! | take in or write `.npy` and `.fvecs` | [`VectorSource`], [`VectorFile::append_from`], [`Snapshot::write_npy`] |
//! | search faster, with the same answer | [`Precision::Certified`], [`VectorFile::write_codes`] |
//! | choose what "close" means | [`Metric`] |
//!
//! `engine/examples/` has a program for each.
//!
//! The CPU's kernels are chosen when the program runs: AVX-512 with VNNI, AVX-512, AVX2 with FMA, NEON on ARM, and plain
//! Rust on any other CPU. [`Searcher::backend_name`] tells which.
//!
//! Where to start reading: [`VectorFile`] for the file, [`Searcher`] for the search, `bound.rs`
//! for why f32 kernels may select and lose nothing.

mod bitmap;
mod bound;
mod cpu;
mod error;
mod exchange;
mod file;
mod filter;
#[cfg(feature = "gpu")]
#[doc(hidden)]
pub mod gpu;
mod hit;
mod matrix;
mod metric;
mod query;
mod score;
mod search;

pub use error::Error;
pub use exchange::VectorSource;
pub use file::{Damage, FileSpec, MAX_DIMS, Snapshot, VectorFile, VerifyReport};
pub use filter::RowFilter;
pub use hit::Hit;
pub use matrix::dot_tile;
pub use metric::{Dtype, Metric};
pub use query::{Precision, Query};
pub use search::{Backend, GpuMode, SearchCounts, SearchOutcome, Searcher, SearcherOptions};
