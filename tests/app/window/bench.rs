//! A window on a library of its own, and the documents that the tests put into it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use egui::{DroppedFile, DroppedFileHandle};
use egui_kittest::Harness;
use outcrop::LibraryOptions;
use outcrop::command::Command;
use outcrop::embed::{EmbedError, Embedder, HashEmbedder, TextRole, TokenVectors};
use outcrop::extract::{
    Coverage, DocumentKind, Extract, ExtractError, Extraction, PagePicture, PageRequest, PixelBox, ReadOptions, Span,
    SpanPlace,
};
use outcrop::models::ModelSource;
use outcrop::progress::CancelToken;
use outcrop::state::{AppState, Settings};
use outcrop::ui::{WindowOptions, Workbench, WorkbenchOptions};
use tempfile::TempDir;

/// Longest wait for a job.
const PATIENCE: Duration = Duration::from_secs(60);

/// A window with its library.
pub(crate) struct Bench {
    pub(crate) harness: Harness<'static, Option<Workbench>>,
    folder: TempDir,
    hold: Arc<AtomicBool>,
    hold_embedder: Arc<AtomicBool>,
    hold_reranker: Arc<AtomicBool>,
}

impl Bench {
    /// A window on an empty library.
    pub(crate) fn empty() -> Self {
        Self::open(|_| LibraryOptions::default())
    }

    /// A window on an empty library without models, which are fetched from `source`.
    pub(crate) fn with_models(source: ModelSource) -> Self {
        Self::open(|folder| LibraryOptions {
            models: Some(folder.join("models")),
            model_source: Some(source),
            ..LibraryOptions::default()
        })
    }

    /// A window on a library that holds the test documents, with the generators of a models folder, run by `program`.
    pub(crate) fn with_generators(models: PathBuf, program: PathBuf) -> Self {
        let mut bench = Self::open(|_| LibraryOptions {
            models: Some(models),
            worker_binary: Some(program),
            ..LibraryOptions::default()
        });
        bench.fill();
        bench
    }

    /// A window on a library with these options, which may lie in the folder that they are given.
    fn open(options: impl FnOnce(&Path) -> LibraryOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hold = Arc::new(AtomicBool::new(false));
        let extractor = Arc::new(PlainText { hold: Arc::clone(&hold) });
        let hold_embedder = Arc::new(AtomicBool::new(false));
        let hold_reranker = Arc::new(AtomicBool::new(false));
        let embedder = Arc::new(Held { hold: Arc::clone(&hold_embedder), hold_tokens: Arc::clone(&hold_reranker) });
        let library = LibraryOptions {
            home: Some(folder.path().join("home")),
            embedder: Some(embedder),
            extractor: Some(extractor),
            ..options(folder.path())
        };
        let home = library.home.clone();
        let window = WindowOptions { library, home, samples: None };
        let harness = Harness::builder().with_size([1280.0, 800.0]).with_max_steps(64).build_ui_state(
            move |ui, workbench: &mut Option<Workbench>| match workbench {
                None => {
                    let options = WorkbenchOptions { window: window.clone(), settings: Settings::default() };
                    *workbench = Some(Workbench::new(ui.ctx(), options));
                }
                Some(workbench) => {
                    workbench.logic(ui.ctx());
                    workbench.ui(ui);
                }
            },
            None,
        );
        let mut bench = Self { harness, folder, hold, hold_embedder, hold_reranker };
        bench.until(|state| state.library.documents.value().is_some());
        bench
    }

    /// A window on a library that holds the test documents.
    pub(crate) fn filled() -> Self {
        let mut bench = Self::empty();
        bench.fill();
        bench
    }

    fn fill(&mut self) {
        for (name, text) in documents() {
            self.write(name, &text);
        }
        self.drop_files(&[""]);
        self.until(|state| state.library.totals().0 == documents().len() && state.library.ingest.is_none());
    }

    /// Writes a document into the folder that [`Bench::drop_files`] drops from.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join("documents").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The folder that [`Bench::write`] writes to.
    pub(crate) fn documents_folder(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("documents")
    }

    /// Where the models of [`Bench::with_models`] are.
    pub(crate) fn models_folder(&self) -> PathBuf {
        self.folder.path().join("models")
    }

    /// Carries out a command.
    pub(crate) fn push(&mut self, command: Command) {
        self.harness.state_mut().as_mut().unwrap().push(command);
        self.settle();
    }

