//! [`LlamaGenerator`]: the host's side of the generate worker.
//!
//! The worker starts with the first question and stays. If it dies, what it said is kept and the next question
//! starts another. A cancelled answer is left to run out: its last responses are told apart by their id.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::ask::STOPPED;
use super::{ChatPrompt, GenerateError, GenerateEvent, Generation, Generator};
use crate::models::{self, GeneratorModel};
use crate::progress::CancelToken;
use crate::worker::generate::{GENERATE_VERB, GenerateOutcome, GenerateRequest, GenerateResponse, GenerateTask};
use crate::worker::{WorkerBinary, WorkerChild, WorkerError};

/// Prompt and answer together; more costs memory and, on a CPU, patience.
const CONTEXT_TOKENS: usize = 4096;
/// How often the cancel token is looked at.
const POLL: Duration = Duration::from_millis(50);
/// Silence after which a worker counts as hung.
const SILENCE: Duration = Duration::from_secs(180);

/// Whether llama.cpp may use a GPU here.
const BUILT_FOR_GPU: bool = cfg!(any(feature = "llama-cuda", feature = "llama-metal", feature = "llama-vulkan"));

type Child = WorkerChild<GenerateRequest, GenerateResponse>;

/// A GGUF model in a worker process.
pub struct LlamaGenerator {
    model: GeneratorModel,
    worker_binary: Option<PathBuf>,
    use_gpu: bool,
    running: Option<Child>,
    context_tokens: usize,
    /// The GPU that the loaded model runs on.
    device: Option<String>,
    /// Why it is kept off the GPU.
    off_gpu: Option<String>,
    notes: Vec<String>,
    next_id: u64,
}

impl LlamaGenerator {
    /// For a model; nothing is started yet.
    pub fn new(model: GeneratorModel, worker_binary: Option<PathBuf>) -> Self {
        Self {
            model,
            worker_binary,
            use_gpu: true,
            running: None,
            context_tokens: CONTEXT_TOKENS,
            device: None,
            off_gpu: None,
            notes: Vec::new(),
            next_id: 0,
        }
    }

    /// Whether the model may run on a GPU, where llama.cpp was built for one and it fits there; it may unless said.
    #[must_use]
    pub fn with_gpu(self, use_gpu: bool) -> Self {
        Self { use_gpu, ..self }
    }

    /// The model.
    pub fn model(&self) -> &GeneratorModel {
        &self.model
    }

    /// Process id of the worker, if one runs; for tests and logs.
    pub fn process_id(&self) -> Option<u32> {
        self.running.as_ref().map(WorkerChild::process_id)
    }

    fn request(&mut self, task: GenerateTask) -> Result<u64, GenerateError> {
        self.next_id += 1;
        let id = self.next_id;
        self.ensure_running(&CancelToken::new())?;
        let sent = match &mut self.running {
            Some(running) => running.send(&GenerateRequest { id, task }),
            None => return Err(GenerateError::Load("the worker does not run".to_owned())),
        };
        sent.map_err(|err| self.died(&err, String::new()))?;
        Ok(id)
    }

    fn ensure_running(&mut self, cancel: &CancelToken) -> Result<(), GenerateError> {
        if let Some(running) = &mut self.running {
            if running.is_running() {
                return Ok(());
            }
            self.running = None;
        }
        self.check_model()?;
        self.start(cancel)
    }

    /// Refuses a damaged file, one too large for this machine, or a machine too old, before llama.cpp sees it.
    fn check_model(&self) -> Result<(), GenerateError> {
        let lacking = models::missing_instructions();
        if !lacking.is_empty() {
            return Err(GenerateError::Load(format!(
                "this processor lacks {}, which the built-in llama.cpp needs; answer without a model, or name a \
                 model server",
                lacking.join(", ")
            )));
        }
        models::check_gguf(&self.model.path).map_err(|err| {
            let what_to_do = "remove the model and fetch or add it again, or answer with another one";
            GenerateError::Load(format!("{err}; {what_to_do}"))
        })?;
        let needed = self.model.memory_bytes;
        match models::available_memory_bytes() {
            Some(free) if free < needed => Err(GenerateError::Load(format!(
                "{} needs {} MB of memory but {} MB are free; close other programs or choose a smaller model",
                self.model.title,
                needed / 1_000_000,
                free / 1_000_000
            ))),
            _ => Ok(()),
        }
    }

