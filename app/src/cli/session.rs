//! What every command starts with: the home folder, the log, the library, Ctrl-C.

use std::path::PathBuf;

use super::args::Global;
use super::error::CliError;
use super::{Ending, output};
use crate::library::{self, Access, Library, LibraryOptions};
use crate::progress::CancelToken;

/// The global options with what they resolve to.
pub(super) struct Session {
    pub(super) global: Global,
    pub(super) home: PathBuf,
    /// Set by Ctrl-C.
    pub(super) cancel: CancelToken,
    /// Flushes the log when the session ends.
    _log: Option<tracing_appender::non_blocking::WorkerGuard>,
}

impl Session {
    /// Finds the home folder, starts the log and listens to Ctrl-C.
    pub(super) fn start(global: Global) -> Result<Self, CliError> {
        let home = library::home_folder(global.home.clone())?;
        let log = start_log(&home, global.verbose);
        let cancel = CancelToken::new();
        listen_to_ctrl_c(cancel.clone());
        Ok(Self { global, home, cancel, _log: log })
    }

    /// The options that open this session's library.
    pub(super) fn library_options(&self) -> LibraryOptions {
        LibraryOptions {
            home: Some(self.home.clone()),
            name: Some(self.global.library.clone()),
            gpu: self.global.gpu.into(),
            ..LibraryOptions::default()
        }
    }

    /// Opens the library for what a command does with it, and says on stderr what the user should know about it.
    pub(super) fn open_library(&self, access: Access) -> Result<Library, CliError> {
        let library = Library::open(LibraryOptions { access, ..self.library_options() })?;
        if let Some(note) = library.embedder_note() {
            self.note(note);
        }
        if library.is_read_only() && access != Access::Read {
            self.note("another Outcrop has this library open: reading only");
        }
        Ok(library)
    }

    /// Says something on stderr, unless `--quiet`.
    pub(super) fn note(&self, text: &str) {
        if !self.global.quiet {
            eprintln!("note: {text}");
        }
    }

    /// Prints `value` as JSON if asked for, else calls `human`.
    pub(super) fn print<T: serde::Serialize>(&self, value: &T, human: impl FnOnce(&T)) -> Result<(), CliError> {
        if self.global.json {
            return output::print_json(value);
        }
        human(value);
        Ok(())
    }
}

/// Sets `cancel` at the first Ctrl-C and ends the process at the second.
fn listen_to_ctrl_c(cancel: CancelToken) {
    let outcome = ctrlc::set_handler(move || {
        if cancel.is_cancelled() {
            std::process::exit(130);
        }
        eprintln!("\nstopping; press Ctrl-C again to end at once");
        cancel.cancel();
    });
    if let Err(err) = outcome {
        tracing::warn!(%err, "Ctrl-C ends the process without tidying up");
    }
}

/// Logs to a file a day in `home`, seven days kept. A log that cannot be written is no reason to stop.
fn start_log(home: &std::path::Path, verbose: u8) -> Option<tracing_appender::non_blocking::WorkerGuard> {
    use tracing_subscriber::filter::LevelFilter;

    let level = match verbose {
        0 => LevelFilter::INFO,
        1 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let folder = home.join("logs");
    std::fs::create_dir_all(&folder).ok()?;
    let file = tracing_appender::rolling::Builder::new()
        .rotation(tracing_appender::rolling::Rotation::DAILY)
        .filename_prefix("outcrop")
        .filename_suffix("log")
        .max_log_files(7)
        .build(folder)
        .ok()?;
    let (writer, guard) = tracing_appender::non_blocking(file);
    tracing_subscriber::fmt().with_writer(writer).with_ansi(false).with_max_level(level).try_init().ok()?;
    Some(guard)
}

/// What the window and its pictures open.
#[cfg(feature = "gui")]
pub(super) fn window_options(session: &Session) -> crate::ui::WindowOptions {
    crate::ui::WindowOptions {
        library: session.library_options(),
        home: Some(session.home.clone()),
        samples: samples_folder(),
    }
}

/// The sample documents of the checkout that the program was built or started in.
#[cfg(feature = "gui")]
fn samples_folder() -> Option<PathBuf> {
    let places = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    let folders = places.iter().flatten().flat_map(|place| place.ancestors());
    folders.map(|folder| folder.join("assets/samples")).find(|samples| samples.is_dir())
}

/// `outcrop` without a command.
#[cfg(feature = "gui")]
pub(super) fn open_window(session: &Session) -> Result<Ending, CliError> {
    let hint = "every verb also works without a window: `outcrop --help`";
    crate::ui::run(window_options(session))
        .map_err(|err| CliError::failed("the window could not open", err, Some(hint)))?;
    Ok(Ending::Done)
}

/// `outcrop` without a command, in a build without a window.
#[cfg(not(feature = "gui"))]
pub(super) fn open_window(_session: &Session) -> Result<Ending, CliError> {
    Err(CliError::Usage("this build has no window; see `outcrop --help` for its commands".to_owned()))
}
