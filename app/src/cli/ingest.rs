//! `outcrop ingest`.

use indicatif::ProgressBar;

use super::Ending;
use super::args::IngestVerb;
use super::error::CliError;
use super::output::{human_secs, print_line, progress_bar};
use super::session::Session;
use crate::ingest::{FileOutcome, IngestOptions, IngestReport};
use crate::progress::IngestProgress;
use crate::store::DocumentStatus;

/// Adds files and folders; one line for each file.
pub(super) fn run(session: &Session, verb: &IngestVerb) -> Result<Ending, CliError> {
    require_paths(&verb.paths)?;
    let library = session.open_library()?;
    let options = IngestOptions { chunker: verb.chunker.config()?, ..IngestOptions::default() };
    let bar = progress_bar(session.global.quiet, 0, "{bar:24} {pos}/{len} files · {msg}");
    let report = library.ingest(&verb.paths, &options, &|progress| show(&bar, progress), &session.cancel);
    bar.finish_and_clear();
    let report = report?;
    session.print(&report, print_report)?;
    Ok(ending(&report))
}

/// A path that is not there is a mistake of the caller's, found before any work.
fn require_paths(paths: &[std::path::PathBuf]) -> Result<(), CliError> {
    match paths.iter().find(|path| !path.exists()) {
        Some(missing) => Err(CliError::failed("no such file or folder", format!("{missing:?}"), None)),
        None => Ok(()),
    }
}

fn show(bar: &ProgressBar, progress: &IngestProgress) {
    bar.set_length(progress.files_total as u64);
    bar.set_position(progress.files_done as u64);
    let left = progress.secs_left.map(|secs| format!(" · {} left", human_secs(secs))).unwrap_or_default();
    let name = progress.current.as_deref().and_then(|path| path.file_name()).unwrap_or_default();
    bar.set_message(format!(
        "{} chunks · {:.0}/s{left} · {}",
        progress.chunks_done,
        progress.chunks_per_sec,
        name.to_string_lossy()
    ));
}

fn print_report(report: &IngestReport) {
    for file in &report.files {
        print_line(&file_line(file));
    }
    let ready = report.files.iter().filter(|file| file.status == DocumentStatus::Ready).count();
    let chunks: usize = report.files.iter().map(|file| file.chunks).sum();
    let stopped = if report.cancelled { ", stopped before the end" } else { "" };
    print_line(&format!(
        "{ready} of {} files ready, {chunks} chunks, {}{stopped}",
        report.files.len(),
        human_secs(report.secs)
    ));
}

fn file_line(file: &FileOutcome) -> String {
    let status = super::documents::status_word(file.status);
    let pages = file.pages.map(|pages| format!("{pages} pages  ")).unwrap_or_default();
    let detail = match &file.reason {
        Some(reason) => reason.clone(),
        None if file.unchanged => format!("{pages}{} chunks  unchanged", file.chunks),
        None => format!("{pages}{} chunks  {}", file.chunks, human_secs(file.secs)),
    };
    format!("{status:<9}  {}  {detail}", file.path.display())
}

fn ending(report: &IngestReport) -> Ending {
    let ready = report.files.iter().filter(|file| file.status == DocumentStatus::Ready).count();
    if ready == report.files.len() && !report.cancelled {
        Ending::Done
    } else if ready > 0 {
        Ending::Partial
    } else {
        Ending::Failed
    }
}
