//! Searching a library: the ranking over a snapshot of its database and vectors, and the passages it names.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use super::rank::{Question, Ranked, rank};
use super::{Collection, Nearest, RetrieveError, SearchHit, SearchOptions, SearchResults};
use crate::embed::{Embedder, TextRole};
use crate::progress::CancelToken;
use crate::store::{Catalog, ReadView, Store, StoreError, VectorIndex};

/// Finds passages of a library. Any query text is valid; a blank one finds nothing.
pub(crate) fn search(
    store: &Store,
    embedder: &dyn Embedder,
    query: &str,
    options: &SearchOptions,
) -> Result<SearchResults, RetrieveError> {
    let started = Instant::now();
    options.check()?;
    let mut results = SearchResults {
        query: query.to_owned(),
        mode: options.mode,
        took_ms: 0.0,
        backend: "cpu".to_owned(),
        hits: Vec::new(),
        idf_coverage: 0.0,
        best_cosine: None,
    };
    if !query.trim().is_empty() {
        let vector = embedder.embed(&[query], TextRole::Query, &CancelToken::new(), &mut |_| {})?;
        let is_usable = vector.iter().all(|x| x.is_finite()) && vector.iter().any(|&x| x != 0.0);
        let question = Question { text: query, vector: Some(vector.as_slice()).filter(|_| is_usable) };
        fill(&mut results, store, embedder, question, options)?;
    }
    results.took_ms = started.elapsed().as_secs_f64() * 1e3;
    Ok(results)
}

fn fill(
    results: &mut SearchResults,
    store: &Store,
    embedder: &dyn Embedder,
    question: Question<'_>,
    options: &SearchOptions,
) -> Result<(), RetrieveError> {
    // The database's snapshot comes first: whatever it calls searchable has its row in vectors looked at later.
    let collection = LibraryCollection::open(store, embedder.fingerprint(), options)?;
    let ranking = rank(&collection, question, options)?;
    if !ranking.backend.is_empty() {
        ranking.backend.clone_into(&mut results.backend);
    }
    results.idf_coverage = ranking.idf_coverage as f32;
    results.best_cosine = ranking.best_cosine.map(|cosine| cosine as f32);
    for (position, passage) in ranking.passages.iter().enumerate() {
        results.hits.push(collection.hit(position + 1, passage)?);
    }
    Ok(())
}

/// The searchable passages of a library that the source filter lets through.
struct LibraryCollection<'a> {
    store: &'a Store,
    view: ReadView<'a>,
    catalog: Arc<Catalog>,
    fingerprint: String,
    /// Documents that the filter lets through; `None` without a filter.
    documents: Option<BTreeSet<u64>>,
    with_vectors: Arc<Vec<u64>>,
}

impl<'a> LibraryCollection<'a> {
    fn open(store: &'a Store, fingerprint: &str, options: &SearchOptions) -> Result<Self, RetrieveError> {
        let (view, catalog) = store.snapshot()?;
        let documents = match options.source_glob()? {
            None => None,
            Some(glob) => Some(store.documents_where(&view, |path| glob.is_match(path))?),
        };
        let all = catalog.ids_of_model(fingerprint);
        let with_vectors = match &documents {
            None => all,
            Some(documents) => Arc::new(within(&catalog, &all, documents)),
        };
        Ok(Self { store, view, catalog, fingerprint: fingerprint.to_owned(), documents, with_vectors })
    }

    fn hit(&self, rank: usize, passage: &Ranked) -> Result<SearchHit, StoreError> {
        let chunk = self.store.chunk(&self.view, passage.id)?;
        let (path, title) = self.store.path_and_title(&self.view, chunk.document)?;
        Ok(SearchHit {
            rank,
            score: passage.score as f32,
            scores: passage.scores,
            found_by: passage.found_by,
            path,
            title,
            chunk,
        })
    }
}

fn within(catalog: &Catalog, ids: &[u64], documents: &BTreeSet<u64>) -> Vec<u64> {
    let is_within = |id: &u64| catalog.chunk(*id).is_some_and(|(document, _)| documents.contains(&document));
    ids.iter().copied().filter(is_within).collect()
}

impl Collection for LibraryCollection<'_> {
    fn num_passages(&self) -> usize {
        self.catalog.len()
    }

    fn mean_tokens(&self) -> f64 {
        self.catalog.mean_terms()
    }

    fn tokens(&self, id: u64) -> Option<u32> {
        let (document, terms) = self.catalog.chunk(id)?;
        let is_within = self.documents.as_ref().is_none_or(|documents| documents.contains(&document));
        is_within.then_some(terms)
    }

    fn postings(&self, token: &str) -> Result<Vec<(u64, u32)>, StoreError> {
        self.store.postings(&self.view, token)
    }

    fn with_vectors(&self) -> Arc<Vec<u64>> {
        self.with_vectors.clone()
    }

    fn nearest(&self, query: &[f32], k: usize, allowed: &Arc<Vec<u64>>) -> Result<Nearest, StoreError> {
        let index: Option<Arc<dyn VectorIndex>> = self.store.vectors(&self.fingerprint)?;
        let index = index.ok_or_else(|| self.store.no_vectors(&self.fingerprint))?;
        let found = index.search(query, k, allowed)?;
        Ok(Nearest { hits: found.hits, backend: found.backend })
    }
}
