//! From the XML of a document to blocks. Only local names count: writers differ in their prefixes.
//!
//! Invariant: no recursion over the XML; what is open stands on stacks.

use quick_xml::events::{BytesStart, Event};

use super::FORMAT;
use super::styles::{Styles, level_of_outline};
use crate::extract::ExtractError;
use crate::extract::blocks::{Block, Cell, Paragraph, Row, Table};
use crate::extract::xml::{attribute, for_each_event, resolve_reference};

/// Tables inside each other; deeper ones are read like paragraphs.
const DEEPEST_TABLE: usize = 32;
/// Columns that one cell may span.
const MOST_COLUMNS_SPANNED: usize = 100;
/// Elements whose content is not part of the text: deleted or moved away, the old form of new drawings,
/// phonetic guides, and lists of tab stops.
const UNREAD: &[&str] = &["del", "moveFrom", "Fallback", "rt", "tabs", "pPrChange", "rPrChange"];

/// The blocks of `word/document.xml`.
///
/// # Errors
/// The XML is damaged or ends early.
pub(super) fn parse_document(xml: &str, styles: &Styles) -> Result<Vec<Block>, ExtractError> {
    let mut parser = BodyParser::new(styles);
    let mut is_document = false;
    for_each_event(xml, FORMAT, "word/document.xml", UNREAD, |event| {
        if let Event::Start(element) = event {
            is_document |= element.local_name().as_ref() == "document";
        }
        parser.note(event);
    })?;
    if !is_document {
        let detail = "word/document.xml holds no document";
        return Err(ExtractError::damaged(FORMAT, detail));
    }
    Ok(parser.finish())
}

/// The blocks of each note of `word/footnotes.xml` or `word/endnotes.xml`, by id.
///
/// # Errors
/// The XML is damaged or ends early.
pub(super) fn parse_notes(xml: &str, kind: &str, styles: &Styles) -> Result<Vec<(String, Vec<Block>)>, ExtractError> {
    let mut notes = Vec::new();
    let mut parser = BodyParser::new(styles);
    let mut id = None;
    for_each_event(xml, FORMAT, &format!("word/{kind}s.xml"), UNREAD, |event| {
        match event {
            Event::Start(element) if element.local_name().as_ref() == kind => {
                id = attribute(element, "id");
            }
            Event::End(element) if element.local_name().as_ref() == kind => {
                let done = std::mem::replace(&mut parser, BodyParser::new(styles));
                notes.extend(id.take().map(|id| (id, done.finish())));
            }
            _ => {}
        }
        parser.note(event);
    })?;
    Ok(notes)
}

struct BodyParser<'s> {
    styles: &'s Styles,
    /// Blocks of the body, then of each open cell.
    containers: Vec<Vec<Block>>,
    tables: Vec<OpenTable>,
    /// Open paragraphs: text boxes put paragraphs into paragraphs.
    paragraphs: Vec<OpenParagraph>,
    /// Tables that are too deep to be read as tables.
    flat_tables: usize,
    in_text: bool,
    run_is_hidden: bool,
}

#[derive(Default)]
struct OpenParagraph {
    paragraph: Paragraph,
    /// Whether it has an outline level of its own, which outranks its style's.
    has_outline: bool,
}

#[derive(Default)]
struct OpenTable {
    table: Table,
    row: Row,
    cell: Cell,
}

