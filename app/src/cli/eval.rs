//! `outcrop eval`: how well chunkers and ways of retrieval do on a labelled set.

use std::path::Path;
use std::sync::Arc;

use indicatif::ProgressBar;

use super::Ending;
use super::error::CliError;
use super::eval_args::{EvalChunkingVerb, EvalRetrievalVerb, EvalVerb};
use super::output::{expect_places, print_line, progress_bar};
use super::session::Session;
use crate::chunk::ChunkerKind;
use crate::embed::{self, Embedder};
use crate::eval::figure::recall_over_iou;
use crate::eval::html::report;
use crate::eval::report::{ChunkingRow, Table, to_csv, to_table};
use crate::eval::{CachedEmbedder, ChunkingRun, EvalError, ExcerptSet, JudgedSet, RetrievalRun, Subject};
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
    let subjects = subjects(verb)?;
    expect_places(verb.csv.iter().chain(&verb.svg).chain(&verb.html))?;
    let embedder = embedder(session);
    let embedder = remembering(session, embedder.as_ref())?;
    let set = ExcerptSet::load(&verb.dir)?;
    let run = ChunkingRun::new(&set, &embedder, &session.cancel)?;
    let all = [mode(SearchMode::Vector, 1.0), mode(SearchMode::Keyword, 0.0), mode(SearchMode::Hybrid, verb.alpha)];
    let modes: Vec<SearchOptions> =
        all.into_iter().filter(|options| verb.mode.is_empty() || verb.mode.contains(&options.mode)).collect();
    let bar = bar(session);
    let mut rows: Vec<ChunkingRow> = Vec::new();
    for subject in &subjects {
        bar.set_message(subject.to_string());
        rows.extend(run.measure(subject, &modes, &mut |done, total| advance(&bar, done, total))?);
    }
    bar.finish_and_clear();
    compare_with_first(&mut rows);
    write_pictures(verb, &rows, &set, embedder.name())?;
    print_rows(session, &rows, verb.csv.as_deref())
}

/// The picture and the report, where they were asked for.
fn write_pictures(
    verb: &EvalChunkingVerb,
    rows: &[ChunkingRow],
    set: &ExcerptSet,
    embedder: &str,
) -> Result<(), CliError> {
    let name = verb.dir.file_name().unwrap_or(verb.dir.as_os_str()).to_string_lossy().into_owned();
    let title = format!("Chunkers on {name}");
    if let Some(path) = &verb.svg {
        super::output::write_file(path, recall_over_iou(rows, &title).as_bytes())?;
    }
    if let Some(path) = &verb.html {
        let facts = [
            ("questions".to_owned(), set.questions.len().to_string()),
            ("texts".to_owned(), set.corpora.len().to_string()),
            ("embedder".to_owned(), embedder.to_owned()),
        ];
        super::output::write_file(path, report(rows, &title, &facts).as_bytes())?;
    }
    Ok(())
}

/// Compares every row with the first one of its way of retrieval.
fn compare_with_first(rows: &mut [ChunkingRow]) {
    for index in 1..rows.len() {
        let (before, rest) = rows.split_at_mut(index);
        if let Some(first) = before.iter().find(|first| first.mode == rest[0].mode) {
            rest[0].against = Some(rest[0].less(first));
        }
    }
}

/// Every chunker for prose and the published ones, or those that were named.
fn subjects(verb: &EvalChunkingVerb) -> Result<Vec<Subject>, CliError> {
    let base = verb.base();
    let everyone = || {
        let published = ["published-recursive", "published-cluster"].map(str::to_owned);
        let ours = ChunkerKind::ALL.into_iter().filter(|kind| *kind != ChunkerKind::Code);
        published.into_iter().chain(ours.map(|kind| kind.to_string())).collect()
    };
    let named: Vec<String> = if verb.chunker.is_empty() { everyone() } else { verb.chunker.clone() };
    named.iter().map(|text| Subject::parse(text, &base).map_err(CliError::Usage)).collect()
}

/// The embedder with what earlier measurements embedded.
fn remembering<'a>(session: &Session, embedder: &'a dyn Embedder) -> Result<CachedEmbedder<'a>, CliError> {
    let folder = session.home.join("cache");
    CachedEmbedder::open(embedder, &folder).map_err(|err| {
        CliError::failed("the vectors of earlier measurements cannot be used", format!("{err}: {folder:?}"), None)
    })
}

fn retrieval(session: &Session, verb: &EvalRetrievalVerb) -> Result<Ending, CliError> {
    expect_places(&verb.csv)?;
    let embedder = embedder(session);
    let embedder = remembering(session, embedder.as_ref())?;
    let mut set = JudgedSet::load(&verb.dir)?;
    set.thin_out(verb.questions.unwrap_or(0));
    let bar = bar(session);
    bar.set_message("documents");
    let run = RetrievalRun::new(&set, &embedder, &session.cancel, &mut |done, total| {
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
