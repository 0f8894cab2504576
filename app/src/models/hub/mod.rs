//! [`ModelHub`]: files from a model hub, or a mirror of one, over the app's own HTTP.
//!
//! A file's address is `<hub>/<owner>/<repository>/resolve/<revision>/<file>`; the hub may redirect to wherever the
//! bytes are. Start at `download.rs`; `answer.rs` says what a server may answer; `repository.rs` fetches what no
//! catalogue lists.
//!
//! Invariants: the server is not trusted: what it sends is a model only after its size and sum are right. A redirect
//! never leads from an encrypted connection to a plain one. Nothing but the address asked for is sent: no token, no
//! cookie, no name. Must not know: entries, stamps, where models lie.

mod answer;
mod download;
mod repository;
#[cfg(test)]
mod tests;

pub use repository::{HubModel, Verified};

pub(super) use download::Wanted;

use std::time::Duration;

use super::ModelError;
use super::catalogue::HubFile;
use crate::http::{Patience, Url};

/// The hub that is asked where no other is named.
const USUAL_ADDRESS: &str = "https://huggingface.co";
/// Environment variable with the address of another hub.
const ADDRESS_VARIABLE: &str = "OUTCROP_HUB";
const PATIENCE: Patience =
    Patience { connect: Duration::from_secs(10), first: Duration::from_secs(60), silence: Duration::from_secs(30) };
/// Wait before the first retry; longer before each further one.
const PAUSE: Duration = Duration::from_secs(1);

/// A model hub.
#[derive(Clone, Debug)]
pub struct ModelHub {
    address: Url,
    patience: Patience,
    pause: Duration,
}

impl ModelHub {
    /// The hub at `address`; nothing is sent yet.
    ///
    /// # Errors
    /// It is no `http://` or `https://` address.
    pub fn new(address: &str) -> Result<Self, ModelError> {
        let parsed = Url::parse(address.trim()).map_err(|detail| ModelError::Hub {
            url: address.to_owned(),
            detail: format!("the hub's address: {detail}"),
        })?;
        Ok(Self { address: parsed, patience: PATIENCE, pause: PAUSE })
    }

    /// The hub whose address is in `OUTCROP_HUB`, else the usual one.
    ///
    /// # Errors
    /// What is in `OUTCROP_HUB` is no address.
    pub fn from_env() -> Result<Self, ModelError> {
        match std::env::var(ADDRESS_VARIABLE) {
            Ok(address) if !address.trim().is_empty() => Self::new(&address),
            _ => Self::new(USUAL_ADDRESS),
        }
    }

    fn url(&self, file: &HubFile) -> Url {
        let revision = file.revision.as_deref().unwrap_or("main");
        self.address.below(&format!("/{}/resolve/{revision}/{}", file.repository, file.file))
    }
}
