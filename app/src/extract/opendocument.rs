//! OpenDocument texts and presentations (ODT, ODP): headings as sections, lists, tables as rows, notes after their
//! paragraph, slides as pages. Workbooks are read by `spreadsheet`, and here where that cannot.

use std::path::Path;

use quick_xml::events::{BytesStart, Event};

use super::blocks::{Block, BlockWriter, Cell, Notes, Paragraph, Row, Table};
use super::package::Package;
use super::properties::{add_dublin_core, add_named};
use super::xml::{attribute, element_text, for_each_event, resolve_reference};
use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, Metadata, SpanPlace, TextBuilder};

/// What the errors call this format.
const FORMAT: &str = "OpenDocument";
/// Deleted text, comments, the definitions of fields, and what is shown besides the text.
const UNREAD: &[&str] = &[
    "tracked-changes",
    "annotation",
    "sequence-decls",
    "variable-decls",
    "scripts",
    "font-face-decls",
    "automatic-styles",
    "forms",
    "settings",
];
/// Tables inside each other; deeper ones are read like paragraphs.
const DEEPEST_TABLE: usize = 32;
/// Spaces that one element may stand for.
const MOST_SPACES: usize = 100;
/// Times that one cell or row may be repeated; empty ones are repeated to the edge of the sheet.
const MOST_REPEATS: usize = 100;

/// Reads the document at `path`.
pub(super) fn read(path: &Path, kind: DocumentKind, limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    let mut package = Package::open(path, FORMAT, limits.text_bytes)?;
    if package.part("META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err(ExtractError::encrypted());
    }
    let xml = package.expect_part("content.xml")?;
    let mut parser = ContentParser {
        containers: vec![Vec::new()],
        is_workbook: kind == DocumentKind::Spreadsheet,
        ..ContentParser::default()
    };
    for_each_event(&xml, FORMAT, "content.xml", UNREAD, |event| parser.note(event))?;
    let pages = parser.finish();
    let mut built = TextBuilder::new(limits);
    let notes = Notes::new();
    let mut writer = BlockWriter::new(&mut built, &notes);
    write_pages(&mut writer, &pages, kind == DocumentKind::Slides)?;
    let title = writer.finish();
    let (own_title, metadata) = properties(&mut package)?;
    built.metadata = metadata;
    built.title = own_title.or(title);
    built.finish(kind)
}

/// The properties of a document, with its title.
///
/// # Errors
/// They are damaged, or over the budget.
pub(super) fn properties(package: &mut Package) -> Result<(Option<String>, Metadata), ExtractError> {
    let xml = package.part("meta.xml")?.unwrap_or_default();
    let mut metadata = Metadata::default();
    add_named(&mut metadata, &xml);
    add_dublin_core(&mut metadata, &xml, "modified");
    Ok((element_text(&xml, "title"), metadata))
}

fn write_pages(writer: &mut BlockWriter<'_>, pages: &[Vec<Block>], are_slides: bool) -> Result<(), ExtractError> {
    if !are_slides {
        return pages.iter().try_for_each(|blocks| writer.write(blocks));
    }
    writer.built().coverage.pages = Some(pages.len() as u32);
    for (blocks, page) in pages.iter().zip(1..) {
        writer.built().break_paragraph();
        let start = writer.built().len();
        writer.write(blocks)?;
        let built = writer.built();
        built.break_paragraph();
        if built.len() == start {
            built.coverage.pages_without_text.push((page, "the slide has no text".to_owned()));
        }
        built.mark(start, SpanPlace::Page(page));
    }
    Ok(())
}

#[derive(Default)]
struct ContentParser {
    /// Blocks of the body or slide, then of each open cell.
    containers: Vec<Vec<Block>>,
    /// Slides that are done.
    pages: Vec<Vec<Block>>,
    tables: Vec<OpenTable>,
    /// Tables that are too deep to be read as tables.
    flat_tables: usize,
    /// Open paragraphs: notes and text boxes put paragraphs into paragraphs.
    paragraphs: Vec<Paragraph>,
    list_depth: u8,
    header_rows: usize,
    /// Whether the frame under way holds a slide's title.
    in_title: bool,
    has_pages: bool,
    /// Whether tables are sheets with a name.
    is_workbook: bool,
}

#[derive(Default)]
struct OpenTable {
    table: Table,
    row: Row,
    cell: Cell,
    repeats: usize,
}

