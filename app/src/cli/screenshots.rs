//! `outcrop screenshots`: the main screens as pictures, without a display.

use super::Ending;
use super::args::ScreenshotsVerb;
use super::error::CliError;
use super::output::print_line;
use super::session::{Session, window_options};
use crate::ui::offscreen::{ScreenOptions, render_screens};

/// Renders the screens of the library into PNG files and names each.
pub(super) fn run(session: &Session, verb: &ScreenshotsVerb) -> Result<Ending, CliError> {
    let mut options = ScreenOptions::new(window_options(session), verb.question.clone());
    options.size = [verb.width, verb.height];
    options.pixels_per_point = verb.scale;
    let files = render_screens(&options, &verb.dir)
        .map_err(|err| CliError::failed("the screens could not be drawn", err, None))?;
    session.print(&files, |files| files.iter().for_each(|file| print_line(&file.display().to_string())))?;
    Ok(Ending::Done)
}
