//! A collection in memory, for measuring rankings over a labelled set without a library.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Collection, Nearest};
use crate::store::{MemoryIndex, StoreError, VectorIndex, index_tokens};

/// Passages in memory, with ids from 0 in the order given.
#[derive(Debug)]
pub struct MemoryCollection {
    tokens: Vec<u32>,
    postings: BTreeMap<String, Vec<(u64, u32)>>,
    vectors: MemoryIndex,
    ids: Arc<Vec<u64>>,
}

impl MemoryCollection {
    /// Indexes passages with their vectors (`passages.len() * dims` floats).
    ///
    /// # Errors
    /// There are not `dims` numbers for each passage.
    pub fn new(passages: &[&str], vectors: &[f32], dims: usize) -> Result<Self, StoreError> {
        let ids: Vec<u64> = (0..passages.len() as u64).collect();
        let index = MemoryIndex::new(dims);
        index.append(&ids, vectors)?;
        let mut collection = Self {
            tokens: Vec::with_capacity(passages.len()),
            postings: BTreeMap::new(),
            vectors: index,
            ids: Arc::new(ids),
        };
        passages.iter().enumerate().for_each(|(id, passage)| collection.add(id as u64, passage));
        Ok(collection)
    }

    fn add(&mut self, id: u64, passage: &str) {
        let tokens = index_tokens(passage);
        self.tokens.push(tokens.len() as u32);
        for token in tokens {
            let postings = self.postings.entry(token).or_default();
            match postings.last_mut() {
                Some((last, count)) if *last == id => *count += 1,
                _ => postings.push((id, 1)),
            }
        }
    }
}

impl Collection for MemoryCollection {
    fn num_passages(&self) -> usize {
        self.tokens.len()
    }

    fn mean_tokens(&self) -> f64 {
        let total: u64 = self.tokens.iter().map(|&tokens| u64::from(tokens)).sum();
        total as f64 / self.tokens.len().max(1) as f64
    }

    fn tokens(&self, id: u64) -> Option<u32> {
        self.tokens.get(id as usize).copied()
    }

    fn postings(&self, token: &str) -> Result<Vec<(u64, u32)>, StoreError> {
        Ok(self.postings.get(token).cloned().unwrap_or_default())
    }

    fn with_vectors(&self) -> Arc<Vec<u64>> {
        self.ids.clone()
    }

    fn nearest(&self, query: &[f32], k: usize, allowed: &Arc<Vec<u64>>) -> Result<Nearest, StoreError> {
        let found = self.vectors.search(query, k, allowed)?;
        Ok(Nearest { hits: found.hits, backend: found.backend })
    }
}