impl ContentParser {
    fn note(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(element) => self.start(element),
            Event::End(element) => self.end(element.local_name().as_ref()),
            Event::Text(text) => self.push_words(&text.xml10_content()),
            Event::CData(text) => self.push_words(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                if let Some(character) = resolve_reference(reference) {
                    self.push(character.encode_utf8(&mut [0; 4]));
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, element: &BytesStart<'_>) {
        match element.local_name().as_ref() {
            "p" => self.open_paragraph(None),
            "h" => {
                let level = attribute(element, "outline-level").and_then(|level| level.parse().ok());
                self.open_paragraph(Some(level.unwrap_or(1)));
            }
            "s" => {
                let spaces = attribute(element, "c").and_then(|count| count.parse().ok()).unwrap_or(1);
                self.push(&" ".repeat(usize::min(spaces, MOST_SPACES)));
            }
            "tab" => self.push("\t"),
            "line-break" => self.push("\n"),
            "note" => self.push(" ["),
            "list" => self.list_depth = self.list_depth.saturating_add(1),
            "frame" => self.in_title = attribute(element, "class").as_deref() == Some("title"),
            "page" => self.start_page(),
            "table" => self.start_table(element),
            "table-header-rows" => self.header_rows += 1,
            "table-row" | "table-cell" | "covered-table-cell" if self.flat_tables == 0 => self.start_cells(element),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "p" | "h" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.close_paragraph(paragraph);
                }
            }
            "note" => self.push("]"),
            "note-citation" => self.push(": "),
            "list" => self.list_depth = self.list_depth.saturating_sub(1),
            "frame" => self.in_title = false,
            "table" if self.flat_tables > 0 => self.flat_tables -= 1,
            "table" => {
                if let Some(open) = self.tables.pop() {
                    self.add(Block::Table(open.table));
                }
            }
            "table-header-rows" => self.header_rows = self.header_rows.saturating_sub(1),
            "table-row" if self.flat_tables == 0 => self.end_row(),
            "table-cell" | "covered-table-cell" if self.flat_tables == 0 => self.end_cell(),
            _ => {}
        }
    }

    fn open_paragraph(&mut self, level: Option<u8>) {
        let list_depth = self.list_depth.checked_sub(1);
        let level = if self.in_title { Some(1) } else { level };
        self.paragraphs.push(Paragraph { level, list_depth, ..Paragraph::default() });
    }

    /// The paragraphs of a note become part of the one that they are noted in.
    fn close_paragraph(&mut self, paragraph: Paragraph) {
        match self.paragraphs.last_mut() {
            Some(outer) => outer.text.push_str(paragraph.text.trim()),
            None => self.add(Block::Paragraph(paragraph)),
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.extend(text.chars().filter(|c| *c != '\u{ad}'));
        }
    }

    /// White space in the source is one space, as in HTML.
    fn push_words(&mut self, text: &str) {
        let Some(paragraph) = self.paragraphs.last_mut() else {
            return;
        };
        for character in text.chars().filter(|c| *c != '\u{ad}') {
            if !matches!(character, ' ' | '\n' | '\r' | '\t') {
                paragraph.text.push(character);
            } else if !paragraph.text.is_empty() && !paragraph.text.ends_with([' ', '\n']) {
                paragraph.text.push(' ');
            }
        }
    }

    fn add(&mut self, block: Block) {
        if let Some(container) = self.containers.last_mut() {
            container.push(block);
        }
    }

    fn start_page(&mut self) {
        let blocks = self.containers.first_mut().map(std::mem::take).unwrap_or_default();
        if self.has_pages {
            self.pages.push(blocks);
        }
        self.has_pages = true;
    }

    fn start_table(&mut self, element: &BytesStart<'_>) {
        let name = attribute(element, "name").filter(|_| self.is_workbook && self.tables.is_empty());
        if let Some(text) = name {
            self.add(Block::Paragraph(Paragraph { text, level: Some(1), ..Paragraph::default() }));
        }
        if self.tables.len() >= DEEPEST_TABLE {
            self.flat_tables += 1;
        } else {
            self.tables.push(OpenTable::default());
        }
    }

    fn start_cells(&mut self, element: &BytesStart<'_>) {
        let number = |name: &str| attribute(element, name).and_then(|value| value.parse::<usize>().ok()).unwrap_or(1);
        let is_header = self.header_rows > 0;
        let Some(open) = self.tables.last_mut() else {
            return;
        };
        if element.local_name().as_ref() == "table-row" {
            open.row = Row { is_header, ..Row::default() };
            return;
        }
        open.repeats = number("number-columns-repeated").clamp(1, MOST_REPEATS);
        let continues = element.local_name().as_ref() == "covered-table-cell";
        open.cell = Cell { columns: 1, continues, ..Cell::default() };
        self.containers.push(Vec::new());
    }

    fn end_cell(&mut self) {
        if self.containers.len() < 2 {
            return;
        }
        let blocks = self.containers.pop().unwrap_or_default();
        let Some(open) = self.tables.last_mut() else {
            return;
        };
        let mut cell = std::mem::take(&mut open.cell);
        cell.columns = open.repeats;
        cell.blocks = blocks;
        open.row.cells.push(cell);
    }

    fn end_row(&mut self) {
        if let Some(open) = self.tables.last_mut() {
            open.table.rows.push(std::mem::take(&mut open.row));
        }
    }

    /// The blocks of each slide, or of the one text.
    fn finish(mut self) -> Vec<Vec<Block>> {
        while let Some(paragraph) = self.paragraphs.pop() {
            self.close_paragraph(paragraph);
        }
        self.pages.push(self.containers.into_iter().flatten().collect());
        self.pages
    }
}
