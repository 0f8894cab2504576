//! The catalogue's shortcuts in the toolkit's terms.

use egui::{Context, Event, Key, KeyboardShortcut, Modifiers};

use crate::command::{Command, KeyName, Shortcut, entries};
use crate::state::AppState;

/// Takes pressed shortcuts out of the input and gives their commands. Keys without Ctrl or Alt belong to the text that is
/// being edited, if there is one; Esc belongs to it first as well.
pub(super) fn pressed(ctx: &Context, state: &AppState) -> Vec<Command> {
    let editing = ctx.text_edit_focused() || ctx.any_popup_open();
    let mut found = entries(state);
    found.sort_by_key(|entry| !entry.shortcut.is_some_and(|shortcut| shortcut.shift));
    let mut commands = Vec::new();
    for entry in found {
        let Some(shortcut) = entry.shortcut else {
            continue;
        };
        let free = shortcut.ctrl || shortcut.alt || !editing || (shortcut.key == KeyName::Escape && state.palette_open);
        let consumed = free && ctx.input_mut(|input| input.consume_shortcut(&translated(shortcut)));
        if consumed {
            if shortcut.alt {
                // The key's character would land in the text that is being edited.
                ctx.input_mut(|input| input.events.retain(|event| !matches!(event, Event::Text(_))));
            }
            commands.push(entry.command);
        }
    }
    commands
}

fn translated(shortcut: Shortcut) -> KeyboardShortcut {
    let mut modifiers = Modifiers::NONE;
    if shortcut.ctrl {
        modifiers |= Modifiers::COMMAND;
    }
    if shortcut.alt {
        modifiers |= Modifiers::ALT;
    }
    if shortcut.shift {
        modifiers |= Modifiers::SHIFT;
    }
    KeyboardShortcut::new(modifiers, key(shortcut.key))
}

fn key(name: KeyName) -> Key {
    match name {
        KeyName::Escape => Key::Escape,
        KeyName::Delete => Key::Delete,
        KeyName::Char('.') => Key::Period,
        KeyName::Char(character) => Key::from_name(&character.to_ascii_uppercase().to_string()).unwrap_or(Key::F35),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shortcut_has_a_key() {
        for shortcut in entries(&AppState::default()).iter().filter_map(|entry| entry.shortcut) {
            assert_ne!(key(shortcut.key), Key::F35, "{shortcut:?}");
        }
    }
}