impl<'s> BodyParser<'s> {
    fn new(styles: &'s Styles) -> Self {
        Self {
            styles,
            containers: vec![Vec::new()],
            tables: Vec::new(),
            paragraphs: Vec::new(),
            flat_tables: 0,
            in_text: false,
            run_is_hidden: false,
        }
    }

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
            "p" => self.paragraphs.push(OpenParagraph::default()),
            "r" => self.run_is_hidden = false,
            "vanish" => self.run_is_hidden = is_on(element),
            "t" => self.in_text = true,
            "tab" => self.push("\t"),
            "br" | "cr" => self.push("\n"),
            "noBreakHyphen" => self.push("-"),
            "footnoteReference" => self.refer("footnote", element),
            "endnoteReference" => self.refer("endnote", element),
            "pStyle" | "outlineLvl" | "numPr" | "ilvl" | "numId" => self.format(element),
            "tbl" => self.start_table(),
            "gridSpan" | "vMerge" | "tblHeader" => self.format_cell(element),
            "tr" | "tc" if self.flat_tables == 0 => self.start_cells(element),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "p" => {
                if let Some(open) = self.paragraphs.pop() {
                    self.add(Block::Paragraph(open.paragraph));
                }
            }
            "t" => self.in_text = false,
            "tbl" if self.flat_tables > 0 => self.flat_tables -= 1,
            "tc" if self.flat_tables == 0 => self.end_cell(),
            "tr" if self.flat_tables == 0 => {
                if let Some(open) = self.tables.last_mut() {
                    open.table.rows.push(std::mem::take(&mut open.row));
                }
            }
            "tbl" => {
                if let Some(open) = self.tables.pop() {
                    self.add(Block::Table(open.table));
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(open) = self.paragraphs.last_mut()
            && !self.run_is_hidden
        {
            open.paragraph.text.extend(text.chars().filter(|c| *c != '\u{ad}'));
        }
    }

    fn add(&mut self, block: Block) {
        if let Some(container) = self.containers.last_mut() {
            container.push(block);
        }
    }

    fn refer(&mut self, kind: &'static str, element: &BytesStart<'_>) {
        if let (Some(open), Some(id)) = (self.paragraphs.last_mut(), attribute(element, "id")) {
            open.paragraph.notes.push((kind, id));
        }
    }

    /// A property of the paragraph: its own outline level outranks its style's.
    fn format(&mut self, element: &BytesStart<'_>) {
        let Some(OpenParagraph { paragraph, has_outline }) = self.paragraphs.last_mut() else {
            return;
        };
        let value = attribute(element, "val").unwrap_or_default();
        match element.local_name().as_ref() {
            "pStyle" => {
                if !*has_outline {
                    paragraph.level = self.styles.heading_level(&value);
                }
                if self.styles.is_list(&value) {
                    paragraph.list_depth.get_or_insert(0);
                }
            }
            "outlineLvl" => {
                if let Some(level) = level_of_outline(&value) {
                    paragraph.level = level;
                    *has_outline = true;
                }
            }
            "numPr" => paragraph.list_depth = Some(0),
            "ilvl" => paragraph.list_depth = value.parse().ok().or(paragraph.list_depth),
            "numId" if value == "0" => paragraph.list_depth = None,
            _ => {}
        }
    }

    fn start_table(&mut self) {
        if self.tables.len() >= DEEPEST_TABLE {
            self.flat_tables += 1;
        } else {
            self.tables.push(OpenTable::default());
        }
    }

    fn start_cells(&mut self, element: &BytesStart<'_>) {
        let Some(open) = self.tables.last_mut() else {
            return;
        };
        if element.local_name().as_ref() == "tr" {
            open.row = Row::default();
        } else {
            open.cell = Cell { columns: 1, ..Cell::default() };
            self.containers.push(Vec::new());
        }
    }

    fn end_cell(&mut self) {
        let Some(open) = self.tables.last_mut() else {
            return;
        };
        if self.containers.len() > 1 {
            open.cell.blocks = self.containers.pop().unwrap_or_default();
            open.row.cells.push(std::mem::take(&mut open.cell));
        }
    }

    fn format_cell(&mut self, element: &BytesStart<'_>) {
        let Some(open) = self.tables.last_mut() else {
            return;
        };
        let value = attribute(element, "val");
        match element.local_name().as_ref() {
            "gridSpan" => {
                let columns = value.and_then(|value| value.parse().ok()).unwrap_or(1);
                open.cell.columns = usize::clamp(columns, 1, MOST_COLUMNS_SPANNED);
            }
            "vMerge" => open.cell.continues = value.as_deref() != Some("restart"),
            _ => open.row.is_header = is_on(element),
        }
    }

    /// Everything, also what an unusual document left open.
    fn finish(mut self) -> Vec<Block> {
        while let Some(open) = self.paragraphs.pop() {
            self.add(Block::Paragraph(open.paragraph));
        }
        self.containers.into_iter().flatten().collect()
    }
}

/// The value of a property that is on unless it says otherwise.
fn is_on(element: &BytesStart<'_>) -> bool {
    !matches!(attribute(element, "val").as_deref(), Some("0" | "false" | "off"))
}
