//! The front door: one call for every backend.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::cpu;
use crate::cpu::kernel::Kernels;
use crate::error::Error;
use crate::file::Snapshot;
use crate::hit::{Hit, RankedRow};
use crate::metric::Metric;
use crate::query::{PreparedQueries, Query};

/// Whether searches may run on a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GpuMode {
    /// A real GPU where there is one and the work is large enough; a software adapter only if the
    /// environment says `OUTCROP_GPU=software`. `OUTCROP_GPU=off` keeps to the CPU.
    #[default]
    Auto,
    /// The CPU alone.
    Off,
    /// A software adapter, for every search: slow, for tests.
    Software,
}

/// How to set up a [`Searcher`].
#[derive(Clone, Debug, Default)]
pub struct SearcherOptions {
    /// Whether searches may run on a GPU.
    pub gpu: GpuMode,
    /// Worker threads; one per core if not given.
    pub threads: Option<usize>,
}

/// What a search ran on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The CPU.
    Cpu,
    /// A GPU.
    Gpu,
}

impl Backend {
    /// `cpu` or `gpu`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }
}

/// What a search gave.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOutcome {
    /// Per query its hits, best first; ties by lower id.
    pub hits: Vec<Vec<Hit>>,
    /// What it ran on.
    pub backend: Backend,
    /// Rows of zeros that were passed over because they have no direction (cosine only).
    pub num_zero_rows: u64,
    /// Why the GPU did not finish and the CPU did, if so.
    pub gpu_fault: Option<String>,
}

/// Answers queries. Make one and share it: it owns the worker threads and the GPU.
pub struct Searcher {
    pool: ThreadPool,
    kernels: Kernels,
}

impl std::fmt::Debug for Searcher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Searcher")
            .field("backend", &self.backend_name())
            .finish_non_exhaustive()
    }
}

impl Searcher {
    /// Starts the worker threads and, if `options` allow one, the GPU.
    ///
    /// # Errors
    /// If threads cannot be started, or [`GpuMode::Software`] finds no adapter.
    pub fn new(options: &SearcherOptions) -> Result<Self, Error> {
        let builder = ThreadPoolBuilder::new().thread_name(|index| format!("engine-{index}"));
        let pool = builder.num_threads(options.threads.unwrap_or(0)).build();
        let pool = pool.map_err(|err| Error::Threads {
            reason: err.to_string(),
        })?;
        Ok(Self {
            pool,
            kernels: Kernels::best(),
        })
    }

    /// The best `k` rows for every query, exactly.
    ///
    /// # Errors
    /// If the query does not fit the file or has no answer (zeros, not finite), the filter belongs
    /// to another file, or the file was cut off or damaged.
    pub fn search(&self, snapshot: &Snapshot, query: &Query<'_>) -> Result<SearchOutcome, Error> {
        let queries = PreparedQueries::new(snapshot, query)?;
        if queries.is_empty() {
            let hits = queries.queries.iter().map(|_| Vec::new()).collect();
            return Ok(SearchOutcome {
                hits,
                backend: Backend::Cpu,
                num_zero_rows: 0,
                gpu_fault: None,
            });
        }
        snapshot.check_len()?;
        let outcome = cpu::search::search(&self.pool, self.kernels, snapshot, &queries)?;
        let hits = to_hits(snapshot, queries.metric, &outcome.ranked);
        Ok(SearchOutcome {
            hits,
            backend: Backend::Cpu,
            num_zero_rows: outcome.num_zero_rows,
            gpu_fault: None,
        })
    }

    /// The same answer by scoring every row in f64 and sorting: the oracle for tests and doubts.
    ///
    /// # Errors
    /// As [`Searcher::search`].
    pub fn search_naive(
        &self,
        snapshot: &Snapshot,
        query: &Query<'_>,
    ) -> Result<Vec<Vec<Hit>>, Error> {
        let queries = PreparedQueries::new(snapshot, query)?;
        snapshot.check_len()?;
        Ok(to_hits(
            snapshot,
            queries.metric,
            &cpu::naive::search(snapshot, &queries),
        ))
    }

    /// What searches run on, for people: the adapter, or the CPU's instruction set and threads.
    pub fn backend_name(&self) -> String {
        format!(
            "cpu ({}, {} threads)",
            self.kernels.name,
            self.pool.current_num_threads()
        )
    }
}

fn to_hits(snapshot: &Snapshot, metric: Metric, ranked: &[Vec<RankedRow>]) -> Vec<Vec<Hit>> {
    let shown = |score: f64| {
        if metric == Metric::Cosine {
            score.clamp(-1.0, 1.0)
        } else {
            score
        }
    };
    let hit = |ranked: &RankedRow| Hit {
        id: snapshot.id_of(ranked.row),
        score: shown(ranked.score),
    };
    ranked
        .iter()
        .map(|ranked| ranked.iter().map(hit).collect())
        .collect()
}
