//! From blocks to text with sections and rows.

use super::{Block, Cell, NoteId, Notes, Paragraph, Row, TITLE_LEVEL, Table};
use crate::extract::rows::{RowWriter, is_header};
use crate::extract::sections::SectionWriter;
use crate::extract::{ExtractError, TextBuilder};

/// Writes blocks, and remembers the title that the document shows.
pub(in crate::extract) struct BlockWriter<'a> {
    built: &'a mut TextBuilder,
    notes: &'a Notes,
    sections: SectionWriter,
    title: Option<String>,
    after_list_item: bool,
}

impl<'a> BlockWriter<'a> {
    pub(in crate::extract) fn new(built: &'a mut TextBuilder, notes: &'a Notes) -> Self {
        Self { built, notes, sections: SectionWriter::default(), title: None, after_list_item: false }
    }

    /// What is written so far, for spans besides those of sections and rows.
    pub(in crate::extract) fn built(&mut self) -> &mut TextBuilder {
        self.built
    }

    /// Ends the last section; the title that the document shows, if it shows one.
    pub(in crate::extract) fn finish(self) -> Option<String> {
        self.sections.finish(self.built);
        self.title
    }

    /// Writes blocks after those before.
    ///
    /// # Errors
    /// The text would be over the budget.
    pub(in crate::extract) fn write(&mut self, blocks: &[Block]) -> Result<(), ExtractError> {
        for block in blocks {
            match block {
                Block::Paragraph(paragraph) => self.write_paragraph(paragraph)?,
                Block::Table(table) if is_layout(table) => {
                    for cell in table.rows.iter().flat_map(|row| &row.cells) {
                        self.write(&cell.blocks)?;
                    }
                }
                Block::Table(table) => self.write_table(table)?,
            }
        }
        Ok(())
    }

    fn write_paragraph(&mut self, paragraph: &Paragraph) -> Result<(), ExtractError> {
        let text = paragraph.text.trim();
        if text.is_empty() {
            return Ok(());
        }
        let list_depth = paragraph.list_depth.filter(|_| paragraph.level.is_none());
        if list_depth.is_some() && self.after_list_item {
            self.built.break_line();
        } else {
            self.built.break_paragraph();
        }
        self.after_list_item = list_depth.is_some();
        if let Some(level) = paragraph.level {
            self.begin_section(level, text);
        }
        if let Some(depth) = list_depth {
            self.built.push(&"  ".repeat(depth.min(8).into()))?;
            self.built.push("- ")?;
        }
        self.built.push(text)?;
        self.write_notes(&paragraph.notes)
    }

    fn begin_section(&mut self, level: u8, title: &str) {
        let start = self.built.len();
        self.sections.begin(self.built, level, title, start);
        if level == TITLE_LEVEL || (level == 1 && self.title.is_none()) {
            self.title.get_or_insert_with(|| title.to_owned());
        }
    }

    fn write_notes(&mut self, ids: &[NoteId]) -> Result<(), ExtractError> {
        for id in ids {
            if let Some(text) = self.notes.get(id).filter(|text| !text.is_empty()) {
                self.built.break_line();
                self.built.push(&format!("[{} {}] {text}", id.0, id.1))?;
            }
        }
        Ok(())
    }

    fn write_table(&mut self, table: &Table) -> Result<(), ExtractError> {
        self.built.break_paragraph();
        self.after_list_item = false;
        let mut writer = RowWriter::default();
        let mut above = Vec::new();
        let texts = cell_texts(table);
        let header_rows = count_header_rows(table, &texts);
        for (at, (row, texts)) in table.rows.iter().zip(&texts).enumerate() {
            let fields = fields_of(row, texts, at < header_rows, &above);
            if at < header_rows {
                writer.add_header(fields.iter().map(String::as_str));
            } else {
                writer.write(self.built, fields.iter().map(String::as_str))?;
            }
            above = fields;
        }
        if header_rows == table.rows.len() {
            self.built.push(&writer.header_line())?;
        }
        let cells = table.rows.iter().flat_map(|row| &row.cells);
        let paragraphs = cells.flat_map(|cell| &cell.blocks).filter_map(Block::as_paragraph);
        for paragraph in paragraphs {
            self.write_notes(&paragraph.notes)?;
        }
        self.built.break_paragraph();
        Ok(())
    }
}

/// A table that arranges text: it has one cell in each row, or headings in its cells, or one row with a table.
fn is_layout(table: &Table) -> bool {
    let cells = || table.rows.iter().flat_map(|row| &row.cells);
    let is_heading = |block: &Block| block.as_paragraph().is_some_and(|p| p.level.is_some());
    let is_table = |block: &Block| matches!(block, Block::Table(_));
    let has = |wanted: &dyn Fn(&Block) -> bool| cells().any(|cell| cell.blocks.iter().any(wanted));
    table.rows.iter().all(|row| row.cells.len() <= 1) || has(&is_heading) || (table.rows.len() == 1 && has(&is_table))
}

/// The text of every cell, row by row; made once, since a cell may hold tables in tables.
fn cell_texts(table: &Table) -> Vec<Vec<String>> {
    table.rows.iter().map(|row| row.cells.iter().map(cell_text).collect()).collect()
}

fn count_header_rows(table: &Table, texts: &[Vec<String>]) -> usize {
    let marked = table.rows.iter().take_while(|row| row.is_header).count();
    let [first, second, ..] = texts else {
        return marked;
    };
    if marked > 0 {
        return marked;
    }
    usize::from(is_header(first.iter().map(String::as_str), second.iter().map(String::as_str)))
}

/// The fields of a row by column. A cell that continues the one above repeats it, so that a row stands alone.
fn fields_of(row: &Row, texts: &[String], names_columns: bool, above: &[String]) -> Vec<String> {
    let mut fields: Vec<String> = Vec::new();
    for (cell, text) in row.cells.iter().zip(texts) {
        let text = if cell.continues { above.get(fields.len()).cloned().unwrap_or_default() } else { text.clone() };
        for spanned in 0..cell.columns {
            let repeats = spanned == 0 || names_columns;
            fields.push(if repeats { text.clone() } else { String::new() });
        }
    }
    fields
}

/// A cell on one line; a table in it becomes `(a; b), (c; d)` under its own header.
fn cell_text(cell: &Cell) -> String {
    let texts = cell.blocks.iter().map(|block| match block {
        Block::Paragraph(paragraph) => paragraph.text.trim().to_owned(),
        Block::Table(table) => inner_table_text(table),
    });
    let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
    texts.join(" ")
}

fn inner_table_text(table: &Table) -> String {
    let texts = cell_texts(table);
    let header_rows = count_header_rows(table, &texts);
    let mut rows = table.rows.iter().zip(&texts);
    let names = rows.clone().next().filter(|_| header_rows > 0);
    let names = names.map_or_else(Vec::new, |(row, texts)| fields_of(row, texts, true, &[]));
    let row_text = |(row, texts): (&Row, &Vec<String>)| {
        let fields = fields_of(row, texts, false, &[]);
        let named = fields.iter().enumerate().filter(|(_, field)| !field.is_empty());
        let named = named.map(|(column, field)| match names.get(column) {
            Some(name) if !name.is_empty() => format!("{name}: {field}"),
            _ => field.clone(),
        });
        format!("({})", named.collect::<Vec<_>>().join(", "))
    };
    rows.by_ref().skip(header_rows).map(row_text).collect::<Vec<_>>().join(", ")
}
