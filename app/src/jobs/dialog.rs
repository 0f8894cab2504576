//! The system's file dialogs, which may stay open for minutes.
//!
//! Where no dialog can be opened the system gives the same answer as for one that was closed: nothing. What is known of
//! the difference is how soon the answer came, and whether there is anybody to open one.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{Event, Outbox, spawn};
use crate::library::Error;

/// Nobody closes a dialog sooner than this after asking for it.
const FASTEST_PERSON: Duration = Duration::from_millis(250);
/// Whether dialogs are opened by other programs, which may be missing.
const NEEDS_OPENER: bool = cfg!(all(unix, not(target_os = "macos")));
/// What to do about documents without a dialog.
const DOCUMENTS_HINT: &str = "drop files or folders on the window, or use `outcrop ingest PATH…`";
/// What opens a dialog where the desktop does not.
const OPENER: &str = "zenity";

pub(super) fn pick_files(outbox: Outbox) {
    let ask = || rfd::FileDialog::new().set_title("Add files").pick_files();
    pick("pick-files", outbox, DOCUMENTS_HINT, ask, Event::PathsPicked);
}

pub(super) fn pick_folder(outbox: Outbox) {
    let ask = || rfd::FileDialog::new().set_title("Add folder").pick_folders();
    pick("pick-folder", outbox, DOCUMENTS_HINT, ask, Event::FoldersPicked);
}

/// Asks for a model: a GGUF file, or the folder of a reranker.
pub(super) fn pick_model(is_folder: bool, outbox: Outbox) {
    let ask = move || {
        let dialog = rfd::FileDialog::new().set_title("Add a model");
        if is_folder { dialog.pick_folder() } else { dialog.add_filter("GGUF model", &["gguf"]).pick_file() }
    };
    pick("pick-model", outbox, "`outcrop models add PATH` adds one without a dialog", ask, Event::ModelPicked);
}

fn pick<T: 'static>(
    name: &str,
    outbox: Outbox,
    instead: &'static str,
    ask: impl FnOnce() -> Option<T> + Send + 'static,
    event: fn(T) -> Event,
) {
    spawn(name, move || match answered(instead, ask) {
        Ok(Some(picked)) => drop(outbox.send(event(picked))),
        Ok(None) => {}
        Err(err) => drop(outbox.send(Event::Failed(err))),
    });
}

/// Asks where to write a file; the caller is on a thread of its own. `None` where the dialog was closed, or there is none,
/// which the window is told.
pub(super) fn save(dialog: rfd::FileDialog, outbox: &Outbox) -> Option<PathBuf> {
    answered("the commands take a path: see `outcrop --help`", || dialog.save_file()).unwrap_or_else(|err| {
        outbox.send(Event::Failed(err));
        None
    })
}

/// What a dialog gave, or why there was none and what to do `instead`.
fn answered<T>(instead: &str, ask: impl FnOnce() -> Option<T>) -> Result<Option<T>, Error> {
    let asked = Instant::now();
    match ask() {
        None if NEEDS_OPENER => no_dialog(asked.elapsed(), has_opener(), instead).map_or(Ok(None), Err),
        answer => Ok(answer),
    }
}

/// Whether nothing came because there was no dialog, in words.
fn no_dialog(after: Duration, has_opener: bool, instead: &str) -> Option<Error> {
    let detail = if !has_opener {
        "neither a desktop portal nor zenity was found, one of which opens it"
    } else if after < FASTEST_PERSON {
        "it closed by itself at once; the desktop portal or zenity may not work here"
    } else {
        return None;
    };
    let hint = format!("{instead}; the packages xdg-desktop-portal or zenity bring the dialog");
    Some(Error::new("No dialog could be opened", detail).with_hint(hint))
}

/// Whether there is a session bus, over which a portal is reached, or the program that stands in for one.
fn has_opener() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let has_bus = set("DBUS_SESSION_BUS_ADDRESS").is_some()
        || set("XDG_RUNTIME_DIR").is_some_and(|folder| PathBuf::from(folder).join("bus").exists());
    let path = set("PATH").unwrap_or_default();
    has_bus || std::env::split_paths(&path).any(|folder| folder.join(OPENER).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_dialog_is_told_from_one_that_was_closed() {
        let (at_once, later) = (Duration::from_millis(20), Duration::from_secs(3));
        assert_eq!(no_dialog(later, true, ""), None);
        let missing = no_dialog(later, false, DOCUMENTS_HINT).expect("nobody could open it");
        assert!(missing.detail.contains("zenity") && missing.hint.is_some_and(|hint| hint.contains("outcrop ingest")));
        let closed = no_dialog(at_once, true, DOCUMENTS_HINT).expect("nobody is that fast");
        assert!(closed.detail.contains("at once"));
    }

    #[test]
    fn what_a_dialog_gave_is_what_counts() {
        assert_eq!(answered("", || Some(7)), Ok(Some(7)));
        assert_eq!(answered::<u8>("", || None).is_err(), NEEDS_OPENER);
    }
}
