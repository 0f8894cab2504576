//! What the suites over models share: where models are, and the small generator.

#![allow(dead_code, reason = "each suite uses a part of it")]

use std::path::{Path, PathBuf};

use outcrop::answer::LlamaGenerator;
use outcrop::ingest::{IngestOptions, IngestReport};
use outcrop::models::{self, Catalogue};
use outcrop::{CancelToken, Library, LibraryOptions};
use tests::outcrop_binary;

/// The generator of the tests.
pub(crate) const TEST_GENERATOR: &str = "smollm2-135m";

/// The models folder that `make test` fills.
pub(crate) fn models_folder() -> PathBuf {
    let home = outcrop::library::home_folder(None).unwrap();
    models::folder(None, &home)
}

/// The models folder, after a check that `entry` is installed in it.
pub(crate) fn models_with(entry: &str) -> PathBuf {
    let folder = models_folder();
    let found = models::entries(&Catalogue::built_in().unwrap(), &folder);
    let is_installed =
        found.iter().any(|found| found.entry.name == entry && found.state == models::EntryState::Installed);
    assert!(is_installed, "{entry} is not in {}: run `make test`, which fetches it", folder.display());
    folder
}

/// The test generator in a worker of its own; not started yet.
pub(crate) fn test_generator() -> LlamaGenerator {
    test_generator_run_by(outcrop_binary())
}

/// The test generator, run by another program than the product's.
pub(crate) fn test_generator_run_by(program: PathBuf) -> LlamaGenerator {
    let folder = models_with(TEST_GENERATOR);
    let known = models::generators(&Catalogue::built_in().unwrap(), &folder);
    let model = known.into_iter().find(|model| model.name == TEST_GENERATOR).unwrap();
    LlamaGenerator::new(model, Some(program))
}

/// The file of the test generator.
pub(crate) fn test_generator_file() -> PathBuf {
    models_with(TEST_GENERATOR).join(TEST_GENERATOR).join("SmolLM2-135M-Instruct.Q4_1.gguf")
}

/// A file beside another or, where the file system cannot link, a copy of it; its folder is made.
pub(crate) fn place(file: &Path, target: &Path) {
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    std::fs::hard_link(file, target).or_else(|_| std::fs::copy(file, target).map(drop)).unwrap();
}

/// A program that is the product's worker and writes down the number of its process as the first thing that it does,
/// so that it can be killed at any moment of its life.
#[cfg(unix)]
pub(crate) struct WatchedWorker {
    folder: tempfile::TempDir,
}

#[cfg(unix)]
impl WatchedWorker {
    pub(crate) fn new() -> Self {
        use std::os::unix::fs::PermissionsExt;

        let watched = Self { folder: tempfile::tempdir().unwrap() };
        let (note, program) = (watched.note(), outcrop_binary());
        let script = format!("#!/bin/sh\necho $$ > '{}'\nexec '{}' \"$@\"\n", note.display(), program.display());
        std::fs::write(watched.program(), script).unwrap();
        std::fs::set_permissions(watched.program(), std::fs::Permissions::from_mode(0o755)).unwrap();
        watched
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.folder.path().join("worker")
    }

    fn note(&self) -> PathBuf {
        self.folder.path().join("process")
    }

    /// The process that started last.
    pub(crate) fn process_id(&self) -> Option<u32> {
        std::fs::read_to_string(self.note()).ok()?.trim().parse().ok()
    }

    /// Kills the process that started last.
    pub(crate) fn kill(&self) {
        let process_id = self.process_id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args(["-9", &process_id]).status().unwrap().success());
    }
}

/// A library over the sample documents with the real embedder, and what became of each.
pub(crate) fn library_of_samples(home: &Path) -> (Library, IngestReport) {
    let models = models_with("minilm-int8");
    models_with("pdfium");
    let library = Library::open(LibraryOptions {
        home: Some(home.to_owned()),
        models: Some(models),
        worker_binary: Some(outcrop_binary()),
        ..LibraryOptions::default()
    })
    .unwrap();
    assert_eq!(library.embedder_note(), None);
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/samples");
    let report = library.ingest(&[samples], &IngestOptions::default(), &|_| (), &CancelToken::new()).unwrap();
    (library, report)
}
