//! `outcrop worker extract` and the pool of such workers.
//!
//! The worker reads one file at a time and reports every page that it begins. The host holds the clock: a
//! document or a page that runs over, a crash, or a cancel costs that worker and that document only.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::child::{WorkerBinary, WorkerChild, WorkerError};
use super::faults;
use super::protocol::FrameError;
use super::serve::Service;
use crate::extract::{
    Extract, ExtractError, ExtractLimits, ExtractStep, Extraction, PagePicture, PageRequest, Password, ReadOptions,
    draw_page, extract_with_steps,
};
use crate::progress::CancelToken;

const VERB: &str = "extract";
/// How often the host looks at the clock and at the cancel token.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Documents after which a worker is replaced, so that leaks in native libraries stay small.
const DOCUMENTS_PER_WORKER: u32 = 200;
/// Stack of the thread that parses; parsers recurse as deep as a document nests.
const PARSER_STACK_BYTES: usize = 64 << 20;

/// One file to read. The only serialized form of a password, which goes through the pipe to the worker; never shown.
#[derive(Serialize, Deserialize)]
struct ExtractRequest {
    /// The path as the system encodes it; it need not be UTF-8.
    path: Vec<u8>,
    limits: ExtractLimits,
    options: ReadOptions,
    /// Apart from the options, whose serialized form has none.
    password: Option<String>,
    task: ExtractTask,
}

/// What is wanted of the file.
#[derive(Debug, Serialize, Deserialize)]
enum ExtractTask {
    Text,
    Picture(PageRequest),
}

/// What came of it.
#[derive(Debug, Serialize, Deserialize)]
enum ExtractOutcome {
    Text(Extraction),
    Picture(PagePicture),
}

/// What the worker says about the file under way.
#[derive(Debug, Serialize, Deserialize)]
enum ExtractResponse {
    Step(ExtractStep),
    /// Errors come without their path.
    Done(Result<ExtractOutcome, ExtractError>),
}

/// Serves `outcrop worker extract` until the host closes the pipe.
pub fn serve_extract() -> ExitCode {
    #[cfg(target_os = "linux")]
    super::sandbox::enter();
    let served = thread::Builder::new()
        .name("extract".to_owned())
        .stack_size(PARSER_STACK_BYTES)
        .spawn(serve_requests)
        .map_err(FrameError::from)
        .and_then(|parser| parser.join().unwrap_or(Ok(())));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("the conversation with the host ended: {err}");
            ExitCode::FAILURE
        }
    }
}

fn serve_requests() -> Result<(), FrameError> {
    let mut service = Service::<ExtractRequest, ExtractResponse>::start(VERB)?;
    while let Some(request) = service.next_request() {
        limit_resources(&request.limits);
        let answer = answer(&request, &mut service);
        service.send(&ExtractResponse::Done(answer))?;
    }
    Ok(())
}

fn answer(
    request: &ExtractRequest,
    service: &mut Service<ExtractRequest, ExtractResponse>,
) -> Result<ExtractOutcome, ExtractError> {
    let path = path_from_bytes(&request.path);
    let password = request.password.as_deref().map(Password::new);
    let mut on_step = |step| {
        // If the host is gone, so is this process in a moment.
        drop(service.send(&ExtractResponse::Step(step)));
    };
    let read = catch_unwind(AssertUnwindSafe(|| {
        faults::inject(&path, &mut on_step);
        match &request.task {
            ExtractTask::Text => {
                let options = ReadOptions { password: password.clone(), ..request.options.clone() };
                extract_with_steps(&path, &options, &request.limits, &mut on_step).map(ExtractOutcome::Text)
            }
            ExtractTask::Picture(page) => {
                draw_page(&path, page, password.as_ref(), &request.limits).map(ExtractOutcome::Picture)
            }
        }
    }));
    let result = read.unwrap_or_else(|panic| {
        let detail = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("panic");
        Err(ExtractError::Crashed { path: PathBuf::new(), detail: detail.to_owned() })
    });
    result.map_err(|err| err.at(Path::new("")))
}

