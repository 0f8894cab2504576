//! From tokens to blocks.

use std::collections::HashMap;

use encoding_rs::{Encoding, WINDOWS_1252};

use super::codepage::{of_charset, of_code_page};
use super::tokens::Token;
use crate::extract::blocks::{Block, Cell, Paragraph, Row, TITLE_LEVEL, Table};

/// Groups inside each other; what is deeper is not read.
const DEEPEST_GROUP: usize = 2000;
/// Destinations whose content is not part of the text.
const UNREAD: &[&str] = &[
    "colortbl",
    "filetbl",
    "listtext",
    "nonshppict",
    "objdata",
    "pict",
    "pntext",
    "private1",
    "pntxta",
    "pntxtb",
    "rxe",
    "sn",
    "sp",
    "sv",
    "tc",
    "txe",
    "xe",
    "header",
    "headerl",
    "headerr",
    "headerf",
    "footer",
    "footerl",
    "footerr",
    "footerf",
    "ftnsep",
    "ftnsepc",
    "aftnsep",
    "aftnsepc",
    "revtbl",
];
/// Destinations that unknown readers may pass over but that hold text.
const READ_ANYWAY: &[&str] = &["shpinst", "shppict", "footnote"];

/// What a document holds.
#[derive(Default)]
pub(super) struct Body {
    pub(super) title: String,
    pub(super) author: String,
    pub(super) blocks: Vec<Block>,
}

/// What the text of a group is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Destination {
    #[default]
    Text,
    Fonts,
    Styles,
    /// The properties, of which the title and the author are read.
    Info,
    Title,
    Author,
    Nowhere,
}

#[derive(Clone)]
struct Group {
    destination: Destination,
    encoding: &'static Encoding,
    is_hidden: bool,
    /// Characters that follow `\u` for old readers.
    num_fallback: i32,
}

/// Turns tokens into blocks.
pub(super) struct BodyParser {
    body: Body,
    groups: Vec<Group>,
    group: Group,
    /// Groups beyond the deepest that is read.
    groups_unread: usize,
    /// Whether `\*` came last: the next word names a destination that may be passed over.
    is_optional: bool,
    code_page: &'static Encoding,
    fonts: HashMap<i32, &'static Encoding>,
    font: i32,
    levels: HashMap<i32, u8>,
    style: i32,
    style_name: String,
    bytes: Vec<u8>,
    high_surrogate: Option<u16>,
    fallback_left: i32,
    paragraph: Paragraph,
    in_table: bool,
    cell: Vec<Block>,
    row: Row,
    table: Table,
}

impl Default for BodyParser {
    fn default() -> Self {
        Self {
            body: Body::default(),
            groups: Vec::new(),
            group: Group { destination: Destination::Text, encoding: WINDOWS_1252, is_hidden: false, num_fallback: 1 },
            groups_unread: 0,
            is_optional: false,
            code_page: WINDOWS_1252,
            fonts: HashMap::new(),
            font: 0,
            levels: HashMap::new(),
            style: 0,
            style_name: String::new(),
            bytes: Vec::new(),
            high_surrogate: None,
            fallback_left: 0,
            paragraph: Paragraph::default(),
            in_table: false,
            cell: Vec::new(),
            row: Row::default(),
            table: Table::default(),
        }
    }
}

impl BodyParser {
    pub(super) fn note(&mut self, token: Token<'_>) {
        let is_fallback = self.fallback_left > 0 && matches!(token, Token::Byte(_));
        match token {
            Token::Byte(_) if is_fallback => self.fallback_left -= 1,
            Token::Byte(byte) => self.bytes.push(byte),
            Token::Open => self.open(),
            Token::Close => self.close(),
            Token::Symbol(symbol) => self.symbol(symbol),
            Token::Word("u", Some(unit)) => self.unicode(unit),
            Token::Word(word, number) => self.word(word, number),
        }
    }

    fn open(&mut self) {
        self.flush();
        if self.groups.len() >= DEEPEST_GROUP {
            self.groups_unread += 1;
        } else {
            self.groups.push(self.group.clone());
        }
    }

    fn close(&mut self) {
        self.flush();
        self.fallback_left = 0;
        if self.groups_unread > 0 {
            self.groups_unread -= 1;
        } else if let Some(group) = self.groups.pop() {
            if self.group.destination == Destination::Styles {
                self.end_style();
            }
            self.group = group;
        }
    }

    fn symbol(&mut self, symbol: u8) {
        match symbol {
            b'*' => self.is_optional = true,
            b'~' => self.push("\u{a0}"),
            b'_' => self.push("-"),
            b'\\' | b'{' | b'}' => self.bytes.push(symbol),
            b'\r' | b'\n' => self.end_paragraph(),
            _ => {}
        }
    }

    fn unicode(&mut self, unit: i32) {
        let bytes = std::mem::take(&mut self.bytes);
        self.push_bytes(&bytes);
        self.fallback_left = self.group.num_fallback;
        let unit = unit as u16;
        let decoded = match self.high_surrogate.take() {
            Some(high) => char::decode_utf16([high, unit]).next().and_then(Result::ok),
            None if (0xd800..0xdc00).contains(&unit) => {
                self.high_surrogate = Some(unit);
                None
            }
            None => char::from_u32(unit.into()),
        };
        if let Some(character) = decoded {
            self.append(character.encode_utf8(&mut [0; 4]));
        }
    }

