//! From the XML of a document to blocks. Only local names count: writers differ in their prefixes.
//!
//! Invariant: no recursion over the XML; what is open stands on stacks.

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::FORMAT;
use super::styles::{Styles, attribute, level_of_outline};
use crate::extract::ExtractError;

/// Tables inside each other; deeper ones are read like paragraphs.
const DEEPEST_TABLE: usize = 32;
/// Columns that one cell may span.
const MOST_COLUMNS_SPANNED: usize = 100;
/// Elements whose content is not part of the text: deleted or moved away, the old form of new drawings,
/// phonetic guides, and lists of tab stops.
const UNREAD: &[&str] = &["del", "moveFrom", "Fallback", "rt", "tabs", "pPrChange", "rPrChange"];

/// A part of a document.
pub(super) enum Block {
    Paragraph(Paragraph),
    Table(Table),
}

impl Block {
    pub(super) fn as_paragraph(&self) -> Option<&Paragraph> {
        match self {
            Self::Paragraph(paragraph) => Some(paragraph),
            Self::Table(_) => None,
        }
    }
}

/// A paragraph.
#[derive(Default)]
pub(super) struct Paragraph {
    pub(super) text: String,
    /// Heading level, 0 for the title.
    pub(super) level: Option<u8>,
    /// Depth in a list, from 0.
    pub(super) list_depth: Option<u8>,
    /// Notes that it refers to.
    pub(super) notes: Vec<(&'static str, String)>,
    has_outline: bool,
}

/// A table, row by row.
#[derive(Default)]
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
}

/// A row of a table.
#[derive(Default)]
pub(super) struct Row {
    pub(super) cells: Vec<Cell>,
    pub(super) is_header: bool,
}

/// A cell of a row.
#[derive(Default)]
pub(super) struct Cell {
    pub(super) blocks: Vec<Block>,
    pub(super) columns: usize,
    /// Whether it continues the cell above.
    pub(super) continues: bool,
}

/// The blocks of `word/document.xml`.
///
/// # Errors
/// The XML is damaged or ends early.
pub(super) fn parse_document(xml: &str, styles: &Styles) -> Result<Vec<Block>, ExtractError> {
    let mut parser = BodyParser::new(styles);
    let mut is_document = false;
    for_each_event(xml, "word/document.xml", |event, reader| {
        if let Event::Start(element) = &event {
            is_document |= element.local_name().as_ref() == "document";
        }
        parser.note(event, reader)
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
    for_each_event(xml, &format!("word/{kind}s.xml"), |event, reader| {
        match &event {
            Event::Start(element) if element.local_name().as_ref() == kind => {
                id = attribute(element, "id");
            }
            Event::End(element) if element.local_name().as_ref() == kind => {
                let done = std::mem::replace(&mut parser, BodyParser::new(styles));
                notes.extend(id.take().map(|id| (id, done.finish())));
            }
            _ => {}
        }
        parser.note(event, reader)
    })?;
    Ok(notes)
}

fn for_each_event<'x>(
    xml: &'x str,
    part: &str,
    mut note: impl FnMut(Event<'x>, &mut Reader<&'x [u8]>) -> Result<(), quick_xml::Error>,
) -> Result<(), ExtractError> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut depth = 0_usize;
    loop {
        let step = reader.read_event().and_then(|event| {
            match &event {
                Event::Eof => return Ok(false),
                Event::Start(element) if !UNREAD.contains(&element.local_name().as_ref()) => {
                    depth += 1;
                }
                Event::End(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
            note(event, &mut reader).map(|()| true)
        });
        match step {
            Ok(true) => {}
            Ok(false) if depth == 0 => return Ok(()),
            Ok(false) => {
                let detail = format!("{part} ends inside {depth} open elements");
                return Err(ExtractError::damaged(FORMAT, detail));
            }
            Err(err) => {
                let detail = format!("{part} at byte {}: {err}", reader.buffer_position());
                return Err(ExtractError::damaged(FORMAT, detail));
            }
        }
    }
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

struct BodyParser<'s> {
    styles: &'s Styles,
    /// Blocks of the body, then of each open cell.
    containers: Vec<Vec<Block>>,
    tables: Vec<OpenTable>,
    /// Open paragraphs: text boxes put paragraphs into paragraphs.
    paragraphs: Vec<Paragraph>,
    /// Tables that are too deep to be read as tables.
    flat_tables: usize,
    in_text: bool,
    run_is_hidden: bool,
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

    fn note<'x>(&mut self, event: Event<'x>, reader: &mut Reader<&'x [u8]>) -> Result<(), quick_xml::Error> {
        match event {
            Event::Start(element) => {
                if UNREAD.contains(&element.local_name().as_ref()) {
                    reader.read_to_end(element.name())?;
                } else {
                    self.start(&element);
                }
            }
            Event::End(element) => self.end(element.local_name().as_ref()),
            Event::Text(text) if self.in_text => self.push(&text.xml10_content()),
            Event::CData(text) if self.in_text => self.push(&text.xml10_content()),
            Event::GeneralRef(reference) if self.in_text => {
                if let Some(character) = resolve_reference(&reference) {
                    self.push(character.encode_utf8(&mut [0; 4]));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, element: &BytesStart<'_>) {
        match element.local_name().as_ref() {
            "p" => self.paragraphs.push(Paragraph::default()),
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
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.add(Block::Paragraph(paragraph));
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
        if let Some(paragraph) = self.paragraphs.last_mut()
            && !self.run_is_hidden
        {
            paragraph.text.extend(text.chars().filter(|c| *c != '\u{ad}'));
        }
    }

    fn add(&mut self, block: Block) {
        if let Some(container) = self.containers.last_mut() {
            container.push(block);
        }
    }

    fn refer(&mut self, kind: &'static str, element: &BytesStart<'_>) {
        if let (Some(paragraph), Some(id)) = (self.paragraphs.last_mut(), attribute(element, "id")) {
            paragraph.notes.push((kind, id));
        }
    }

    /// A property of the paragraph: its own outline level outranks its style's.
    fn format(&mut self, element: &BytesStart<'_>) {
        let Some(paragraph) = self.paragraphs.last_mut() else {
            return;
        };
        let value = attribute(element, "val").unwrap_or_default();
        match element.local_name().as_ref() {
            "pStyle" => {
                if !paragraph.has_outline {
                    paragraph.level = self.styles.heading_level(&value);
                }
                if self.styles.is_list(&value) {
                    paragraph.list_depth.get_or_insert(0);
                }
            }
            "outlineLvl" => {
                if let Some(level) = level_of_outline(&value) {
                    paragraph.level = level;
                    paragraph.has_outline = true;
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
        while let Some(paragraph) = self.paragraphs.pop() {
            self.add(Block::Paragraph(paragraph));
        }
        self.containers.into_iter().flatten().collect()
    }
}

/// The value of a property that is on unless it says otherwise.
fn is_on(element: &BytesStart<'_>) -> bool {
    !matches!(attribute(element, "val").as_deref(), Some("0" | "false" | "off"))
}
