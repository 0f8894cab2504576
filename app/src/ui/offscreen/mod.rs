//! The window without a window: every main screen of a real library as a PNG, drawn into a texture.
//!
//! The same [`super::Workbench`] runs the same jobs; only the operating system's part is missing. A software
//! adapter is good enough, so this works on machines without a display.

mod canvas;
mod stage;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::window::WindowOptions;
use crate::chunk::{ChunkerConfig, ChunkerKind};
use crate::command::Command;
use crate::similarity::MapLayout;
use crate::state::{AppState, SimilarityView, Space, ThemeChoice, TurnState};
use crate::store::{DocumentRecord, DocumentStatus};
use stage::Stage;

/// Longest wait for a search or a picture, for the sentences of a long document to be embedded, and for an answer.
const JOB_WAIT: Duration = Duration::from_secs(120);
const EMBED_WAIT: Duration = Duration::from_secs(900);
const ANSWER_WAIT: Duration = Duration::from_secs(300);

/// What to render.
#[derive(Clone)]
pub struct ScreenOptions {
    /// The library.
    pub window: WindowOptions,
    /// Size in points.
    pub size: [f32; 2],
    /// Pixels for each point.
    pub pixels_per_point: f32,
    /// The query of the search screen and the question of the chat screen.
    pub question: String,
}

impl ScreenOptions {
    /// Screens of 1280 by 800 points, one pixel each.
    pub fn new(window: WindowOptions, question: impl Into<String>) -> Self {
        Self { window, size: [1280.0, 800.0], pixels_per_point: 1.0, question: question.into() }
    }
}

/// Why screens could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum OffscreenError {
    /// Nothing can draw.
    #[error("no graphics adapter, not even a software one: {0}; install Mesa's Vulkan drivers")]
    Adapter(String),
    /// The adapter failed.
    #[error("drawing failed: {0}")]
    Draw(String),
    /// The library did not open.
    #[error(transparent)]
    Library(#[from] crate::library::Error),
    /// A job did not end.
    #[error("the {0} was not ready after {1} s")]
    Late(&'static str, u64),
    /// A PNG could not be written.
    #[error("{detail}: {path:?}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's message.
        detail: String,
    },
}

/// Renders every screen, light and dark, with the map in each layout and a comparison, into `folder`; gives the files.
///
/// # Errors
/// Nothing can draw, the library does not open, a job takes too long, or a file cannot be written.
pub fn render_screens(options: &ScreenOptions, folder: &Path) -> Result<Vec<PathBuf>, OffscreenError> {
    std::fs::create_dir_all(folder)
        .map_err(|err| OffscreenError::Write { path: folder.to_owned(), detail: err.to_string() })?;
    let mut stage = Stage::open(options)?;
    prepare(&mut stage, &options.question)?;
    let mut files = Vec::new();
    for (theme, suffix) in [(ThemeChoice::Light, "light"), (ThemeChoice::Dark, "dark")] {
        stage.push(Command::SetTheme(theme));
        for space in Space::ALL {
            show(&mut stage, space)?;
            let name = format!("{}-{suffix}.png", space.title().to_lowercase());
            files.push(stage.write(&folder.join(name))?);
        }
        for layout in [MapLayout::Pca, MapLayout::Umap] {
            show_map(&mut stage, layout, &options.question)?;
            files.push(stage.write(&folder.join(format!("map-{layout}-{suffix}.png")))?);
        }
        show_comparison(&mut stage)?;
        files.push(stage.write(&folder.join(format!("compare-{suffix}.png")))?);
        stage.push(Command::CompareWith(Vec::new()));
        stage.push(Command::ShowSimilarity(SimilarityView::Heat));
        stage.settle();
    }
    Ok(files)
}

