//! Which paragraph styles are headings, whatever they are called in the language of the author.
//!
//! A style is a heading by its outline level, or by its built-in name (`heading 1`, which is English in every
//! language version, only the id is translated), or by the style it is based on.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::FORMAT;
use crate::extract::ExtractError;
use crate::extract::blocks::TITLE_LEVEL;
use crate::extract::xml::attribute;

/// How many styles may be based on each other.
const LONGEST_CHAIN: usize = 32;

/// The paragraph styles of a document, by id.
#[derive(Default)]
pub(super) struct Styles {
    by_id: HashMap<String, Style>,
}

#[derive(Default)]
struct Style {
    /// Level of its own; body text has `Some(None)`.
    level: Option<Option<u8>>,
    based_on: Option<String>,
    is_list: bool,
}

impl Styles {
    pub(super) fn parse(xml: &str) -> Result<Self, ExtractError> {
        let mut styles = Self::default();
        let mut current: Option<(String, Style)> = None;
        let mut reader = Reader::from_str(xml);
        reader.config_mut().expand_empty_elements = true;
        loop {
            match reader.read_event() {
                Ok(Event::Start(element)) if element.local_name().as_ref() == "style" => {
                    let id = attribute(&element, "styleId").unwrap_or_default();
                    current = Some((id, Style::default()));
                }
                Ok(Event::Start(element)) => {
                    if let Some((_, style)) = &mut current {
                        style.note(&element);
                    }
                }
                Ok(Event::End(element)) if element.local_name().as_ref() == "style" => {
                    styles.by_id.extend(current.take());
                }
                Ok(Event::Eof) => return Ok(styles),
                Ok(_) => {}
                Err(err) => {
                    return Err(ExtractError::damaged(FORMAT, format!("word/styles.xml: {err}")));
                }
            }
        }
    }

    /// The heading level of a style, 1 for the outermost; `None` for body text.
    pub(super) fn heading_level(&self, id: &str) -> Option<u8> {
        let mut chain = self.chain(id);
        match chain.find_map(|style| style.level) {
            Some(level) => level,
            // Small writers name the style and do not define it.
            None if !self.by_id.contains_key(id) => level_of_name(id).flatten(),
            None => None,
        }
    }

    /// Whether paragraphs of a style are list items.
    pub(super) fn is_list(&self, id: &str) -> bool {
        self.chain(id).any(|style| style.is_list)
    }

    fn chain<'a>(&'a self, id: &str) -> impl Iterator<Item = &'a Style> {
        let based_on = |style: &&'a Style| self.by_id.get(style.based_on.as_deref()?);
        std::iter::successors(self.by_id.get(id), based_on).take(LONGEST_CHAIN)
    }
}

impl Style {
    fn note(&mut self, element: &BytesStart<'_>) {
        let value = || attribute(element, "val").unwrap_or_default();
        match element.local_name().as_ref() {
            "name" => self.level = self.level.or_else(|| level_of_name(&value())),
            "basedOn" => self.based_on = Some(value()),
            "outlineLvl" => self.level = level_of_outline(&value()),
            "numPr" => self.is_list = true,
            _ => {}
        }
    }
}

/// Level of a built-in style by its name or, where names are missing, its id.
fn level_of_name(name: &str) -> Option<Option<u8>> {
    let name = name.to_lowercase().replace(' ', "");
    if name == "title" {
        return Some(Some(TITLE_LEVEL));
    }
    let level = name.strip_prefix("heading")?.parse().ok()?;
    (1..=9).contains(&level).then_some(Some(level))
}

/// Level of an outline level: 0 to 8 are headings, 9 is body text.
pub(super) fn level_of_outline(value: &str) -> Option<Option<u8>> {
    let outline: u8 = value.trim().parse().ok()?;
    Some((outline < 9).then_some(outline + 1))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    #[test]
    fn headings_are_found_by_name_outline_and_ancestor() {
        let styles = Styles::parse(
            r#"<w:styles xmlns:w="w">
            <w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
            <w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift2"/></w:style>
            <w:style w:styleId="Outlined"><w:pPr><w:outlineLvl w:val="3"/></w:pPr></w:style>
            <w:style w:styleId="Body"><w:basedOn w:val="Mine"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
            <w:style w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style>
            </w:styles>"#,
        )
        .unwrap();
        for (id, level) in [
            ("berschrift2", Some(2)),
            ("Mine", Some(2)),
            ("Outlined", Some(4)),
            ("Body", None),
            ("Loop", None),
            ("Heading3", Some(3)),
            ("Unknown", None),
        ] {
            assert_eq!(styles.heading_level(id), level, "{id}");
        }
    }
}
