//! [`Stream`]: a connection, plain or encrypted, each of whose waits ends: the cancel token is looked at all the time.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};

use super::{HttpError, Patience, Server, tls};
use crate::progress::CancelToken;

/// How often the cancel token is looked at.
pub(super) const POLL: Duration = Duration::from_millis(50);
/// A name may have several addresses, and looking it up takes time too.
const MOST_DIALS: u32 = 4;

/// A connection to a server.
pub(super) enum Stream {
    /// As it is.
    Plain(TcpStream),
    /// Through TLS.
    Encrypted(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    /// Connects, and agrees on the encryption where the server's address asks for one.
    pub(super) fn connect(server: &Server, patience: Patience, cancel: &CancelToken) -> Result<Self, HttpError> {
        let stream = dial_until(&server.host, patience, cancel)?;
        let dropped = |err: std::io::Error| HttpError::Dropped(err.to_string());
        stream.set_read_timeout(Some(POLL)).map_err(dropped)?;
        stream.set_write_timeout(Some(POLL)).map_err(dropped)?;
        if !server.is_encrypted {
            return Ok(Self::Plain(stream));
        }
        let mut encrypted = StreamOwned::new(tls::client(server)?, stream);
        let mut wait = Wait::new(patience.first, cancel);
        while encrypted.conn.is_handshaking() {
            match encrypted.conn.complete_io(&mut encrypted.sock) {
                Ok(_) => {}
                Err(err) => wait.after(err)?,
            }
        }
        Ok(Self::Encrypted(Box::new(encrypted)))
    }

    /// Writes all of `bytes`.
    pub(super) fn write_all(
        &mut self,
        mut bytes: &[u8],
        patience: Duration,
        cancel: &CancelToken,
    ) -> Result<(), HttpError> {
        let mut wait = Wait::new(patience, cancel);
        while !bytes.is_empty() {
            match self.writer().write(bytes) {
                Ok(0) => return Err(HttpError::Dropped("while it was asked".to_owned())),
                Ok(written) => {
                    bytes = &bytes[written..];
                    wait = Wait::new(patience, cancel);
                }
                Err(err) => wait.after(err)?,
            }
        }
        while let Err(err) = self.writer().flush() {
            wait.after(err)?;
        }
        Ok(())
    }

    /// Reads what there is, once there is something; 0 at the end.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        patience: Duration,
        cancel: &CancelToken,
    ) -> Result<usize, HttpError> {
        let mut wait = Wait::new(patience, cancel);
        loop {
            wait.check()?;
            let read = match self {
                Self::Plain(stream) => stream.read(buffer),
                Self::Encrypted(stream) => stream.read(buffer),
            };
            match read {
                Ok(read) => return Ok(read),
                Err(err) => wait.after(err)?,
            }
        }
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(stream) => stream,
            Self::Encrypted(stream) => stream.as_mut(),
        }
    }
}

/// A wait that ends: by cancel, or when nothing happens for too long.
struct Wait<'a> {
    begun: Instant,
    patience: Duration,
    cancel: &'a CancelToken,
}

impl<'a> Wait<'a> {
    fn new(patience: Duration, cancel: &'a CancelToken) -> Self {
        Self { begun: Instant::now(), patience, cancel }
    }

    fn check(&self) -> Result<(), HttpError> {
        if self.cancel.is_cancelled() {
            return Err(HttpError::Cancelled);
        }
        if self.begun.elapsed() > self.patience {
            return Err(HttpError::Silent(self.patience.as_secs()));
        }
        Ok(())
    }

    /// Whether to try again after `err`.
    fn after(&mut self, err: std::io::Error) -> Result<(), HttpError> {
        match err.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => self.check(),
            _ => Err(tls::explained(&err).unwrap_or_else(|| HttpError::Dropped(err.to_string()))),
        }
    }
}

/// Looks the host up and connects, on a thread that is left alone when nobody waits for it any more.
fn dial_until(host: &str, patience: Patience, cancel: &CancelToken) -> Result<TcpStream, HttpError> {
    let (send, receive) = sync_channel(1);
    let (name, each) = (host.to_owned(), patience.connect);
    std::thread::Builder::new()
        .name("connect".to_owned())
        .spawn(move || drop(send.send(dial(&name, each))))
        .map_err(|err| HttpError::Refused(err.to_string()))?;
    let wait = Wait::new(patience.connect * MOST_DIALS, cancel);
    loop {
        match receive.recv_timeout(POLL) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Timeout) => wait.check()?,
            Err(RecvTimeoutError::Disconnected) => return Err(HttpError::Refused("connecting crashed".to_owned())),
        }
    }
}

fn dial(host: &str, patience: Duration) -> Result<TcpStream, HttpError> {
    let refused = |err: std::io::Error| HttpError::Refused(err.to_string());
    let mut last = HttpError::Refused("the name is not known".to_owned());
    for address in host.to_socket_addrs().map_err(refused)? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => return Ok(stream),
            Err(err) => last = refused(err),
        }
    }
    Err(last)
}
