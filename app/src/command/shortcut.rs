//! Keyboard shortcuts as data; the window translates them to the toolkit's own.

/// A key of a shortcut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyName {
    /// A letter or digit.
    Char(char),
    /// Escape.
    Escape,
    /// Delete.
    Delete,
}

/// A key with its modifiers. `Ctrl` means Command on macOS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcut {
    /// With Ctrl.
    pub ctrl: bool,
    /// With Shift.
    pub shift: bool,
    /// The key.
    pub key: KeyName,
}

impl Shortcut {
    /// Ctrl and a letter or digit.
    pub const fn ctrl(key: char) -> Self {
        Self { ctrl: true, shift: false, key: KeyName::Char(key) }
    }

    /// Ctrl, Shift and a letter or digit.
    pub const fn ctrl_shift(key: char) -> Self {
        Self { ctrl: true, shift: true, key: KeyName::Char(key) }
    }

    /// A key alone.
    pub const fn plain(key: KeyName) -> Self {
        Self { ctrl: false, shift: false, key }
    }

    /// The shortcut as people write it, for example `Ctrl+K`.
    pub fn label(self) -> String {
        let key = match self.key {
            KeyName::Char(character) => character.to_ascii_uppercase().to_string(),
            KeyName::Escape => "Esc".to_owned(),
            KeyName::Delete => "Delete".to_owned(),
        };
        let ctrl = if cfg!(target_os = "macos") { "Cmd+" } else { "Ctrl+" };
        format!("{}{}{key}", if self.ctrl { ctrl } else { "" }, if self.shift { "Shift+" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortcuts_read_as_people_write_them() {
        assert!(Shortcut::ctrl('k').label().ends_with("+K"));
        assert_eq!(Shortcut::plain(KeyName::Escape).label(), "Esc");
    }
}
