//! The command palette: every command by name.

use egui::{
    Align2, Area, Frame, Id, Key, Margin, Modifiers, Order, Role, ScrollArea, Sense, TextEdit, Ui, Vec2, WidgetInfo,
};

use super::theme::{palette, secondary, tokens};
use super::widgets::hairline;
use crate::command::{Command, Entry, entries};
use crate::state::AppState;

const WIDTH: f32 = 520.0;
const ROW_HEIGHT: f32 = 34.0;

/// The palette's own state.
#[derive(Default)]
pub(super) struct CommandPalette {
    filter: String,
    current: usize,
    was_open: bool,
}

impl CommandPalette {
    /// Draws the palette when it is open.
    pub(super) fn ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        let just_opened = state.palette_open && !self.was_open;
        self.was_open = state.palette_open;
        if !state.palette_open {
            return;
        }
        if just_opened {
            self.filter.clear();
            self.current = 0;
        }
        let area = Area::new(Id::unique("command_palette")).order(Order::Foreground);
        let area = area.anchor(Align2::CENTER_TOP, Vec2::new(0.0, 96.0));
        let shown = area.show(ui.ctx(), |ui| {
            let frame = Frame::popup(ui.style()).inner_margin(Margin::same(8));
            frame.show(ui, |ui| self.contents_ui(ui, state, commands, just_opened));
        });
        if shown.response.clicked_elsewhere() && !just_opened {
            commands.push(Command::TogglePalette);
        }
    }

    fn contents_ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>, just_opened: bool) {
        ui.set_width(WIDTH);
        let found = matching(entries(state), &self.filter);
        self.keys(ui, &found, commands);
        let edit = TextEdit::singleline(&mut self.filter)
            .hint_text("Type a command")
            .desired_width(f32::INFINITY)
            .frame(Frame::new().inner_margin(Margin::symmetric(6, 6)));
        let edit = ui.add(edit).accessible_name("Command");
        if just_opened {
            edit.request_focus();
        }
        if edit.changed() {
            self.current = 0;
        }
        hairline(ui);
        let rows = ScrollArea::vertical().max_height(ROW_HEIGHT * 9.0);
        rows.show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for (position, entry) in found.iter().enumerate() {
                self.row_ui(ui, position, entry, commands);
            }
        });
        if found.is_empty() {
            ui.label(secondary("No command has these letters"));
        }
    }

    fn keys(&mut self, ui: &mut Ui, found: &[Entry], commands: &mut Vec<Command>) {
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        if pressed(Key::ArrowDown) {
            self.current = (self.current + 1).min(found.len().saturating_sub(1));
        }
        if pressed(Key::ArrowUp) {
            self.current = self.current.saturating_sub(1);
        }
        if pressed(Key::Enter)
            && let Some(entry) = found.get(self.current)
        {
            commands.extend([Command::TogglePalette, entry.command.clone()]);
        }
    }

    fn row_ui(&mut self, ui: &mut Ui, position: usize, entry: &Entry, commands: &mut Vec<Command>) {
        let colours = palette(ui);
        let size = Vec2::new(ui.available_width(), ROW_HEIGHT);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let is_current = position == self.current;
        response.widget_info(|| WidgetInfo::selected(Role::MenuItem, true, is_current, &entry.title));
        if response.hovered() && ui.input(|input| input.pointer.is_moving()) {
            self.current = position;
        }
        if is_current {
            ui.painter().rect_filled(rect, tokens().space.radius, colours.accent_wash);
            response.scroll_to_me(None);
        }
        let inner = rect.shrink2(Vec2::new(10.0, 0.0));
        let font = egui::FontId::proportional(tokens().text.body - 1.0);
        ui.painter().text(inner.left_center(), Align2::LEFT_CENTER, &entry.title, font, colours.ink);
        if let Some(shortcut) = entry.shortcut {
            let font = egui::FontId::proportional(tokens().text.caption + 0.5);
            ui.painter().text(inner.right_center(), Align2::RIGHT_CENTER, shortcut.label(), font, colours.ink_faint);
        }
        if response.clicked() {
            commands.extend([Command::TogglePalette, entry.command.clone()]);
        }
    }
}

/// Entries that hold the filter's letters in order, those that hold it whole first.
fn matching(entries: Vec<Entry>, filter: &str) -> Vec<Entry> {
    let filter = filter.trim().to_lowercase();
    let mut found: Vec<(bool, Entry)> = entries
        .into_iter()
        .filter(|entry| holds_in_order(&entry.title.to_lowercase(), &filter))
        .map(|entry| (!entry.title.to_lowercase().contains(&filter), entry))
        .collect();
    found.sort_by_key(|(scattered, _)| *scattered);
    found.into_iter().map(|(_, entry)| entry).collect()
}

fn holds_in_order(title: &str, letters: &str) -> bool {
    let mut title = title.chars();
    letters.chars().filter(|letter| !letter.is_whitespace()).all(|letter| title.any(|other| other == letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_matches_come_before_scattered_ones() {
        let titles = |filter: &str| -> Vec<String> {
            matching(entries(&AppState::default()), filter).into_iter().map(|entry| entry.title).collect()
        };
        assert_eq!(titles("dark").first().map(String::as_str), Some("Theme: dark"));
        assert_eq!(titles("add fold").first().map(String::as_str), Some("Add folder…"));
        assert!(titles("zzz").is_empty());
    }
}
