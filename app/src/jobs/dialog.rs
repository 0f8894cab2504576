//! The system's file dialogs, which may stay open for minutes.

use std::path::PathBuf;

use super::{Event, Outbox, spawn};

pub(super) fn pick_files(outbox: Outbox) {
    pick("pick-files", outbox, || rfd::FileDialog::new().set_title("Add files").pick_files().unwrap_or_default());
}

pub(super) fn pick_folder(outbox: Outbox) {
    pick("pick-folder", outbox, || rfd::FileDialog::new().set_title("Add folder").pick_folders().unwrap_or_default());
}

fn pick(name: &str, outbox: Outbox, ask: impl FnOnce() -> Vec<PathBuf> + Send + 'static) {
    spawn(name, move || {
        let paths = ask();
        if !paths.is_empty() {
            outbox.send(Event::PathsPicked(paths));
        }
    });
}

/// Asks where to write a file; the caller is on a thread of its own.
pub(super) fn save(name: &str) -> Option<PathBuf> {
    rfd::FileDialog::new().set_title("Export").set_file_name(name).save_file()
}
