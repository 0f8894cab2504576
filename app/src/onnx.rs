//! The ONNX Runtime library: loaded once for the process, and softly. Embedding and the reading of scans use it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ort::environment::Environment;
use ort::logging::LogLevel;

/// Read by ONNX Runtime when it loads. Its builds report to their maker otherwise, whatever its interface is told.
const NO_TELEMETRY: &str = "ORT_DISABLE_TELEMETRY";

static ENVIRONMENT: Mutex<Option<(PathBuf, Environment)>> = Mutex::new(None);

/// The process's ONNX Runtime. The first library that loads is kept; a failure can be tried again.
pub(crate) fn environment(library: &Path) -> Result<Environment, String> {
    let mut slot = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((loaded, environment)) = slot.as_ref() {
        if loaded != library {
            tracing::debug!(?loaded, wanted = ?library, "ONNX Runtime is already loaded");
        }
        return Ok(environment.clone());
    }
    let environment = load(library)?;
    *slot = Some((library.to_owned(), environment.clone()));
    Ok(environment)
}

/// Keeps ONNX Runtime from reporting to its maker, in this process and in those that it starts. The program calls it
/// before it has threads; [`environment`] calls it for whoever uses the crate otherwise.
pub(crate) fn forbid_telemetry() {
    if std::env::var_os(NO_TELEMETRY).is_some_and(|value| value == "1") {
        return;
    }
    #[expect(unsafe_code, reason = "the library takes this wish from the environment alone")]
    // SAFETY: the standard library locks the environment for all Rust code; the program comes here with one thread.
    unsafe {
        std::env::set_var(NO_TELEMETRY, "1");
    }
}

fn load(library: &Path) -> Result<Environment, String> {
    if !library.is_file() {
        return Err(format!(
            "ONNX Runtime is not installed; run `outcrop models fetch onnxruntime`: {}",
            library.display()
        ));
    }
    forbid_telemetry();
    ort::init_from(library)
        .map_err(|err| format!("ONNX Runtime does not load: {err}"))?
        .with_name("outcrop")
        .with_telemetry(false)
        .with_logger(Arc::new(log))
        .build()
        .map_err(|err| format!("ONNX Runtime does not start: {err}"))
}

fn log(level: LogLevel, category: &str, _id: &str, _location: &str, message: &str) {
    match level {
        LogLevel::Verbose | LogLevel::Info => tracing::trace!(category, "{message}"),
        LogLevel::Warning => tracing::debug!(category, "{message}"),
        LogLevel::Error | LogLevel::Fatal => tracing::warn!(category, "{message}"),
    }
}
