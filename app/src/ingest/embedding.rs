//! Embedding through the library's cache: a text is embedded once, whatever document it is in.

use std::collections::BTreeMap;

use crate::embed::{EmbedError, Embedder, TextRole};
use crate::progress::CancelToken;
use crate::store::{Hash, Store, StoreError, cache_key};

/// Texts given to the embedder at once; what is done of a long document survives a cancel or a kill in the cache.
const TEXTS_AT_ONCE: usize = 256;

/// Why texts got no vectors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EmbedFailure {
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Vectors of `texts`, row by row. `on_done` gets the number of texts that have theirs, after each batch.
pub(crate) fn embed_cached(
    store: &Store,
    embedder: &dyn Embedder,
    texts: &[&str],
    cancel: &CancelToken,
    on_done: &mut dyn FnMut(usize),
) -> Result<Vec<f32>, EmbedFailure> {
    let dims = embedder.dims();
    let keys: Vec<Hash> = texts.iter().map(|text| cache_key(embedder.fingerprint(), TextRole::Passage, text)).collect();
    let mut rows = vec![0.0; texts.len() * dims];
    let mut missing: BTreeMap<Hash, Vec<usize>> = BTreeMap::new();
    for (at, cached) in store.cached_vectors(&keys, dims)?.into_iter().enumerate() {
        match cached {
            Some(vector) => rows[at * dims..(at + 1) * dims].copy_from_slice(&vector),
            None => missing.entry(keys[at]).or_default().push(at),
        }
    }
    let mut uncached: Vec<(Hash, Vec<usize>)> = missing.into_iter().collect();
    uncached.sort_by_key(|(_, places)| places[0]);
    let mut done = texts.len() - uncached.iter().map(|(_, places)| places.len()).sum::<usize>();
    on_done(done);
    for batch in uncached.chunks(TEXTS_AT_ONCE) {
        let unique: Vec<&str> = batch.iter().map(|(_, places)| texts[places[0]]).collect();
        let before = done;
        cancel.wait_while_paused();
        let vectors = embedder.embed(&unique, TextRole::Passage, cancel, &mut |count| {
            on_done(before + count);
        })?;
        let vectors = rows_of(&vectors, unique.len(), dims)?;
        keep(store, batch, &vectors)?;
        for ((_, places), vector) in batch.iter().zip(&vectors) {
            for &at in places {
                rows[at * dims..(at + 1) * dims].copy_from_slice(vector);
            }
            done += places.len();
        }
        on_done(done);
    }
    Ok(rows)
}

fn rows_of(vectors: &[f32], count: usize, dims: usize) -> Result<Vec<&[f32]>, EmbedFailure> {
    let is_finite = vectors.iter().all(|x| x.is_finite());
    if vectors.len() != count * dims || !is_finite {
        return Err(EmbedError::Run(format!(
            "the model gave {} numbers for {count} texts, expected {count} vectors of {dims} finite ones",
            vectors.len()
        ))
        .into());
    }
    Ok(vectors.chunks_exact(dims).collect())
}

fn keep(store: &Store, batch: &[(Hash, Vec<usize>)], vectors: &[&[f32]]) -> Result<(), StoreError> {
    if store.is_read_only() {
        return Ok(());
    }
    let entries: Vec<(Hash, &[f32])> = batch.iter().map(|(key, _)| *key).zip(vectors.iter().copied()).collect();
    store.cache_vectors(&entries)
}
