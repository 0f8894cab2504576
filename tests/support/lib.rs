//! What the suites beside this file share.

pub mod gguf;
pub mod onnx;
pub mod pdf;

use std::path::PathBuf;

/// The `outcrop` program of the build that the running test belongs to.
///
/// # Panics
/// It is not built.
pub fn outcrop_binary() -> PathBuf {
    let folder = std::env::current_exe().ok().and_then(|test| Some(test.ancestors().nth(2)?.to_owned()));
    let binary = folder.unwrap_or_default().join(format!("outcrop{}", std::env::consts::EXE_SUFFIX));
    assert!(
        binary.is_file(),
        "{} is not built: run `make test`, or `cargo build -p app` before this suite",
        binary.display()
    );
    binary
}
