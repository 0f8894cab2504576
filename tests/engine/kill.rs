//! kill -9 in the middle of appends, deletes, compactions and the writing of codes: what was acknowledged is there, whole.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use engine::{FileSpec, VectorFile};

use super::samples::Rng;

const DIMS: usize = 96;
const CHILD_FILE: &str = "OUTCROP_KILL_TEST_FILE";

/// `OUTCROP_KILL_TRIALS` asks for more.
fn num_trials() -> usize {
    std::env::var("OUTCROP_KILL_TRIALS").ok().and_then(|trials| trials.parse().ok()).unwrap_or(30)
}

/// The row that an id stands for.
fn row_of(id: u64) -> Vec<f32> {
    Rng(id).values(DIMS)
}

/// The child's part: writes in every way until it is killed, and reports what was acknowledged.
#[test]
fn write_until_killed() {
    let Some(path) = std::env::var_os(CHILD_FILE) else {
        return;
    };
    let mut file = VectorFile::open(Path::new(&path)).unwrap();
    let mut rng = Rng(u64::from(std::process::id()));
    let mut out = std::io::stdout();
    loop {
        let first = file.last_id().unwrap_or(0) + 1;
        let ids: Vec<u64> = (first..first + 1 + rng.below(300)).collect();
        let rows: Vec<f32> = ids.iter().flat_map(|&id| row_of(id)).collect();
        file.append(&ids, &rows).unwrap();
        writeln!(out, "\nhave {}", ids[ids.len() - 1]).unwrap();
        if rng.below(3) == 0 {
            let doomed = 1 + rng.below(first);
            file.delete(&[doomed]).unwrap();
            writeln!(out, "\ngone {doomed}").unwrap();
        }
        match rng.below(40) {
            0 => file.compact().unwrap(),
            1 => file.write_codes().unwrap(),
            _ => {}
        }
        out.flush().unwrap();
    }
}

fn start_child(path: &Path) -> Child {
    let (_, module) = module_path!().split_once("::").unwrap();
    Command::new(std::env::current_exe().unwrap())
        .args([&format!("{module}::write_until_killed"), "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD_FILE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets a child write, kills it, and returns the highest id and the deletions that it reported.
fn kill_after(path: &Path, delay: Duration) -> (u64, Vec<u64>) {
    let mut child = start_child(path);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut last, mut gone) = (0, Vec::new());
    let mut note = |line: &str| {
        if let Some(id) = line.strip_prefix("have ").and_then(|id| id.parse().ok()) {
            last = id;
        } else if let Some(id) = line.strip_prefix("gone ").and_then(|id| id.parse().ok()) {
            gone.push(id);
        }
    };
    // The first report says that the child writes; the kill comes at a random moment after it.
    for line in lines.by_ref().map_while(Result::ok) {
        note(&line);
        if line.starts_with("have ") {
            break;
        }
    }
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
    lines.map_while(Result::ok).for_each(|line| note(&line));
    (last, gone)
}

/// Trials on one file; then a new one, so that checking it stays quick.
const TRIALS_PER_FILE: usize = 20;

#[test]
fn no_torn_read_after_kill_9() {
    let mut rng = Rng(99);
    let mut all_gone = Vec::new();
    let mut folder = fresh_file();
    for trial in 0..num_trials() {
        if trial % TRIALS_PER_FILE == 0 {
            (folder, all_gone) = (fresh_file(), Vec::new());
        }
        let path = folder.path().join("rows.vec");
        let (last, gone) = kill_after(&path, Duration::from_micros(rng.below(12_000)));
        assert!(last > 0, "trial {trial}: the child wrote");
        all_gone.extend(gone);
        check(&path, last, &all_gone, &mut rng, trial);
    }
}

fn fresh_file() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let spec = FileSpec { block_bytes: Some(256 << 10), ..FileSpec::new(DIMS as u32) };
    drop(VectorFile::create(&folder.path().join("rows.vec"), &spec).unwrap());
    folder
}

fn check(path: &Path, last: u64, all_gone: &[u64], rng: &mut Rng, trial: usize) {
    let file = VectorFile::open_read_only(path).unwrap();
    assert!(file.last_id() >= Some(last), "trial {trial}: acknowledged rows are there");
    let report = file.verify().unwrap();
    assert!(report.is_sound(), "trial {trial}: {report:?}");
    assert!(all_gone.iter().all(|&id| !file.contains(id)), "trial {trial}: acknowledged deletions hold");
    for id in [1, file.last_id().unwrap(), 1 + rng.below(last)] {
        let row = file.vector(id);
        assert!(row.is_none_or(|row| row == row_of(id)), "trial {trial}: row {id} is whole");
    }
}
