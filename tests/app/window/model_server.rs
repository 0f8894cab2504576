//! A model server on this machine that says what it is told to, as an OpenAI-compatible one would.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A running server; every question gets the same answer.
pub(crate) struct ModelServer {
    port: u16,
    hangs: Arc<AtomicBool>,
}

impl ModelServer {
    /// Says `pieces`, one event each.
    pub(crate) fn saying(pieces: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let events: Vec<String> = pieces.iter().map(|piece| event(piece)).collect();
        let hangs = Arc::new(AtomicBool::new(false));
        let hanging = Arc::clone(&hangs);
        let serve = move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), &events, &hanging);
            }
        };
        thread::Builder::new().name("model-server".to_owned()).spawn(serve).unwrap();
        Self { port, hangs }
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
    let mut request = [0; 8192];
    // The question does not matter; it has arrived whole when the first part of it has.
    let _ = stream.read(&mut request);
    let mut say = |text: &str| {
        // The window may have hung up, which is what some tests are about.
        let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
        thread::sleep(Duration::from_millis(10));
    };
    say("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    for event in events {
        say(event);
    }
    while hangs.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(50));
    }
    say("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
}
