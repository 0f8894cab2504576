//! What the readers of XML formats share. Only local names count: writers differ in their prefixes.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::ExtractError;

/// An attribute by its name without prefix.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = element.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == name)?;
    Some(found.value.into_owned())
}

/// The character that a reference such as `&amp;` or `&#8212;` stands for.
pub(super) fn resolve_reference(reference: &BytesRef<'_>) -> Option<char> {
    match &**reference {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => reference.resolve_char_ref().ok().flatten(),
    }
}

/// The elements of `xml` with this local name, as far as the XML can be read.
pub(super) fn for_each_element(xml: &str, name: &str, mut visit: impl FnMut(&BytesStart<'_>)) {
    let mut reader = Reader::from_str(xml);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) if element.local_name().as_ref() == name => {
                visit(&element);
            }
            Ok(Event::Eof) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

/// Reads all of `xml`, the part called `part` of a `format` file. Elements named in `unread` are passed over with
/// all that is in them; empty elements come as a start and an end.
///
/// # Errors
/// The XML is damaged or ends early.
pub(super) fn for_each_event<'x>(
    xml: &'x str,
    format: &str,
    part: &str,
    unread: &[&str],
    mut note: impl FnMut(&Event<'x>),
) -> Result<(), ExtractError> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut depth = 0_usize;
    let mut step = || -> Result<bool, quick_xml::Error> {
        let event = reader.read_event()?;
        match &event {
            Event::Eof if depth == 0 => return Ok(false),
            Event::Eof => return Err(ends_early(depth)),
            Event::Start(element) if unread.contains(&element.local_name().as_ref()) => {
                reader.read_to_end(element.name())?;
                return Ok(true);
            }
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        note(&event);
        Ok(true)
    };
    loop {
        match step() {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(err) => return Err(ExtractError::damaged(format, format!("{part}: {err}"))),
        }
    }
}

fn ends_early(depth: usize) -> quick_xml::Error {
    let detail = format!("it ends inside {depth} open elements");
    std::io::Error::new(std::io::ErrorKind::UnexpectedEof, detail).into()
}

/// Bytes of a `name` attribute that is looked at, and of a text.
const MOST_NAME_BYTES: usize = 256;
const MOST_TEXT_BYTES: usize = 4096;

/// The elements of `xml` that hold text: their local name, the `name` attribute of the element or the one around it, and
/// the start of the text. As far as the XML can be read.
pub(super) fn for_each_text(xml: &str, mut visit: impl FnMut(&str, Option<&str>, &str)) {
    let mut reader = Reader::from_str(xml);
    let mut open: Vec<(String, Option<String>)> = Vec::new();
    let mut text = String::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => {
                let name = attribute(&element, "name").filter(|name| name.len() <= MOST_NAME_BYTES);
                let name = name.and_then(|name| quick_xml::escape::unescape(&name).ok().map(Cow::into_owned));
                open.push((element.local_name().as_ref().to_owned(), name));
                text.clear();
            }
            Ok(Event::End(_)) => {
                if let Some((element, name)) = open.pop().filter(|_| !text.trim().is_empty()) {
                    let around = open.last().and_then(|(_, name)| name.as_deref());
                    visit(&element, name.as_deref().or(around), text.trim());
                }
                text.clear();
            }
            Ok(Event::Eof) | Err(_) => return,
            _ if text.len() > MOST_TEXT_BYTES => {}
            Ok(Event::Text(piece)) => text.push_str(&piece.xml10_content()),
            Ok(Event::CData(piece)) => text.push_str(&piece),
            Ok(Event::GeneralRef(reference)) => text.extend(resolve_reference(&reference)),
            Ok(_) => {}
        }
    }
}

/// The text inside the first element with this local name, as far as the XML can be read.
pub(super) fn element_text(xml: &str, name: &str) -> Option<String> {
    let mut reader = Reader::from_str(xml);
    let mut text = String::new();
    let mut inside = false;
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => inside |= element.local_name().as_ref() == name,
            Ok(Event::End(element)) if element.local_name().as_ref() == name => break,
            Ok(Event::Text(piece)) if inside => text.push_str(&piece.xml10_content()),
            Ok(Event::GeneralRef(reference)) if inside => text.extend(resolve_reference(&reference)),
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
