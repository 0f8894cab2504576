//! Just enough HTTP/1.1 for a model server: one request, one response whose body comes piece by piece.
//!
//! Invariant: the server is not trusted. Every wait ends (cancel, silence), and nothing grows without a bound.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::progress::CancelToken;

/// How often the cancel token is looked at.
const POLL: Duration = Duration::from_millis(50);
const MAX_LINE_BYTES: usize = 1 << 20;
const MAX_HEADERS: usize = 128;

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For a connection.
    pub(super) connect: Duration,
    /// For the first byte of the response: the server may be loading a model.
    pub(super) first: Duration,
    /// Between two pieces.
    pub(super) silence: Duration,
}

/// Why there is no response, or no more of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HttpError {
    /// Nobody listens.
    #[error("no server answers there ({0}); start it, or check the address")]
    Refused(String),
    /// Nothing came for too long.
    #[error("it said nothing for {0} s")]
    Silent(u64),
    /// The connection ended in the middle.
    #[error("the connection ended in the middle ({0})")]
    Dropped(String),
    /// Not the protocol.
    #[error("what it says is not the protocol of a model server: {0}")]
    Malformed(String),
    /// The user stopped it.
    #[error("stopped")]
    Cancelled,
}

/// A response under way.
pub(super) struct Response<'a> {
    wire: Wire<'a>,
    /// Its status.
    pub(super) status: u16,
    body: Body,
    /// Of the body, not yet given out as a line.
    line: Vec<u8>,
}

enum Body {
    Chunked { left: u64 },
    Counted { left: u64 },
    ToTheEnd,
    Ended,
}

/// Sends a request with a JSON body (or none) and reads the head of the response.
pub(super) fn send<'a>(
    host: &str,
    head: &str,
    body: Option<&str>,
    patience: Patience,
    cancel: &'a CancelToken,
) -> Result<Response<'a>, HttpError> {
    let mut stream = connect(host, patience)?;
    let dropped = |err: std::io::Error| HttpError::Dropped(err.to_string());
    let body = body.unwrap_or_default();
    let request = format!(
        "{head} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: text/event-stream, \
         application/json\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n{body}",
        body.len(),
        authorization()
    );
    stream.set_write_timeout(Some(patience.silence)).map_err(dropped)?;
    stream.write_all(request.as_bytes()).map_err(dropped)?;
    stream.set_read_timeout(Some(POLL)).map_err(dropped)?;
    let wire = Wire { stream, held: Vec::new(), patience: patience.first, cancel };
    Response::begin(wire, patience.silence)
}

/// The key of a server that wants one, from the environment; it is never stored.
fn authorization() -> String {
    match std::env::var("OUTCROP_ENDPOINT_KEY") {
        Ok(key) if !key.is_empty() && !key.contains(['\r', '\n']) => format!("Authorization: Bearer {key}\r\n"),
        _ => String::new(),
    }
}

fn connect(host: &str, patience: Patience) -> Result<TcpStream, HttpError> {
    let refused = |err: std::io::Error| HttpError::Refused(err.to_string());
    let mut last = HttpError::Refused("the name is not known".to_owned());
    for address in host.to_socket_addrs().map_err(refused)? {
        match TcpStream::connect_timeout(&address, patience.connect) {
            Ok(stream) => return Ok(stream),
            Err(err) => last = refused(err),
        }
    }
    Err(last)
}

/// The connection with what was read and not yet used.
struct Wire<'a> {
    stream: TcpStream,
    held: Vec<u8>,
    patience: Duration,
    cancel: &'a CancelToken,
}

impl Wire<'_> {
    /// Reads more; false at the end.
    fn fill(&mut self) -> Result<bool, HttpError> {
        let begun = Instant::now();
        let mut buffer = [0; 16 << 10];
        loop {
            if self.cancel.is_cancelled() {
                return Err(HttpError::Cancelled);
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(read) => {
                    self.held.extend_from_slice(&buffer[..read]);
                    return Ok(true);
                }
                Err(err) if matches!(err.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if begun.elapsed() > self.patience {
                        return Err(HttpError::Silent(self.patience.as_secs()));
                    }
                }
                Err(err) if err.kind() == ErrorKind::Interrupted => {}
                Err(err) => return Err(HttpError::Dropped(err.to_string())),
            }
        }
    }

    /// A line of the head or between chunks.
    fn line(&mut self) -> Result<String, HttpError> {
        loop {
            if let Some(end) = self.held.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.held.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            if self.held.len() > MAX_LINE_BYTES {
                return Err(HttpError::Malformed("a line of the head has no end".to_owned()));
            }
            if !self.fill()? {
                return Err(HttpError::Dropped("before the body".to_owned()));
            }
        }
    }
}

