//! What a worker that parses hostile bytes may not do: reach the network, start programs, write or remove files.
//!
//! Landlock holds the file system where the kernel has it; a seccomp filter holds system calls. Both cover the
//! threads that are started afterwards. Where the kernel has neither, the limits of memory and time remain.
//!
//! Invariant: reading files, memory, threads and the pipes to the host stay as they are.

use std::collections::BTreeMap;

use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// System calls that are refused whatever their arguments.
const REFUSED: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_mkdirat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    libc::SYS_fchmodat,
    libc::SYS_fchownat,
    libc::SYS_mount,
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
];
/// The same under the names that older programs use.
#[cfg(target_arch = "x86_64")]
const REFUSED_OLD: &[i64] = &[
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_creat,
    libc::SYS_chmod,
    libc::SYS_chown,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_OLD: &[i64] = &[];

/// Takes the rights away from this thread and those it starts. What the kernel does not offer is said on stderr,
/// which the host keeps.
pub(super) fn enter() {
    if let Err(err) = forbid_files_and_network() {
        eprintln!("landlock does not hold this worker: {err}");
    }
    if let Err(err) = forbid_calls() {
        eprintln!("seccomp does not hold this worker: {err}");
    }
}

fn forbid_files_and_network() -> Result<(), String> {
    let abi = ABI::V5;
    let restrict = || -> Result<RulesetStatus, landlock::RulesetError> {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_write(abi))?
            .handle_access(AccessNet::from_all(abi))?
            .create()?;
        Ok(ruleset.restrict_self()?.ruleset)
    };
    match restrict() {
        Ok(RulesetStatus::NotEnforced) => Err("the kernel does not have it".to_owned()),
        Ok(_) => Ok(()),
        Err(err) => Err(err.to_string()),
    }
}

fn forbid_calls() -> Result<(), String> {
    let build = || -> Result<BpfProgram, seccompiler::BackendError> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            REFUSED.iter().chain(REFUSED_OLD).map(|call| (*call, Vec::new())).collect();
        rules.insert(libc::SYS_openat, opening_for_writing(2)?);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_open, opening_for_writing(1)?);
        let arch = TargetArch::try_from(std::env::consts::ARCH)?;
        let refuse = SeccompAction::Errno(libc::EPERM as u32);
        SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()
    };
    let program = build().map_err(|err| err.to_string())?;
    seccompiler::apply_filter(&program).map_err(|err| err.to_string())
}

/// Rules that match an open whose flags, at place `argument`, ask for writing, making or cutting a file.
fn opening_for_writing(argument: u8) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC]
        .into_iter()
        .map(|flag| {
            let flag = flag as u64;
            let condition =
                SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(flag), flag)?;
            SeccompRule::new(vec![condition])
        })
        .collect()
}
