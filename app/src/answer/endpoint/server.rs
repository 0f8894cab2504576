//! A model server for tests that does what it is told to: speak, hang, drop the connection.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

/// What the server does next.
pub(super) enum Move {
    /// Sends this.
    Say(String),
    /// Stays silent, with the connection open.
    Hang,
    /// Closes the connection.
    Drop,
}

/// A running server.
pub(super) struct Served {
    /// Its host and port.
    pub(super) host: String,
    requests: Receiver<String>,
}

impl Served {
    /// The requests that came so far.
    pub(super) fn requests(&self) -> Vec<String> {
        let mut found = Vec::new();
        while let Ok(request) = self.requests.recv_timeout(Duration::from_secs(2)) {
            found.push(request);
        }
        found
    }
}

/// Serves one connection for each list of moves.
pub(super) fn serve(connections: Vec<Vec<Move>>) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|err| panic!("no port: {err}"));
    let host = listener.local_addr().map(|address| address.to_string()).unwrap_or_default();
    let (sender, requests) = sync_channel(connections.len());
    let run = move || {
        for moves in connections {
            let Ok((mut stream, _)) = listener.accept() else {
                return;
            };
            let request = read_request(&mut stream);
            if sender.send(request).is_err() {
                return;
            }
            perform(&mut stream, moves);
        }
    };
    thread::Builder::new().name("model-server".to_owned()).spawn(run).unwrap_or_else(|err| panic!("no thread: {err}"));
    Served { host, requests }
}

/// Head and body of a request.
fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return text,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}

fn perform(stream: &mut TcpStream, moves: Vec<Move>) {
    for next in moves {
        match next {
            Move::Say(text) => {
                // The client may have gone, which is what some tests are about.
                let _ = stream.write_all(text.as_bytes());
                let _ = stream.flush();
                thread::sleep(Duration::from_millis(20));
            }
            Move::Hang => thread::sleep(Duration::from_secs(2)),
            Move::Drop => return,
        }
    }
}