/// Holds this process to the address space of the limits and forbids core dumps.
fn limit_resources(limits: &ExtractLimits) {
    #[cfg(unix)]
    {
        let (_, hard) = rlimit::Resource::AS.get().unwrap_or((rlimit::INFINITY, rlimit::INFINITY));
        if let Err(err) = rlimit::Resource::AS.set(limits.memory_bytes.min(hard), hard) {
            eprintln!("no memory limit: {err}");
        }
        if let Err(err) = rlimit::Resource::CORE.set(0, 0) {
            eprintln!("core dumps stay on: {err}");
        }
    }
    #[cfg(not(unix))]
    let _ = limits;
}

/// Extract workers that are kept between documents and replaced when they fail.
pub struct ExtractPool {
    binary: WorkerBinary,
    limits: ExtractLimits,
    idle: Mutex<Vec<Worker>>,
}

struct Worker {
    child: WorkerChild<ExtractRequest, ExtractResponse>,
    documents: u32,
}

impl ExtractPool {
    /// A pool that starts workers as documents come; as many as there are threads that call it at once.
    pub fn new(binary: WorkerBinary, limits: ExtractLimits) -> Self {
        Self { binary, limits, idle: Mutex::new(Vec::new()) }
    }

    /// The budgets of each document.
    pub fn limits(&self) -> &ExtractLimits {
        &self.limits
    }

    /// Process ids of the workers that wait for a document.
    pub fn idle_process_ids(&self) -> Vec<u32> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.iter().map(|worker| worker.child.process_id()).collect()
    }

    fn take_worker(&self) -> Result<Worker, WorkerError> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(mut worker) = idle.pop() {
            if worker.child.is_running() {
                return Ok(worker);
            }
        }
        drop(idle);
        Ok(Worker { child: WorkerChild::spawn(&self.binary, VERB)?, documents: 0 })
    }

    fn put_back(&self, mut worker: Worker) {
        worker.documents += 1;
        if worker.documents < DOCUMENTS_PER_WORKER {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push(worker);
        }
    }
}

impl ExtractPool {
    fn run(
        &self,
        path: &Path,
        limits: ExtractLimits,
        options: &ReadOptions,
        task: ExtractTask,
        cancel: &CancelToken,
    ) -> Result<ExtractOutcome, ExtractError> {
        let mut worker =
            self.take_worker().map_err(|err| ExtractError::Io { path: path.to_owned(), detail: err.to_string() })?;
        let request = ExtractRequest {
            path: path_to_bytes(path),
            limits,
            options: options.without_password(),
            password: options.password.as_ref().map(|password| password.reveal().to_owned()),
            task,
        };
        match converse(&mut worker, &request, cancel) {
            Ok(answer) => {
                self.put_back(worker);
                answer.map_err(|err| err.at(path))
            }
            // The worker is in an unknown state: it is killed as it is dropped here.
            Err(interruption) => Err(interruption.into_error(path, &request.limits)),
        }
    }
}

impl ExtractPool {
    fn draw(
        &self,
        path: &Path,
        request: &PageRequest,
        options: &ReadOptions,
        cancel: &CancelToken,
    ) -> Result<PagePicture, ExtractError> {
        let limits = ExtractLimits { document_secs: self.limits.page_secs, ..self.limits.clone() };
        match self.run(path, limits, options, ExtractTask::Picture(request.clone()), cancel)? {
            ExtractOutcome::Picture(picture) => Ok(picture),
            ExtractOutcome::Text(_) => Err(out_of_turn(path)),
        }
    }
}

impl Extract for ExtractPool {
    fn abilities(&self) -> &'static str {
        if self.limits.ocr.is_some() { "ocr" } else { "" }
    }

    fn extract(&self, path: &Path, cancel: &CancelToken) -> Result<Extraction, ExtractError> {
        self.extract_as(path, &ReadOptions::default(), cancel)
    }

    fn extract_as(&self, path: &Path, options: &ReadOptions, cancel: &CancelToken) -> Result<Extraction, ExtractError> {
        match self.run(path, self.limits.clone(), options, ExtractTask::Text, cancel)? {
            ExtractOutcome::Text(extraction) => Ok(extraction),
            ExtractOutcome::Picture(_) => Err(out_of_turn(path)),
        }
    }

    fn draw_page(&self, path: &Path, request: &PageRequest, cancel: &CancelToken) -> Result<PagePicture, ExtractError> {
        self.draw(path, request, &ReadOptions::default(), cancel)
    }

    fn draw_locked_page(
        &self,
        path: &Path,
        request: &PageRequest,
        password: &Password,
        cancel: &CancelToken,
    ) -> Result<PagePicture, ExtractError> {
        let options = ReadOptions { password: Some(password.clone()), ..ReadOptions::default() };
        self.draw(path, request, &options, cancel)
    }
}

