//! What can be installed and what is.

use super::{Event, Outbox, spawn};
use crate::library::{Error, LibraryOptions, home_folder};
use crate::models::{self, Catalogue, EntryState, GeneratorModel, InstalledEntry, ModelUse};
use crate::state::ModelRow;

pub(super) fn list(options: LibraryOptions, outbox: Outbox) {
    spawn("list-models", move || {
        outbox.send(Event::ModelsListed(rows(&options)));
    });
}

fn rows(options: &LibraryOptions) -> Result<Vec<ModelRow>, Error> {
    let home = home_folder(options.home.clone())?;
    let folder = models::folder(options.models.as_deref(), &home);
    let catalogue =
        Catalogue::built_in().map_err(|err| Error::new("The list of models is damaged", err.to_string()))?;
    let listed = models::entries(&catalogue, &folder);
    let mut rows: Vec<ModelRow> = listed.iter().map(listed_row).collect();
    let known: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let generators = models::generators(&catalogue, &folder);
    let best = generators.first().map(|model| model.name.clone());
    rows.extend(generators.into_iter().filter(|model| !known.contains(&model.name)).map(added_row));
    for row in &mut rows {
        row.is_default = Some(&row.name) == best.as_ref();
    }
    rows.sort_by_key(|row| !row.installed);
    Ok(rows)
}

fn listed_row(found: &InstalledEntry) -> ModelRow {
    let entry = &found.entry;
    ModelRow {
        name: entry.name.clone(),
        purpose: format!("{}  ·  {}", purpose(entry.used_for), entry.title),
        bytes: entry.bytes(),
        licence: entry.licence.clone(),
        installed: found.state == EntryState::Installed,
        is_generator: entry.used_for == ModelUse::Generator,
        is_default: false,
    }
}

fn added_row(model: GeneratorModel) -> ModelRow {
    ModelRow {
        name: model.name,
        purpose: format!("Writes answers  ·  {}", model.title),
        bytes: model.bytes,
        licence: "added by you".to_owned(),
        installed: true,
        is_generator: true,
        is_default: false,
    }
}

fn purpose(used_for: ModelUse) -> &'static str {
    match used_for {
        ModelUse::Generator => "Writes answers",
        ModelUse::Embedder => "Turns text into vectors",
        ModelUse::Ocr => "Reads scanned pages",
        ModelUse::Runtime => "Native library",
    }
}
