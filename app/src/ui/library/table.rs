//! The table of documents. Only visible rows are built.

use egui::{Align, Label, Layout, Role, Sense, TextStyle, Ui, WidgetInfo};
use egui_extras::{Column, TableBuilder, TableRow};

use super::super::inspector::status;
use super::super::theme::{mono, palette, secondary, strong, tokens};
use super::super::widgets::{chip, format};
use crate::command::Command;
use crate::state::{AppState, SortKey};
use crate::store::{DocumentRecord, DocumentStatus};

const COLUMNS: [(SortKey, &str); 6] = [
    (SortKey::Title, "Title"),
    (SortKey::Status, "Status"),
    (SortKey::Pages, "Pages"),
    (SortKey::Chunks, "Chunks"),
    (SortKey::Size, "Size"),
    (SortKey::Chunker, "Chunker"),
];

/// Room between the sizes, which end at the right, and the chunkers, which begin at the left.
const CHUNKER_LEAD: f32 = 16.0;

pub(super) fn table_ui(ui: &mut Ui, listed: &[&DocumentRecord], state: &AppState, commands: &mut Vec<Command>) {
    ui.style_mut().interaction.selectable_labels = false;
    ui.spacing_mut().item_spacing.y = 0.0;
    let table = TableBuilder::new(ui)
        .id_salt("documents")
        .sense(Sense::click())
        .cell_layout(Layout::left_to_right(Align::Center))
        .auto_shrink(false)
        .column(Column::remainder().at_least(200.0).clip(true))
        .column(Column::exact(116.0))
        .column(Column::exact(64.0))
        .column(Column::exact(72.0))
        .column(Column::exact(80.0))
        .column(Column::exact(170.0).clip(true));
    let with_header = table.header(30.0, |mut header| {
        for (key, word) in COLUMNS {
            header.col(|ui| heading_ui(ui, key, word, state, commands));
        }
    });
    with_header.body(|body| {
        body.rows(tokens().space.row_height, listed.len(), |row| {
            let record = listed[row.index()];
            row_ui(row, record, state, commands);
        });
    });
}

fn is_number(key: SortKey) -> bool {
    matches!(key, SortKey::Pages | SortKey::Chunks | SortKey::Size)
}

fn layout(key: SortKey) -> Layout {
    if is_number(key) { Layout::right_to_left(Align::Center) } else { Layout::left_to_right(Align::Center) }
}

fn heading_ui(ui: &mut Ui, key: SortKey, word: &str, state: &AppState, commands: &mut Vec<Command>) {
    ui.with_layout(layout(key), |ui| {
        if key == SortKey::Chunker {
            ui.add_space(CHUNKER_LEAD);
        }
        let sorted = state.library.sort == key;
        let arrow = match (sorted, state.library.descending) {
            (false, _) => "",
            (true, false) => " ↑",
            (true, true) => " ↓",
        };
        let text = secondary(format!("{word}{arrow}"));
        let text = if sorted { text.color(palette(ui).ink) } else { text };
        let response = ui.add(Label::new(text).sense(Sense::click()));
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Sort by {}", word.to_lowercase())));
        if response.clicked() {
            commands.push(Command::SortDocuments(key));
        }
    });
}

fn row_ui(mut row: TableRow<'_, '_>, record: &DocumentRecord, state: &AppState, commands: &mut Vec<Command>) {
    let is_selected = state.library.selected.contains(&record.id);
    row.set_selected(is_selected);
    row.set_overline(true);
    for (key, _) in COLUMNS {
        row.col(|ui| {
            ui.with_layout(layout(key), |ui| cell_ui(ui, key, record));
        });
    }
    let response = row.response();
    response.widget_info(|| WidgetInfo::selected(Role::Row, true, is_selected, &record.title));
    if response.double_clicked() && record.status == DocumentStatus::Ready {
        commands.push(Command::OpenInChunks { document: record.id, byte: None });
    } else if response.clicked() {
        let extend = response.ctx.input(|input| input.modifiers.command || input.modifiers.shift);
        commands.push(Command::SelectDocument { id: record.id, extend });
    }
    response.context_menu(|ui| menu_ui(ui, record, commands));
}

fn menu_ui(ui: &mut Ui, record: &DocumentRecord, commands: &mut Vec<Command>) {
    if record.status == DocumentStatus::Ready && ui.button("Show chunks").clicked() {
        commands.push(Command::OpenInChunks { document: record.id, byte: None });
        ui.close();
    }
    if ui.button("Copy path").clicked() {
        ui.ctx().copy_text(record.path.display().to_string());
        ui.close();
    }
    if ui.button("Read again").clicked() {
        commands.push(Command::AddPaths(vec![record.path.clone()]));
        ui.close();
    }
    if ui.button("Remove").clicked() {
        commands.push(Command::RemoveDocuments(vec![record.id]));
        ui.close();
    }
}

fn cell_ui(ui: &mut Ui, key: SortKey, record: &DocumentRecord) {
    match key {
        SortKey::Title => title_ui(ui, record),
        SortKey::Status => status_ui(ui, record),
        SortKey::Pages => number_ui(ui, record.pages.map(|pages| format::count(pages as usize))),
        SortKey::Chunks => number_ui(ui, (record.chunks > 0).then(|| format::count(record.chunks))),
        SortKey::Size => number_ui(ui, Some(format::bytes(record.bytes))),
        SortKey::Chunker => {
            ui.add_space(CHUNKER_LEAD);
            let text = record.chunker.as_ref().map(format::chunker).unwrap_or_default();
            ui.add(Label::new(secondary(text)).truncate());
        }
    }
}

fn title_ui(ui: &mut Ui, record: &DocumentRecord) {
    let title = strong(&record.title).text_style(TextStyle::Body).family(egui::FontFamily::Proportional);
    let label = Label::new(title.size(tokens().text.body - 1.0)).truncate().show_tooltip_when_elided(false);
    ui.add(label).on_hover_text(record.path.display().to_string());
}

fn status_ui(ui: &mut Ui, record: &DocumentRecord) {
    let (word, tone) = status(record);
    let response = chip(ui, word, tone, false);
    let mut reasons: Vec<String> = record.reason.iter().cloned().collect();
    if !record.pages_without_text.is_empty() {
        let pages: Vec<String> = record.pages_without_text.iter().map(u32::to_string).collect();
        reasons.push(format!("Pages without text: {}", pages.join(", ")));
    }
    if !reasons.is_empty() {
        response.on_hover_text(reasons.join("\n"));
    }
}

fn number_ui(ui: &mut Ui, text: Option<String>) {
    match text {
        Some(text) => ui.label(mono(text)),
        None => ui.label(mono("–").color(palette(ui).ink_faint)),
    };
}
