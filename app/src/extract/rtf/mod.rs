//! RTF: headings by outline level or style, tables as rows, text in whatever code page its font says.
//!
//! `tokens` cuts the bytes into groups, control words and text; `codepage` says how bytes are characters; `body`
//! turns tokens into blocks. Written here because the readers that exist know one code page and no tables.

mod body;
mod codepage;
mod tokens;

use body::BodyParser;
use tokens::{Token, Tokens};

use super::blocks::{BlockWriter, Notes};
use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, TextBuilder};

/// What the errors call this format.
const FORMAT: &str = "RTF";

/// Reads `bytes` as RTF.
pub(super) fn read(bytes: &[u8], limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    let mut parser = BodyParser::default();
    let mut depth = 0_usize;
    for token in Tokens::new(bytes) {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        parser.note(token);
        if depth == 0 {
            break;
        }
    }
    if depth > 0 {
        return Err(ExtractError::damaged(FORMAT, format!("it is cut off inside {depth} open groups")));
    }
    let body = parser.finish();
    let mut built = TextBuilder::new(limits);
    let notes = Notes::new();
    let mut writer = BlockWriter::new(&mut built, &notes);
    writer.write(&body.blocks)?;
    let title = writer.finish();
    built.title = Some(body.title).filter(|title| !title.trim().is_empty()).or(title);
    built.metadata.add("author", &body.author);
    built.finish(DocumentKind::Rtf)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    fn read_text(rtf: &str) -> Extraction {
        read(rtf.as_bytes(), &ExtractLimits::default()).unwrap()
    }

    #[test]
    fn what_is_no_text_is_not_read() {
        let extraction = read_text(
            r"{\rtf1\ansi{\fonttbl{\f0 Serif;}}{\colortbl;\red0\green0\blue0;}{\info{\title Tide tables}{\author A}}
{\*\generator x;}{\header running}\pard One {\b bold} word.{\pict\wmetafile8 0a0b}\par Two\line lines{\v hidden}.\par}",
        );
        assert_eq!(extraction.text, "One bold word.\n\nTwo\nlines.");
        assert_eq!(extraction.title.as_deref(), Some("Tide tables"));
    }

    #[test]
    fn code_pages_and_unicode_are_read() {
        let extraction = read_text(
            r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}{\f2\fcharset128 C;}}
\f0 caf\'e9 \u8211? \f1\'cf\'f0\'e8\'e2\'e5\'f2 \f2\'93\'fa\'96\'7b\f0  \uc2\u-10179\'81\'40\u-8704\'81\'40 end\par}",
        );
        assert_eq!(extraction.text, "café – Привет 日本 😀 end");
    }

    #[test]
    fn headings_lists_and_tables_keep_their_structure() {
        let extraction = read_text(
            r"{\rtf1{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}{\s2 heading 2;}}
{\pard\s1 Harbour\par}{\pard\s2 Berths\par}\pard\trowd\intbl Berth\cell Depth\cell\row
\trowd\intbl North\cell 4 m\cell\row\pard{\listtext\'b7\tab}\ls1\ilvl0 moor\par\pard after\par}",
        );
        assert_eq!(extraction.text, "Harbour\n\nBerths\n\nBerth: North; Depth: 4 m\n\n- moor\n\nafter");
        let at = extraction.text.find("North").unwrap();
        assert_eq!(extraction.place(at..at + 5).heading, ["Harbour", "Berths"]);
    }

    #[test]
    fn a_cut_off_file_is_damaged() {
        let result = read(br"{\rtf1\ansi half a sent", &ExtractLimits::default());
        assert!(matches!(result, Err(ExtractError::Damaged { .. })), "{result:?}");
    }
}
