//! The front door: one call for every backend.

#[cfg(feature = "gpu")]
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::cpu;
use crate::cpu::kernel::Kernels;
use crate::error::Error;
use crate::file::Snapshot;
#[cfg(feature = "gpu")]
use crate::gpu::search::{Gpu, SearchFault};
#[cfg(feature = "gpu")]
use crate::gpu::{GpuTuning, device::GpuFault};
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

/// How a search came to its answer: for measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchCounts {
    /// Rows whose int8 codes were read in place of their values.
    pub num_coded_rows: u64,
    /// Canonical scores computed, over all queries: the rows that the first pass could not decide.
    pub num_rescored: u64,
    /// Times the host waited for a GPU to read back what it found.
    pub num_read_backs: u64,
}

/// Multiply-adds below which the way to a real GPU and back costs more than it saves.
#[cfg(feature = "gpu")]
const MIN_GPU_MULTIPLY_ADDS: u64 = 1 << 28;
/// How often a device that failed is opened again.
#[cfg(feature = "gpu")]
const MAX_REOPENS: u32 = 3;

/// Answers queries. Make one and share it: it owns the worker threads and the GPU.
pub struct Searcher {
    pool: ThreadPool,
    kernels: Kernels,
    #[cfg(feature = "gpu")]
    gpu: GpuSlot,
}

/// The GPU, if there is one and searches may use it. A real one is opened by the first search that is worth it, so
/// that small searches never wait for a driver.
#[cfg(feature = "gpu")]
struct GpuSlot {
    is_wanted: bool,
    is_software: bool,
    /// Empty until the GPU was looked for, then its name or nothing.
    adapter: OnceLock<Option<String>>,
    tuning: GpuTuning,
    state: Mutex<GpuState>,
}

#[cfg(feature = "gpu")]
struct GpuState {
    gpu: Option<Gpu>,
    reopens_left: u32,
}

/// What the GPU made of a search.
enum GpuAttempt {
    #[cfg(feature = "gpu")]
    Done(Ranked),
    NotTried,
    #[cfg(feature = "gpu")]
    Faulted(String),
}

struct Ranked {
    rows: Vec<Vec<RankedRow>>,
    num_zero_rows: u64,
    counts: SearchCounts,
}

impl std::fmt::Debug for Searcher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Searcher").field("backend", &self.backend_name()).finish_non_exhaustive()
    }
}

impl Searcher {
    /// Starts the worker threads and, if asked for, a software adapter. A real GPU is opened by the first search
    /// that is large enough to gain from it.
    ///
    /// # Errors
    /// If threads cannot be started, or [`GpuMode::Software`] finds no adapter.
    pub fn new(options: &SearcherOptions) -> Result<Self, Error> {
        let pool = start_threads(options.threads)?;
        #[cfg(feature = "gpu")]
        let gpu = GpuSlot::open(options.gpu, GpuTuning::default())?;
        #[cfg(not(feature = "gpu"))]
        if options.gpu == GpuMode::Software {
            return Err(Error::NoGpu { reason: "this build has no GPU support".to_owned() });
        }
        Ok(Self {
            pool,
            kernels: Kernels::best(),
            #[cfg(feature = "gpu")]
            gpu,
        })
    }

    /// As [`Searcher::new`] with limits and faults for tests.
    ///
    /// # Errors
    /// As [`Searcher::new`].
    #[cfg(feature = "gpu")]
    #[doc(hidden)]
    pub fn with_gpu_tuning(options: &SearcherOptions, tuning: GpuTuning) -> Result<Self, Error> {
        let pool = start_threads(options.threads)?;
        Ok(Self { pool, kernels: Kernels::best(), gpu: GpuSlot::open(options.gpu, tuning)? })
    }

    /// The best `k` rows for every query, exactly.
    ///
    /// # Errors
    /// If the query does not fit the file or has no answer (zeros, not finite), the filter belongs
    /// to another file, or the file was cut off or damaged.
    pub fn search(&self, snapshot: &Snapshot, query: &Query<'_>) -> Result<SearchOutcome, Error> {
        Ok(self.search_counted(snapshot, query)?.0)
    }