    /// Loads the model in a new worker; leaves none running when cancelled.
    fn start(&mut self, cancel: &CancelToken) -> Result<(), GenerateError> {
        let load = |err: WorkerError| GenerateError::Load(err.to_string());
        let binary = WorkerBinary::resolve(self.worker_binary.clone()).map_err(load)?;
        let mut child = Child::spawn(&binary, GENERATE_VERB).map_err(load)?;
        self.next_id += 1;
        let id = self.next_id;
        child.send(&self.load_request(id)?).map_err(load)?;
        match wait_loaded(&mut child, id, &self.model, cancel) {
            Ok(Some(loaded)) => {
                self.context_tokens = loaded.context_tokens;
                self.device = loaded.device;
                self.notes = self.off_gpu.iter().cloned().chain(loaded.notes).collect();
                self.running = Some(child);
                Ok(())
            }
            Ok(None) => Ok(()),
            // A driver that takes the process down must not do so again.
            Err(_) if self.use_gpu && BUILT_FOR_GPU && !child.is_running() => {
                self.keep_off_the_gpu("the model's process ended while it was loaded on the GPU");
                self.start(cancel)
            }
            Err(err) => Err(err),
        }
    }

    fn load_request(&self, id: u64) -> Result<GenerateRequest, GenerateError> {
        let path = self.model.path.to_str().ok_or_else(|| {
            GenerateError::Load(format!("the model's path is not valid Unicode: {:?}", self.model.path))
        })?;
        Ok(GenerateRequest {
            id,
            task: GenerateTask::Load {
                path: path.to_owned(),
                threads: models::num_cores() as u32,
                context_tokens: CONTEXT_TOKENS as u32,
                gpu_bytes: self.use_gpu.then_some(self.model.memory_bytes),
            },
        })
    }

    /// The next response to request `id`; `None` after a poll without one.
    fn receive(&mut self, id: u64) -> Result<Option<GenerateOutcome>, WorkerError> {
        let Some(running) = &mut self.running else {
            return Ok(None);
        };
        let response = running.receive(POLL)?;
        Ok(response.filter(|response| response.id == id).map(|response| response.outcome))
    }

    fn keep_off_the_gpu(&mut self, why: &str) {
        self.use_gpu = false;
        self.off_gpu = Some(format!("the model runs on the CPU: {why}"));
    }

    fn died(&mut self, err: &WorkerError, partial: String) -> GenerateError {
        self.running = None;
        if let Some(device) = self.device.take() {
            self.keep_off_the_gpu(&format!("its process ended on {device}"));
        }
        let detail = match err {
            WorkerError::Died { detail } => detail.clone(),
            other => other.to_string(),
        };
        GenerateError::Died { detail, partial }
    }

    fn hung(&mut self, partial: String) -> GenerateError {
        self.running = None;
        GenerateError::Died { detail: format!("it said nothing for {} s and was stopped", SILENCE.as_secs()), partial }
    }

    fn count_once(&mut self, text: &str) -> Result<usize, GenerateError> {
        let id = self.request(GenerateTask::Count { text: text.to_owned() })?;
        let started = Instant::now();
        while started.elapsed() < SILENCE {
            match self.receive(id) {
                Ok(Some(GenerateOutcome::Counted { tokens })) => return Ok(tokens as usize),
                Ok(Some(GenerateOutcome::Failed { detail })) => {
                    return Err(GenerateError::Load(detail));
                }
                Ok(_) => {}
                Err(err) => return Err(self.died(&err, String::new())),
            }
        }
        Err(self.hung(String::new()))
    }

    /// Tells the worker to stop; what it still sends is ignored.
    fn cancel(&mut self, id: u64) {
        let request = GenerateRequest { id, task: GenerateTask::Cancel };
        let sent = self.running.as_mut().map(|running| running.send(&request));
        if matches!(sent, Some(Err(_))) {
            self.running = None;
        }
    }
}

/// How a model was loaded.
struct Loaded {
    context_tokens: usize,
    /// The GPU that it runs on.
    device: Option<String>,
    /// What people should know of that.
    notes: Vec<String>,
}

