//! `outcrop eval`: how well chunkers and ways of retrieval do on a labelled set.

use std::path::Path;
use std::sync::Arc;

use indicatif::ProgressBar;

use super::Ending;
use super::args::{EvalChunkingVerb, EvalRetrievalVerb, EvalVerb};
use super::error::CliError;
use super::output::{print_line, progress_bar};
use super::session::Session;
use crate::chunk::ChunkerKind;
use crate::embed::{self, Embedder};
use crate::eval::report::{ChunkingRow, Table, to_csv, to_table};
use crate::eval::{ChunkingRun, EvalError, ExcerptSet, JudgedSet, RetrievalRun, Splitter};
use crate::models;
use crate::retrieve::{Fusion, SearchMode, SearchOptions};

impl From<EvalError> for CliError {
    fn from(err: EvalError) -> Self {
        Self::failed("the measurement failed", err, None)
    }
}

/// Measures and prints a table.
pub(super) fn run(session: &Session, verb: &EvalVerb) -> Result<Ending, CliError> {
    match verb {
        EvalVerb::Chunking(verb) => chunking(session, verb),
        EvalVerb::Retrieval(verb) => retrieval(session, verb),
        EvalVerb::Answers(verb) => super::eval_answers::run(session, verb),
    }
}

fn chunking(session: &Session, verb: &EvalChunkingVerb) -> Result<Ending, CliError> {
    let splitters = splitters(verb);
    for splitter in &splitters {
        splitter.validate().map_err(|err| CliError::Usage(err.to_string()))?;
    }
    let embedder = embedder(session);
    let set = ExcerptSet::load(&verb.dir)?;
    let run = ChunkingRun::new(&set, embedder.as_ref(), &session.cancel)?;
    let modes = [mode(SearchMode::Vector, 1.0), mode(SearchMode::Keyword, 0.0), mode(SearchMode::Hybrid, 0.5)];
    let bar = bar(session);
    let mut rows: Vec<ChunkingRow> = Vec::new();
    for splitter in &splitters {
        bar.set_message(splitter.name());
        rows.extend(run.measure(splitter, &modes, &mut |done, total| advance(&bar, done, total))?);
    }
    bar.finish_and_clear();
    print_rows(session, &rows, verb.csv.as_deref())
}

/// Every chunker, or those that were named, and the published ones.
fn splitters(verb: &EvalChunkingVerb) -> Vec<Splitter> {
    let kinds = if verb.chunker.is_empty() { ChunkerKind::ALL.as_slice() } else { &verb.chunker };
    let ours = kinds.iter().map(|&kind| Splitter::Configured(verb.config(kind)));
    let (size, overlap) = (verb.size, verb.overlap);
    let published = [Splitter::PublishedRecursive { size, overlap }, Splitter::PublishedCluster { size }];
    ours.chain(published.into_iter().filter(|_| verb.chunker.is_empty())).collect()
}

fn retrieval(session: &Session, verb: &EvalRetrievalVerb) -> Result<Ending, CliError> {
    let embedder = embedder(session);
    let mut set = JudgedSet::load(&verb.dir)?;
    set.thin_out(verb.questions.unwrap_or(0));
    let bar = bar(session);
    bar.set_message("documents");
    let run = RetrievalRun::new(&set, embedder.as_ref(), &session.cancel, &mut |done, total| {
        advance(&bar, done, total);
    })?;
    if verb.rerank {
        bar.set_message("tokens");
        run.warm_reranker(&session.cancel, &mut |done, total| advance(&bar, done, total))?;
    }
    bar.finish_and_clear();
    let rrf = SearchOptions { fusion: Fusion::Rrf, ..SearchOptions::default() };
    let mut modes = vec![
        mode(SearchMode::Keyword, 0.0),
        mode(SearchMode::Vector, 1.0),
        rrf,
        mode(SearchMode::Hybrid, 0.5),
        mode(SearchMode::Hybrid, 0.7),
    ];
    if verb.rerank {
        let reranked = [0.5, 0.7].map(|alpha| SearchOptions { rerank: true, ..mode(SearchMode::Hybrid, alpha) });
        modes.extend(reranked);
    }
    let rows = modes.iter().map(|mode| run.measure(mode)).collect::<Result<Vec<_>, _>>()?;
    print_rows(session, &rows, verb.csv.as_deref())
}

fn mode(mode: SearchMode, alpha: f32) -> SearchOptions {
    SearchOptions { mode, alpha, ..SearchOptions::default() }
}

/// The default embedder; says so if the hash embedder stands in for it.
pub(super) fn embedder(session: &Session) -> Arc<dyn Embedder> {
    let (embedder, note) = embed::open_installed(&models::folder(None, &session.home));
    if let Some(note) = note {
        session.note(&note);
    }
    embedder
}

pub(super) fn bar(session: &Session) -> ProgressBar {
    progress_bar(session.global.quiet, 0, "{msg} {bar:30} {pos}/{len}")
}

pub(super) fn advance(bar: &ProgressBar, done: usize, total: usize) {
    bar.set_length(total as u64);
    bar.set_position(done as u64);
}

fn print_rows<R: Table + serde::Serialize>(
    session: &Session,
    rows: &[R],
    csv: Option<&Path>,
) -> Result<Ending, CliError> {
    if let Some(path) = csv {
        std::fs::write(path, to_csv(rows))
            .map_err(|err| CliError::failed("the table could not be written", format!("{err}: {path:?}"), None))?;
    }
    session.print(&rows, |rows| print_line(to_table(rows).trim_end()))?;
    Ok(Ending::Done)
}
