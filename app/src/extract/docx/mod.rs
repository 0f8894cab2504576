//! Word documents: headings as sections, paragraphs, lists, tables as rows, footnotes after their paragraph.
//!
//! `styles` says which paragraph styles are headings, `body` turns the XML into blocks. Tracked deletions and
//! hidden text are not read.

mod body;
mod styles;

use std::path::Path;

use styles::Styles;

use super::blocks::{Block, BlockWriter, Notes, Paragraph};
use super::package::Package;
use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, TextBuilder};

/// What the errors call this format.
const FORMAT: &str = "DOCX";
const DEFAULT_DOCUMENT: &str = "word/document.xml";

/// Reads the file at `path` as a Word document.
pub(super) fn read(path: &Path, limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    let mut package = Package::open(path, FORMAT, limits.text_bytes)?;
    let document = main_document(&mut package)?;
    let styles = Styles::parse(&package.part("word/styles.xml")?.unwrap_or_default())?;
    let mut notes = Notes::new();
    read_notes(&mut package, "footnote", &styles, &mut notes)?;
    read_notes(&mut package, "endnote", &styles, &mut notes)?;
    let blocks = body::parse_document(&document, &styles)?;
    drop(document);
    let mut built = TextBuilder::new(limits);
    let mut writer = BlockWriter::new(&mut built, &notes);
    writer.write(&blocks)?;
    let title = writer.finish();
    let (own_title, metadata) = package.office_properties()?;
    built.metadata = metadata;
    built.title = own_title.or(title);
    built.finish(DocumentKind::Docx)
}

/// The XML of the document itself, which is nearly always at the same place.
fn main_document(package: &mut Package) -> Result<String, ExtractError> {
    if let Some(xml) = package.part(DEFAULT_DOCUMENT)? {
        return Ok(xml);
    }
    let relationships = package.relationships("")?;
    let named = relationships.into_iter().find(|relationship| relationship.kind == "officeDocument");
    package.expect_part(named.as_ref().map_or(DEFAULT_DOCUMENT, |relationship| &relationship.target))
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
