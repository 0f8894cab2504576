//! The system's file dialogs, which may stay open for minutes.

use std::path::PathBuf;

use super::{Event, Outbox, spawn};

pub(super) fn pick_files(outbox: Outbox) {
    let ask = || rfd::FileDialog::new().set_title("Add files").pick_files().unwrap_or_default();
    pick("pick-files", outbox, ask, Event::PathsPicked);
}

pub(super) fn pick_folder(outbox: Outbox) {
    let ask = || rfd::FileDialog::new().set_title("Add folder").pick_folders().unwrap_or_default();
    pick("pick-folder", outbox, ask, Event::FoldersPicked);
}

/// Asks for a model: a GGUF file, or the folder of a reranker.
pub(super) fn pick_model(is_folder: bool, outbox: Outbox) {
    spawn("pick-model", move || {
        let dialog = rfd::FileDialog::new().set_title("Add a model");
        let path =
            if is_folder { dialog.pick_folder() } else { dialog.add_filter("GGUF model", &["gguf"]).pick_file() };
        if let Some(path) = path {
            outbox.send(Event::ModelPicked(path));
        }
    });
}

fn pick(
    name: &str,
    outbox: Outbox,
    ask: impl FnOnce() -> Vec<PathBuf> + Send + 'static,
    event: fn(Vec<PathBuf>) -> Event,
) {
    spawn(name, move || {
        let paths = ask();
        if !paths.is_empty() {
            outbox.send(event(paths));
        }
    });
}

/// Asks where to write a file; the caller is on a thread of its own.
pub(super) fn save(name: &str) -> Option<PathBuf> {
    rfd::FileDialog::new().set_title("Export").set_file_name(name).save_file()
}
