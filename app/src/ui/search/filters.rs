//! Which documents are searched: formats, a folder, dates, a pattern, what they say of themselves.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use egui::{Align2, ComboBox, TextEdit, Ui};

use super::super::theme::{palette, secondary};
use super::super::widgets::{field, quiet};
use crate::extract::DocumentKind;
use crate::retrieve::{BUILT_IN_PROPERTIES, Condition, Date, SearchOptions};
use crate::state::AppState;
use crate::store::{DocumentRecord, DocumentStatus};

/// The filter row, with dates and conditions as they are typed.
#[derive(Default)]
pub(super) struct FilterRow {
    after: String,
    before: String,
    conditions: String,
}

impl FilterRow {
    /// Draws the row and changes `options` by it.
    pub(super) fn ui(&mut self, ui: &mut Ui, state: &AppState, options: &mut SearchOptions) {
        let documents = state.library.documents.value().map(Vec::as_slice).unwrap_or_default();
        ui.horizontal_wrapped(|ui| {
            kinds_ui(ui, documents, options);
            ui.spacing_mut().item_spacing.x = 12.0;
            folder_ui(ui, documents, options);
            self.rest_ui(ui, documents, options);
        });
    }

    fn rest_ui(&mut self, ui: &mut Ui, documents: &[DocumentRecord], options: &mut SearchOptions) {
        date_ui(ui, "Changed from", &mut self.after, &mut options.after);
        date_ui(ui, "Changed before", &mut self.before, &mut options.before);
        source_ui(ui, options);
        conditions_ui(ui, documents, &mut self.conditions, options);
        if is_filtered(options) && quiet(ui, "Clear filters").clicked() {
            *self = Self::default();
            options.kinds.clear();
            options.conditions.clear();
            (options.folder, options.after, options.before, options.source) = (None, None, None, None);
        }
    }
}

fn is_filtered(options: &SearchOptions) -> bool {
    let SearchOptions { kinds, folder, after, before, source, conditions, .. } = options;
    !kinds.is_empty()
        || !conditions.is_empty()
        || folder.is_some()
        || after.is_some()
        || before.is_some()
        || source.is_some()
}

fn ready(documents: &[DocumentRecord]) -> impl Iterator<Item = &DocumentRecord> {
    documents.iter().filter(|document| document.status == DocumentStatus::Ready)
}

/// A chip for each format that the library holds, where there are several.
fn kinds_ui(ui: &mut Ui, documents: &[DocumentRecord], options: &mut SearchOptions) {
    let mut kinds: Vec<DocumentKind> = options.kinds.clone();
    for kind in ready(documents).filter_map(|document| document.kind) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds.sort_by_key(|kind| word(*kind));
    if kinds.len() < 2 && options.kinds.is_empty() {
        return;
    }
    ui.spacing_mut().item_spacing.x = 4.0;
    for kind in kinds {
        let is_on = options.kinds.contains(&kind);
        if ui.selectable_label(is_on, word(kind)).on_hover_text("Only documents of the formats chosen").clicked() {
            options.kinds.retain(|other| *other != kind);
            if !is_on {
                options.kinds.push(kind);
            }
        }
    }
}

fn word(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Text => "Text",
        DocumentKind::Markdown => "Markdown",
        DocumentKind::Html => "HTML",
        DocumentKind::Csv => "CSV",
        DocumentKind::Json => "JSON",
        DocumentKind::Code => "Code",
        DocumentKind::Pdf => "PDF",
        DocumentKind::Docx => "DOCX",
        DocumentKind::Odt => "ODT",
        DocumentKind::Slides => "Slides",
        DocumentKind::Spreadsheet => "Spreadsheet",
        DocumentKind::Epub => "EPUB",
        DocumentKind::Mail => "Mail",
        DocumentKind::Rtf => "RTF",
        DocumentKind::Image => "Image",
    }
}

/// Folders offered, at most: more are not read in a list.
const MOST_FOLDERS: usize = 200;

fn folder_ui(ui: &mut Ui, documents: &[DocumentRecord], options: &mut SearchOptions) {
    let chosen = options.folder.as_deref().map_or_else(|| "all".to_owned(), short);
    field(ui, "Folder", |ui| {
        let list = ComboBox::from_id_salt("search-folder").selected_text(chosen).width(120.0).truncate();
        list.show_ui(ui, |ui| {
            ui.selectable_value(&mut options.folder, None, "all");
            // Made only while the list is open.
            for folder in folders(documents) {
                let name = short(&folder);
                let hover = folder.display().to_string();
                ui.selectable_value(&mut options.folder, Some(folder), name).on_hover_text(hover);
            }
        })
        .response
    });
}

