//! Searching a library: the ranking over a snapshot of its database and vectors, and the passages it names.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::rank::{Question, Ranked, rank_in_stages};
use super::{
    Collection, Considered, DocumentFilter, LateInteraction, Near, Nearest, Outcomes, PassageText, Passages, Reranker,
    Rescored, RetrieveError, SearchHit, SearchOptions, SearchResults,
};
use crate::embed::{EmbedError, Embedder, Rerankers, TextRole};
use crate::progress::CancelToken;
use crate::store::{Catalog, ReadView, Store, StoreError, VectorIndex};

/// Passages that are shown in full though they are no hits, the nearest ones; and those that a stage had among its first.
const NEAR_MISSES: usize = 20;

/// What searches a library.
#[derive(Clone, Copy)]
pub(crate) struct Searching<'a> {
    /// The library.
    pub(crate) store: &'a Store,
    /// The model of its vectors.
    pub(crate) embedder: &'a dyn Embedder,
    /// Late interaction with what it has seen.
    pub(crate) late: &'a Mutex<LateInteraction>,
    /// The cross-encoders that are installed.
    pub(crate) rerankers: &'a Mutex<Rerankers>,
    /// Stops it.
    pub(crate) cancel: &'a CancelToken,
}

/// Finds passages of a library. Any query text is valid; a blank one finds nothing.
pub(crate) fn search(
    searching: Searching<'_>,
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
        considered: Vec::new(),
        outcomes: Outcomes::default(),
        searched: 0,
        without_vectors: 0,
        idf_coverage: 0.0,
        best_cosine: None,
        reranked_by: None,
        notes: Vec::new(),
    };
    if !query.trim().is_empty() {
        let vector = searching.embedder.embed(&[query], TextRole::Query, searching.cancel, &mut |_| {})?;
        let is_usable = vector.iter().all(|x| x.is_finite()) && vector.iter().any(|&x| x != 0.0);
        let question = Question { text: query, vector: Some(vector.as_slice()).filter(|_| is_usable) };
        fill(&mut results, searching, question, options)?;
    }
    results.took_ms = started.elapsed().as_secs_f64() * 1e3;
    Ok(results)
}

fn fill(
    results: &mut SearchResults,
    searching: Searching<'_>,
    question: Question<'_>,
    options: &SearchOptions,
) -> Result<(), RetrieveError> {
    // The database's snapshot comes first: whatever it calls searchable has its row in vectors looked at later.
    let collection = LibraryCollection::open(searching.store, searching.embedder.fingerprint(), options)?;
    let reranker = options.reranker;
    let mut passages = LibraryPassages { collection: &collection, searching, reranker, reranked_by: None, note: None };
    let ranking = rank_in_stages(&collection, question, options, &mut passages)?;
    results.reranked_by = passages.reranked_by.take();
    results.notes.extend(passages.note.take());
    results.notes.extend(collection.filter_notes.iter().cloned());
    if !ranking.backend.is_empty() {
        ranking.backend.clone_into(&mut results.backend);
    }
    results.searched = collection.num_within();
    results.without_vectors = results.searched - collection.with_vectors.len().min(results.searched);
    results.idf_coverage = ranking.idf_coverage as f32;
    results.best_cosine = ranking.best_cosine.map(|cosine| cosine as f32);
    for (position, passage) in ranking.passages.iter().enumerate() {
        results.hits.push(collection.hit(position + 1, passage)?);
    }
    results.outcomes = Outcomes::of(&ranking.considered);
    let nearest = ranking.passages.len() + NEAR_MISSES;
    for (position, considered) in ranking.considered.into_iter().enumerate() {
        if position < nearest || considered.is_near(options.k) {
            results.considered.push(collection.near(considered)?);
        }
    }
    Ok(())
}

/// What the results say of late interaction.
const LATE: &str = "late interaction";

/// The texts of a library's passages, and what ranks them again.
struct LibraryPassages<'a> {
    collection: &'a LibraryCollection<'a>,
    searching: Searching<'a>,
    reranker: Reranker,
    reranked_by: Option<String>,
    note: Option<String>,
}

impl LibraryPassages<'_> {
    /// The scores of the cross-encoder; `None` where none is installed.
    fn read_together(&mut self, question: &str, ids: &[u64]) -> Result<Option<Vec<f64>>, RetrieveError> {
        let cancel = self.searching.cancel;
        let mut rerankers = self.searching.rerankers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(encoder) = rerankers.pick(cancel)? else {
            return Ok(None);
        };
        drop(rerankers);
        let texts = ids.iter().map(|&id| self.collection.text_in_context(id));
        let texts = texts.collect::<Result<Vec<_>, StoreError>>()?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let scores = encoder.scores(question, &texts, cancel)?;
        self.reranked_by = Some(encoder.title().to_owned());
        Ok(Some(scores))
    }
}

