//! Just enough HTTP/1.1 for a model server or a model hub: one request, one response whose body comes piece by piece,
//! over a plain or an encrypted connection.
//!
//! Invariant: the server is not trusted. Every wait ends (cancel, silence), and nothing grows without a bound. Must not
//! know: what is asked for, and of whom.

mod client;
#[cfg(test)]
pub(crate) mod server;
mod stream;
#[cfg(test)]
mod tests;
mod tls;
mod url;

pub(crate) use client::{HttpError, Patience, Request, Response, Server, send};
pub(crate) use tls::Trust;
pub(crate) use url::Url;