    /// Drops files of the documents' folder onto the window; the empty name is the folder itself.
    pub(crate) fn drop_files(&mut self, names: &[&str]) {
        let folder = self.folder.path().join("documents");
        let handle = |name: &&str| -> DroppedFileHandle { Arc::new(Dropped(folder.join(name))) };
        self.harness.input_mut().dropped_files = names.iter().map(handle).collect();
        self.harness.step();
    }

    /// Keeps the reader waiting until it is cancelled.
    pub(crate) fn hold_reader(&self, hold: bool) {
        self.hold.store(hold, Ordering::SeqCst);
    }

    /// Keeps the embedder waiting until it is cancelled.
    pub(crate) fn hold_embedder(&self, hold: bool) {
        self.hold_embedder.store(hold, Ordering::SeqCst);
    }

    /// Keeps late interaction waiting until it is cancelled.
    pub(crate) fn hold_reranker(&self, hold: bool) {
        self.hold_reranker.store(hold, Ordering::SeqCst);
    }

    /// What the window shows.
    pub(crate) fn state(&self) -> &AppState {
        self.harness.state().as_ref().unwrap().state()
    }

    /// Runs frames until `done`.
    pub(crate) fn until(&mut self, done: impl Fn(&AppState) -> bool) {
        let begun = Instant::now();
        self.settle();
        while !self.harness.state().as_ref().is_some_and(|workbench| done(workbench.state())) {
            assert!(
                begun.elapsed() < PATIENCE,
                "nothing came: {:#?}",
                self.harness.state().as_ref().map(Workbench::state)
            );
            std::thread::sleep(Duration::from_millis(5));
            self.harness.step();
        }
        self.settle();
    }

    /// Runs frames until what was clicked has been carried out and drawn.
    pub(crate) fn settle(&mut self) {
        self.harness.run_steps(4);
    }
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|err| err.to_string())
    }
}

/// The hash embedder, which can be kept waiting.
struct Held {
    hold: Arc<AtomicBool>,
    hold_tokens: Arc<AtomicBool>,
}

