//! `outcrop ingest`.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use indicatif::ProgressBar;

use super::Ending;
use super::args::IngestVerb;
use super::error::CliError;
use super::output::{human_secs, print_line, progress_bar};
use super::session::Session;
use crate::Library;
use crate::ingest::{FileOutcome, IngestOptions, IngestReport};
use crate::library::Access;
use crate::progress::IngestProgress;
use crate::store::DocumentStatus;
use crate::watch::{Changes, FolderWatch};

/// How often a follower looks whether it is to end.
const CANCEL_POLL: Duration = Duration::from_millis(100);

/// Adds files and folders; one line for each file.
pub(super) fn run(session: &Session, verb: &IngestVerb) -> Result<Ending, CliError> {
    require_paths(&verb.paths)?;
    let options = IngestOptions {
        chunker: verb.chunker.config()?,
        keep_chunkers: !verb.chunker.is_given(),
        read: verb.read.options()?,
        ..IngestOptions::default()
    };
    let library = session.open_library(Access::Make)?;
    // The watch begins first, so that nothing that changes while the folders are read is missed.
    let follower = if verb.watch { Some(Follower::start(&verb.paths)?) } else { None };
    let bar = progress_bar(session.global.quiet, 0, "{bar:24} {pos}/{len} files · {msg}");
    let report = library.ingest(&verb.paths, &options, &|progress| show(&bar, progress), &session.cancel);
    bar.finish_and_clear();
    let report = report?;
    session.print(&report, print_report)?;
    match follower {
        Some(follower) => follower.follow(session, &library, &options),
        None => Ok(ending(&report)),
    }
}

/// Folders whose changes are read as they come.
struct Follower {
    folders: Vec<PathBuf>,
    /// Dropped before the watch, which may be waiting to send.
    changes: Receiver<Changes>,
    _watch: FolderWatch,
}

impl Follower {
    fn start(paths: &[PathBuf]) -> Result<Self, CliError> {
        let folders: Vec<PathBuf> =
            paths.iter().filter(|path| path.is_dir()).map(|path| crate::ingest::absolute(path)).collect();
        if folders.is_empty() {
            let detail = "only folders can be followed, and none of the paths is one".to_owned();
            return Err(CliError::failed("nothing to follow", detail, None));
        }
        let (send, changes) = sync_channel(1);
        let watch = FolderWatch::start(&folders, move |changes| drop(send.send(changes)))
            .map_err(|err| CliError::failed("no following", err.to_string(), None))?;
        Ok(Self { folders, changes, _watch: watch })
    }

    /// Reads what changes until Ctrl-C.
    fn follow(self, session: &Session, library: &Library, options: &IngestOptions) -> Result<Ending, CliError> {
        while !session.cancel.is_cancelled() {
            let changes = match self.changes.recv_timeout(CANCEL_POLL) {
                Ok(changes) => changes,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let report = library.ingest_changes(&self.folders, &changes, options, &|_| {}, &session.cancel)?;
            if !report.files.is_empty() || !report.removed.is_empty() {
                session.print(&report, print_changes)?;
            }
        }
        Ok(Ending::Done)
    }
}

/// A path that is not there is a mistake of the caller's, found before any work.
fn require_paths(paths: &[PathBuf]) -> Result<(), CliError> {
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

fn print_changes(report: &IngestReport) {
    for file in &report.files {
        print_line(&file_line(file));
        for note in &file.notes {
            print_line(&format!("{:<9}  {note}", ""));
        }
    }
    for path in &report.skipped {
        print_line(&format!("{:<9}  {}  nothing reads files of this kind", "skipped", path.display()));
    }
    for path in &report.without_text {
        print_line(&format!("{:<9}  {}  no text in the picture", "skipped", path.display()));
    }
    for path in &report.removed {
        print_line(&format!("{:<9}  {}  its file is gone", "removed", path.display()));
    }
}

fn print_report(report: &IngestReport) {
    print_changes(report);
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
