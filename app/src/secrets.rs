//! What a person keeps in the environment and no other program is to see.
//!
//! Invariant: every process that Outcrop starts is given to [`withhold`] first.

use std::process::Command;

/// Where a program puts the password of the files.
pub(crate) const PASSWORD_ENV: &str = "OUTCROP_PASSWORD";
/// Where the key of a model server is.
pub(crate) const ENDPOINT_KEY_ENV: &str = "OUTCROP_ENDPOINT_KEY";

/// Starts `command` without the secrets of this process.
pub(crate) fn withhold(command: &mut Command) -> &mut Command {
    command.env_remove(PASSWORD_ENV).env_remove(ENDPOINT_KEY_ENV)
}

/// Fails where `command` would be given a secret.
#[cfg(test)]
#[track_caller]
pub(crate) fn assert_withheld(command: &Command) {
    for name in [PASSWORD_ENV, ENDPOINT_KEY_ENV] {
        assert!(command.get_envs().any(|(key, value)| key == name && value.is_none()), "{name} is passed on");
    }
}
