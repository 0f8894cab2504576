//! The ONNX Runtime library: loaded once for the process, and softly. Embedding and the reading of scans use it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ort::environment::Environment;
use ort::logging::LogLevel;

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

fn load(library: &Path) -> Result<Environment, String> {
    if !library.is_file() {
        return Err(format!(
            "ONNX Runtime is not installed; run `outcrop models fetch onnxruntime`: {}",
            library.display()
        ));
    }
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
