//! `outcrop`: a window without arguments, a command with them, or a worker process.

use std::process::ExitCode;

fn main() -> ExitCode {
    outcrop::cli::main()
}
