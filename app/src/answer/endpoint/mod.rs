//! [`EndpointGenerator`]: a model behind an OpenAI-compatible address that the user typed: llama.cpp's server, Ollama,
//! LM Studio, vLLM and the like.
//!
//! Invariant: nothing is sent anywhere unless the user named the address. Everything else works without it.

mod address;
mod events;

pub use address::Address;

use std::time::Duration;

use serde_json::{Value, json};

use self::events::read;
use super::{ChatPrompt, GenerateError, GenerateEvent, Generation, Generator};
use crate::http::{HttpError, Patience, Request, Response, send};
use crate::progress::CancelToken;
use crate::secrets::ENDPOINT_KEY_ENV;

const PATIENCE: Patience =
    Patience { connect: Duration::from_secs(5), first: Duration::from_secs(120), silence: Duration::from_secs(60) };
/// Prompt and answer together; what servers serve by default, and enough for the prompt's share.
const CONTEXT_TOKENS: usize = 4096;
/// Bytes that stand for a token where nobody counts: too many tokens rather than too few.
const BYTES_PER_TOKEN: usize = 3;

/// A model behind an address.
pub struct EndpointGenerator {
    name: String,
    address: Address,
    patience: Patience,
}

impl EndpointGenerator {
    /// For an address as people type it; nothing is sent yet.
    ///
    /// # Errors
    /// It is no address.
    pub fn new(text: &str) -> Result<Self, GenerateError> {
        let address = Address::parse(text).map_err(GenerateError::Load)?;
        Ok(Self { name: text.trim().to_owned(), address, patience: PATIENCE })
    }

    fn failed(&self, err: &HttpError) -> GenerateError {
        GenerateError::Load(self.said(err))
    }

    /// What went wrong, with the server that it went wrong at.
    fn said(&self, err: &HttpError) -> String {
        format!("the model server at {}: {err}", self.address.url())
    }

    fn send<'a>(&self, line: &str, body: &str, cancel: &'a CancelToken) -> Result<Response<'a>, HttpError> {
        let headers = format!(
            "Content-Type: application/json\r\nAccept: text/event-stream, application/json\r\n{}",
            authorization()
        );
        send(&self.address.server, Request { line, headers: &headers, body }, self.patience, cancel)
    }

    /// The model of the address, or the server's first one.
    fn model(&self, cancel: &CancelToken) -> Result<String, GenerateError> {
        if let Some(model) = &self.address.model {
            return Ok(model.clone());
        }
        let head = format!("GET {}/models", self.address.prefix);
        let response = self.send(&head, "", cancel).map_err(|err| self.failed(&err))?;
        let list = self.expect_ok(response)?.text().map_err(|err| self.failed(&err))?;
        let list: Value = serde_json::from_str(&list)
            .map_err(|err| self.failed(&HttpError::Malformed(format!("the list of models: {err}"))))?;
        let first = list["data"][0]["id"].as_str().map(str::to_owned);
        first.ok_or_else(|| {
            self.failed(&HttpError::Malformed("it lists no model; add #MODEL to the address".to_owned()))
        })
    }

    fn expect_ok<'r>(&self, response: Response<'r>) -> Result<Response<'r>, GenerateError> {
        let status = response.status;
        if status == 200 {
            return Ok(response);
        }
        let body = response.text().unwrap_or_default();
        let said = serde_json::from_str::<Value>(&body).ok();
        let said = said.as_ref().and_then(|said| {
            let error = &said["error"];
            error.as_str().or_else(|| error["message"].as_str()).map(str::to_owned)
        });
        let said: String = said.unwrap_or(body).chars().take(300).collect();
        let url = self.address.url();
        Err(GenerateError::Load(format!("the model server at {url} refused with status {status}: {}", said.trim())))
    }
}

/// The key of a server that wants one, from the environment; it is never stored.
fn authorization() -> String {
    match std::env::var(ENDPOINT_KEY_ENV) {
        Ok(key) if !key.is_empty() && !key.contains(['\r', '\n']) => format!("Authorization: Bearer {key}\r\n"),
        _ => String::new(),
    }
}

/// The body of a request.
fn request(prompt: &ChatPrompt, model: &str, max_tokens: usize) -> String {
    json!({
        "model": model,
        "messages": [
            { "role": "system", "content": prompt.system },
            { "role": "user", "content": prompt.user },
        ],
        "temperature": 0,
        "max_tokens": max_tokens,
        "stream": true,
        "stream_options": { "include_usage": true },
    })
    .to_string()
}

impl Generator for EndpointGenerator {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_tokens(&self) -> usize {
        CONTEXT_TOKENS
    }

    fn count_tokens(&mut self, text: &str) -> Result<usize, GenerateError> {
        Ok(text.len().div_ceil(BYTES_PER_TOKEN))
    }

    fn generate(
        &mut self,
        prompt: &ChatPrompt,
        max_tokens: usize,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
        cancel: &CancelToken,
    ) -> Result<Generation, GenerateError> {
        let stopped = || Generation { stopped: Some("stopped".to_owned()), ..Generation::default() };
        let model = match self.model(cancel) {
            Ok(model) => model,
            Err(_) if cancel.is_cancelled() => return Ok(stopped()),
            Err(err) => return Err(err),
        };
        let head = format!("POST {}/chat/completions", self.address.prefix);
        let body = request(prompt, &model, max_tokens);
        let response = match self.send(&head, &body, cancel) {
            Ok(response) => self.expect_ok(response)?,
            Err(HttpError::Cancelled) => return Ok(stopped()),
            Err(err) => return Err(self.failed(&err)),
        };
        let mut generation = Generation::default();
        match read(response, &mut generation, on_event) {
            Ok(()) => Ok(generation),
            Err(HttpError::Cancelled) => {
                generation.stopped = Some("stopped".to_owned());
                Ok(generation)
            }
            Err(err) if generation.text.is_empty() => Err(self.failed(&err)),
            Err(err) => Err(GenerateError::BrokeOff { detail: self.said(&err), partial: generation.text }),
        }
    }
}

#[cfg(test)]
mod tests;
