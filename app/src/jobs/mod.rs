//! Long work on named threads, so that the window never waits.
//!
//! [`Jobs`] takes requests through bounded channels and gives [`Event`]s back; a job wakes the window when it has
//! something to show. Searches and cuts are latest-wins: a newer request replaces one that has not begun.
//!
//! Invariant: nothing here blocks the caller, and nothing here knows egui.

mod answer;
mod chat;
mod dialog;
mod documents;
mod event;
mod export;
mod follow;
mod ingest;
mod lab;
mod latest;
mod models;
mod pages;
mod samples;
mod search;
mod settings;
mod similarity;
mod thread;

pub use answer::AnswerRequest;
pub use event::Event;
pub use export::{Drawing, ExportFormat, ExportRequest, Figure};
pub use lab::LabRequest;
pub(crate) use models::stays_loaded;
pub use pages::PagesRequest;
pub use search::SearchRequest;
pub(crate) use settings::load as load_settings;
pub use similarity::SimilarityTask;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crate::answer::Answer;
use crate::extract::Extraction;
use crate::ingest::IngestOptions;
use crate::library::{Library, LibraryOptions};
use crate::progress::IngestProgress;
use crate::state::{LabelledQuestion, RowMetrics, Settings};
use crate::store::{DocumentId, DocumentRecord};
use thread::{Worker, guarded, spawn};

/// What jobs work on.
#[derive(Clone, Default)]
pub struct JobsOptions {
    /// The library.
    pub library: LibraryOptions,
    /// Where settings are kept; `None` keeps none.
    pub home: Option<PathBuf>,
    /// A folder of sample documents; `None` takes those that the program carries.
    pub samples: Option<PathBuf>,
}

/// Wakes the window, within the given time: what may wait is drawn together.
pub type Wake = Arc<dyn Fn(Duration) + Send + Sync>;

/// How long what grows by itself, such as the text of an answer, may wait to be drawn: frames take the processor from
/// the model that writes.
const GROWTH_WAIT: Duration = Duration::from_millis(100);

/// Events that may wait for the window before a job has to wait for it.
const EVENTS_CAPACITY: usize = 4096;

/// Where jobs put what they have to tell.
#[derive(Clone)]
pub(crate) struct Outbox {
    events: SyncSender<Event>,
    wake: Wake,
}

impl Outbox {
    /// Tells the window; false when it is gone.
    fn send(&self, event: Event) -> bool {
        self.send_within(Duration::ZERO, event)
    }

    /// Tells the window of something that is one of many; false when it is gone.
    fn send_growth(&self, event: Event) -> bool {
        self.send_within(GROWTH_WAIT, event)
    }

    fn send_within(&self, wait: Duration, event: Event) -> bool {
        let sent = self.events.send(event).is_ok();
        (self.wake)(wait);
        sent
    }
}

/// The window's side of all jobs.
pub struct Jobs {
    outbox: Outbox,
    events: Receiver<Event>,
    options: JobsOptions,
    settings: settings::Saver,
    row_metrics: Arc<RwLock<Arc<RowMetrics>>>,
    workers: Option<Workers>,
    models: models::Handle,
}

/// The threads that work on an open library.
struct Workers {
    library: Arc<Library>,
    /// Before the queue that it fills: fields are dropped in their order.
    follow: Option<follow::Handle>,
    ingest: ingest::Handle,
    documents: documents::Handle,
    search: search::Handle,
    lab: lab::Handle,
    similarity: similarity::Handle,
    answer: answer::Handle,
    pages: pages::Handle,
}

impl Jobs {
    /// Jobs whose library is not open yet.
    pub fn new(options: JobsOptions, wake: Wake) -> Self {
        let (sender, events) = sync_channel(EVENTS_CAPACITY);
        let outbox = Outbox { events: sender, wake };
        Self {
            settings: settings::Saver::start(options.home.clone(), outbox.clone()),
            outbox,
            events,
            options,
            row_metrics: Arc::default(),
            workers: None,
            models: models::Handle::default(),
        }
    }

    /// The next event, if there is one.
    pub fn next_event(&self) -> Option<Event> {
        self.events.try_recv().ok()
    }

    /// Opens the library on a thread of its own.
    pub fn open_library(&self) {
        let (outbox, options) = (self.outbox.clone(), self.options.library.clone());
        spawn("open-library", move || {
            outbox.send(Event::LibraryOpened(guarded(|| Library::open(options).map(Arc::new))));
        });
    }

    /// Starts the threads that work on `library`.
    pub fn attach(&mut self, library: Arc<Library>) {
        let outbox = &self.outbox;
        let ingest = ingest::Handle::start(Arc::clone(&library), outbox.clone());
        chat::load(Arc::clone(&library), outbox.clone());
        self.workers = Some(Workers {
            library: Arc::clone(&library),
            follow: ingest.queue().map(|queue| follow::Handle::start(queue, outbox.clone())),
            ingest,
            documents: documents::Handle::start(Arc::clone(&library), outbox.clone()),
            search: search::Handle::start(Arc::clone(&library), outbox.clone()),
            lab: lab::Handle::start(Arc::clone(&library), outbox.clone(), Arc::clone(&self.row_metrics)),
            pages: pages::Handle::start(Arc::clone(&library), outbox.clone()),
            similarity: similarity::Handle::start(Arc::clone(&library), outbox.clone()),
            answer: answer::Handle::start(library, outbox.clone()),
        });
    }

