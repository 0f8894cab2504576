//! The set-up script of `make run` and `make test`, on machines made of stubs: what it looks for, what it installs and
//! how, and what it says where it cannot.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test stops at the first thing that it cannot do")]

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Commands that a complete machine has.
const BUILD_TOOLS: [&str; 5] = ["c++", "cmake", "pkg-config", "python3", "Xvfb"];

/// A folder of stubs that stands for a machine: the only folder in `PATH`.
struct Machine {
    bin: TempDir,
}

impl Machine {
    /// A Debian machine where everything is installed, used by root.
    fn complete() -> Self {
        let machine = Self { bin: TempDir::new().unwrap() };
        for tool in BUILD_TOOLS {
            machine.stub(tool, "exit 0");
        }
        machine.stub("dpkg-query", "echo installed");
        machine.stub("uname", "echo Linux");
        machine.user("0");
        machine.stub("apt-get", r#"echo "apt-get $*" >> "$LOG""#);
        symlink("/usr/bin/env", machine.bin.path().join("env")).unwrap();
        machine
    }

    fn stub(&self, name: &str, script: &str) {
        let path = self.bin.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn user(&self, id: &str) {
        self.stub("id", &format!("echo {id}"));
    }

    fn without(self, name: &str) -> Self {
        std::fs::remove_file(self.bin.path().join(name)).unwrap();
        self
    }

    fn log_path(&self) -> std::path::PathBuf {
        self.bin.path().join("calls.log")
    }

    /// What the stubs of `apt-get` and `sudo` were called with, in order.
    fn calls(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.log_path()).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    fn set_up(&self) -> Output {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/setup/packages.sh");
        Command::new("/bin/sh")
            .arg(script)
            .arg("test")
            .env_clear()
            .env("PATH", self.bin.path())
            .env("LOG", self.log_path())
            .env("LIBCLANG_PATH", "/usr/lib")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_complete_machine_is_left_alone() {
    let machine = Machine::complete();
    let output = machine.set_up();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
    assert!(machine.calls().is_empty(), "{:?}", machine.calls());
}

#[test]
fn root_updates_and_installs_what_is_missing_and_nothing_else() {
    let machine = Machine::complete().without("cmake");
    let output = machine.set_up();
    assert!(output.status.success(), "{}", stderr(&output));
    let calls = machine.calls();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(calls[0].ends_with(" update"), "{calls:?}");
    assert!(calls[1].ends_with(" install -y --no-install-recommends cmake"), "{calls:?}");
}

#[test]
fn a_missing_library_is_found_by_its_package() {
    let machine = Machine::complete();
    machine.stub("dpkg-query", r#"case "$*" in *mesa-vulkan-drivers) exit 1 ;; *) echo installed ;; esac"#);
    let output = machine.set_up();
    assert!(output.status.success(), "{}", stderr(&output));
    let calls = machine.calls();
    assert!(calls[1].ends_with(" mesa-vulkan-drivers"), "{calls:?}");
}

#[test]
fn a_removed_package_counts_as_missing() {
    let machine = Machine::complete();
    machine.stub("dpkg-query", r#"case "$*" in *libxi6) echo config-files ;; *) echo installed ;; esac"#);
    machine.set_up();
    let calls = machine.calls();
    assert!(calls[1].ends_with(" libxi6"), "{calls:?}");
}

#[test]
fn a_user_with_sudo_installs_through_it() {
    let machine = Machine::complete().without("cmake");
    machine.user("1000");
    machine.stub("sudo", r#"[ "$1" = -n ] && exit 0; echo "sudo" >> "$LOG"; exec "$@""#);
    let output = machine.set_up();
    assert!(output.status.success(), "{}", stderr(&output));
    let calls = machine.calls();
    assert_eq!(calls.iter().filter(|call| *call == "sudo").count(), 2, "{calls:?}");
    assert!(calls[3].ends_with(" cmake"), "{calls:?}");
}

#[test]
fn a_user_without_sudo_is_told_the_exact_command() {
    let machine = Machine::complete().without("cmake").without("c++");
    machine.user("1000");
    let output = machine.set_up();
    assert!(!output.status.success());
    let command = "apt-get update && apt-get install -y --no-install-recommends g++ cmake";
    assert!(stderr(&output).contains(command), "{}", stderr(&output));
    assert!(machine.calls().is_empty(), "{:?}", machine.calls());
}

#[test]
fn a_failing_apt_is_not_taken_for_success() {
    let machine = Machine::complete().without("cmake");
    machine.stub("apt-get", "echo 'no route to the mirror' >&2; exit 100");
    let output = machine.set_up();
    assert!(!output.status.success());
    assert!(stderr(&output).contains("no route to the mirror"), "{}", stderr(&output));
    assert!(stderr(&output).contains("could not be installed: cmake"), "{}", stderr(&output));
}

#[test]
fn another_system_is_told_what_is_missing() {
    let machine = Machine::complete().without("apt-get").without("dpkg-query").without("cmake");
    let output = machine.set_up();
    assert!(!output.status.success());
    assert!(stderr(&output).contains("missing: cmake"), "{}", stderr(&output));
}

#[test]
fn another_system_with_the_build_tools_goes_on() {
    let machine = Machine::complete().without("apt-get").without("dpkg-query");
    let output = machine.set_up();
    assert!(output.status.success(), "{}", stderr(&output));
}
