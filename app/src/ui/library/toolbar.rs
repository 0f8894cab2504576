//! Title, filter and what adds or removes documents.

use egui::{Align, Layout, TextEdit, Ui};

use super::super::icons::Icon;
use super::super::theme::{secondary, title};
use super::super::widgets::{format, icon_text_button, quiet, segmented, unbroken};
use crate::command::Command;
use crate::state::{AppState, StatusFilter};

pub(super) fn toolbar_ui(ui: &mut Ui, filter: &mut String, state: &AppState, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.label(title("Library"));
        let (documents, chunks) = state.library.totals();
        if documents > 0 {
            let totals = format!(
                "{} searchable  ·  {}",
                format::counted(documents, "document"),
                format::counted(chunks, "chunk")
            );
            ui.label(secondary(totals));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_enabled_ui(state.opened.value().is_some(), |ui| add_ui(ui, commands));
        });
    });
    ui.add_space(4.0);
    let has_documents = state.library.documents.value().is_some_and(|documents| !documents.is_empty());
    if has_documents {
        ui.horizontal_wrapped(|ui| filter_ui(ui, filter, state, commands));
        ui.add_space(4.0);
    }
}

fn add_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    if icon_text_button(ui, Icon::Folder, "Add folder…").clicked() {
        commands.push(Command::PickFolder);
    }
    if icon_text_button(ui, Icon::Plus, "Add files…").clicked() {
        commands.push(Command::PickFiles);
    }
}

fn filter_ui(ui: &mut Ui, filter: &mut String, state: &AppState, commands: &mut Vec<Command>) {
    if *filter != state.library.filter {
        filter.clone_from(&state.library.filter);
    }
    let edit = TextEdit::singleline(filter)
        .align(egui::Align2::LEFT_CENTER)
        .hint_text("Filter by title or path")
        .desired_width(240.0);
    if ui.add(edit).accessible_name("Filter documents").changed() {
        commands.push(Command::FilterDocuments(filter.clone()));
    }
    let choices = [(StatusFilter::All, "All"), (StatusFilter::Ready, "Ready"), (StatusFilter::Problems, "Problems")];
    if let Some(choice) = segmented(ui, state.library.status_filter, &choices) {
        commands.push(Command::FilterStatus(choice));
    }
    let selected = &state.library.selected;
    if let Some(first) = selected.first() {
        unbroken(ui, "selected", |ui| {
            ui.label(secondary(format!("{} selected", format::count(selected.len()))));
            if ui.button("Show chunks").clicked() {
                commands.push(Command::OpenInChunks { document: *first, byte: None });
            }
            if quiet(ui, "Remove selected").clicked() {
                commands.push(Command::RemoveSelected);
            }
        });
    }
}