    /// As [`Searcher::search`], with what the search had to look at.
    ///
    /// # Errors
    /// As [`Searcher::search`].
    pub fn search_counted(
        &self,
        snapshot: &Snapshot,
        query: &Query<'_>,
    ) -> Result<(SearchOutcome, SearchCounts), Error> {
        let queries = PreparedQueries::new(snapshot, query)?;
        if queries.is_empty() {
            let hits = queries.queries.iter().map(|_| Vec::new()).collect();
            let outcome = SearchOutcome { hits, backend: Backend::Cpu, num_zero_rows: 0, gpu_fault: None };
            return Ok((outcome, SearchCounts::default()));
        }
        snapshot.check_len()?;
        let (found, backend, gpu_fault) = match self.search_gpu(snapshot, &queries)? {
            #[cfg(feature = "gpu")]
            GpuAttempt::Done(found) => (found, Backend::Gpu, None),
            GpuAttempt::NotTried => (self.search_cpu(snapshot, &queries)?, Backend::Cpu, None),
            #[cfg(feature = "gpu")]
            GpuAttempt::Faulted(fault) => (self.search_cpu(snapshot, &queries)?, Backend::Cpu, Some(fault)),
        };
        let hits = to_hits(snapshot, queries.metric, &found.rows);
        Ok((SearchOutcome { hits, backend, num_zero_rows: found.num_zero_rows, gpu_fault }, found.counts))
    }

    /// The same answer by scoring every row in f64 and sorting: the oracle for tests and doubts.
    ///
    /// # Errors
    /// As [`Searcher::search`].
    pub fn search_naive(&self, snapshot: &Snapshot, query: &Query<'_>) -> Result<Vec<Vec<Hit>>, Error> {
        let queries = PreparedQueries::new(snapshot, query)?;
        snapshot.check_len()?;
        Ok(to_hits(snapshot, queries.metric, &cpu::naive::search(snapshot, &queries)))
    }

    /// What searches run on, for people: the adapter if there is one, and the CPU's instruction
    /// set and threads.
    pub fn backend_name(&self) -> String {
        let cpu = format!("cpu ({}, {} threads)", self.kernels.name, self.pool.current_num_threads());
        match self.adapter_name() {
            Some(adapter) => format!("gpu ({adapter}), {cpu}"),
            None => cpu,
        }
    }

    /// The GPU that searches use, once one was opened.
    pub fn adapter_name(&self) -> Option<&str> {
        #[cfg(feature = "gpu")]
        return self.gpu.adapter.get()?.as_deref();
        #[cfg(not(feature = "gpu"))]
        None
    }

    fn search_cpu(&self, snapshot: &Snapshot, queries: &PreparedQueries<'_>) -> Result<Ranked, Error> {
        let outcome = cpu::search::search(&self.pool, self.kernels, snapshot, queries)?;
        Ok(Ranked { rows: outcome.ranked, num_zero_rows: outcome.num_zero_rows, counts: outcome.counts })
    }

    #[cfg(feature = "gpu")]
    fn search_gpu(&self, snapshot: &Snapshot, queries: &PreparedQueries<'_>) -> Result<GpuAttempt, Error> {
        self.gpu.search(snapshot, queries)
    }

    #[cfg(not(feature = "gpu"))]
    #[allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "the shape of the version with a GPU")]
    fn search_gpu(&self, _snapshot: &Snapshot, _queries: &PreparedQueries<'_>) -> Result<GpuAttempt, Error> {
        Ok(GpuAttempt::NotTried)
    }
}

fn start_threads(threads: Option<usize>) -> Result<ThreadPool, Error> {
    let builder = ThreadPoolBuilder::new().thread_name(|index| format!("engine-{index}"));
    let pool = builder.num_threads(threads.unwrap_or(0)).build();
    pool.map_err(|err| Error::Threads { reason: err.to_string() })
}

