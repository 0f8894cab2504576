//! A library in a temporary home, with an extractor that reads plain text in this process.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use outcrop::chunk::ChunkerConfig;
use outcrop::embed::HashEmbedder;
use outcrop::extract::{Coverage, DocumentKind, Extract, ExtractError, Extraction, Metadata, Span, SpanPlace};
use outcrop::ingest::{IngestOptions, IngestReport};
use outcrop::library::Error;
use outcrop::retrieve::{Grouping, SearchMode, SearchOptions};
use outcrop::store::{DocumentId, DocumentStatus};
use outcrop::{CancelToken, Library, LibraryOptions};

/// Reads `.txt` and `.md` files; a first line `# Title` gives title and section.
pub(crate) struct PlainText;

impl Extract for PlainText {
    fn extract(&self, path: &Path, cancel: &CancelToken) -> Result<Extraction, ExtractError> {
        let path_buf = path.to_owned();
        if cancel.is_cancelled() {
            return Err(ExtractError::Cancelled { path: path_buf });
        }
        let bytes =
            std::fs::read(path).map_err(|err| ExtractError::Io { path: path_buf.clone(), detail: err.to_string() })?;
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(ExtractError::Unsupported { path: path_buf, found: "binary data".to_owned() });
        };
        if text.trim().is_empty() {
            return Err(ExtractError::Empty { path: path_buf });
        }
        if text.starts_with("SECRET") {
            return Err(ExtractError::Encrypted { path: path_buf });
        }
        Ok(read(text))
    }
}

fn read(text: String) -> Extraction {
    let title = text.lines().next().and_then(|line| line.strip_prefix("# ")).map(str::to_owned);
    let section = title.clone().map(|title| Span { start: 0, end: text.len(), place: SpanPlace::Section(vec![title]) });
    // Lines `name: value` at the head, as in front matter.
    let mut metadata = Metadata::default();
    for (name, value) in text.lines().map_while(|line| line.split_once(": ")) {
        metadata.add(name, value);
    }
    Extraction {
        kind: if title.is_some() { DocumentKind::Markdown } else { DocumentKind::Text },
        title,
        spans: section.into_iter().collect(),
        text,
        coverage: Coverage::default(),
        metadata: Some(metadata),
    }
}

/// A temporary folder with documents and a home.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(world.documents()).unwrap();
        world
    }

    pub(crate) fn documents(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("documents")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.documents().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn options(&self) -> LibraryOptions {
        LibraryOptions {
            home: Some(self.home()),
            embedder: Some(Arc::new(HashEmbedder)),
            extractor: Some(Arc::new(PlainText)),
            gpu: outcrop::library::GpuChoice::Off,
            ..LibraryOptions::default()
        }
    }

    pub(crate) fn open(&self) -> Library {
        self.try_open().unwrap()
    }

    pub(crate) fn try_open(&self) -> Result<Library, Error> {
        Library::open(self.options())
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.home().join("libraries/default/library.db")
    }

    pub(crate) fn vectors(&self) -> PathBuf {
        self.home().join("libraries/default/vectors/hash-384-v1.vec")
    }
}

/// Chunks of at most `size` characters.
pub(crate) fn chunks_of(size: usize) -> IngestOptions {
    IngestOptions {
        chunker: ChunkerConfig { size, overlap: 0, ..ChunkerConfig::default() },
        ..IngestOptions::default()
    }
}

pub(crate) fn ingest(library: &Library, paths: &[PathBuf]) -> IngestReport {
    ingest_with(library, paths, &chunks_of(80))
}

pub(crate) fn ingest_with(library: &Library, paths: &[PathBuf], options: &IngestOptions) -> IngestReport {
    library.ingest(paths, options, &|_| {}, &CancelToken::new()).unwrap()
}

/// Every passage stands for itself: these suites ask what is searchable.
pub(crate) fn mode(mode: SearchMode, k: usize) -> SearchOptions {
    SearchOptions { k, mode, group: Grouping::None, ..SearchOptions::default() }
}

/// File names of the hits, best first.
pub(crate) fn found(library: &Library, query: &str, options: &SearchOptions) -> Vec<String> {
    let hits = library.search(query, options).unwrap().hits;
    hits.iter().map(|hit| name_of(&hit.path)).collect()
}

pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

pub(crate) fn status(library: &Library, name: &str) -> Option<DocumentStatus> {
    let documents = library.documents().unwrap();
    documents.into_iter().find(|document| name_of(&document.path) == name).map(|document| document.status)
}

/// Chunks of the ready documents, by chunk id.
fn ready_chunks(library: &Library) -> BTreeMap<u64, (DocumentId, String)> {
    let mut chunks = BTreeMap::new();
    for document in library.documents().unwrap() {
        let of_document = library.chunks(document.id).unwrap();
        assert_eq!(
            document.status == DocumentStatus::Ready,
            !of_document.is_empty(),
            "{:?} is {:?} with {} chunks",
            document.path,
            document.status,
            of_document.len()
        );
        assert_eq!(document.chunks, of_document.len());
        if document.status != DocumentStatus::Ready {
            continue;
        }
        let text = library.extraction(document.id).unwrap().text;
        for chunk in of_document {
            assert_eq!(chunk.text, text[chunk.start..chunk.end]);
            assert!(chunks.insert(chunk.id.0, (document.id, chunk.text)).is_none(), "a chunk id is used twice");
        }
    }
    chunks
}

/// The invariant: both legs see exactly the chunks of the ready documents, and every check of the library passes.
/// Every paragraph of the documents must hold `word`.
pub(crate) fn assert_searchable_is_ready(library: &Library, word: &str) {
    let ready = ready_chunks(library);
    let expected: BTreeSet<u64> = ready.keys().copied().collect();
    for leg in [SearchMode::Vector, SearchMode::Keyword, SearchMode::Hybrid] {
        let hits = library.search(word, &mode(leg, ready.len() + 10)).unwrap().hits;
        for hit in &hits {
            assert_eq!(ready.get(&hit.chunk.id.0).map(|chunk| &chunk.1), Some(&hit.chunk.text));
        }
        let seen: BTreeSet<u64> = hits.iter().map(|hit| hit.chunk.id.0).collect();
        assert_eq!(seen, expected, "{leg:?} sees other chunks than those of the ready documents");
    }
    let report = library.verify(false).unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
    assert_eq!((report.chunks, report.vectors), (expected.len(), expected.len()));
}