/// Opens the library, cuts a document by meaning, searches and asks.
fn prepare(stage: &mut Stage, question: &str) -> Result<(), OffscreenError> {
    stage.until("list of documents", JOB_WAIT, |state| {
        state.opened.error().is_some() || matches!(state.library.documents, crate::state::Loadable::Ready(_))
    })?;
    if let Some(error) = stage.state().opened.error() {
        return Err(error.clone().into());
    }
    if let Some(document) = showpiece(stage.state()) {
        let size = if document.chunks > 40 { 1500 } else { 700 };
        let config =
            ChunkerConfig { kind: ChunkerKind::Semantic, size, overlap: 0, min_size: 120, ..ChunkerConfig::default() };
        stage.push(Command::OpenInChunks { document: document.id, byte: None });
        stage.push(Command::SetChunker(config));
        stage.until("chunking", EMBED_WAIT, |state| !state.lab.result.is_pending() && state.lab.document.is_some())?;
    }
    stage.push(Command::Search(question.to_owned()));
    stage.push(Command::Ask(question.to_owned()));
    stage.until("search", JOB_WAIT, |state| !state.search.results.is_pending())?;
    stage.until("answer", ANSWER_WAIT, |state| state.chat.running().is_none())?;
    let failed = |state: &AppState| state.chat.turns.iter().any(|turn| matches!(turn.state, TurnState::Failed(_)));
    if failed(stage.state()) {
        stage.push(Command::ClearChat);
        stage.push(Command::UseModel(Some("extractive".to_owned())));
        stage.push(Command::Ask(question.to_owned()));
        stage.until("answer", ANSWER_WAIT, |state| state.chat.running().is_none())?;
    }
    Ok(())
}

fn show(stage: &mut Stage, space: Space) -> Result<(), OffscreenError> {
    stage.push(Command::ShowSpace(space));
    stage.settle();
    stage.until("chunking", JOB_WAIT, |state| !state.lab.result.is_pending())?;
    match space {
        Space::Chunks => {
            let chunks = stage.state().lab.result.value().map(|result| result.chunks.clone()).unwrap_or_default();
            let shown = chunks.len() / 3;
            let start = chunks.get(shown).map_or(0, |chunk| chunk.start);
            stage.push(Command::InspectChunk(shown));
            stage.push(Command::JumpTo(start));
        }
        Space::Similarity => {
            stage.until("comparison of chunks", JOB_WAIT, |state| !state.similarity.heat.is_pending())?;
            let last = stage.state().similarity.heat.value().map_or(0, |heat| heat.map.num_rows.saturating_sub(1));
            stage.push(Command::PickPair(last / 4, last / 2));
        }
        Space::Search => stage.push(Command::SelectHit(0)),
        Space::Models => stage.until("list of models", JOB_WAIT, |state| !state.models.is_pending())?,
        _ => {}
    }
    stage.settle();
    Ok(())
}

/// The library as a map with the question on it.
fn show_map(stage: &mut Stage, layout: MapLayout, question: &str) -> Result<(), OffscreenError> {
    stage.push(Command::ShowSpace(Space::Similarity));
    stage.push(Command::LayOutMap(layout));
    stage.push(Command::ShowSimilarity(SimilarityView::Map));
    stage.until("map", JOB_WAIT, |state| {
        let map = state.similarity.map.value();
        map.is_some_and(|map| map.projection.layout == layout) && !state.similarity.map.is_pending()
    })?;
    stage.push(Command::CompareQuery(question.to_owned()));
    stage.until("comparison of the question", JOB_WAIT, |state| {
        state.similarity.answer.as_ref().is_some_and(|answer| answer.place.is_some())
    })?;
    let nearest = stage.state().similarity.answer.as_ref().and_then(|answer| answer.hits.first().copied());
    stage.push(Command::PickPassage(nearest.unwrap_or_default()));
    stage.settle();
    Ok(())
}

/// The chunker in hand beside two others.
fn show_comparison(stage: &mut Stage) -> Result<(), OffscreenError> {
    let config = &stage.state().lab.config;
    let others =
        [ChunkerKind::Recursive, ChunkerKind::Cluster].map(|kind| ChunkerConfig { kind, ..config.clone() }).to_vec();
    stage.push(Command::CompareWith(others));
    stage.push(Command::ShowSpace(Space::Chunks));
    stage.settle();
    stage.until("comparison", JOB_WAIT, |state| {
        state.lab.comparison.value().is_some() && !state.lab.comparison.is_pending()
    })?;
    stage.settle();
    Ok(())
}

/// The searchable document with the most chunks.
fn showpiece(state: &AppState) -> Option<DocumentRecord> {
    let documents = state.library.documents.value()?;
    let ready = documents.iter().filter(|record| record.status == DocumentStatus::Ready);
    ready.max_by_key(|record| record.chunks).cloned()
}