impl Passages for LibraryPassages<'_> {
    fn passage(&mut self, id: u64) -> Result<PassageText, RetrieveError> {
        let chunk = self.collection.store.chunk(&self.collection.view, id)?;
        Ok(PassageText {
            document: chunk.document.0,
            start: chunk.start,
            end: chunk.end,
            pages: chunk.place.pages,
            text: chunk.text,
        })
    }

    fn rerank(&mut self, question: &str, ids: &[u64]) -> Result<Vec<f64>, RetrieveError> {
        let texts = ids.iter().map(|&id| Ok((id, self.collection.text_in_context(id)?)));
        let texts = texts.collect::<Result<Vec<_>, StoreError>>()?;
        let mut late = self.searching.late.lock().unwrap_or_else(PoisonError::into_inner);
        let scores =
            late.scores(self.searching.embedder, question, &texts, self.searching.cancel)?.ok_or_else(|| {
                RetrieveError::Options(
                "reranking needs an embedding model or a cross-encoder, and none is installed; run `outcrop models \
                 fetch` or search without it"
                    .to_owned(),
            )
            })?;
        self.reranked_by = Some(LATE.to_owned());
        Ok(scores)
    }

    fn rescore(&mut self, question: &str, ids: &[u64]) -> Result<Rescored, RetrieveError> {
        if self.reranker == Reranker::Late {
            return self.rerank(question, ids).map(Rescored::Mixed);
        }
        match self.read_together(question, ids) {
            Ok(Some(scores)) => Ok(Rescored::Alone(scores)),
            Ok(None) if self.reranker == Reranker::Cross => Err(RetrieveError::Options(
                "no cross-encoder is installed; `outcrop models add FOLDER` adds one, and `late` needs none".to_owned(),
            )),
            Ok(None) => self.rerank(question, ids).map(Rescored::Mixed),
            Err(RetrieveError::Embed(err)) if err != EmbedError::Cancelled => {
                self.note = Some(format!("the reranker failed, so the order is the one before it ({err})"));
                Ok(Rescored::Nothing)
            }
            Err(err) => Err(err),
        }
    }
}

/// The searchable passages of a library that the filters let through.
struct LibraryCollection<'a> {
    store: &'a Store,
    view: ReadView<'a>,
    catalog: Arc<Catalog>,
    fingerprint: String,
    /// Documents that the filter lets through; `None` without a filter.
    documents: Option<BTreeSet<u64>>,
    with_vectors: Arc<Vec<u64>>,
    filter_notes: Vec<String>,
}

impl<'a> LibraryCollection<'a> {
    fn open(store: &'a Store, fingerprint: &str, options: &SearchOptions) -> Result<Self, RetrieveError> {
        let (view, catalog) = store.snapshot()?;
        let mut filter = DocumentFilter::new(options)?;
        let documents = match &mut filter {
            None => None,
            Some(filter) => {
                let documents = store.ready_documents(&view, !options.conditions.is_empty())?;
                Some(
                    documents.iter().filter(|document| filter.passes(document)).map(|document| document.id.0).collect(),
                )
            }
        };
        let filter_notes = filter.map(|filter| filter.notes()).unwrap_or_default();
        let all = catalog.ids_of_model(fingerprint);
        let with_vectors = match &documents {
            None => all,
            Some(documents) => Arc::new(within(&catalog, &all, documents)),
        };
        Ok(Self { store, view, catalog, fingerprint: fingerprint.to_owned(), documents, with_vectors, filter_notes })
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
            also: passage.also.len(),
        })
    }

    fn near(&self, considered: Considered) -> Result<Near, StoreError> {
        let chunk = self.store.chunk(&self.view, considered.id)?;
        let (path, title) = self.store.path_and_title(&self.view, chunk.document)?;
        Ok(Near { considered, path, title, chunk })
    }

    /// A passage under its title and headings.
    fn text_in_context(&self, id: u64) -> Result<String, StoreError> {
        let chunk = self.store.chunk(&self.view, id)?;
        let (_, title) = self.store.path_and_title(&self.view, chunk.document)?;
        let context: Vec<&str> =
            std::iter::once(title.as_str()).chain(chunk.place.heading.iter().map(String::as_str)).collect();
        Ok(format!("{}\n{}", context.join(" > "), chunk.text))
    }

    /// Searchable passages that the filter lets through.
    fn num_within(&self) -> usize {
        match &self.documents {
            None => self.catalog.len(),
            Some(documents) => within(&self.catalog, self.catalog.ids(), documents).len(),
        }
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
