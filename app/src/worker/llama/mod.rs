//! The generate worker's llama.cpp side: [`serve_generate`].
//!
//! `offload` chooses GPU or CPU, `model` loads, `turn` makes tokens of a chat, `answer` runs it, `utf8` and `repeat` look after what comes out.

mod answer;
mod model;
mod offload;
mod repeat;
mod turn;
mod utf8;

use std::process::ExitCode;

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::{LogOptions, send_logs_to_tracing};

use super::generate::{GENERATE_VERB, GenerateOutcome, GenerateRequest, GenerateResponse, GenerateTask};
use super::protocol::FrameError;
use super::serve::Service;

type Conversation = Service<GenerateRequest, GenerateResponse>;

/// Serves `outcrop worker generate` until the host closes the pipe.
pub fn serve_generate() -> ExitCode {
    send_logs_to_tracing(LogOptions::default());
    let served = LlamaBackend::init()
        .map_err(|err| FrameError::Malformed(err.to_string()))
        .and_then(|backend| serve_requests(&backend));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("the conversation with the host ended: {err}");
            ExitCode::FAILURE
        }
    }
}

fn serve_requests(backend: &LlamaBackend) -> Result<(), FrameError> {
    let mut service = Conversation::start(GENERATE_VERB)?;
    let mut waiting = service.next_request();
    while let Some(request) = waiting {
        waiting = match request.task {
            GenerateTask::Load { path, threads, context_tokens, gpu_bytes } => {
                let options = model::LoadOptions { path, threads, context_tokens, gpu_bytes };
                model::serve(backend, &options, request.id, &mut service)?
            }
            GenerateTask::Cancel => service.next_request(),
            GenerateTask::Count { .. } | GenerateTask::Generate { .. } => {
                respond(&mut service, request.id, failed("no model is loaded"))?;
                service.next_request()
            }
        };
    }
    Ok(())
}

fn respond(service: &mut Conversation, id: u64, outcome: GenerateOutcome) -> Result<(), FrameError> {
    service.send(&GenerateResponse { id, outcome })
}

fn failed(detail: impl Into<String>) -> GenerateOutcome {
    GenerateOutcome::Failed { detail: detail.into() }
}
