//! How the file of a document is read, in the inspector: the password of an encrypted one, the encoding of a text.

use egui::{ComboBox, Key, TextEdit, Ui};

use super::widgets::field;
use crate::command::Command;
use crate::extract::{COMMON_ENCODINGS, Password, ReadOptions, takes_password};
use crate::store::{DocumentId, DocumentRecord, DocumentStatus};

const AUTOMATIC: &str = "Automatic";

/// A password while it is typed.
#[derive(Default)]
pub(super) struct ReadingFields {
    document: Option<DocumentId>,
    password: String,
}

impl ReadingFields {
    /// Draws what can be said of how `record` is read.
    pub(super) fn ui(&mut self, ui: &mut Ui, record: &DocumentRecord, commands: &mut Vec<Command>) {
        if record.status == DocumentStatus::Encrypted && takes_password(&record.path) {
            self.password_ui(ui, record, commands);
        }
        let has_encoding = record.kind.is_some_and(ReadOptions::has_encoding);
        let was_read = matches!(record.status, DocumentStatus::Ready | DocumentStatus::Failed);
        if has_encoding && was_read {
            encoding_ui(ui, record, commands);
        }
    }

    /// Asks for the password of `record`.
    pub(super) fn password_ui(&mut self, ui: &mut Ui, record: &DocumentRecord, commands: &mut Vec<Command>) {
        // What was typed for one document is not for another.
        if self.document != Some(record.id) {
            *self = Self { document: Some(record.id), password: String::new() };
        }
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            let edit =
                TextEdit::singleline(&mut self.password).password(true).hint_text("Password").desired_width(180.0);
            let response = ui.add(edit).accessible_name("Password");
            let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            let is_clicked = ui.add_enabled(!self.password.is_empty(), egui::Button::new("Open")).clicked();
            if (is_clicked || is_entered) && !self.password.is_empty() {
                let password = Password::new(&std::mem::take(&mut self.password));
                commands.push(Command::OpenWithPassword { document: record.id, password });
            }
        });
        ui.add_space(4.0);
    }
}

fn encoding_ui(ui: &mut Ui, record: &DocumentRecord, commands: &mut Vec<Command>) {
    let current = record.read.encoding.as_deref().unwrap_or_default();
    let shown = if current.is_empty() { AUTOMATIC } else { current };
    field(ui, "Encoding", |ui| {
        ComboBox::from_id_salt("encoding").selected_text(shown).width(150.0).show_ui(ui, |ui| {
            let choices = std::iter::once((AUTOMATIC, "")).chain(COMMON_ENCODINGS.iter().map(|name| (*name, *name)));
            for (word, name) in choices {
                if ui.selectable_label(current == name, word).clicked() && current != name {
                    commands.push(Command::SetEncoding { document: record.id, encoding: name.to_owned() });
                }
            }
        });
    });
    ui.add_space(4.0);
}
