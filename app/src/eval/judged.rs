//! Measuring retrieval: embed documents and questions once, then rank and score in as many ways as wanted.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::judgements::{JudgedDocument, JudgedSet};
use super::report::RetrievalRow;
use super::run::{collection, mode_name};
use super::{EvalError, retrieval};
use crate::embed::{EmbedError, Embedder, TextRole};
use crate::progress::CancelToken;
use crate::retrieve::{
    Grouping, LateInteraction, MemoryCollection, PassageText, Passages, Question, Ranking, RetrieveError,
    SearchOptions, rank, rank_in_stages,
};

/// Documents that a ranking is scored on.
const SCORED_DOCUMENTS: usize = 10;
/// Documents whose tokens are embedded between two signs of progress.
const WARM_DOCUMENTS: usize = 64;

/// Measures retrieval on one set; documents and questions are embedded once.
pub struct RetrievalRun<'a> {
    set: &'a JudgedSet,
    embedder: &'a dyn Embedder,
    texts: Vec<String>,
    collection: MemoryCollection,
    questions: Vec<f32>,
    dims: usize,
    late: Mutex<LateInteraction>,
}

impl<'a> RetrievalRun<'a> {
    /// Embeds documents and questions. `on_done` gets the number of documents embedded so far and of all.
    ///
    /// # Errors
    /// Embedding failed, or `cancel` was set.
    pub fn new(
        set: &'a JudgedSet,
        embedder: &'a dyn Embedder,
        cancel: &CancelToken,
        on_done: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, EvalError> {
        let texts: Vec<String> = set.documents.iter().map(JudgedDocument::titled_text).collect();
        let documents: Vec<&str> = texts.iter().map(String::as_str).collect();
        let total = documents.len();
        let vectors = embedder.embed(&documents, TextRole::Passage, cancel, &mut |done| on_done(done, total))?;
        let questions: Vec<&str> = set.questions.iter().map(|question| question.text.as_str()).collect();
        let questions = embedder.embed(&questions, TextRole::Query, cancel, &mut |_| {})?;
        let collection = collection(&documents, &vectors, embedder)?;
        let late = Mutex::new(LateInteraction::unbounded());
        Ok(Self { set, embedder, texts, collection, questions, dims: embedder.dims().max(1), late })
    }

    /// Embeds the tokens of every document, so that [`Self::measure`] times a reranker that has seen them.
    ///
    /// # Errors
    /// Embedding failed, the embedder has no token vectors, or `cancel` was set.
    pub fn warm_reranker(&self, cancel: &CancelToken, on_done: &mut dyn FnMut(usize, usize)) -> Result<(), EvalError> {
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        let ids: Vec<u64> = (0..self.texts.len() as u64).collect();
        for some in ids.chunks(WARM_DOCUMENTS) {
            let texts: Vec<(u64, String)> = some.iter().map(|&id| (id, self.texts[id as usize].clone())).collect();
            late.scores(self.embedder, "a", &texts, cancel)?.ok_or_else(no_reranker)?;
            on_done(some.last().map_or(0, |last| *last as usize + 1), ids.len());
        }
        Ok(())
    }

    /// Asks every question.
    ///
    /// # Errors
    /// The passages could not be searched.
    pub fn measure(&self, options: &SearchOptions) -> Result<RetrievalRow, EvalError> {
        let options = SearchOptions { k: SCORED_DOCUMENTS, group: Grouping::None, ..options.clone() };
        let clock = Instant::now();
        let mut scores = Vec::with_capacity(self.set.questions.len());
        for (question, vector) in self.set.questions.iter().zip(self.questions.chunks(self.dims)) {
            let ranking = self.rank(Question { text: &question.text, vector: Some(vector) }, &options)?;
            let ranked: Vec<usize> = ranking.passages.iter().map(|found| found.id as usize).collect();
            scores.push(retrieval::score(&ranked, &question.gains, SCORED_DOCUMENTS));
        }
        let took_ms = clock.elapsed().as_secs_f64() * 1e3;
        let reranked = if options.rerank { " + rerank" } else { "" };
        Ok(RetrievalRow::new(format!("{}{reranked}", mode_name(&options)), &scores, took_ms))
    }

    fn rank(&self, question: Question<'_>, options: &SearchOptions) -> Result<Ranking, EvalError> {
        if options.rerank {
            let mut passages = Texts(self);
            return rank_in_stages(&self.collection, question, options, &mut passages).map_err(search_error);
        }
        rank(&self.collection, question, options).map_err(search_error)
    }
}

fn search_error(err: impl std::fmt::Display) -> EvalError {
    EvalError::Search(err.to_string())
}

fn no_reranker() -> EvalError {
    EvalError::Search("this embedder has no token vectors to rerank by".to_owned())
}

/// The documents of a run as passages.
struct Texts<'r, 'a>(&'r RetrievalRun<'a>);

impl Passages for Texts<'_, '_> {
    fn passage(&mut self, id: u64) -> Result<PassageText, RetrieveError> {
        let text = self.0.texts[id as usize].clone();
        Ok(PassageText { document: id, start: 0, end: text.len(), pages: None, text })
    }

    fn rerank(&mut self, question: &str, ids: &[u64]) -> Result<Vec<f64>, RetrieveError> {
        let run = self.0;
        let texts: Vec<(u64, String)> = ids.iter().map(|&id| (id, run.texts[id as usize].clone())).collect();
        let mut late = run.late.lock().unwrap_or_else(PoisonError::into_inner);
        let scores = late.scores(run.embedder, question, &texts, &CancelToken::new())?;
        scores.ok_or_else(|| EmbedError::Run("this embedder has no token vectors".to_owned()).into())
    }
}
