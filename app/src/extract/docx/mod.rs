//! Word documents: headings as sections, paragraphs, lists, tables as rows, footnotes after their paragraph.
//!
//! `package` opens the archive under a budget, `styles` says which paragraph styles are headings, `body` turns
//! the XML into blocks and `write` the blocks into text. Tracked deletions and hidden text are not read.

mod body;
mod package;
mod styles;
mod write;

use std::collections::HashMap;
use std::path::Path;

use body::{Block, Paragraph};
use package::Package;
use styles::Styles;

use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, TextBuilder};

/// What the errors call this format.
const FORMAT: &str = "DOCX";

/// Texts of notes, by kind (`footnote`, `endnote`) and id.
type Notes = HashMap<(&'static str, String), String>;

/// Reads the file at `path` as a Word document.
pub(super) fn read(path: &Path, limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    let mut package = Package::open(path, limits.text_bytes)?;
    let document = package.main_document()?;
    let styles = Styles::parse(&package.part("word/styles.xml")?.unwrap_or_default())?;
    let mut notes = Notes::new();
    read_notes(&mut package, "footnote", &styles, &mut notes)?;
    read_notes(&mut package, "endnote", &styles, &mut notes)?;
    let blocks = body::parse_document(&document, &styles)?;
    drop(document);
    let mut built = TextBuilder::new(limits);
    let title = write::write_blocks(&mut built, &blocks, &notes)?;
    built.title = package.title()?.or(title);
    built.finish(DocumentKind::Docx)
}

fn read_notes(
    package: &mut Package,
    kind: &'static str,
    styles: &Styles,
    notes: &mut Notes,
) -> Result<(), ExtractError> {
    let Some(xml) = package.part(&format!("word/{kind}s.xml"))? else {
        return Ok(());
    };
    for (id, blocks) in body::parse_notes(&xml, kind, styles)? {
        let texts: Vec<_> = blocks.iter().filter_map(Block::as_paragraph).collect();
        let joined = texts.iter().map(|paragraph: &&Paragraph| paragraph.text.trim());
        notes.insert((kind, id), joined.collect::<Vec<_>>().join(" "));
    }
    Ok(())
}
