//! Writing the settings, the latest ones only, so that a crash leaves the old file or the new one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::latest::Latest;
use super::{Event, Outbox, Worker};
use crate::library::Error;
use crate::state::Settings;

/// The settings' file in the home folder.
const FILE_NAME: &str = "window.json";

/// Reads the settings of `home`; whatever is missing or damaged takes its default.
pub(crate) fn load(home: &Path) -> Settings {
    let json = std::fs::read_to_string(home.join(FILE_NAME));
    json.map(|json| Settings::from_json(&json)).unwrap_or_default()
}

/// Writes settings on a thread of its own.
pub(super) struct Saver {
    mailbox: Arc<Latest<Settings>>,
    worker: Worker,
}

impl Saver {
    pub(super) fn start(home: Option<PathBuf>, outbox: Outbox) -> Self {
        let mailbox: Arc<Latest<Settings>> = Arc::default();
        let requests = Arc::clone(&mailbox);
        let worker = Worker::start("settings", move || {
            while let Some(settings) = requests.take() {
                if let Some(home) = &home
                    && let Err(err) = write(home, &settings)
                {
                    outbox.send(Event::Failed(failure(home, &err)));
                }
            }
        });
        Self { mailbox, worker }
    }

    pub(super) fn save(&self, settings: Settings) {
        self.mailbox.put(settings);
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        self.mailbox.close();
        self.worker.join();
    }
}

fn write(home: &Path, settings: &Settings) -> std::io::Result<()> {
    std::fs::create_dir_all(home)?;
    let mut file = tempfile::NamedTempFile::new_in(home)?;
    file.write_all(settings.to_json().as_bytes())?;
    file.persist(home.join(FILE_NAME))?;
    Ok(())
}

fn failure(home: &Path, err: &std::io::Error) -> Error {
    Error::new("The settings were not saved", format!("{err}: {}", home.join(FILE_NAME).display()))
        .with_hint("check that the folder can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_written_whole_and_read_back() {
        let home = tempfile::tempdir().unwrap();
        let settings = Settings { scale: 1.5, ..Settings::default() };
        write(home.path(), &settings).unwrap();
        assert_eq!(load(home.path()), settings);
        assert_eq!(load(&home.path().join("nowhere")), Settings::default());
    }
}
