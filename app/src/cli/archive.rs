//! `outcrop export` and `outcrop import`.

use std::path::Path;

use indicatif::ProgressBar;
use serde::Serialize;

use super::Ending;
use super::args::{ExportVerb, ImportVerb};
use super::error::CliError;
use super::output::{expect_places, human_bytes, print_line, progress_bar};
use super::session::Session;
use crate::library::{Access, Library};
use crate::store::ArchiveReport;

/// What was written or read, as JSON.
#[derive(Serialize)]
struct ArchiveJson<'a> {
    library: &'a str,
    file: &'a Path,
    #[serde(flatten)]
    report: ArchiveReport,
}

/// Writes the library into one file.
pub(super) fn export(session: &Session, verb: &ExportVerb) -> Result<Ending, CliError> {
    if verb.file.exists() && !verb.force {
        let hint = "choose another name, or give `--force` to replace it";
        return Err(CliError::failed("the file is already there", format!("{:?}", verb.file), Some(hint)));
    }
    expect_places([&verb.file])?;
    let bar = bar(session);
    let library = session.open_library(Access::Write)?;
    let report = library.export(&verb.file, &mut |done, total| advance(&bar, done, total), &session.cancel);
    bar.finish_and_clear();
    say(session, &verb.file, report?, "written to")
}

/// Makes a library of one file.
pub(super) fn import(session: &Session, verb: &ImportVerb) -> Result<Ending, CliError> {
    let bar = bar(session);
    let mut on_bytes = |done, total| advance(&bar, done, total);
    let imported = Library::import(&verb.file, session.library_options(), &mut on_bytes, &session.cancel);
    bar.finish_and_clear();
    say(session, &verb.file, imported?.1, "read from")
}

fn bar(session: &Session) -> ProgressBar {
    progress_bar(session.global.quiet, 0, "{bar:30} {bytes}/{total_bytes}")
}

fn advance(bar: &ProgressBar, done: u64, total: u64) {
    bar.set_length(total);
    bar.set_position(done);
}

fn say(session: &Session, file: &Path, report: ArchiveReport, verb: &str) -> Result<Ending, CliError> {
    let library = &session.global.library;
    session.print(&ArchiveJson { library, file, report }, |_| {
        let size = human_bytes(report.bytes);
        print_line(&format!("library {library:?} {verb} {}: {} files, {size}", file.display(), report.files));
    })?;
    Ok(Ending::Done)
}
