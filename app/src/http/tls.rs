//! Encryption through rustls: whom this system trusts, and what is wrong with a certificate in words.
//!
//! Invariant: every certificate is checked against the authorities that the system knows (or those in the file that
//! `SSL_CERT_FILE` names) and against the host's name. Nothing turns that off.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, Error, RootCertStore};

use super::{HttpError, Server};

/// Whose certificates are believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The authorities that the system knows.
    #[default]
    System,
    /// One authority, which a test made.
    #[cfg(test)]
    Only(CertificateDer<'static>),
}

impl Trust {
    /// The certificates, and why others could not be read.
    fn authorities(&self) -> (Vec<CertificateDer<'static>>, Option<String>) {
        match self {
            Self::System => {
                let found = rustls_native_certs::load_native_certs();
                (found.certs, found.errors.first().map(ToString::to_string))
            }
            #[cfg(test)]
            Self::Only(authority) => (vec![authority.clone()], None),
        }
    }
}

/// The client's side of a connection to `server`.
pub(super) fn client(server: &Server) -> Result<ClientConnection, HttpError> {
    let unsafe_for = |detail: String| HttpError::Unsafe(detail);
    let mut roots = RootCertStore::empty();
    let (authorities, unread) = server.trust.authorities();
    let (known, _) = roots.add_parsable_certificates(authorities);
    if known == 0 {
        return Err(unsafe_for(nobody_known(unread.as_deref())));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|err| unsafe_for(err.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let name = ServerName::try_from(server.name().to_owned()).map_err(|err| unsafe_for(err.to_string()))?;
    ClientConnection::new(Arc::new(config), name).map_err(|err| unsafe_for(err.to_string()))
}

/// That there are no authorities, with what went wrong when they were read.
fn nobody_known(unread: Option<&str>) -> String {
    let why = unread.map_or_else(String::new, |err| format!(" ({err})"));
    format!(
        "this system knows no certificate authorities{why}; install them (ca-certificates), or name a file of them in \
         SSL_CERT_FILE"
    )
}

/// What an error of the encryption means; `None` for any other error.
pub(super) fn explained(err: &std::io::Error) -> Option<HttpError> {
    let err = err.get_ref()?.downcast_ref::<Error>()?;
    Some(HttpError::Unsafe(match err {
        Error::InvalidCertificate(err) => certificate(err),
        Error::InvalidMessage(_) => "it answers without encryption; an http:// address may be meant".to_owned(),
        Error::AlertReceived(alert) => format!("it refused the encryption ({alert:?})"),
        err => format!("no encryption could be agreed on ({err})"),
    }))
}

fn certificate(err: &CertificateError) -> String {
    match err {
        // An authority of the same name with another key ends in the second.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => "its certificate was signed by nobody that this system trusts; if the \
             server is yours, add its authority to the system, or name the authority's certificate file in SSL_CERT_FILE"
            .to_owned(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired; it must be renewed on the server".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet; check this machine's clock".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another host name; check the address".to_owned()
        }
        CertificateError::Revoked => "its certificate was revoked".to_owned(),
        err => format!("its certificate is wrong ({err})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_no_authority_could_be_read_is_said() {
        let said = nobody_known(Some("could not open /no/such.pem"));
        assert!(said.contains("authorities (could not open /no/such.pem); install"), "{said}");
        assert!(nobody_known(None).contains("authorities; install"));
    }
}
