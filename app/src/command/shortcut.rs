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
    /// With Alt.
    pub alt: bool,
    /// With Shift.
    pub shift: bool,
    /// The key.
    pub key: KeyName,
}

impl Shortcut {
    /// Ctrl and a letter or digit.
    pub const fn ctrl(key: char) -> Self {
        Self { ctrl: true, alt: false, shift: false, key: KeyName::Char(key) }
    }

    /// Ctrl, Shift and a letter or digit.
    pub const fn ctrl_shift(key: char) -> Self {
        Self { ctrl: true, alt: false, shift: true, key: KeyName::Char(key) }
    }

    /// Alt and a letter or digit.
    pub const fn alt(key: char) -> Self {
        Self { ctrl: false, alt: true, shift: false, key: KeyName::Char(key) }
    }

    /// A key alone.
    pub const fn plain(key: KeyName) -> Self {
        Self { ctrl: false, alt: false, shift: false, key }
    }

    /// The shortcut as people write it, for example `Ctrl+K`.
    pub fn label(self) -> String {
        let key = match self.key {
            KeyName::Char(character) => character.to_ascii_uppercase().to_string(),
            KeyName::Escape => "Esc".to_owned(),
            KeyName::Delete => "Delete".to_owned(),
        };
        let ctrl = if cfg!(target_os = "macos") { "Cmd+" } else { "Ctrl+" };
        let alt = if cfg!(target_os = "macos") { "Option+" } else { "Alt+" };
        let modifiers = [(self.ctrl, ctrl), (self.alt, alt), (self.shift, "Shift+")];
        let held = modifiers.into_iter().filter(|(is_held, _)| *is_held).map(|(_, name)| name);
        held.chain([key.as_str()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortcuts_read_as_people_write_them() {
        assert!(Shortcut::ctrl('k').label().ends_with("+K"));
        assert!(Shortcut::alt('1').label().ends_with("+1") && Shortcut::alt('1') != Shortcut::ctrl('1'));
        assert_eq!(Shortcut::plain(KeyName::Escape).label(), "Esc");
    }
}