    fn word(&mut self, word: &str, number: Option<i32>) {
        self.flush();
        let is_optional = std::mem::take(&mut self.is_optional);
        match (word, self.group.destination) {
            ("title", Destination::Info) => return self.group.destination = Destination::Title,
            ("author", Destination::Info) => return self.group.destination = Destination::Author,
            (_, Destination::Nowhere | Destination::Info | Destination::Title | Destination::Author) => return,
            ("fonttbl", _) => return self.group.destination = Destination::Fonts,
            ("stylesheet", _) => return self.group.destination = Destination::Styles,
            ("info", _) => return self.group.destination = Destination::Info,
            (_, Destination::Styles) => return self.style_word(word, number),
            (word, _) if UNREAD.contains(&word) || (is_optional && !READ_ANYWAY.contains(&word)) => {
                return self.group.destination = Destination::Nowhere;
            }
            _ => {}
        }
        let number_or = |default| number.unwrap_or(default);
        match word {
            "ansicpg" => {
                self.code_page = of_code_page(number_or(1252));
                self.group.encoding = self.code_page;
            }
            "mac" => self.group.encoding = of_code_page(10_000),
            "f" => self.pick_font(number_or(0)),
            "fcharset" => drop(of_charset(number_or(0)).map(|encoding| self.fonts.insert(self.font, encoding))),
            "plain" => {
                self.group.encoding = self.code_page;
                self.group.is_hidden = false;
            }
            "uc" => self.group.num_fallback = number_or(1),
            "v" => self.group.is_hidden = number_or(1) != 0,
            _ => self.layout_word(word, number),
        }
    }

    fn layout_word(&mut self, word: &str, number: Option<i32>) {
        match word {
            "par" | "sect" | "page" | "nestcell" | "nestrow" => self.end_paragraph(),
            "line" => self.push("\n"),
            "tab" => self.push("\t"),
            "emdash" => self.push("—"),
            "endash" => self.push("–"),
            "bullet" => self.push("•"),
            "lquote" => self.push("‘"),
            "rquote" => self.push("’"),
            "ldblquote" => self.push("“"),
            "rdblquote" => self.push("”"),
            "pard" => {
                self.in_table = false;
                self.paragraph.level = None;
                self.paragraph.list_depth = None;
            }
            "intbl" => self.in_table = true,
            "s" => self.paragraph.level = self.levels.get(&number.unwrap_or(0)).copied(),
            "outlinelevel" => self.paragraph.level = level(number),
            "ls" if number != Some(0) => drop(self.paragraph.list_depth.get_or_insert(0)),
            "ilvl" => self.paragraph.list_depth = Some(number.unwrap_or(0).clamp(0, 9) as u8),
            "cell" => self.end_cell(),
            "row" => self.end_row(),
            _ => {}
        }
    }

    fn pick_font(&mut self, font: i32) {
        self.font = font;
        self.group.encoding = self.fonts.get(&font).copied().unwrap_or(self.code_page);
    }

    fn style_word(&mut self, word: &str, number: Option<i32>) {
        match (word, number) {
            ("s", Some(style)) => self.style = style,
            ("outlinelevel", number) => {
                if let Some(level) = level(number) {
                    self.levels.insert(self.style, level);
                }
            }
            _ => {}
        }
    }

    fn end_style(&mut self) {
        let name = std::mem::take(&mut self.style_name);
        let name = name.trim().trim_end_matches(';').to_lowercase();
        let level = match name.strip_prefix("heading ") {
            Some(number) => number.parse().ok().filter(|level| (1..=9).contains(level)),
            None => (name == "title").then_some(TITLE_LEVEL),
        };
        if let Some(level) = level {
            self.levels.entry(self.style).or_insert(level);
        }
        self.style = 0;
    }

    /// Decodes the bytes since the last control word.
    fn flush(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.push_bytes(&bytes);
        self.fallback_left = 0;
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            let encoding = self.group.encoding;
            let (text, _) = encoding.decode_without_bom_handling(bytes);
            self.append(&text);
        }
    }

    fn push(&mut self, text: &str) {
        self.flush();
        self.append(text);
    }

    fn append(&mut self, text: &str) {
        match self.group.destination {
            Destination::Text if self.group.is_hidden || self.groups_unread > 0 => {}
            Destination::Text => self.paragraph.text.push_str(text),
            Destination::Title => self.body.title.push_str(text),
            Destination::Author => self.body.author.push_str(text),
            Destination::Styles => self.style_name.push_str(text),
            Destination::Fonts | Destination::Info | Destination::Nowhere => {}
        }
    }

    /// The paragraph ends; its properties hold for the next one too.
    fn end_paragraph(&mut self) {
        self.flush();
        let text = std::mem::take(&mut self.paragraph.text);
        let ended = Paragraph {
            text,
            level: self.paragraph.level,
            list_depth: self.paragraph.list_depth,
            ..Paragraph::default()
        };
        if self.in_table {
            self.cell.push(Block::Paragraph(ended));
        } else {
            self.end_table();
            self.body.blocks.push(Block::Paragraph(ended));
        }
    }

    fn end_cell(&mut self) {
        self.in_table = true;
        self.end_paragraph();
        let blocks = std::mem::take(&mut self.cell);
        self.row.cells.push(Cell { blocks, columns: 1, continues: false });
    }

    fn end_row(&mut self) {
        if !self.row.cells.is_empty() {
            self.table.rows.push(std::mem::take(&mut self.row));
        }
    }

    fn end_table(&mut self) {
        self.end_row();
        if !self.table.rows.is_empty() {
            self.body.blocks.push(Block::Table(std::mem::take(&mut self.table)));
        }
    }

    pub(super) fn finish(mut self) -> Body {
        self.flush();
        if self.in_table {
            self.end_cell();
        }
        self.in_table = false;
        self.end_paragraph();
        self.body
    }
}

/// Level of an outline level: 0 to 8 are headings.
fn level(outline: Option<i32>) -> Option<u8> {
    let outline = u8::try_from(outline?).ok()?;
    (outline < 9).then_some(outline + 1)
}