impl<'a> Response<'a> {
    fn begin(mut wire: Wire<'a>, silence: Duration) -> Result<Self, HttpError> {
        let first = wire.line()?;
        wire.patience = silence;
        let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
        let shown: String = first.chars().take(60).collect();
        let status = status.ok_or_else(|| HttpError::Malformed(format!("it begins with {shown:?}")))?;
        let mut body = Body::ToTheEnd;
        for _ in 0..MAX_HEADERS {
            let line = wire.line()?.to_ascii_lowercase();
            let Some((name, value)) = line.split_once(':') else {
                return Ok(Self { wire, status, body, line: Vec::new() });
            };
            match (name, value.trim()) {
                ("transfer-encoding", "chunked") => body = Body::Chunked { left: 0 },
                ("content-length", value) if !matches!(body, Body::Chunked { .. }) => {
                    let left = value.parse().map_err(|_| HttpError::Malformed(format!("a length of {value:?}")))?;
                    body = Body::Counted { left };
                }
                _ => {}
            }
        }
        Err(HttpError::Malformed("its head has no end".to_owned()))
    }

    /// The next line of the body without its end; `None` after the last.
    pub(super) fn next_line(&mut self) -> Result<Option<String>, HttpError> {
        loop {
            if let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.line.drain(..=end).collect();
                return Ok(Some(String::from_utf8_lossy(&line).trim_end().to_owned()));
            }
            if self.line.len() > MAX_LINE_BYTES {
                return Err(HttpError::Malformed("a line has no end".to_owned()));
            }
            if !self.next_piece()? {
                let rest = std::mem::take(&mut self.line);
                return Ok((!rest.is_empty()).then(|| String::from_utf8_lossy(&rest).into_owned()));
            }
        }
    }

    /// The whole body, as far as it is not longer than a line may be.
    pub(super) fn text(mut self) -> Result<String, HttpError> {
        while self.line.len() <= MAX_LINE_BYTES && self.next_piece()? {}
        Ok(String::from_utf8_lossy(&self.line).into_owned())
    }

    /// Adds a piece of the body to `line`; false at its end.
    fn next_piece(&mut self) -> Result<bool, HttpError> {
        match self.body {
            Body::Ended | Body::Counted { left: 0 } => return Ok(false),
            Body::Chunked { left: 0 } => return self.next_chunk(),
            _ => {}
        }
        if self.wire.held.is_empty() && !self.wire.fill()? {
            return match self.body {
                Body::ToTheEnd => Ok(false),
                _ => Err(HttpError::Dropped("before its end".to_owned())),
            };
        }
        let here = self.wire.held.len();
        let take = match &mut self.body {
            Body::Chunked { left } | Body::Counted { left } => {
                let take = here.min(usize::try_from(*left).unwrap_or(here));
                *left -= take as u64;
                take
            }
            Body::ToTheEnd | Body::Ended => here,
        };
        self.line.extend(self.wire.held.drain(..take));
        Ok(true)
    }

    /// Reads the size of the next chunk.
    fn next_chunk(&mut self) -> Result<bool, HttpError> {
        let mut line = self.wire.line()?;
        if line.is_empty() {
            // The line end after the chunk before.
            line = self.wire.line()?;
        }
        let digits = line.split(';').next().unwrap_or_default().trim();
        let left = u64::from_str_radix(digits, 16).map_err(|_| {
            HttpError::Malformed(format!("a chunk of {:?} bytes", digits.chars().take(20).collect::<String>()))
        })?;
        self.body = if left == 0 { Body::Ended } else { Body::Chunked { left } };
        Ok(left > 0)
    }
}
