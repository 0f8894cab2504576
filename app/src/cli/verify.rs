//! `outcrop verify`.

use super::Ending;
use super::args::VerifyVerb;
use super::error::CliError;
use super::output::print_line;
use super::session::Session;
use crate::library::Access;
use crate::store::Problem;

/// Checks the library, and mends it if asked to.
pub(super) fn run(session: &Session, verb: &VerifyVerb) -> Result<Ending, CliError> {
    let report = session.open_library(Access::Write)?.verify(verb.repair)?;
    session.print(&report, |report| {
        report.problems.iter().for_each(print_problem);
        print_line(&format!(
            "{} documents, {} chunks, {} vectors checked: {}",
            report.documents,
            report.chunks,
            report.vectors,
            verdict(report.is_healthy(), &session.global.library)
        ));
    })?;
    Ok(if report.is_healthy() { Ending::Done } else { Ending::Failed })
}

fn print_problem(problem: &Problem) {
    let mended = if problem.repaired { "repaired: " } else { "" };
    print_line(&format!("{mended}{}: {}", problem.file.display(), problem.detail));
}

fn verdict(sound: bool, library: &str) -> String {
    if sound {
        return "all sound".to_owned();
    }
    format!("damaged; `outcrop --library {library:?} verify --repair` mends what can be mended")
}
