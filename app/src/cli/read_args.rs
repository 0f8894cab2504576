//! The arguments that say how files are read, and where their password comes from.
//!
//! Invariant: a password is never the value of an argument, which others on the machine can see, and is part of no
//! message.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::error::CliError;
use crate::extract::{Password, ReadOptions};
use crate::secrets::PASSWORD_ENV;

/// A password file that is larger holds something else.
const MOST_PASSWORD_BYTES: u64 = 4096;
/// Takes an option back that a document has.
const AUTO: &str = "auto";

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct ReadArgs {
    /// Encoding of text files, for example windows-1252 or Shift_JIS; `auto` finds it again
    #[arg(long, value_name = "LABEL", value_parser = parse_encoding)]
    pub(super) encoding: Option<String>,
    /// Read only these elements of HTML files, for example main or 'article.post'; '' reads the whole page again
    #[arg(long, value_name = "CSS", value_parser = parse_selector)]
    pub(super) html_selector: Option<String>,
    /// Field of the records of JSON and JSON lines that is their text; '' reads all fields again
    #[arg(long, value_name = "NAME")]
    pub(super) json_field: Option<String>,
    /// Ask for the password of encrypted PDFs (without a terminal OUTCROP_PASSWORD is taken); it is not kept
    #[arg(long)]
    pub(super) password: bool,
    /// Read the password of encrypted PDFs from the first line of this file
    #[arg(long, value_name = "FILE")]
    pub(super) password_file: Option<PathBuf>,
}

impl ReadArgs {
    /// The options these arguments describe; asks for the password where that was asked for.
    ///
    /// # Errors
    /// There is nobody to ask for the password, or its file or its variable cannot be read.
    pub(super) fn options(&self) -> Result<ReadOptions, CliError> {
        Ok(ReadOptions {
            encoding: self.encoding.clone(),
            html_selector: self.html_selector.clone(),
            json_field: self.json_field.clone(),
            password: self.password()?,
        })
    }

    fn password(&self) -> Result<Option<Password>, CliError> {
        if let Some(file) = &self.password_file {
            return from_file(file).map(Some);
        }
        if self.password && can_ask() {
            return ask().map(Some);
        }
        match from_variable(std::env::var_os(PASSWORD_ENV))? {
            Some(password) => Ok(Some(password)),
            None if self.password => Err(CliError::Usage(format!(
                "--password asks at a terminal, and there is none: set {PASSWORD_ENV} or give --password-file FILE"
            ))),
            None => Ok(None),
        }
    }
}

fn from_file(path: &Path) -> Result<Password, CliError> {
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MOST_PASSWORD_BYTES + 1).read_to_string(&mut text));
    read.map_err(|err| CliError::failed("the password file could not be read", format!("{err}: {path:?}"), None))?;
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() || text.len() as u64 > MOST_PASSWORD_BYTES {
        let found = if line.is_empty() { "its first line is empty" } else { "it is too large" };
        return Err(CliError::Usage(format!("{path:?} is no password file: {found}; expected the password alone")));
    }
    Ok(Password::new(line))
}

/// The password in the variable; an empty one is none.
fn from_variable(value: Option<OsString>) -> Result<Option<Password>, CliError> {
    let text = value.unwrap_or_default().into_string().map_err(|_| {
        CliError::Usage(format!("{PASSWORD_ENV} is no valid text (UTF-8); --password-file FILE takes it from a file"))
    })?;
    Ok((!text.is_empty()).then(|| Password::new(&text)))
}

/// Whether somebody is there to be asked.
fn can_ask() -> bool {
    std::io::stdin().is_terminal() && console::Term::stderr().is_term()
}

/// Asks at the terminal, which does not show what is typed.
fn ask() -> Result<Password, CliError> {
    let terminal = console::Term::stderr();
    let failed = |err| CliError::failed("the password could not be asked for", err, None);
    terminal.write_str("password: ").map_err(failed)?;
    let typed = terminal.read_secure_line().map_err(failed)?;
    if typed.is_empty() {
        return Err(CliError::Usage("no password was typed".to_owned()));
    }
    Ok(Password::new(&typed))
}

fn parse_encoding(label: &str) -> Result<String, String> {
    if label.eq_ignore_ascii_case(AUTO) {
        return Ok(String::new());
    }
    checked(label, |encoding| ReadOptions { encoding, ..ReadOptions::default() })
}

fn parse_selector(selector: &str) -> Result<String, String> {
    checked(selector, |html_selector| ReadOptions { html_selector, ..ReadOptions::default() })
}

/// The text of an option that can be used.
fn checked(text: &str, options: impl FnOnce(Option<String>) -> ReadOptions) -> Result<String, String> {
    options(Some(text.to_owned())).check().map_err(|err| err.to_string())?;
    Ok(text.to_owned())
}
