//! Colours are tokens: their values stand in `assets/theme` and nowhere else.

use crate::scan::{code_of, names_under};
use crate::tree::{assert_none, files};

/// Where colours are made of values.
const THEME: &str = "app/src/ui/theme";

/// Constants that are no colour.
const NO_COLOUR: [&str; 2] = ["TRANSPARENT", "PLACEHOLDER"];

#[test]
fn no_colour_is_made_outside_the_theme() {
    let mut found = Vec::new();
    for file in files(&["rs"]).iter().filter(|file| file.path.starts_with("app/") && !file.path.starts_with(THEME)) {
        let code = code_of(&file.text);
        for kind in ["Color32", "Rgba", "Hsva"] {
            let made = names_under(&code, kind).into_iter().filter(|(_, name)| makes_colour(name));
            found.extend(made.map(|(byte, name)| format!("{}: {kind}::{name}", file.at(byte))));
        }
    }
    assert_none("take a colour of the theme, or add one to it", &found);
}

/// Constructors from numbers and named constants; conversions and blending are no literals.
fn makes_colour(name: &str) -> bool {
    name.starts_with("from_")
        || (name.chars().all(|c| c.is_ascii_uppercase() || c == '_') && !NO_COLOUR.contains(&name))
}

#[test]
fn no_hex_colour_outside_the_theme() {
    let mut found = Vec::new();
    for file in files(&["rs", "wgsl"]).iter().filter(|file| !file.path.starts_with(THEME)) {
        let hits = file.text.match_indices('#').filter(|(byte, _)| is_hex_colour(&file.text[byte + 1..]));
        found.extend(hits.map(|(byte, _)| file.at(byte)));
    }
    assert_none("a hex colour outside assets/theme", &found);
}

/// Whether text after a `#` is six or eight hex digits and then no word goes on.
fn is_hex_colour(rest: &str) -> bool {
    let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
    let ends = !rest[digits..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    matches!(digits, 6 | 8) && ends && rest[..digits].bytes().any(|byte| byte.is_ascii_digit())
}

#[test]
fn hex_colours_are_recognised() {
    assert!(is_hex_colour("1a2b3c;"));
    assert!(is_hex_colour("1A2B3CFF\""));
    assert!(!is_hex_colour("1a2b3"));
    assert!(!is_hex_colour("[derive]"));
    assert!(!is_hex_colour("1a2b3cdx"));
}
