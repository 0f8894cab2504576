//! `outcrop screenshots`: the main screens as pictures, without a display.

use super::args::ScreenshotsVerb;
use super::error::CliError;
use super::output::print_line;
use super::session::Session;
use super::Ending;

/// Renders the screens of the library into PNG files and names each.
pub(super) fn run(session: &Session, verb: &ScreenshotsVerb) -> Result<Ending, CliError> {
    let files = crate::ui::offscreen::render_screens(session.library_options(), &verb.dir, verb.question.as_deref())
        .map_err(|err| CliError::failed("the screens could not be drawn", err, None))?;
    session.print(&files, |files| files.iter().for_each(|file| print_line(&file.display().to_string())))?;
    Ok(Ending::Done)
}
