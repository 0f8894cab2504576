//! The command line: the same verbs as the window, for people and, with `--json`, for programs.
//!
//! Owns arguments, output and exit codes; knows nothing of how the work is done: every verb is a call of
//! [`crate::Library`] or of [`crate::chunk`]. Start reading at [`main`]; one file per verb.

mod archive;
mod args;
mod ask;
mod chunk;
mod cited_pages;
mod compare;
mod documents;
mod error;
mod eval;
mod eval_answers;
mod eval_args;
mod explain;
mod ingest;
mod json;
mod map;
mod models;
mod output;
mod read_args;
#[cfg(feature = "gui")]
mod screenshots;
mod search;
mod search_args;
mod session;
mod similarity;
mod verify;
mod worker;

use std::process::ExitCode;

use clap::builder::Resettable;
use clap::{CommandFactory as _, FromArgMatches as _};

use args::{Args, Verb};
use error::CliError;
use session::Session;

/// How a command ended; becomes the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Exit code 0.
    Done,
    /// Exit code 3: some files failed, each was named.
    Partial,
    /// Exit code 1, the reason was already printed.
    Failed,
}

/// The process's arguments. An environment variable that is set to nothing counts as not set, as everywhere.
fn parse() -> Result<Args, clap::Error> {
    let command = Args::command().mut_args(|arg| {
        let is_empty = arg.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
        if is_empty { arg.env(Resettable::Reset) } else { arg }
    });
    Args::from_arg_matches(&command.try_get_matches()?)
}

/// Runs the program that the process's arguments ask for.
pub fn main() -> ExitCode {
    crate::onnx::forbid_telemetry();
    let args = match parse() {
        Ok(args) => args,
        Err(err) => {
            if err.use_stderr() && std::env::args_os().any(|arg| arg == "--json") {
                return CliError::Usage(err.to_string()).report(true);
            }
            let code = if err.use_stderr() { 2 } else { 0 };
            // Nothing sensible can be done when the terminal is gone.
            let _ = err.print();
            return ExitCode::from(code);
        }
    };
    if let Some(Verb::Worker { kind }) = args.verb {
        return worker::run(kind);
    }
    let json = args.global.json;
    match run(args) {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Partial) => ExitCode::from(3),
        Ok(Ending::Failed) => ExitCode::from(1),
        Err(err) => err.report(json),
    }
}

fn run(args: Args) -> Result<Ending, CliError> {
    let session = Session::start(args.global)?;
    match args.verb {
        None => session::open_window(&session),
        Some(Verb::Ingest(verb)) => ingest::run(&session, &verb),
        Some(Verb::Documents) => documents::list(&session),
        Some(Verb::Remove(verb)) => documents::remove(&session, &verb),
        Some(Verb::Chunk(verb)) => chunk::run(&session, &verb),
        Some(Verb::Compare(verb)) => compare::run(&session, &verb),
        Some(Verb::Similarity(verb)) => similarity::run(&session, &verb),
        Some(Verb::Map(verb)) => map::run(&session, &verb),
        Some(Verb::Search(verb)) => search::run(&session, &verb),
        Some(Verb::Ask(verb)) => ask::run(&session, &verb),
        Some(Verb::Models { verb }) => models::run(&session, verb.unwrap_or(args::ModelsVerb::List)),
        Some(Verb::Verify(verb)) => verify::run(&session, &verb),
        Some(Verb::Export(verb)) => archive::export(&session, &verb),
        Some(Verb::Import(verb)) => archive::import(&session, &verb),
        Some(Verb::Eval { verb }) => eval::run(&session, &verb),
        #[cfg(feature = "gui")]
        Some(Verb::Screenshots(verb)) => screenshots::run(&session, &verb),
        Some(Verb::Worker { kind }) => {
            Ok(if worker::run(kind) == ExitCode::SUCCESS { Ending::Done } else { Ending::Failed })
        }
    }
}
