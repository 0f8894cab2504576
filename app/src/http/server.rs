//! A server for tests that does what it is told to: speak, hang, drop the connection; plain, or through TLS with a
//! certificate that the test made.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// What the server does next.
pub(crate) enum Move {
    /// Sends this.
    Say(String),
    /// Stays silent, with the connection open.
    Hang,
    /// Closes the connection.
    Drop,
}

/// A running server.
pub(crate) struct Served {
    /// Its host and port.
    pub(crate) host: String,
    requests: Receiver<String>,
}

impl Served {
    /// The requests that came so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        let mut found = Vec::new();
        while let Ok(request) = self.requests.recv_timeout(Duration::from_secs(2)) {
            found.push(request);
        }
        found
    }
}

/// Serves one connection for each list of moves.
pub(crate) fn serve(connections: Vec<Vec<Move>>) -> Served {
    serve_through(connections, Some)
}

/// The same through TLS.
pub(crate) fn serve_encrypted(connections: Vec<Vec<Move>>, identity: &Identity) -> Served {
    let config = identity.config();
    serve_through(connections, move |stream| {
        let mut connection = rustls::ServerConnection::new(Arc::clone(&config)).ok()?;
        let mut stream = stream;
        // A client that does not like the certificate is gone after this.
        while connection.is_handshaking() {
            connection.complete_io(&mut stream).ok()?;
        }
        Some(rustls::StreamOwned::new(connection, stream))
    })
}

fn serve_through<S: Read + Write>(
    connections: Vec<Vec<Move>>,
    open: impl Fn(std::net::TcpStream) -> Option<S> + Send + 'static,
) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|err| panic!("no port: {err}"));
    let host = listener.local_addr().map(|address| address.to_string()).unwrap_or_default();
    let (sender, requests) = sync_channel(connections.len());
    let run = move || {
        for moves in connections {
            let Ok((stream, _)) = listener.accept() else {
                return;
            };
            let Some(mut stream) = open(stream) else {
                continue;
            };
            let request = read_request(&mut stream);
            if sender.send(request).is_err() {
                return;
            }
            perform(&mut stream, moves);
        }
    };
    thread::Builder::new().name("test-server".to_owned()).spawn(run).unwrap_or_else(|err| panic!("no thread: {err}"));
    Served { host, requests }
}

/// A server's certificate with its authority.
pub(crate) struct Identity {
    /// The authority that signed the certificate.
    pub(crate) authority: CertificateDer<'static>,
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Identity {
    /// For a server of these names whose certificate ends in `last_year`.
    pub(crate) fn new(names: &[&str], last_year: i32) -> Self {
        let made = || -> Result<Self, rcgen::Error> {
            let mut params = rcgen::CertificateParams::new(Vec::new())?;
            params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
            params.distinguished_name.push(rcgen::DnType::CommonName, format!("authority of {names:?}"));
            let authority = rcgen::CertifiedIssuer::self_signed(params, rcgen::KeyPair::generate()?)?;
            let names = names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
            let mut params = rcgen::CertificateParams::new(names)?;
            params.not_after = rcgen::date_time_ymd(last_year, 1, 1);
            let key = rcgen::KeyPair::generate()?;
            let certificate = params.signed_by(&key, &authority)?;
            Ok(Self {
                authority: authority.der().clone(),
                certificate: certificate.der().clone(),
                key: key.serialize_der(),
            })
        };
        made().unwrap_or_else(|err| panic!("no certificate: {err}"))
    }

    fn config(&self) -> Arc<rustls::ServerConfig> {
        let key = PrivateKeyDer::try_from(self.key.clone()).unwrap_or_else(|err| panic!("no key: {err}"));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![self.certificate.clone()], key));
        Arc::new(config.unwrap_or_else(|err| panic!("no server: {err}")))
    }
}

/// Head and body of a request.
fn read_request(stream: &mut impl Read) -> String {
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

fn perform(stream: &mut impl Write, moves: Vec<Move>) {
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
