//! `outcrop worker extract|generate`: the child processes of [`crate::worker`]. Not meant for people.

use std::process::ExitCode;

use super::args::WorkerKind;

/// Serves requests on stdin until it closes.
pub(super) fn run(kind: WorkerKind) -> ExitCode {
    // Ctrl-C reaches the whole process group: the parent decides what stops, this process ends with its stdin.
    let _ = ctrlc::set_handler(|| {});
    match kind {
        WorkerKind::Extract => crate::worker::serve_extract(),
        WorkerKind::Generate => crate::worker::serve_generate(),
    }
}
