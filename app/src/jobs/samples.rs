//! The sample documents, carried in the program and written out when they are asked for.

use std::path::{Path, PathBuf};

use super::{Event, Outbox, spawn};
use crate::library::{Error, home_folder};

/// Name and content of each sample.
const SAMPLES: &[(&str, &[u8])] = &[
    ("climate-and-boat.html", include_bytes!("../../../assets/samples/climate-and-boat.html")),
    ("committee-minutes-2025-03.md", include_bytes!("../../../assets/samples/committee-minutes-2025-03.md")),
    ("core-store-notes-zh.txt", include_bytes!("../../../assets/samples/core-store-notes-zh.txt")),
    ("core_depth.py", include_bytes!("../../../assets/samples/core_depth.py")),
    ("drilling-contract.docx", include_bytes!("../../../assets/samples/drilling-contract.docx")),
    ("field-manual.md", include_bytes!("../../../assets/samples/field-manual.md")),
    ("instrument-inventory.csv", include_bytes!("../../../assets/samples/instrument-inventory.csv")),
    ("lava-sequence-report.pdf", include_bytes!("../../../assets/samples/lava-sequence-report.pdf")),
    ("letter-from-the-station.txt", include_bytes!("../../../assets/samples/letter-from-the-station.txt")),
    ("seismic-events.json", include_bytes!("../../../assets/samples/seismic-events.json")),
];

/// Tells the folder of the samples: `given`, or `<home>/samples` once they are written there.
pub(super) fn pick(given: Option<PathBuf>, home: Option<PathBuf>, outbox: Outbox) {
    spawn("pick-samples", move || {
        outbox.send(match given.map_or_else(|| write_all(home), Ok) {
            Ok(folder) => Event::PathsPicked(vec![folder]),
            Err(error) => Event::Failed(error),
        });
    });
}

fn write_all(home: Option<PathBuf>) -> Result<PathBuf, Error> {
    let folder = home_folder(home)?.join("samples");
    let failure =
        |err: std::io::Error| Error::new("The samples could not be written", format!("{err}: {}", folder.display()));
    std::fs::create_dir_all(&folder).map_err(failure)?;
    for (name, content) in SAMPLES {
        write_one(&folder.join(name), content).map_err(failure)?;
    }
    Ok(folder)
}

/// Leaves a sample that is there alone, so that its document stays the same.
fn write_one(path: &Path, content: &[u8]) -> std::io::Result<()> {
    if path.exists() { Ok(()) } else { std::fs::write(path, content) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_written_whole() {
        let home = tempfile::tempdir().unwrap();
        let folder = write_all(Some(home.path().to_owned())).unwrap();
        for (name, content) in SAMPLES {
            assert_eq!(std::fs::read(folder.join(name)).unwrap(), *content);
        }
    }

    #[test]
    fn every_sample_of_the_tree_is_carried() {
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/samples");
        let mut found: Vec<String> = std::fs::read_dir(tree)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        found.sort();
        assert_eq!(found, SAMPLES.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>());
    }
}