/// How the model was loaded; `None` when cancelled.
fn wait_loaded(
    child: &mut Child,
    id: u64,
    model: &GeneratorModel,
    cancel: &CancelToken,
) -> Result<Option<Loaded>, GenerateError> {
    let started = Instant::now();
    while started.elapsed() < SILENCE {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let response =
            child.receive(POLL).map_err(|err| GenerateError::Load(format!("{} does not load: {err}", model.title)))?;
        match response.filter(|response| response.id == id).map(|response| response.outcome) {
            Some(GenerateOutcome::Loaded { context_tokens, device, notes }) => {
                return Ok(Some(Loaded { context_tokens: context_tokens as usize, device, notes }));
            }
            Some(GenerateOutcome::Failed { detail }) => {
                return Err(GenerateError::Load(format!("{detail}: {}", model.path.display())));
            }
            _ => {}
        }
    }
    Err(GenerateError::Load(format!("{} was not loaded within {} s", model.title, SILENCE.as_secs())))
}

impl Generator for LlamaGenerator {
    fn name(&self) -> &str {
        &self.model.name
    }

    fn context_tokens(&self) -> usize {
        self.context_tokens
    }

    fn is_loaded(&mut self) -> bool {
        self.running.as_mut().is_some_and(Child::is_running)
    }

    fn load(&mut self, cancel: &CancelToken) -> Result<(), GenerateError> {
        self.ensure_running(cancel)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn count_tokens(&mut self, text: &str) -> Result<usize, GenerateError> {
        let begun = Instant::now();
        match self.count_once(text) {
            // It may have died since the last question, which is no fault of this one.
            Err(GenerateError::Died { .. }) if begun.elapsed() < SILENCE => self.count_once(text),
            counted => counted,
        }
    }

    fn generate(
        &mut self,
        prompt: &ChatPrompt,
        max_tokens: usize,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
        cancel: &CancelToken,
    ) -> Result<Generation, GenerateError> {
        let id = self.request(GenerateTask::Generate {
            system: prompt.system.clone(),
            user: prompt.user.clone(),
            max_tokens: max_tokens as u32,
        })?;
        let mut generation = Generation::default();
        let mut heard = Instant::now();
        loop {
            if cancel.is_cancelled() {
                self.cancel(id);
                generation.stopped = Some(STOPPED.to_owned());
                return Ok(generation);
            }
            let outcome = match self.receive(id) {
                Ok(Some(outcome)) => outcome,
                Ok(None) if heard.elapsed() < SILENCE => continue,
                Ok(None) => return Err(self.hung(generation.text)),
                Err(err) => return Err(self.died(&err, generation.text)),
            };
            heard = Instant::now();
            match outcome {
                GenerateOutcome::Piece { text } => {
                    on_event(GenerateEvent::Piece(&text));
                    generation.text.push_str(&text);
                    generation.answer_tokens += 1;
                }
                GenerateOutcome::Reading { read_tokens, prompt_tokens } => on_event(GenerateEvent::Reading {
                    read_tokens: read_tokens as usize,
                    prompt_tokens: prompt_tokens as usize,
                }),
                other => return finish(generation, other),
            }
        }
    }
}

fn finish(mut generation: Generation, outcome: GenerateOutcome) -> Result<Generation, GenerateError> {
    match outcome {
        GenerateOutcome::Done { prompt_tokens, reused_tokens, answer_tokens, stopped } => {
            tracing::debug!(prompt_tokens, reused_tokens, answer_tokens, "answered");
            generation.prompt_tokens = prompt_tokens as usize;
            generation.answer_tokens = answer_tokens as usize;
            generation.stopped = stopped;
            Ok(generation)
        }
        GenerateOutcome::TooLong { prompt_tokens, room_tokens } => {
            Err(GenerateError::TooLong { prompt_tokens: prompt_tokens as usize, room_tokens: room_tokens as usize })
        }
        GenerateOutcome::Failed { detail } => Err(GenerateError::Died { detail, partial: generation.text }),
        other => {
            Err(GenerateError::Died { detail: format!("it answered out of turn: {other:?}"), partial: generation.text })
        }
    }
}
