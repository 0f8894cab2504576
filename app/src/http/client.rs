//! The client: one request goes out, the head of its response comes back, and then its body piece by piece.

use std::time::Duration;

use super::Trust;
use super::stream::Stream;
use crate::progress::CancelToken;

const MAX_LINE_BYTES: usize = 1 << 20;
const MAX_HEADERS: usize = 128;
const MAX_HEAD_BYTES: usize = 256 << 10;

/// Where to send a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    /// Host and port, as in a `Host` header.
    pub(crate) host: String,
    /// Whether the connection goes through TLS.
    pub(crate) is_encrypted: bool,
    /// Whose certificates are believed.
    pub(crate) trust: Trust,
}

impl Server {
    /// The host without its port, and without the brackets of an IPv6 address.
    pub(super) fn name(&self) -> &str {
        let name = self.host.rsplit_once(':').map_or(self.host.as_str(), |(name, _)| name);
        name.trim_start_matches('[').trim_end_matches(']')
    }

    /// What a `Host` header says: the usual port is left out, because signed addresses are signed without it.
    pub(super) fn host_header(&self) -> &str {
        let usual = if self.is_encrypted { ":443" } else { ":80" };
        self.host.strip_suffix(usual).unwrap_or(&self.host)
    }
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// Method and path, such as `GET /v1/models`.
    pub(crate) line: &'a str,
    /// Headers beside those that every request has: whole lines, each with its line end.
    pub(crate) headers: &'a str,
    /// The body; empty for none.
    pub(crate) body: &'a str,
}

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// For a connection.
    pub(crate) connect: Duration,
    /// For the first byte of the response: the server may be loading a model.
    pub(crate) first: Duration,
    /// Between two pieces.
    pub(crate) silence: Duration,
}

/// Why there is no response, or no more of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HttpError {
    /// Nobody listens.
    #[error("no server answers there ({0}); start it, or check the address")]
    Refused(String),
    /// Nothing came for too long.
    #[error("it said nothing for {0} s")]
    Silent(u64),
    /// The connection ended in the middle.
    #[error("the connection ended in the middle ({0})")]
    Dropped(String),
    /// The encryption, or the certificate.
    #[error("the connection is not safe: {0}")]
    Unsafe(String),
    /// Not the protocol.
    #[error("what it says is not the protocol: {0}")]
    Malformed(String),
    /// The user stopped it.
    #[error("stopped")]
    Cancelled,
}

/// A response under way.
pub(crate) struct Response<'a> {
    wire: Wire<'a>,
    /// Its status.
    pub(crate) status: u16,
    /// Its headers, with their names in lower case.
    headers: Vec<(String, String)>,
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

impl Body {
    /// How the end of the body is found.
    fn new(headers: &[(String, String)]) -> Result<Self, HttpError> {
        if find(headers, "transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            return Ok(Self::Chunked { left: 0 });
        }
        let Some(value) = find(headers, "content-length") else {
            return Ok(Self::ToTheEnd);
        };
        let left = value.parse().map_err(|_| HttpError::Malformed(format!("a length of {value:?}")))?;
        Ok(Self::Counted { left })
    }
}

fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
}

/// Sends a request and reads the head of the response.
pub(crate) fn send<'a>(
    server: &Server,
    request: Request<'_>,
    patience: Patience,
    cancel: &'a CancelToken,
) -> Result<Response<'a>, HttpError> {
    let mut stream = Stream::connect(server, patience, cancel)?;
    let Request { line, headers, body } = request;
    let length = if line.starts_with("GET ") { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let request = format!(
        "{line} HTTP/1.1\r\nHost: {}\r\n{length}Connection: close\r\n{headers}\r\n{body}",
        server.host_header(),
    );
    stream.write_all(request.as_bytes(), patience.silence, cancel)?;
    let wire = Wire { stream, held: Vec::new(), patience: patience.first, cancel };
    Response::begin(wire, patience.silence)
}

/// The connection with what was read and not yet used.
struct Wire<'a> {
    stream: Stream,
    held: Vec<u8>,
    patience: Duration,
    cancel: &'a CancelToken,
}

impl Wire<'_> {
    /// Reads more; false at the end.
    fn fill(&mut self) -> Result<bool, HttpError> {
        let mut buffer = [0; 16 << 10];
        let read = self.stream.read(&mut buffer, self.patience, self.cancel)?;
        self.held.extend_from_slice(&buffer[..read]);
        Ok(read > 0)
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
        let mut headers = Vec::new();
        let mut head_bytes = first.len();
        while headers.len() < MAX_HEADERS && head_bytes <= MAX_HEAD_BYTES {
            let line = wire.line()?;
            head_bytes += line.len();
            let Some((name, value)) = line.split_once(':') else {
                let body = Body::new(&headers)?;
                return Ok(Self { wire, status, headers, body, line: Vec::new() });
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Err(HttpError::Malformed("its head has no end".to_owned()))
    }

    /// The value of the first header of that name, which is in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// Bytes of the whole body, where the head says so.
    pub(crate) fn length(&self) -> Option<u64> {
        match self.body {
            Body::Counted { .. } => self.header("content-length")?.parse().ok(),
            _ => None,
        }
    }

    /// Whether the body has ended for sure: the end of a connection may also be a loss.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.body, Body::Ended | Body::Counted { left: 0 })
    }

    /// The next bytes of the body; `None` after the last.
    pub(crate) fn piece(&mut self) -> Result<Option<Vec<u8>>, HttpError> {
        while self.next_piece()? {
            if !self.line.is_empty() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
        Ok(None)
    }

    /// The next line of the body without its end; `None` after the last.
    pub(crate) fn next_line(&mut self) -> Result<Option<String>, HttpError> {
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
    pub(crate) fn text(mut self) -> Result<String, HttpError> {
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
