//! A [`VectorIndex`] in memory: what tests and measurements search when nothing has to survive.

use std::sync::{Arc, RwLock};

use super::{StoreError, VectorHits, VectorIndex};

/// Vectors in memory; gone when dropped.
#[derive(Debug)]
pub struct MemoryIndex {
    dims: usize,
    rows: RwLock<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    ids: Vec<u64>,
    values: Vec<f32>,
    last_id: Option<u64>,
}

impl MemoryIndex {
    /// An empty index of `dims` dimensions.
    pub fn new(dims: usize) -> Self {
        Self { dims, rows: RwLock::default() }
    }

    fn refuse(detail: String) -> StoreError {
        StoreError::damaged(std::path::Path::new("(memory)"), detail)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Rows> {
        self.rows.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Rows> {
        self.rows.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl VectorIndex for MemoryIndex {
    fn dims(&self) -> usize {
        self.dims
    }

    fn append(&self, ids: &[u64], values: &[f32]) -> Result<(), StoreError> {
        let mut rows = self.write();
        let increasing = ids.windows(2).all(|pair| pair[0] < pair[1])
            && ids.first().is_none_or(|first| rows.last_id.is_none_or(|last| last < *first));
        if values.len() != ids.len() * self.dims || !increasing {
            return Err(Self::refuse(format!("{} ids with {} numbers do not follow on", ids.len(), values.len())));
        }
        rows.ids.extend_from_slice(ids);
        rows.values.extend_from_slice(values);
        rows.last_id = ids.last().copied().or(rows.last_id);
        Ok(())
    }

    fn delete(&self, ids: &[u64]) -> Result<(), StoreError> {
        let mut rows = self.write();
        let kept: Vec<usize> = (0..rows.ids.len()).filter(|&at| !ids.contains(&rows.ids[at])).collect();
        let values = kept.iter().flat_map(|at| &rows.values[at * self.dims..(at + 1) * self.dims]).copied().collect();
        rows.ids = kept.iter().map(|&at| rows.ids[at]).collect();
        rows.values = values;
        Ok(())
    }

    fn ids(&self) -> Result<Vec<u64>, StoreError> {
        Ok(self.read().ids.clone())
    }

    fn last_id(&self) -> Option<u64> {
        self.read().last_id
    }

    fn search(&self, query: &[f32], k: usize, allowed: &Arc<Vec<u64>>) -> Result<VectorHits, StoreError> {
        if query.len() != self.dims {
            return Err(Self::refuse(format!("query has {} dimensions, not {}", query.len(), self.dims)));
        }
        let rows = self.read();
        let mut hits: Vec<(u64, f64)> = rows
            .ids
            .iter()
            .zip(rows.values.chunks_exact(self.dims.max(1)))
            .filter(|(id, _)| allowed.binary_search(id).is_ok())
            .filter_map(|(&id, row)| Some((id, cosine(query, row)?)))
            .collect();
        hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        hits.truncate(k);
        Ok(VectorHits { hits, backend: "cpu" })
    }

    fn verify(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    fn compact(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn quicken(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// `None` for a zero row, which has no direction.
fn cosine(a: &[f32], b: &[f32]) -> Option<f64> {
    let dot = |x: &[f32], y: &[f32]| -> f64 { x.iter().zip(y).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum() };
    let norms = (dot(a, a) * dot(b, b)).sqrt();
    (norms > 0.0).then(|| dot(a, b) / norms)
}
