//! The client against a server through TLS: whom it believes, what it says, and that it never waits for long.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

use std::net::TcpListener;
use std::time::{Duration, Instant};

use super::server::{Identity, Move, serve, serve_encrypted};
use super::*;
use crate::progress::CancelToken;

const PATIENCE: Patience =
    Patience { connect: Duration::from_secs(2), first: Duration::from_secs(20), silence: Duration::from_secs(20) };
const GET: Request<'static> = Request { line: "GET /x", headers: "", body: "" };
/// A year in which the certificates of these tests are still valid, and one in which they no longer are.
const LATER: i32 = 2200;
const LONG_AGO: i32 = 2001;

fn encrypted(host: &str, trust: Trust) -> Server {
    Server { host: host.to_owned(), is_encrypted: true, trust }
}

fn only(identity: &Identity) -> Trust {
    Trust::Only(identity.authority.clone())
}

fn say(text: &str) -> Move {
    Move::Say(text.to_owned())
}

/// The body that a server gives, or why there is none.
fn body(server: &Server, request: Request<'_>) -> Result<String, HttpError> {
    send(server, request, PATIENCE, &CancelToken::new())?.text()
}

#[test]
fn a_trusted_server_is_asked_and_heard() {
    let identity = Identity::new(&["127.0.0.1", "localhost"], LATER);
    let long = "x".repeat(300_000);
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{long}", long.len());
    let served = serve_encrypted(vec![vec![say(&answer)]], &identity);
    let asked = "y".repeat(200_000);
    let request = Request { line: "POST /v1", headers: "X-Kind: test\r\n", body: &asked };
    assert_eq!(body(&encrypted(&served.host, only(&identity)), request).unwrap(), long);
    let requests = served.requests();
    assert!(requests[0].starts_with("POST /v1 HTTP/1.1\r\nHost: 127.0.0.1:"), "{}", &requests[0][..60]);
    assert!(requests[0].contains("X-Kind: test\r\n") && requests[0].ends_with(&asked));
}

#[test]
fn a_server_that_nobody_vouches_for_is_not_asked() {
    let identity = Identity::new(&["127.0.0.1"], LATER);
    let answer = || vec![say("HTTP/1.1 200 OK\r\n\r\n")];
    let served = serve_encrypted(vec![answer(), answer()], &identity);
    // Another authority, and one that only bears the same name.
    for names in ["example.test", "127.0.0.1"] {
        let other = Identity::new(&[names], LATER);
        let err = body(&encrypted(&served.host, only(&other)), GET).unwrap_err().to_string();
        assert!(err.contains("signed by nobody") && err.contains("SSL_CERT_FILE"), "{err}");
    }
    assert!(served.requests().is_empty(), "nothing was said to it");
}

#[test]
fn certificates_of_others_and_old_ones_are_refused_in_words() {
    for (names, last_year, expected) in
        [(["example.test"], LATER, "another host name"), (["127.0.0.1"], LONG_AGO, "expired")]
    {
        let identity = Identity::new(&names, last_year);
        let served = serve_encrypted(vec![Vec::new()], &identity);
        let err = body(&encrypted(&served.host, only(&identity)), GET).unwrap_err();
        assert!(matches!(&err, HttpError::Unsafe(detail) if detail.contains(expected)), "{err}");
    }
}

#[test]
fn a_server_without_encryption_is_told_from_one_with_it() {
    // Its request is a handshake, which ends in nothing that a request ends in, so it speaks when the client is silent.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let speak = move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        std::thread::sleep(Duration::from_secs(1));
    };
    let speaker = std::thread::Builder::new().name("plain".to_owned()).spawn(speak).unwrap();
    let err = body(&encrypted(&host, only(&Identity::new(&["127.0.0.1"], LATER))), GET).unwrap_err().to_string();
    assert!(err.contains("without encryption") && err.contains("http://"), "{err}");
    speaker.join().unwrap();
}

#[test]
fn what_is_cut_off_is_not_taken_for_whole() {
    let identity = Identity::new(&["127.0.0.1"], LATER);
    let served = serve_encrypted(vec![vec![say("HTTP/1.1 200 OK\r\n\r\nhalf of it"), Move::Drop]], &identity);
    let err = body(&encrypted(&served.host, only(&identity)), GET).unwrap_err();
    assert!(matches!(err, HttpError::Dropped(_)), "an end without the encryption's own end: {err}");
}

/// How long `work` goes on after a cancel that comes while it waits.
fn after_cancel(work: impl FnOnce(&CancelToken) -> HttpError) -> Duration {
    let cancel = CancelToken::new();
    let canceller = cancel.clone();
    let stop = std::thread::Builder::new().name("stop".to_owned()).spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        canceller.cancel();
        Instant::now()
    });
    assert_eq!(work(&cancel), HttpError::Cancelled);
    stop.unwrap().join().unwrap().elapsed()
}

