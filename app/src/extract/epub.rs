//! EPUB books: the chapters of the spine in order, each read as HTML.

use std::path::Path;

use super::html::{self, append};
use super::package::{Package, resolve};
use super::properties::add_dublin_core;
use super::xml::{attribute, element_text, for_each_element};
use super::{DocumentKind, ExtractError, ExtractLimits, ExtractStep, Extraction, TextBuilder};

/// What the errors call this format.
const FORMAT: &str = "EPUB";
/// Algorithms that hide fonts only; a book that uses others for its chapters is locked.
const FONT_ALGORITHMS: [&str; 2] = ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];

/// Reads the book at `path`.
pub(super) fn read(
    path: &Path,
    limits: &ExtractLimits,
    on_step: &mut dyn FnMut(ExtractStep),
) -> Result<Extraction, ExtractError> {
    let mut package = Package::open(path, FORMAT, limits.text_bytes)?;
    expect_unlocked(&mut package)?;
    let opf_name = opf_name(&mut package)?;
    let opf = package.expect_part(&opf_name)?;
    let folder = opf_name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let chapters = spine(&opf, folder);
    let mut built = TextBuilder::new(limits);
    let mut missing = 0;
    for (chapter, number) in chapters.iter().zip(1..) {
        // A chapter is no page, but its budget is that of one.
        on_step(ExtractStep::Page { page: number, pages: chapters.len() as u32 });
        match package.part(chapter)? {
            Some(source) => built = append(built, &html::expand_empty_elements(&source))?.0,
            None => missing += 1,
        }
        built.break_paragraph();
    }
    on_step(ExtractStep::Assembling);
    if missing > 0 {
        built.note(format!("{missing} of its {} chapters are missing in the file.", chapters.len()));
    }
    built.title = element_text(&opf, "title");
    add_dublin_core(&mut built.metadata, &opf, "published");
    built.finish(DocumentKind::Epub)
}

fn expect_unlocked(package: &mut Package) -> Result<(), ExtractError> {
    let Some(xml) = package.part("META-INF/encryption.xml")? else {
        return Ok(());
    };
    let mut is_locked = false;
    for_each_element(&xml, "EncryptionMethod", |element| {
        let algorithm = attribute(element, "Algorithm").unwrap_or_default();
        is_locked |= !FONT_ALGORITHMS.contains(&algorithm.as_str());
    });
    if is_locked { Err(ExtractError::encrypted()) } else { Ok(()) }
}

/// The entry of the book's own description.
fn opf_name(package: &mut Package) -> Result<String, ExtractError> {
    let container = package.expect_part("META-INF/container.xml")?;
    let mut found = None;
    for_each_element(&container, "rootfile", |element| {
        found = found.take().or_else(|| attribute(element, "full-path"));
    });
    found.ok_or_else(|| ExtractError::damaged(FORMAT, "META-INF/container.xml names no book"))
}

/// The entries of the chapters, in reading order.
fn spine(opf: &str, folder: &str) -> Vec<String> {
    let mut items = Vec::new();
    for_each_element(opf, "item", |element| {
        let id = attribute(element, "id").unwrap_or_default();
        items.push((id, attribute(element, "href").unwrap_or_default()));
    });
    let mut chapters = Vec::new();
    for_each_element(opf, "itemref", |element| {
        let id = attribute(element, "idref").unwrap_or_default();
        let found = items.iter().find(|(item, _)| *item == id);
        chapters.extend(found.map(|(_, href)| resolve(folder, &decode_percent(href))));
    });
    chapters
}

/// A reference with its `%20` written out.
fn decode_percent(reference: &str) -> String {
    let mut bytes = Vec::with_capacity(reference.len());
    let mut rest = reference.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) if byte == b'%' => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            _ => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chapters_come_in_the_order_of_the_spine() {
        let opf = r#"<package><manifest><item id="b" href="b%20two.xhtml"/><item id="a" href="a.xhtml"/></manifest>
            <spine><itemref idref="a"/><itemref idref="gone"/><itemref idref="b"/></spine></package>"#;
        assert_eq!(spine(opf, "OPS"), ["OPS/a.xhtml", "OPS/b two.xhtml"]);
        assert_eq!(decode_percent("100%"), "100%");
    }
}
