//! Queries as asked, and as checked and prepared for the kernels.

use crate::error::Error;
use crate::file::Snapshot;
use crate::filter::RowFilter;
use crate::metric::Metric;
use crate::score;

/// A batch of queries against one snapshot.
///
/// ```
/// # use engine::Query;
/// let vectors = [0.1, 0.2, 0.3, 0.9, 0.8, 0.7]; // two queries of three dimensions
/// let query = Query { k: 5, ..Query::new(&vectors) };
/// # assert_eq!(query.k, 5);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// `queries × dims` values, query after query.
    pub vectors: &'a [f32],
    /// Hits wanted per query. Fewer come back where fewer rows match.
    pub k: usize,
    /// The metric, or the file's own.
    pub metric: Option<Metric>,
    /// Rows that may be returned, or all.
    pub filter: Option<&'a RowFilter>,
    /// What the first pass reads. The answer is the same.
    pub precision: Precision,
}

/// What the first pass of a search reads. Either way the answer is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// The stored values.
    #[default]
    Full,
    /// int8 codes where the file has them ([`crate::VectorFile::write_codes`]) and they are quicker, which they are
    /// but for batches that want many hits out of few rows: a quarter of the bytes for a few queries at a time. What
    /// cannot be decided from the codes within a proven bound is decided from the stored values.
    Certified,
}

impl<'a> Query<'a> {
    /// Ten hits under the file's metric, from all rows.
    pub fn new(vectors: &'a [f32]) -> Self {
        Self { vectors, k: 10, metric: None, filter: None, precision: Precision::Full }
    }
}

/// What the kernels compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelKind {
    /// `u·v` with the query scaled to unit length.
    Dot,
    /// `-‖q - v‖²` with the query as it is.
    L2,
}

/// A checked batch.
#[derive(Debug)]
pub(crate) struct PreparedQueries<'a> {
    pub(crate) metric: Metric,
    pub(crate) kind: KernelKind,
    pub(crate) k: usize,
    pub(crate) dims: usize,
    pub(crate) filter: Option<&'a RowFilter>,
    pub(crate) precision: Precision,
    pub(crate) queries: Vec<PreparedQuery<'a>>,
}

/// One checked query.
#[derive(Debug)]
pub(crate) struct PreparedQuery<'a> {
    /// As asked: what the canonical score uses.
    pub(crate) original: &'a [f32],
    /// `‖original‖`.
    pub(crate) norm: f64,
    /// What the kernels use; see [`KernelKind`].
    pub(crate) for_kernel: Vec<f32>,
}

impl<'a> PreparedQueries<'a> {
    /// Checks a batch against the snapshot it is for.
    pub(crate) fn new(snapshot: &Snapshot, query: &Query<'a>) -> Result<Self, Error> {
        let dims = snapshot.dims();
        if !query.vectors.len().is_multiple_of(dims) {
            return Err(Error::QueryShape { found: query.vectors.len(), dims, path: snapshot.path().to_owned() });
        }
        if let Some(filter) = query.filter {
            filter.check_belongs_to(snapshot)?;
        }
        let metric = query.metric.unwrap_or(snapshot.metric());
        let kind = if metric == Metric::L2 { KernelKind::L2 } else { KernelKind::Dot };
        let vectors = query.vectors.chunks_exact(dims).enumerate();
        let queries =
            vectors.map(|(index, vector)| PreparedQuery::new(index, vector, kind)).collect::<Result<_, _>>()?;
        // No more than n hits exist, and lists are sized by k.
        let k = query.k.min(usize::try_from(snapshot.num_live_rows()).unwrap_or(usize::MAX));
        Ok(Self { metric, kind, k, dims, filter: query.filter, precision: query.precision, queries })
    }

    /// Whether there is nothing to look for.
    pub(crate) fn is_empty(&self) -> bool {
        self.k == 0 || self.queries.is_empty()
    }

    /// The canonical score of a row against a query.
    pub(crate) fn canonical(&self, query: usize, row: &[f32], row_norm: f64) -> Option<f64> {
        let query = &self.queries[query];
        score::canonical(self.metric, query.original, query.norm, row, row_norm)
    }
}

impl<'a> PreparedQuery<'a> {
    fn new(index: usize, original: &'a [f32], kind: KernelKind) -> Result<Self, Error> {
        if !original.iter().all(|value| value.is_finite()) {
            return Err(Error::BadQuery { query: index, reason: "has a value that is not finite" });
        }
        let norm = score::norm(original);
        let for_kernel = match kind {
            KernelKind::L2 => original.to_vec(),
            KernelKind::Dot if norm == 0.0 => {
                return Err(Error::BadQuery {
                    query: index,
                    reason: "is all zeros, so every row would score the same",
                });
            }
            KernelKind::Dot => original.iter().map(|&value| (f64::from(value) / norm) as f32).collect(),
        };
        Ok(Self { original, norm, for_kernel })
    }
}