fn out_of_turn(path: &Path) -> ExtractError {
    ExtractError::Crashed { path: path.to_owned(), detail: "the worker answered something else".to_owned() }
}

/// Why a document got no answer from its worker.
enum Interruption {
    Cancelled,
    Overdue(String),
    Worker(WorkerError),
}

impl Interruption {
    fn into_error(self, path: &Path, limits: &ExtractLimits) -> ExtractError {
        let path = path.to_owned();
        match self {
            Self::Cancelled => ExtractError::Cancelled { path },
            Self::Overdue(detail) => ExtractError::TimedOut { path, detail },
            Self::Worker(err) if is_out_of_memory(&err) => ExtractError::OverBudget {
                path,
                detail: format!(
                    "reading it needs more than the {} MiB of memory that one document may take",
                    limits.memory_bytes >> 20
                ),
            },
            Self::Worker(WorkerError::Died { detail }) => ExtractError::Crashed { path, detail },
            Self::Worker(err) => ExtractError::Crashed { path, detail: err.to_string() },
        }
    }
}

/// Rust aborts with this message when the address space limit is reached.
fn is_out_of_memory(err: &WorkerError) -> bool {
    matches!(err, WorkerError::Died { detail } if detail.contains("memory allocation of"))
}

fn converse(
    worker: &mut Worker,
    request: &ExtractRequest,
    cancel: &CancelToken,
) -> Result<Result<ExtractOutcome, ExtractError>, Interruption> {
    worker.child.send(request).map_err(Interruption::Worker)?;
    let mut clock = Clock::start(&request.limits);
    loop {
        if cancel.is_cancelled() {
            return Err(Interruption::Cancelled);
        }
        match worker.child.receive(POLL_INTERVAL) {
            Ok(Some(ExtractResponse::Done(answer))) => return Ok(answer),
            Ok(Some(ExtractResponse::Step(step))) => clock.note(step),
            Ok(None) => {}
            Err(err) => return Err(Interruption::Worker(err)),
        }
        if let Some(detail) = clock.overdue() {
            return Err(Interruption::Overdue(detail));
        }
    }
}

/// The wall-clock budgets of the document under way.
struct Clock<'a> {
    limits: &'a ExtractLimits,
    started: Instant,
    step: Option<(ExtractStep, Instant)>,
}

impl<'a> Clock<'a> {
    fn start(limits: &'a ExtractLimits) -> Self {
        Self { limits, started: Instant::now(), step: None }
    }

    fn note(&mut self, step: ExtractStep) {
        self.step = Some((step, Instant::now()));
    }

    fn overdue(&self) -> Option<String> {
        let secs = self.limits.document_secs;
        if self.started.elapsed() > Duration::from_secs(secs.into()) {
            let at = match self.step {
                Some((ExtractStep::Page { page, pages }, _)) => {
                    format!(" (page {page} of {pages})")
                }
                _ => String::new(),
            };
            return Some(format!("reading it took longer than {secs} s{at}"));
        }
        let (ExtractStep::Page { page, pages }, since) = self.step? else {
            return None;
        };
        let secs = self.limits.page_secs;
        (since.elapsed() > Duration::from_secs(secs.into()))
            .then(|| format!("page {page} of {pages} took longer than {secs} s"))
    }
}

#[cfg(unix)]
fn path_to_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;

    path.as_os_str().as_bytes().to_vec()
}

#[cfg(unix)]
fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;

    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_to_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

#[cfg(not(unix))]
fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
