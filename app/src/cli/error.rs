//! The one form in which a command's failure reaches the user.

use std::process::ExitCode;

use crate::library::Error;

/// Why a command failed.
#[derive(Debug)]
pub(super) enum CliError {
    /// The library said so. Exit code 1.
    Failed(Error),
    /// The arguments do not fit. Exit code 2.
    Usage(String),
}

impl From<Error> for CliError {
    fn from(err: Error) -> Self {
        Self::Failed(err)
    }
}

impl CliError {
    /// A failure of the command line's own.
    pub(super) fn failed(title: &str, detail: impl ToString, hint: Option<&str>) -> Self {
        Self::Failed(Error { title: title.to_owned(), detail: detail.to_string(), hint: hint.map(str::to_owned) })
    }

    /// Prints the error (to stderr, or as a JSON value on stdout) and gives the exit code.
    pub(super) fn report(self, json: bool) -> ExitCode {
        let (code, err) = match self {
            Self::Failed(err) => (1, err),
            Self::Usage(detail) => (2, Error { title: "usage".to_owned(), detail, hint: None }),
        };
        if json {
            let value = serde_json::json!({
                "error": { "title": err.title, "detail": err.detail, "hint": err.hint }
            });
            super::output::print_line(&value.to_string());
        } else {
            eprintln!("error: {}: {}", err.title, err.detail);
            if let Some(hint) = err.hint {
                eprintln!("hint: {hint}");
            }
        }
        ExitCode::from(code)
    }
}