    /// Whether a library is attached.
    pub fn is_attached(&self) -> bool {
        self.workers.is_some()
    }

    /// Writes the settings soon.
    pub fn save_settings(&self, settings: &Settings) {
        self.settings.save(settings.clone());
    }

    /// Queues an ingest; false when the queue is full or no library is open.
    pub fn ingest(&self, paths: Vec<PathBuf>, options: IngestOptions) -> bool {
        self.workers.as_ref().is_some_and(|workers| workers.ingest.add(ingest::What::Paths(paths), options))
    }

    /// Follows these folders and no others: what changes in them is ingested with `options`.
    pub fn follow(&self, folders: Vec<PathBuf>, options: IngestOptions) {
        if let Some(follow) = self.workers.as_ref().and_then(|workers| workers.follow.as_ref()) {
            follow.follow(follow::Follow { folders, options });
        }
    }

    /// Looks whether folders are there and can be read.
    pub fn look_at_folders(&self, folders: Vec<PathBuf>) {
        follow::look(folders, self.outbox.clone());
    }

    /// Lets the running ingest and the waiting ones stand still, or go on.
    pub fn pause_ingest(&self, is_paused: bool) {
        if let Some(workers) = &self.workers {
            workers.ingest.set_paused(is_paused);
        }
    }

    /// Stops the running ingest and forgets the waiting ones; false when none runs.
    pub fn cancel_ingest(&self) -> bool {
        self.workers.as_ref().is_some_and(|workers| workers.ingest.cancel())
    }

    /// A snapshot of the running ingest.
    pub fn ingest_progress(&self) -> Option<IngestProgress> {
        self.workers.as_ref().and_then(|workers| workers.ingest.progress())
    }

    /// Lists every document.
    pub fn list_documents(&self) {
        self.with_documents(documents::Task::List);
    }

    /// Removes documents.
    pub fn remove_documents(&self, records: Vec<DocumentRecord>) {
        self.with_documents(documents::Task::Remove(records));
    }

    fn with_documents(&self, task: documents::Task) {
        if let Some(workers) = &self.workers {
            workers.documents.add(task);
        }
    }

    /// Asks for files in the system's dialog.
    pub fn pick_files(&self) {
        dialog::pick_files(self.outbox.clone());
    }

    /// Asks for a folder in the system's dialog.
    pub fn pick_folder(&self) {
        dialog::pick_folder(self.outbox.clone());
    }

    /// Searches; replaces the search before it.
    pub fn search(&mut self, request: SearchRequest) {
        if let Some(workers) = &mut self.workers {
            workers.search.put(request);
        }
    }

    /// Cuts a document; replaces a cut that has not begun.
    pub fn cut(&mut self, request: LabRequest) {
        if let Some(workers) = &mut self.workers {
            workers.lab.put(request);
        }
    }

    /// Gives up cutting, and embedding for it.
    pub fn stop_cutting(&mut self) {
        if let Some(workers) = &mut self.workers {
            workers.lab.stop();
        }
    }

    /// Keeps the questions written on a document.
    pub fn keep_questions(&self, document: DocumentId, text: Arc<Extraction>, questions: Vec<LabelledQuestion>) {
        if let Some(workers) = &self.workers {
            lab::keep_questions(Arc::clone(&workers.library), self.outbox.clone(), document, text, questions);
        }
    }

    /// Compares; replaces a comparison that is under way.
    pub fn compare(&mut self, number: u64, task: SimilarityTask) {
        if let Some(workers) = &mut self.workers {
            workers.similarity.put(number, task);
        }
    }

    /// Stops the comparison.
    pub fn stop_comparing(&mut self) {
        if let Some(workers) = &mut self.workers {
            workers.similarity.cancel();
        }
    }

    /// Writes a figure to a file.
    pub fn export(&self, request: ExportRequest) {
        export::export(request, self.outbox.clone());
    }

    /// Tells how wide the rows of a text are from now on.
    pub fn set_row_metrics(&self, metrics: Arc<RowMetrics>) {
        *self.row_metrics.write().unwrap_or_else(PoisonError::into_inner) = metrics;
    }

    /// Stops the answer under way and asks this question next; false when no library is open or too many wait.
    pub fn ask(&self, request: AnswerRequest) -> bool {
        self.workers.as_ref().is_some_and(|workers| workers.answer.ask(request))
    }

    /// Stops the answer.
    pub fn stop_answer(&self) {
        if let Some(workers) = &self.workers {
            workers.answer.stop();
        }
    }

    /// Writes a conversation as Markdown; without a path the system's dialog asks for one.
    pub fn export_chat(&self, answers: Vec<Answer>, path: Option<PathBuf>) {
        chat::export(answers, path, self.outbox.clone());
    }

    /// Draws pages, or reads the text around a passage; replaces a request that has not begun.
    pub fn draw_pages(&self, request: PagesRequest) {
        if let Some(workers) = &self.workers {
            workers.pages.put(request);
        }
    }

    /// Gives the sample documents as if they had been picked.
    pub fn pick_samples(&self) {
        let JobsOptions { library, samples, .. } = self.options.clone();
        samples::pick(samples, library.home, self.outbox.clone());
    }
}