#[cfg(feature = "gpu")]
impl GpuSlot {
    fn open(mode: GpuMode, tuning: GpuTuning) -> Result<Self, Error> {
        let wish = std::env::var("OUTCROP_GPU").unwrap_or_default();
        let (is_wanted, is_software) = match (mode, wish.as_str()) {
            (GpuMode::Off, _) | (GpuMode::Auto, "off") => (false, false),
            (GpuMode::Software, _) | (GpuMode::Auto, "software") => (true, true),
            (GpuMode::Auto, _) => (true, false),
        };
        let slot = Self {
            is_wanted,
            is_software,
            adapter: OnceLock::new(),
            tuning,
            state: Mutex::new(GpuState { gpu: None, reopens_left: MAX_REOPENS }),
        };
        if is_software {
            slot.first_open(&mut slot.lock()).map_err(|GpuFault(reason)| Error::NoGpu { reason })?;
        }
        Ok(slot)
    }

    fn lock(&self) -> MutexGuard<'_, GpuState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for the GPU unless that was done before.
    fn first_open(&self, state: &mut GpuState) -> Result<(), GpuFault> {
        if self.adapter.get().is_some() {
            return Ok(());
        }
        let opened = Gpu::open(self.is_software, self.tuning);
        self.adapter.get_or_init(|| opened.as_ref().ok().map(|gpu| gpu.device.name.clone()));
        state.gpu = Some(opened?);
        Ok(())
    }

    fn search(&self, snapshot: &Snapshot, queries: &PreparedQueries<'_>) -> Result<GpuAttempt, Error> {
        let is_absent = matches!(self.adapter.get(), Some(None));
        let is_worth_it = self.is_software || is_worth_a_gpu(snapshot, queries);
        if !self.is_wanted || is_absent || !is_worth_it {
            return Ok(GpuAttempt::NotTried);
        }
        // While another search has the GPU, a real one leaves this search to the CPU.
        let mut state = match (self.is_software, self.state.try_lock()) {
            (_, Ok(state)) => state,
            (false, Err(TryLockError::WouldBlock)) => return Ok(GpuAttempt::NotTried),
            (_, Err(_)) => self.lock(),
        };
        if self.first_open(&mut state).is_err() {
            return Ok(GpuAttempt::NotTried);
        }
        state.reopen(self.is_software, self.tuning);
        let Some(gpu) = state.gpu.as_mut() else {
            return Ok(GpuAttempt::Faulted("the GPU failed too often".to_owned()));
        };
        match gpu.search(snapshot, queries) {
            Ok(found) => {
                let counts = SearchCounts {
                    num_coded_rows: found.num_coded_rows,
                    num_rescored: found.num_scored,
                    num_read_backs: found.num_read_backs,
                };
                Ok(GpuAttempt::Done(Ranked { rows: found.ranked, num_zero_rows: found.num_zero_rows, counts }))
            }
            Err(SearchFault::File(err)) => Err(err),
            Err(SearchFault::Gpu(GpuFault(fault))) => {
                // Keep a device that only declined; drop one that reported a fault.
                if gpu.device.check().is_err() {
                    state.gpu = None;
                }
                Ok(GpuAttempt::Faulted(fault))
            }
        }
    }
}

#[cfg(feature = "gpu")]
impl GpuState {
    /// Opens the device again after a fault, a few times. Orders to fail are not repeated.
    fn reopen(&mut self, is_software: bool, tuning: GpuTuning) {
        if self.gpu.is_none() && self.reopens_left > 0 {
            self.reopens_left -= 1;
            self.gpu = Gpu::open(is_software, GpuTuning { lose_device_after_rounds: None, ..tuning }).ok();
        }
    }
}

#[cfg(feature = "gpu")]
fn is_worth_a_gpu(snapshot: &Snapshot, queries: &PreparedQueries<'_>) -> bool {
    let per_row = (queries.dims * queries.queries.len()) as u64;
    snapshot.num_rows().saturating_mul(per_row) >= MIN_GPU_MULTIPLY_ADDS
}

fn to_hits(snapshot: &Snapshot, metric: Metric, ranked: &[Vec<RankedRow>]) -> Vec<Vec<Hit>> {
    let shown = |score: f64| {
        if metric == Metric::Cosine { score.clamp(-1.0, 1.0) } else { score }
    };
    let hit = |ranked: &RankedRow| Hit { id: snapshot.id_of(ranked.row), score: shown(ranked.score) };
    ranked.iter().map(|ranked| ranked.iter().map(hit).collect()).collect()
}
