//! Where Outcrop keeps its files when nobody says otherwise.

use std::env;
use std::path::PathBuf;

use super::Error;

/// The home given, else `OUTCROP_HOME`, else the user's data folder: `$XDG_DATA_HOME/outcrop` (or
/// `~/.local/share/outcrop`), `~/Library/Application Support/outcrop` on macOS, `%APPDATA%\outcrop` on Windows.
///
/// # Errors
/// None of these is set.
pub fn home_folder(given: Option<PathBuf>) -> Result<PathBuf, Error> {
    given
        .or_else(|| from_env("OUTCROP_HOME"))
        .or_else(|| data_folder().map(|folder| folder.join("outcrop")))
        .ok_or_else(|| {
            Error::new("No home folder", "neither OUTCROP_HOME nor the user's home folder is known")
                .with_hint("set OUTCROP_HOME or give `--home DIR`")
        })
}

fn from_env(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(target_os = "macos")]
fn data_folder() -> Option<PathBuf> {
    from_env("HOME").map(|home| home.join("Library/Application Support"))
}

#[cfg(windows)]
fn data_folder() -> Option<PathBuf> {
    from_env("APPDATA")
}

#[cfg(not(any(target_os = "macos", windows)))]
fn data_folder() -> Option<PathBuf> {
    // The base directory specification says to ignore relative paths.
    from_env("XDG_DATA_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| from_env("HOME").map(|home| home.join(".local/share")))
}