/// The folders that documents lie in, in order.
fn folders(documents: &[DocumentRecord]) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        ready(documents).filter_map(|document| document.path.parent().map(Path::to_owned)).collect();
    folders.sort();
    folders.dedup();
    folders.truncate(MOST_FOLDERS);
    folders
}

/// The last two names of a path.
fn short(folder: &Path) -> String {
    let names: Vec<String> = folder.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names[names.len().saturating_sub(2)..].join("/")
}

/// A day; half a day typed filters nothing, and shows in another colour.
fn date_ui(ui: &mut Ui, name: &str, typed: &mut String, date: &mut Option<Date>) {
    let is_half = !typed.trim().is_empty() && date.is_none();
    let ink = is_half.then(|| palette(ui).warning);
    let edit = TextEdit::singleline(typed)
        .align(Align2::LEFT_CENTER)
        .hint_text("2026-05-31")
        .text_color_opt(ink)
        .desired_width(96.0);
    let help = "By the day on which the file was last modified (UTC)";
    if field(ui, name, |ui| ui.add(edit).accessible_name(name)).on_hover_text(help).changed() {
        *date = typed.trim().parse().ok();
    }
}

/// Names of properties that the help lists, at most.
const MOST_NAMES: usize = 24;

/// Conditions, with `;` between them; while one is only half typed those before it hold, and it shows in another colour.
fn conditions_ui(ui: &mut Ui, documents: &[DocumentRecord], typed: &mut String, options: &mut SearchOptions) {
    let name = "Properties";
    let parsed = conditions(typed, documents);
    let ink = parsed.is_err().then(|| palette(ui).warning);
    let edit = TextEdit::singleline(typed)
        .align(Align2::LEFT_CENTER)
        .hint_text("author=ada*; pages<20")
        .text_color_opt(ink)
        .desired_width(150.0);
    let response = field(ui, name, |ui| ui.add(edit).accessible_name(name));
    let changed = response.changed();
    response.on_hover_ui(|ui| {
        if let Err(half) = &parsed {
            ui.label(secondary(half).color(palette(ui).warning));
        }
        ui.label("Conditions on what documents say of themselves: author=ada*; created>=2024-05; pages<20; tag!=draft");
        let names = names(documents);
        if !names.is_empty() {
            ui.label(format!("There are {}", names.join(", ")));
        }
    });
    if changed && let Ok(conditions) = conditions(typed, documents) {
        options.conditions = conditions;
    }
}

/// The conditions typed, or what is wrong with one. A name alone counts once a document has such a property: it may be
/// the beginning of a longer one.
fn conditions(typed: &str, documents: &[DocumentRecord]) -> Result<Vec<Condition>, String> {
    let parts = typed.split(';').map(str::trim).filter(|part| !part.is_empty());
    let whole = |part: &str| {
        let condition: Condition = part.parse()?;
        if condition.is_comparison() || has_property(documents, condition.name()) {
            return Ok(condition);
        }
        Err(format!("no document has a property {:?}", condition.name()))
    };
    parts.map(whole).collect()
}

fn has_property(documents: &[DocumentRecord], name: &str) -> bool {
    let mut metadata = ready(documents).filter_map(|document| document.metadata.as_ref());
    BUILT_IN_PROPERTIES.contains(&name) || metadata.any(|metadata| !metadata.values(name).is_empty())
}

/// The properties that documents have, in order.
fn names(documents: &[DocumentRecord]) -> Vec<&str> {
    let metadata = ready(documents).filter_map(|document| document.metadata.as_ref());
    let names: BTreeSet<&str> = metadata.flat_map(|metadata| metadata.iter().map(|(name, _)| name)).collect();
    let names: BTreeSet<&str> = names.into_iter().chain(BUILT_IN_PROPERTIES).collect();
    names.into_iter().take(MOST_NAMES).collect()
}

fn source_ui(ui: &mut Ui, options: &mut SearchOptions) {
    let mut glob = options.source.clone().unwrap_or_default();
    let edit =
        TextEdit::singleline(&mut glob).align(Align2::LEFT_CENTER).hint_text("all, or *.pdf").desired_width(120.0);
    if field(ui, "Sources", |ui| ui.add(edit).accessible_name("Sources")).changed() {
        options.source = (!glob.trim().is_empty()).then_some(glob);
    }
}
