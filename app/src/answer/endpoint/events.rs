//! What a model server says: server-sent events of JSON, or one JSON value.

use serde_json::Value;

use crate::answer::{GenerateEvent, Generation};
use crate::http::{HttpError, Response};

/// Takes the response in: events, or one whole JSON value from servers that do not stream.
pub(super) fn read(
    mut response: Response<'_>,
    generation: &mut Generation,
    on_event: &mut dyn FnMut(GenerateEvent<'_>),
) -> Result<(), HttpError> {
    let mut ended = false;
    loop {
        let line = match response.next_line() {
            // What ended by its own word is whole, however the connection ends.
            Err(HttpError::Dropped(_)) if ended => None,
            line => line?,
        };
        let Some(line) = line else { break };
        let data = match line.strip_prefix("data:") {
            Some(data) => data.trim(),
            None if line.starts_with('{') => line.trim(),
            // Comments, names of events, and the blank lines between them.
            None if line.is_empty() || line.starts_with(':') || line.starts_with("event:") => continue,
            None => return Err(HttpError::Malformed(format!("{:?}", line.chars().take(60).collect::<String>()))),
        };
        if data == "[DONE]" {
            return Ok(());
        }
        let event: Value = serde_json::from_str(data).map_err(|err| HttpError::Malformed(err.to_string()))?;
        ended |= take_in(&event, generation, on_event)?;
    }
    if ended { Ok(()) } else { Err(HttpError::Dropped("before the answer's end".to_owned())) }
}

/// Takes one event in; true when it says that the answer has ended.
fn take_in(
    event: &Value,
    generation: &mut Generation,
    on_event: &mut dyn FnMut(GenerateEvent<'_>),
) -> Result<bool, HttpError> {
    if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
        let said = error.as_str().or_else(|| error["message"].as_str()).unwrap_or("an error without a message");
        return Err(HttpError::Malformed(said.chars().take(300).collect()));
    }
    let choice = &event["choices"][0];
    let piece = choice["delta"]["content"].as_str().or_else(|| choice["message"]["content"].as_str());
    if let Some(piece) = piece.filter(|piece| !piece.is_empty()) {
        on_event(GenerateEvent::Piece(piece));
        generation.text.push_str(piece);
        generation.answer_tokens += 1;
    }
    let count = |name: &str| event["usage"][name].as_u64().map(|count| count as usize);
    generation.prompt_tokens = count("prompt_tokens").unwrap_or(generation.prompt_tokens);
    generation.answer_tokens = count("completion_tokens").unwrap_or(generation.answer_tokens);
    if choice["finish_reason"].as_str() == Some("length") {
        generation.stopped = Some("the answer reached its limit of tokens".to_owned());
    }
    Ok(choice["finish_reason"].is_string())
}
