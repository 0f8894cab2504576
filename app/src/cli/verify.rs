//! `outcrop verify`.

use super::args::VerifyVerb;
use super::error::CliError;
use super::output::print_line;
use super::session::Session;
use super::Ending;

/// Checks the library, and mends it if asked to.
pub(super) fn run(session: &Session, verb: &VerifyVerb) -> Result<Ending, CliError> {
    let report = session.open_library()?.verify(verb.repair)?;
    session.print(&report, |report| {
        for problem in &report.problems {
            print_line(problem);
        }
        for repair in &report.repaired {
            print_line(&format!("repaired: {repair}"));
        }
        print_line(&format!("{} documents, {} chunks, {} vectors checked: {}", report.documents, report.chunks, report.vectors, verdict(report.is_sound())));
    })?;
    Ok(if report.is_sound() { Ending::Done } else { Ending::Failed })
}

fn verdict(sound: bool) -> &'static str {
    if sound { "all sound" } else { "damaged; `outcrop verify --repair` mends what can be mended" }
}
