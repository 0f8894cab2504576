//! PowerPoint presentations: every slide a page, its title a section, then its texts, tables and speaker's notes.

use std::path::Path;

use quick_xml::events::{BytesStart, Event};

use super::blocks::{Block, BlockWriter, Cell, Notes, Paragraph, Row, Table};
use super::package::{Package, Relationship};
use super::xml::{attribute, for_each_element, for_each_event, resolve_reference};
use super::{DocumentKind, ExtractError, ExtractLimits, ExtractStep, Extraction, SpanPlace, TextBuilder};

/// What the errors call this format.
const FORMAT: &str = "PPTX";
const PRESENTATION: &str = "ppt/presentation.xml";
/// The old form of new drawings.
const UNREAD: &[&str] = &["Fallback"];
/// Placeholders that repeat on every slide.
const UNREAD_PLACEHOLDERS: [&str; 4] = ["sldNum", "dt", "ftr", "hdr"];

/// Reads the presentation at `path`.
pub(super) fn read(
    path: &Path,
    limits: &ExtractLimits,
    on_step: &mut dyn FnMut(ExtractStep),
) -> Result<Extraction, ExtractError> {
    let mut package = Package::open(path, FORMAT, limits.text_bytes)?;
    let slides = slides(&mut package)?;
    let mut built = TextBuilder::new(limits);
    built.coverage.pages = Some(slides.len() as u32);
    let notes = Notes::new();
    let mut writer = BlockWriter::new(&mut built, &notes);
    for (slide, page) in slides.iter().zip(1..) {
        on_step(ExtractStep::Page { page, pages: slides.len() as u32 });
        let blocks = read_slide(&mut package, slide)?;
        writer.built().break_paragraph();
        let start = writer.built().len();
        writer.write(&blocks)?;
        let built = writer.built();
        built.break_paragraph();
        if built.len() == start {
            built.coverage.pages_without_text.push((page, "the slide has no text".to_owned()));
        }
        built.mark(start, SpanPlace::Page(page));
    }
    let title = writer.finish();
    let (own_title, metadata) = package.office_properties()?;
    built.metadata = metadata;
    built.title = own_title.filter(|title| title != "PowerPoint Presentation").or(title);
    built.finish(DocumentKind::Slides)
}

/// The entries of the slides, in the order in which they are shown.
fn slides(package: &mut Package) -> Result<Vec<String>, ExtractError> {
    let presentation = package.expect_part(PRESENTATION)?;
    let relationships = package.relationships(PRESENTATION)?;
    let mut slides = Vec::new();
    for_each_element(&presentation, "sldId", |element| {
        // `id` is a number of its own; the relationship is `r:id`.
        let ids = element.attributes().flatten().filter(|attribute| attribute.key.as_ref() != "id");
        let mut ids = ids.filter(|attribute| attribute.key.local_name().as_ref() == "id");
        let id = ids.next().map(|attribute| attribute.value.into_owned()).unwrap_or_default();
        let found = relationships.iter().find(|relationship| relationship.id == id);
        slides.extend(found.map(|relationship| relationship.target.clone()));
    });
    Ok(slides)
}

fn read_slide(package: &mut Package, name: &str) -> Result<Vec<Block>, ExtractError> {
    let Some(xml) = package.part(name)? else {
        return Err(ExtractError::damaged(FORMAT, format!("the slide {name} is missing")));
    };
    let mut blocks = parse_shapes(&xml, name, true)?;
    let is_notes = |relationship: &&Relationship| relationship.kind == "notesSlide";
    let Some(notes) = package.relationships(name)?.iter().find(is_notes).map(|notes| notes.target.clone()) else {
        return Ok(blocks);
    };
    let Some(xml) = package.part(&notes)? else {
        return Ok(blocks);
    };
    let mut notes = parse_shapes(&xml, &notes, false)?;
    let first = notes.iter_mut().find_map(|block| match block {
        Block::Paragraph(paragraph) if !paragraph.text.trim().is_empty() => Some(paragraph),
        _ => None,
    });
    if let Some(first) = first {
        first.text.insert_str(0, "Notes: ");
        blocks.extend(notes);
    }
    Ok(blocks)
}

/// The texts and tables of a slide or of its notes, title first.
fn parse_shapes(xml: &str, part: &str, has_title: bool) -> Result<Vec<Block>, ExtractError> {
    let mut parser = ShapeParser { has_title, ..ShapeParser::default() };
    for_each_event(xml, FORMAT, part, UNREAD, |event| parser.note(event))?;
    let mut blocks = parser.title;
    blocks.append(&mut parser.blocks);
    Ok(blocks)
}

