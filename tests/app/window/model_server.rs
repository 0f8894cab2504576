//! A model server on this machine that says what it is told to, as an OpenAI-compatible one would.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

/// What a server does in place of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// It takes the question and says nothing.
    Hang,
    /// It closes the connection after so many pieces.
    Drop(usize),
    /// It sends this.
    Say(&'static str),
    /// It sends this after the first piece.
    SayThen(&'static str),
}

/// A running server; every question gets the same answer.
pub(crate) struct ModelServer {
    port: u16,
    hangs: Arc<AtomicBool>,
    faults: Arc<Mutex<VecDeque<Fault>>>,
}

impl ModelServer {
    /// Says `pieces`, one event each.
    pub(crate) fn saying(pieces: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let events: Vec<String> = pieces.iter().map(|piece| event(piece)).collect();
        let hangs = Arc::new(AtomicBool::new(false));
        let hanging = Arc::clone(&hangs);
        let faults: Arc<Mutex<VecDeque<Fault>>> = Arc::default();
        let next_fault = Arc::clone(&faults);
        let serve = move || {
            for stream in listener.incoming() {
                let fault = next_fault.lock().unwrap().pop_front();
                match fault {
                    None => answer(stream.unwrap(), &events, &hanging),
                    Some(fault) => fail(stream.unwrap(), fault, &events),
                }
            }
        };
        thread::Builder::new().name("model-server".to_owned()).spawn(serve).unwrap();
        Self { port, hangs, faults }
    }

    /// The next question that has none yet meets this fault.
    pub(crate) fn failing(&self, fault: Fault) {
        self.faults.lock().unwrap().push_back(fault);
    }

    /// Never ends its answer.
    pub(crate) fn then_hanging(self) -> Self {
        self.hangs.store(true, Ordering::SeqCst);
        self
    }

    /// The name to choose it by.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/v1#test", self.port)
    }
}

fn event(piece: &str) -> String {
    let event = serde_json::json!({ "choices": [{ "delta": { "content": piece } }] });
    format!("data: {event}\n\n")
}

fn answer(mut stream: TcpStream, events: &[String], hangs: &AtomicBool) {
    listen(&mut stream);
    say(&mut stream, HEAD);
    for event in events {
        say(&mut stream, event);
    }
    while hangs.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(50));
    }
    say(&mut stream, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
}

fn fail(mut stream: TcpStream, fault: Fault, events: &[String]) {
    listen(&mut stream);
    match fault {
        // Until the window hangs up.
        Fault::Hang => while stream.read(&mut [0; 64]).is_ok_and(|read| read > 0) {},
        Fault::Drop(after) => {
            say(&mut stream, HEAD);
            events.iter().take(after).for_each(|event| say(&mut stream, event));
        }
        Fault::Say(text) => say(&mut stream, text),
        Fault::SayThen(text) => {
            say(&mut stream, HEAD);
            events.iter().take(1).for_each(|event| say(&mut stream, event));
            say(&mut stream, text);
        }
    }
}

/// Takes the question, which does not matter: its head, and as much of its body as the head says.
fn listen(stream: &mut TcpStream) {
    let mut request = Vec::new();
    let mut part = [0; 8192];
    loop {
        let text = String::from_utf8_lossy(&request);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return;
            }
        }
        match stream.read(&mut part) {
            Ok(read) if read > 0 => request.extend_from_slice(&part[..read]),
            _ => return,
        }
    }
}

fn say(stream: &mut TcpStream, text: &str) {
    // The window may have hung up, which is what some tests are about.
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    thread::sleep(Duration::from_millis(10));
}
