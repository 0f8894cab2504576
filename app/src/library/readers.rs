//! The pool of extract workers with what is installed for them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Error;
use crate::extract::{Extract, ExtractLimits, OcrModels};
use crate::models;
use crate::worker::{ExtractPool, WorkerBinary};

/// Where the models that read scans are once they are installed.
fn ocr_models(models: &Path) -> OcrModels {
    let folder = models.join(models::OCR);
    OcrModels {
        runtime: models::library_path(models, models::Native::OnnxRuntime),
        detector: folder.join("det.onnx"),
        recogniser: folder.join("rec.onnx"),
    }
}

/// Workers that read files with the libraries and models of `models`.
pub(super) fn extract_pool(worker_binary: Option<PathBuf>, models: &Path) -> Result<Arc<dyn Extract>, Error> {
    let binary = WorkerBinary::resolve(worker_binary).map_err(|err| Error::new("Worker processes", err.to_string()))?;
    let limits = ExtractLimits {
        pdfium: Some(models::library_path(models, models::Native::Pdfium)),
        ocr: Some(ocr_models(models)).filter(OcrModels::are_installed),
        ..ExtractLimits::default()
    };
    Ok(Arc::new(ExtractPool::new(binary, limits)))
}