#[derive(Default)]
struct ShapeParser {
    /// Whether titles are headings.
    has_title: bool,
    title: Vec<Block>,
    blocks: Vec<Block>,
    paragraph: Option<Paragraph>,
    table: Option<Table>,
    cell: Option<Cell>,
    placeholder: String,
    in_text: bool,
}

impl ShapeParser {
    fn note(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(element) => self.start(element),
            Event::End(element) => self.end(element.local_name().as_ref()),
            Event::Text(text) if self.in_text => self.push(&text.xml10_content()),
            Event::CData(text) if self.in_text => self.push(&text.xml10_content()),
            Event::GeneralRef(reference) if self.in_text => {
                if let Some(character) = resolve_reference(reference) {
                    self.push(character.encode_utf8(&mut [0; 4]));
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, element: &BytesStart<'_>) {
        match element.local_name().as_ref() {
            "sp" | "graphicFrame" => self.placeholder.clear(),
            "ph" => self.placeholder = attribute(element, "type").unwrap_or_else(|| "body".to_owned()),
            "p" => self.paragraph = Some(Paragraph::default()),
            "pPr" => self.indent(element),
            "t" => self.in_text = true,
            "br" => self.push("\n"),
            "tbl" => self.table = Some(Table::default()),
            "tr" => self.table.iter_mut().for_each(|table| table.rows.push(Row::default())),
            "tc" => {
                let columns = attribute(element, "gridSpan").and_then(|columns| columns.parse().ok()).unwrap_or(1);
                let is_merged = attribute(element, "hMerge").is_some();
                let continues = attribute(element, "vMerge").is_some();
                // What a cell spans to its right follows as merged cells of its own.
                self.cell =
                    (!is_merged).then(|| Cell { columns: usize::clamp(columns, 1, 100), continues, ..Cell::default() });
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "t" => self.in_text = false,
            "p" => {
                if let Some(paragraph) = self.paragraph.take() {
                    self.add(paragraph);
                }
            }
            "tc" => {
                let row = self.table.as_mut().and_then(|table| table.rows.last_mut());
                if let (Some(row), Some(cell)) = (row, self.cell.take()) {
                    row.cells.push(cell);
                }
            }
            "tbl" => self.blocks.extend(self.table.take().map(Block::Table)),
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(paragraph) = &mut self.paragraph {
            paragraph.text.push_str(text);
        }
    }

    fn indent(&mut self, element: &BytesStart<'_>) {
        let depth = attribute(element, "lvl").and_then(|level| level.parse().ok());
        if let (Some(paragraph), Some(depth)) = (&mut self.paragraph, depth) {
            paragraph.list_depth = Some(depth);
        }
    }

    fn add(&mut self, mut paragraph: Paragraph) {
        let is_title = matches!(self.placeholder.as_str(), "title" | "ctrTitle");
        if self.table.is_some() {
            self.cell.iter_mut().for_each(|cell| cell.blocks.push(Block::Paragraph(std::mem::take(&mut paragraph))));
        } else if is_title && self.has_title {
            paragraph.level = Some(1);
            paragraph.text = paragraph.text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.title.push(Block::Paragraph(paragraph));
        } else if !UNREAD_PLACEHOLDERS.contains(&self.placeholder.as_str()) {
            if self.placeholder == "body" && self.has_title {
                paragraph.list_depth.get_or_insert(0);
            }
            self.blocks.push(Block::Paragraph(paragraph));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    fn texts(blocks: &[Block]) -> Vec<(Option<u8>, Option<u8>, &str)> {
        let paragraphs = blocks.iter().filter_map(Block::as_paragraph);
        paragraphs.map(|paragraph| (paragraph.level, paragraph.list_depth, paragraph.text.as_str())).collect()
    }

    #[test]
    fn the_title_comes_first_and_slide_numbers_are_not_read() {
        let xml = r#"<p:sld xmlns:p="p" xmlns:a="a"><p:sp><p:nvPr><p:ph idx="1"/></p:nvPr><p:txBody>
            <a:p><a:r><a:t>Wells &amp; springs</a:t></a:r></a:p>
            <a:p><a:pPr lvl="1"/><a:r><a:t>deep</a:t></a:r></a:p></p:txBody></p:sp>
            <p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:r><a:t>Water</a:t></a:r></a:p></p:sp>
            <p:sp><p:nvPr><p:ph type="sldNum"/></p:nvPr><a:p><a:fld><a:t>7</a:t></a:fld></a:p></p:sp></p:sld>"#;
        let blocks = parse_shapes(xml, "slide", true).unwrap();
        assert_eq!(
            texts(&blocks),
            [(Some(1), None, "Water"), (None, Some(0), "Wells & springs"), (None, Some(1), "deep")]
        );
    }
}
