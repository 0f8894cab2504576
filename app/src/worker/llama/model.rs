//! A loaded model and the requests it serves.

use std::num::NonZeroU32;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::list_llama_ggml_backend_devices;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::{LlamaModelParams, LlamaSplitMode};

use super::answer::Answering;
use super::offload::{self, Gpu};
use super::turn::ChatFrame;
use super::{Conversation, failed, respond};
use crate::worker::generate::{GenerateOutcome, GenerateRequest, GenerateTask};
use crate::worker::protocol::FrameError;

/// Prompt tokens of one forward pass. A cancel is seen between passes.
pub(super) const BATCH_TOKENS: usize = 64;

/// What to load, and how to run it.
pub(super) struct LoadOptions {
    pub(super) path: String,
    pub(super) threads: u32,
    pub(super) context_tokens: u32,
    /// Memory that it takes on a GPU; `None` keeps it on the CPU.
    pub(super) gpu_bytes: Option<u64>,
}

/// More layers than any model has: all of them.
const ALL_LAYERS: u32 = 9999;
/// llama.cpp's number for no GPU.
const NO_GPU: i32 = -1;

/// Loads a model and serves requests until the next load, which it gives back, or the end.
pub(super) fn serve(
    backend: &LlamaBackend,
    options: &LoadOptions,
    id: u64,
    service: &mut Conversation,
) -> Result<Option<GenerateRequest>, FrameError> {
    let mut note = None;
    if let Some(needed_bytes) = options.gpu_bytes.filter(|_| backend.supports_gpu_offload()) {
        match offload::choose(&list_llama_ggml_backend_devices(), needed_bytes) {
            Ok(None) => {}
            Ok(Some(gpu)) => match serve_on(backend, options, Some(&gpu), None, id, service)? {
                Ok(next) => return Ok(next),
                Err(detail) => note = Some(format!("the model runs on the CPU: on {} {detail}", gpu.name)),
            },
            Err(detail) => note = Some(detail),
        }
    }
    match serve_on(backend, options, None, note, id, service)? {
        Ok(next) => Ok(next),
        Err(detail) => {
            respond(service, id, failed(detail))?;
            Ok(service.next_request())
        }
    }
}

/// Loads a model on a GPU, or on the CPU alone, and serves it; the error inside says why it could not be loaded.
fn serve_on(
    backend: &LlamaBackend,
    options: &LoadOptions,
    gpu: Option<&Gpu>,
    note: Option<String>,
    id: u64,
    service: &mut Conversation,
) -> Result<Result<Option<GenerateRequest>, String>, FrameError> {
    let params = match gpu {
        Some(gpu) => LlamaModelParams::default().with_n_gpu_layers(ALL_LAYERS).with_devices(&[gpu.index]),
        // No device at all: even without layers on it, a GPU that is there would get buffers.
        None => Ok(LlamaModelParams::default()
            .with_n_gpu_layers(0)
            .with_split_mode(LlamaSplitMode::None)
            .with_main_gpu(NO_GPU)),
    };
    let params = match params {
        Ok(params) => params,
        Err(err) => return Ok(Err(format!("llama.cpp does not take the device: {err}"))),
    };
    let model = match LlamaModel::load_from_file(backend, &options.path, &params) {
        Ok(model) => model,
        Err(err) => return Ok(Err(format!("llama.cpp does not load it: {err}"))),
    };
    let context = match new_context(backend, &model, options, gpu.is_some()) {
        Ok(context) => context,
        Err(detail) => return Ok(Err(detail)),
    };
    let (frame, frame_note) = match ChatFrame::of(&model) {
        Ok(found) => found,
        Err(detail) => return Ok(Err(detail)),
    };
    let context_tokens = context.n_ctx();
    let device = gpu.map(|gpu| gpu.name.clone());
    let notes = note.into_iter().chain(frame_note).collect();
    respond(service, id, GenerateOutcome::Loaded { context_tokens, device, notes })?;
    serve_loaded(Answering::new(&model, context, frame), &model, service).map(Ok)
}

fn new_context<'a>(
    backend: &LlamaBackend,
    model: &'a LlamaModel,
    options: &LoadOptions,
    on_gpu: bool,
) -> Result<LlamaContext<'a>, String> {
    let wanted = options.context_tokens.min(model.n_ctx_train()).max(64);
    let threads = options.threads.max(1) as i32;
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(wanted))
        .with_n_batch(BATCH_TOKENS as u32)
        .with_n_ubatch(BATCH_TOKENS as u32)
        .with_op_offload(on_gpu)
        .with_offload_kqv(on_gpu)
        .with_n_threads(threads)
        .with_n_threads_batch(threads);
    model.new_context(backend, params).map_err(|err| format!("llama.cpp makes no context of {wanted} tokens: {err}"))
}

fn serve_loaded(
    mut answering: Answering<'_>,
    model: &LlamaModel,
    service: &mut Conversation,
) -> Result<Option<GenerateRequest>, FrameError> {
    while let Some(request) = service.next_request() {
        let outcome = match &request.task {
            GenerateTask::Load { .. } => return Ok(Some(request)),
            GenerateTask::Cancel => continue,
            GenerateTask::Count { text } => {
                let tokens = model.vocab().tokenize(text.as_bytes(), false, false);
                GenerateOutcome::Counted { tokens: tokens.len() as u32 }
            }
            GenerateTask::Generate { system, user, max_tokens } => {
                answering.answer(request.id, (system, user), *max_tokens, service)?
            }
        };
        respond(service, request.id, outcome)?;
    }
    Ok(None)
}
