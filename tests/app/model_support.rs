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
    let folder = models_with(TEST_GENERATOR);
    let known = models::generators(&Catalogue::built_in().unwrap(), &folder);
    let model = known.into_iter().find(|model| model.name == TEST_GENERATOR).unwrap();
    LlamaGenerator::new(model, Some(outcrop_binary()))
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
