//! Answers of servers that behave and of those that do not.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

use std::time::Instant;

use super::*;
use crate::http::Trust;
use crate::http::server::{Identity, Move, serve, serve_encrypted};

fn event(text: &str, finish: Option<&str>) -> String {
    format!("data: {}\n\n", json!({ "choices": [{ "delta": { "content": text }, "finish_reason": finish }] }))
}

fn head(kind: &str) -> Move {
    Move::Say(format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{kind}\r\n"))
}

/// The outcome of a question put to a server that makes these moves.
fn ask(moves: Vec<Move>, cancel: &CancelToken) -> (Result<Generation, GenerateError>, String) {
    let served = serve(vec![moves]);
    let mut generator = EndpointGenerator::new(&format!("http://{}#tiny", served.host)).unwrap();
    generator.patience = Patience {
        connect: Duration::from_secs(2),
        first: Duration::from_millis(400),
        silence: Duration::from_millis(400),
    };
    let prompt = ChatPrompt { system: "Be kind.".to_owned(), user: "Why?".to_owned() };
    let mut streamed = String::new();
    let outcome = generator.generate(&prompt, 20, &mut |event| streamed.push_str(event.text()), cancel);
    (outcome, streamed)
}

#[test]
fn a_stream_is_passed_on_piece_by_piece() {
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let (one, two) = (event("Grüß", None), event(" Gott.", Some("stop")));
    let (left, right) = one.split_at(one.find('r').unwrap());
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n";
    let moves = vec![
        head("Transfer-Encoding: chunked\r\n"),
        Move::Say(chunk(left)),
        Move::Say(chunk(right)),
        Move::Say(chunk(&two)),
        Move::Say(chunk(usage) + "0\r\n\r\n"),
    ];
    let (outcome, streamed) = ask(moves, &CancelToken::new());
    let generation = outcome.unwrap();
    assert_eq!((streamed.as_str(), generation.text.as_str()), ("Grüß Gott.", "Grüß Gott."));
    assert_eq!((generation.prompt_tokens, generation.answer_tokens, generation.stopped), (7, 3, None));
}

#[test]
fn a_server_that_does_not_stream_is_understood() {
    let body = json!({ "choices": [{ "message": { "content": "Yes." }, "finish_reason": "length" }] }).to_string();
    let moves = vec![head(&format!("Content-Length: {}\r\n", body.len())), Move::Say(body)];
    let generation = ask(moves, &CancelToken::new()).0.unwrap();
    assert_eq!(generation.text, "Yes.");
    assert!(generation.stopped.unwrap().contains("limit"));
}

#[test]
fn a_server_that_hangs_is_given_up() {
    let (outcome, _) = ask(vec![Move::Hang], &CancelToken::new());
    assert!(matches!(&outcome, Err(GenerateError::Load(detail)) if detail.contains("said nothing")), "{outcome:?}");
    let (outcome, streamed) = ask(vec![head(""), Move::Say(event("Half", None)), Move::Hang], &CancelToken::new());
    assert!(matches!(&outcome, Err(GenerateError::BrokeOff { partial, .. }) if partial == "Half"), "{outcome:?}");
    assert_eq!(streamed, "Half");
}

#[test]
fn a_connection_that_drops_keeps_what_was_said() {
    let (outcome, _) = ask(vec![Move::Drop], &CancelToken::new());
    assert!(matches!(&outcome, Err(GenerateError::Load(detail)) if detail.contains("ended")), "{outcome:?}");
    let (outcome, _) = ask(vec![head(""), Move::Say(event("Half", None)), Move::Drop], &CancelToken::new());
    assert!(matches!(&outcome, Err(GenerateError::BrokeOff { partial, .. }) if partial == "Half"), "{outcome:?}");
}

#[test]
fn rubbish_is_named_as_such() {
    for rubbish in
        ["SSH-2.0-OpenSSH\r\n", "HTTP/1.1 abc\r\n\r\n", "\u{0}\u{1}\u{2}\n", "HTTP/1.1 200 OK\r\n\r\n<html>\n"]
    {
        let (outcome, _) = ask(vec![Move::Say(rubbish.to_owned()), Move::Drop], &CancelToken::new());
        let is_named = matches!(&outcome, Err(GenerateError::Load(detail)) if detail.contains("not the protocol"));
        assert!(is_named, "{rubbish:?}: {outcome:?}");
    }
    let endless = "x".repeat(3 << 20);
    let (outcome, _) = ask(vec![head(""), Move::Say(format!("data: {endless}"))], &CancelToken::new());
    assert!(outcome.is_err());
    let (outcome, _) = ask(
        vec![head(""), Move::Say("data: {\"error\":{\"message\":\"out of memory\"}}\n".to_owned())],
        &CancelToken::new(),
    );
    assert!(outcome.unwrap_err().to_string().contains("out of memory"));
}

#[test]
fn a_refusal_of_the_server_is_passed_on() {
    let body = "{\"error\":{\"message\":\"model 'tiny' not found\"}}";
    let head = format!("HTTP/1.1 404 Not Found\r\nContent-Length: {}\r\n\r\n", body.len());
    let (outcome, _) = ask(vec![Move::Say(head + body)], &CancelToken::new());
    let said = outcome.unwrap_err().to_string();
    assert!(said.contains("404") && said.contains("model 'tiny' not found"), "{said}");
}

#[test]
fn an_encrypted_server_answers_those_who_trust_it_alone() {
    let identity = Identity::new(&["127.0.0.1"], 2200);
    let answer = || vec![head(""), Move::Say(event("Yes.", Some("stop"))), Move::Drop];
    let served = serve_encrypted(vec![answer(), answer()], &identity);
    let mut generator = EndpointGenerator::new(&format!("https://{}#tiny", served.host)).unwrap();
    let prompt = ChatPrompt { system: String::new(), user: String::new() };
    generator.address.server.trust = Trust::Only(Identity::new(&["127.0.0.1"], 2200).authority);
    let err = generator.generate(&prompt, 9, &mut |_| (), &CancelToken::new()).unwrap_err().to_string();
    assert!(err.contains("https://127.0.0.1:") && err.contains("signed by nobody"), "{err}");
    generator.address.server.trust = Trust::Only(identity.authority.clone());
    assert_eq!(generator.generate(&prompt, 9, &mut |_| (), &CancelToken::new()).unwrap().text, "Yes.");
    assert_eq!(served.requests().len(), 1, "only the second question was put to it");
}

#[test]
fn a_stop_comes_back_at_once() {
    let cancel = CancelToken::new();
    let canceller = cancel.clone();
    let stop = std::thread::Builder::new().name("stop".to_owned()).spawn(move || {
        std::thread::sleep(Duration::from_millis(150));
        canceller.cancel();
        Instant::now()
    });
    let (outcome, _) = ask(vec![head(""), Move::Say(event("Half", None)), Move::Hang], &cancel);
    let stopped_at = stop.unwrap().join().unwrap();
    assert!(stopped_at.elapsed() < Duration::from_millis(200), "{:?}", stopped_at.elapsed());
    let generation = outcome.unwrap();
    assert_eq!((generation.text.as_str(), generation.stopped.as_deref()), ("Half", Some("stopped")));
}

#[test]
fn where_nobody_listens_the_address_is_named() {
    let mut generator = EndpointGenerator::new("http://127.0.0.1:9/v1#x").unwrap();
    let prompt = ChatPrompt { system: String::new(), user: String::new() };
    let err = generator.generate(&prompt, 1, &mut |_| (), &CancelToken::new()).unwrap_err().to_string();
    assert!(err.contains("http://127.0.0.1:9/v1") && err.contains("start it"), "{err}");
}

#[test]
fn without_a_name_the_first_model_answers() {
    let list = "{\"data\":[{\"id\":\"first\"},{\"id\":\"second\"}]}";
    let models = vec![Move::Say(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{list}", list.len()))];
    let answer = vec![head(""), Move::Say(event("Yes.", Some("stop"))), Move::Drop];
    let served = serve(vec![models, answer]);
    let mut generator = EndpointGenerator::new(&format!("http://{}", served.host)).unwrap();
    let prompt = ChatPrompt { system: String::new(), user: String::new() };
    assert_eq!(generator.generate(&prompt, 9, &mut |_| (), &CancelToken::new()).unwrap().text, "Yes.");
    let requests = served.requests();
    assert!(requests[0].starts_with("GET /v1/models") && requests[1].contains("\"model\":\"first\""), "{requests:?}");
}