/// Waits for `hold` to be off.
fn wait_while(hold: &AtomicBool, cancel: &CancelToken) -> Result<(), EmbedError> {
    while hold.load(Ordering::SeqCst) {
        if cancel.is_cancelled() {
            return Err(EmbedError::Cancelled);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

impl Embedder for Held {
    fn name(&self) -> &str {
        HashEmbedder.name()
    }

    fn fingerprint(&self) -> &str {
        HashEmbedder.fingerprint()
    }

    fn dims(&self) -> usize {
        HashEmbedder.dims()
    }

    fn count_tokens(&self, text: &str) -> usize {
        HashEmbedder.count_tokens(text)
    }

    fn window_tokens(&self) -> usize {
        HashEmbedder.window_tokens()
    }

    fn embed(
        &self,
        texts: &[&str],
        role: TextRole,
        cancel: &CancelToken,
        on_done: &mut dyn FnMut(usize),
    ) -> Result<Vec<f32>, EmbedError> {
        wait_while(&self.hold, cancel)?;
        HashEmbedder.embed(texts, role, cancel, on_done)
    }

    /// One row for each text: its whole vector.
    fn token_vectors(
        &self,
        texts: &[&str],
        role: TextRole,
        cancel: &CancelToken,
    ) -> Result<Option<Vec<TokenVectors>>, EmbedError> {
        wait_while(&self.hold_tokens, cancel)?;
        let dims = self.dims();
        let vectors = HashEmbedder.embed(texts, role, cancel, &mut |_| ())?;
        let quantised = |row: &[f32]| row.iter().map(|value| (value * 127.0).round() as i8).collect();
        Ok(Some(vectors.chunks_exact(dims).map(|row| TokenVectors { dims, rows: quantised(row) }).collect()))
    }
}

/// Reads plain text (and calls it Markdown by its name) in this process, with every 1200 bytes of text as a page.
struct PlainText {
    hold: Arc<AtomicBool>,
}

impl Extract for PlainText {
    fn extract(&self, path: &Path, cancel: &CancelToken) -> Result<Extraction, ExtractError> {
        self.extract_as(path, &ReadOptions::default(), cancel)
    }

    /// `LOCKED` files are opened by the password `harbour-7`; an encoding is written in front of the text.
    fn extract_as(&self, path: &Path, read: &ReadOptions, cancel: &CancelToken) -> Result<Extraction, ExtractError> {
        while self.hold.load(Ordering::SeqCst) {
            if cancel.is_cancelled() {
                return Err(ExtractError::Cancelled { path: path.to_owned() });
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let text = std::fs::read_to_string(path).unwrap();
        if text.trim().is_empty() {
            return Err(ExtractError::Empty { path: path.to_owned() });
        }
        if text.starts_with("LOCKED") {
            match &read.password {
                None => return Err(ExtractError::PasswordNeeded { path: path.to_owned() }),
                Some(password) if password.reveal() != "harbour-7" => {
                    return Err(ExtractError::PasswordWrong { path: path.to_owned() });
                }
                Some(_) => {}
            }
        }
        let text = read.encoding.as_ref().map_or(text.clone(), |encoding| format!("As {encoding}: {text}"));
        let is_markdown = path.extension().is_some_and(|ext| ext == "md");
        let spans = if is_markdown { Vec::new() } else { pages(&text) };
        let coverage = Coverage { pages: (!is_markdown).then_some(spans.len() as u32), ..Coverage::default() };
        let kind = if is_markdown { DocumentKind::Markdown } else { DocumentKind::Text };
        Ok(Extraction { kind, title: None, text, spans, coverage, metadata: None })
    }

    fn draw_page(&self, _: &Path, request: &PageRequest, _: &CancelToken) -> Result<PagePicture, ExtractError> {
        Ok(white_page(request))
    }
}

/// Draws every page white, with one box where something is quoted.
fn white_page(request: &PageRequest) -> PagePicture {
    let (width, height) = (200, 280);
    let found = PixelBox { left: 20.0, top: 40.0, right: 180.0, bottom: 52.0 };
    let boxes = if request.quote.is_empty() { Vec::new() } else { vec![found] };
    PagePicture { page: request.page, pages: 9, width, height, rgba: vec![255; (width * height * 4) as usize], boxes }
}

/// A reader of plain text.
pub(crate) fn plain_text() -> Arc<dyn Extract> {
    Arc::new(PlainText { hold: Arc::default() })
}

fn pages(text: &str) -> Vec<Span> {
    let starts: Vec<usize> = (0..text.len()).step_by(1200).map(|byte| text.floor_char_boundary(byte)).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let page = |(index, (start, end)): (usize, (&usize, usize))| Span {
        start: *start,
        end,
        place: SpanPlace::Page(index as u32 + 1),
    };
    starts.iter().zip(ends).enumerate().map(page).collect()
}

/// Name and text of the documents that a filled library holds.
pub(crate) fn documents() -> Vec<(&'static str, String)> {
    vec![
        ("geology.txt", topics(&[GRANITE, WEATHER, PUMPS, GRANITE])),
        ("kettles.txt", KETTLES.to_owned()),
        ("岩層.txt", "露頭は岩層が地表に現れる場所である。\n花崗岩は硬い。\n".repeat(3)),
    ]
}

const GRANITE: [&str; 5] = [
    "Granite is a coarse rock of quartz and feldspar.",
    "The quartz in granite resists the weather for long.",
    "Granite outcrops where softer rock has gone.",
    "A granite outcrop shows joints and quartz veins.",
    "Feldspar gives granite its pink colour.",
];
const WEATHER: [&str; 5] = [
    "Rain falls mostly in spring at the station.",
    "Spring rain swells the river below the station.",
    "Wind and rain delay the boat in spring.",
    "The station notes rain and wind each hour.",
    "Snow replaces rain at the station in winter.",
];
const PUMPS: [&str; 5] = [
    "The pump has a red button on its lid.",
    "Hold the red button for five seconds to reset the pump.",
    "A pump that hums needs its valve cleaned.",
    "Clean the valve of the pump with warm water.",
    "Close the lid before the pump is started.",
];
const KETTLES: &str = "The kettle holds two litres. It switches off when the water boils. Descale the kettle each month \
    with lemon juice. A kettle without water must not be switched on.\n";

/// Paragraphs of five sentences, one for each topic.
pub(crate) fn topics(topics: &[[&str; 5]]) -> String {
    topics.iter().map(|sentences| sentences.join(" ") + "\n\n").collect()
}

/// A text of about `pages` pages of 2 000 characters, whose topic changes now and then.
pub(crate) fn long_text(pages: usize) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < pages * 2000 {
        let sentences = [GRANITE, WEATHER, PUMPS][number % 3];
        let rotated: Vec<String> =
            (0..5).map(|at| format!("{} Note {number}.", sentences[(at + number / 3) % 5])).collect();
        text.push_str(&rotated.join(" "));
        text.push_str("\n\n");
        number += 1;
    }
    text
}