#[test]
fn a_cancel_ends_the_wait_for_a_handshake() {
    // Connections are accepted by the system, and nobody ever speaks.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = encrypted(&listener.local_addr().unwrap().to_string(), only(&Identity::new(&["a"], LATER)));
    let took = after_cancel(|cancel| send(&server, GET, PATIENCE, cancel).err().unwrap());
    assert!(took < Duration::from_millis(500), "{took:?}");
}

#[test]
fn a_cancel_ends_the_wait_for_an_answer_and_for_the_rest_of_it() {
    let identity = Identity::new(&["127.0.0.1"], LATER);
    for moves in [vec![Move::Hang], vec![say("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\npart"), Move::Hang]] {
        let served = serve_encrypted(vec![moves], &identity);
        let server = encrypted(&served.host, only(&identity));
        let took = after_cancel(|cancel| match send(&server, GET, PATIENCE, cancel) {
            Ok(response) => response.text().unwrap_err(),
            Err(err) => err,
        });
        assert!(took < Duration::from_millis(500), "{took:?}");
    }
}

#[test]
fn a_cancel_ends_the_sending_of_what_nobody_reads() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server { host: listener.local_addr().unwrap().to_string(), is_encrypted: false, trust: Trust::System };
    let body = "z".repeat(64 << 20);
    let request = Request { line: "POST /x", headers: "", body: &body };
    let took = after_cancel(|cancel| send(&server, request, PATIENCE, cancel).err().unwrap());
    assert!(took < Duration::from_millis(500), "{took:?}");
}

#[test]
fn a_server_that_falls_silent_in_the_handshake_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = encrypted(&listener.local_addr().unwrap().to_string(), only(&Identity::new(&["a"], LATER)));
    let patience = Patience { first: Duration::from_millis(300), ..PATIENCE };
    let err = send(&server, GET, patience, &CancelToken::new()).err().unwrap();
    assert!(matches!(err, HttpError::Silent(_)), "{err}");
}

#[test]
fn a_plain_server_is_asked_as_ever() {
    let served = serve(vec![vec![say("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes")]]);
    let server = Server { host: served.host.clone(), is_encrypted: false, trust: Trust::System };
    assert_eq!(body(&server, GET).unwrap(), "yes");
    let name = |host: &str| encrypted(host, Trust::System).name().to_owned();
    assert_eq!((name("box:443"), name("[::1]:8443")), ("box".to_owned(), "::1".to_owned()));
}

#[test]
fn headers_keep_their_values_and_pieces_their_bytes() {
    let answer = "HTTP/1.1 206 Partial Content\r\nLOCATION:  /A?b=C \r\nTransfer-Encoding: Chunked\r\n\r\n3\r\none\r\n\
                  3\r\ntwo\r\n0\r\n\r\n";
    let served = serve(vec![vec![say(answer)]]);
    let server = Server { host: served.host.clone(), is_encrypted: false, trust: Trust::System };
    let cancel = CancelToken::new();
    let mut response = send(&server, GET, PATIENCE, &cancel).unwrap();
    assert_eq!((response.header("location"), response.header("etag"), response.length()), (Some("/A?b=C"), None, None));
    assert!(!response.is_whole());
    let mut pieces = Vec::new();
    while let Some(piece) = response.piece().unwrap() {
        pieces.extend(piece);
    }
    assert_eq!(pieces, b"onetwo");
    assert!(response.is_whole());
    assert!(!served.requests()[0].contains("Content-Length"), "nothing is sent with a GET");
}

#[test]
fn a_head_without_an_end_is_refused() {
    let header = format!("X-Fill: {}\r\n", "x".repeat(60_000));
    let many = "A: b\r\n".repeat(200);
    for fill in [header.repeat(6), many] {
        let served = serve(vec![vec![say(&format!("HTTP/1.1 200 OK\r\n{fill}\r\n"))]]);
        let server = Server { host: served.host.clone(), is_encrypted: false, trust: Trust::System };
        let err = body(&server, GET).unwrap_err();
        assert!(matches!(&err, HttpError::Malformed(detail) if detail.contains("no end")), "{err}");
    }
}

#[test]
fn the_usual_port_is_not_said() {
    let header = |host: &str, is_encrypted| {
        Server { host: host.to_owned(), is_encrypted, trust: Trust::System }.host_header().to_owned()
    };
    assert_eq!((header("box:443", true), header("box:80", false)), ("box".to_owned(), "box".to_owned()));
    assert_eq!((header("box:80", true), header("box:8443", true)), ("box:80".to_owned(), "box:8443".to_owned()));
}
