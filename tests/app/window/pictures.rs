//! The pictures of the main screens, drawn without a display.

use std::sync::Arc;

use outcrop::embed::HashEmbedder;
use outcrop::ingest::IngestOptions;
use outcrop::progress::CancelToken;
use outcrop::ui::WindowOptions;
use outcrop::ui::offscreen::{ScreenOptions, render_screens};
use outcrop::{Library, LibraryOptions};

use crate::bench::{documents, plain_text};

#[test]
fn every_main_screen_is_drawn_light_and_dark() {
    let folder = tempfile::tempdir().unwrap();
    let library = LibraryOptions {
        home: Some(folder.path().join("home")),
        embedder: Some(Arc::new(HashEmbedder)),
        extractor: Some(plain_text()),
        ..LibraryOptions::default()
    };
    let paths: Vec<_> = documents()
        .iter()
        .map(|(name, text)| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        })
        .collect();
    let opened = Library::open(library.clone()).unwrap();
    opened.ingest(&paths, &IngestOptions::default(), &|_| {}, &CancelToken::new()).unwrap();
    drop(opened);
    let window = WindowOptions { library, home: None, samples: None };
    let files = render_screens(&ScreenOptions::new(window, "How do I reset the pump?"), folder.path()).unwrap();
    assert_eq!(files.len(), 20);
    for file in files {
        let image = image::open(&file).unwrap().into_rgba8();
        assert_eq!(image.dimensions(), (1280, 800));
        let mut seen: Vec<_> = image.pixels().map(|pixel| pixel.0).collect();
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() > 50, "{} has only {} colours", file.display(), seen.len());
    }
}
