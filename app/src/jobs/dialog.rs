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
