//! What word processors have in common: paragraphs, headings, lists, tables and notes, whatever the file format.
//!
//! The readers of DOCX, PPTX, OpenDocument and RTF make [`Block`]s; `write` alone turns them into text with
//! sections and rows, so that a table reads the same whichever program wrote it.

mod write;

use std::collections::HashMap;

pub(super) use write::BlockWriter;

/// Level of a document's title, above every heading.
pub(super) const TITLE_LEVEL: u8 = 0;

/// Kind (`footnote`, `endnote`) and id of a note.
pub(super) type NoteId = (&'static str, String);

/// Texts of notes by their id.
pub(super) type Notes = HashMap<NoteId, String>;

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
    pub(super) notes: Vec<NoteId>,
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
