//! Faults on demand, so that tests see what the host does when a worker hangs, crashes or eats memory.
//!
//! Invariant: nothing happens unless [`FAULTS_ENV`] is set in the worker's environment.

use std::path::Path;
use std::time::Duration;
use std::{env, process, thread};

use crate::extract::ExtractStep;

/// Set to anything, makes the worker obey the extension of the file it is given: `hang`, `hang-page`,
/// `crash`, `exit`, `panic`, `alloc`, and `write`, `dial` and `start`, which try what a worker may not do and panic
/// with what came of it.
pub(super) const FAULTS_ENV: &str = "OUTCROP_WORKER_FAULTS";

/// Does what the extension of `path` asks for, if faults are switched on.
pub(super) fn inject(path: &Path, on_step: &mut dyn FnMut(ExtractStep)) {
    if env::var_os(FAULTS_ENV).is_none() {
        return;
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("hang") => hang(),
        Some("hang-page") => {
            on_step(ExtractStep::Page { page: 3, pages: 9 });
            hang();
        }
        Some("crash") => process::abort(),
        Some("exit") => process::exit(7),
        Some("panic") => panic!("asked to panic"),
        Some("alloc") => allocate_forever(),
        Some("write") => tell(&std::fs::write(path.with_extension("written"), "x")),
        Some("dial") => tell(&std::net::TcpStream::connect(("127.0.0.1", 9))),
        Some("start") => tell(&process::Command::new("true").status()),
        _ => {}
    }
}

fn tell<T>(outcome: &std::io::Result<T>) -> ! {
    match outcome {
        Ok(_) => panic!("it was allowed"),
        Err(err) => panic!("{:?}", err.kind()),
    }
}

fn hang() -> ! {
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}

fn allocate_forever() -> ! {
    let mut hoard = Vec::new();
    loop {
        hoard.push(vec![1_u8; 16 << 20]);
    }
}
