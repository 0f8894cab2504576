//! The walk over the tree: what a reader would see, in order, with its lines and blank lines.

use std::collections::HashSet;

use ego_tree::{NodeId, NodeRef};
use scraper::Node;
use scraper::node::Element;

use super::super::sections::SectionWriter;
use super::super::{ExtractError, TextBuilder};
use super::table::write_table;

/// Elements whose content is never seen, or not as text.
const UNSEEN: &[&str] = &[
    "audio", "canvas", "datalist", "embed", "head", "iframe", "noscript", "object", "script", "select", "style", "svg",
    "template", "video",
];
/// Elements with a blank line around them.
const PARAGRAPHS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "details",
    "dl",
    "fieldset",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "ul",
];
/// Elements that begin and end a line.
const LINES: &[&str] = &[
    "body",
    "caption",
    "dd",
    "div",
    "dt",
    "figcaption",
    "html",
    "legend",
    "li",
    "summary",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
];

/// Writes what it walks over.
pub(super) struct Walker {
    built: TextBuilder,
    sections: SectionWriter,
    headings: Vec<String>,
    /// Tables that hold tables: they arrange things and are read like blocks.
    layout_tables: HashSet<NodeId>,
    /// The next number of each enclosing list; none for bullets.
    lists: Vec<Option<u32>>,
    /// A bullet that waits for the text of its item.
    prefix: Option<String>,
    preformatted: usize,
    space_pending: bool,
}

impl Walker {
    /// At the start of a document; `layout_tables` are read like blocks.
    pub(super) fn new(layout_tables: HashSet<NodeId>, built: TextBuilder) -> Self {
        Self {
            layout_tables,
            built,
            sections: SectionWriter::default(),
            headings: Vec::new(),
            lists: Vec::new(),
            prefix: None,
            preformatted: 0,
            space_pending: false,
        }
    }

    /// The text with its sections closed, and every heading in order.
    pub(super) fn finish(mut self) -> (TextBuilder, Vec<String>) {
        self.sections.finish(&mut self.built);
        (self.built, self.headings)
    }

    /// Reads everything under `root`.
    pub(super) fn walk(&mut self, root: NodeRef<'_, Node>) -> Result<(), ExtractError> {
        let mut node = root;
        loop {
            if self.enter(node)? {
                if let Some(child) = node.first_child() {
                    node = child;
                    continue;
                }
                self.leave(node);
            }
            while node.next_sibling().is_none() && node != root {
                let Some(parent) = node.parent() else {
                    return Ok(());
                };
                node = parent;
                self.leave(node);
            }
            match node.next_sibling() {
                Some(sibling) if node != root => node = sibling,
                _ => return Ok(()),
            }
        }
    }

    /// Writes what comes before the children of `node`; false if they are not to be walked.
    fn enter(&mut self, node: NodeRef<'_, Node>) -> Result<bool, ExtractError> {
        match node.value() {
            Node::Text(text) => self.push_text(text).map(|()| true),
            Node::Element(element) => self.enter_element(node, element),
            Node::Document | Node::Fragment => Ok(true),
            Node::Doctype(_) | Node::Comment(_) | Node::ProcessingInstruction(_) => Ok(false),
        }
    }

    fn enter_element(&mut self, node: NodeRef<'_, Node>, element: &Element) -> Result<bool, ExtractError> {
        if is_unseen(element) {
            return Ok(false);
        }
        self.break_around(element.name());
        match element.name() {
            "br" => self.built.push("\n")?,
            "img" => self.push_text(element.attr("alt").unwrap_or_default())?,
            "pre" | "textarea" => self.preformatted += 1,
            "ul" => self.lists.push(None),
            "ol" => self.lists.push(Some(first_number(element))),
            "li" => self.prefix = Some(self.bullet()),
            "table" if !self.layout_tables.contains(&node.id()) => {
                write_table(&mut self.built, node)?;
                self.break_around("table");
                return Ok(false);
            }
            name => {
                if let Some(level) = heading_level(name) {
                    self.begin_section(level, &visible_text(node));
                }
            }
        }
        Ok(true)
    }

    fn leave(&mut self, node: NodeRef<'_, Node>) {
        let Node::Element(element) = node.value() else {
            return;
        };
        match element.name() {
            "pre" | "textarea" => self.preformatted = self.preformatted.saturating_sub(1),
            "ul" | "ol" => {
                self.lists.pop();
            }
            "li" => self.prefix = None,
            _ => {}
        }
        self.break_around(element.name());
    }

    fn break_around(&mut self, name: &str) {
        let in_list = !self.lists.is_empty() && self.preformatted == 0;
        if PARAGRAPHS.contains(&name) && !in_list {
            self.built.break_paragraph();
        } else if PARAGRAPHS.contains(&name) || LINES.contains(&name) {
            self.built.break_line();
        } else {
            return;
        }
        self.space_pending = false;
    }

    fn begin_section(&mut self, level: u8, title: &str) {
        let start = self.built.len();
        self.sections.begin(&mut self.built, level, title, start);
        if !title.is_empty() {
            self.headings.push(title.to_owned());
        }
    }

    fn bullet(&mut self) -> String {
        let indent = "  ".repeat(self.lists.len().saturating_sub(1).min(8));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                let bullet = format!("{indent}{number}. ");
                *number = number.saturating_add(1);
                bullet
            }
            _ => format!("{indent}- "),
        }
    }

    fn push_text(&mut self, text: &str) -> Result<(), ExtractError> {
        if self.preformatted > 0 {
            self.push_prefix()?;
            return self.built.push(text);
        }
        self.space_pending |= text.starts_with(is_space);
        for word in text.split(is_space).filter(|word| !word.is_empty()) {
            self.push_prefix()?;
            let at_line_start = self.built.len() == 0 || self.built.text().ends_with(['\n', ' ']);
            if self.space_pending && !at_line_start {
                self.built.push(" ")?;
            }
            self.built.push(&word.replace(['\u{ad}', '\u{200b}'], ""))?;
            self.space_pending = true;
        }
        if !text.is_empty() {
            self.space_pending = text.ends_with(is_space);
        }
        Ok(())
    }

    fn push_prefix(&mut self) -> Result<(), ExtractError> {
        match self.prefix.take() {
            Some(prefix) => self.built.push(&prefix),
            None => Ok(()),
        }
    }
}

fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\u{a0}'
}

/// Whether a reader does not see the element, so that its content is not read either.
pub(super) fn is_unseen(element: &Element) -> bool {
    let style = element.attr("style").unwrap_or_default().replace(' ', "");
    UNSEEN.contains(&element.name())
        || element.attr("hidden").is_some()
        || style.contains("display:none")
        || style.contains("visibility:hidden")
}

fn heading_level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

fn first_number(list: &Element) -> u32 {
    list.attr("start").and_then(|start| start.parse().ok()).unwrap_or(1)
}

/// The visible text under `node` on one line.
pub(super) fn visible_text(node: NodeRef<'_, Node>) -> String {
    let mut text = String::new();
    let mut unseen_until: Option<NodeId> = None;
    for edge in node.traverse() {
        match edge {
            ego_tree::iter::Edge::Open(open) => match open.value() {
                Node::Text(piece) if unseen_until.is_none() => text.push_str(piece),
                Node::Element(element) if unseen_until.is_none() => {
                    if is_unseen(element) {
                        unseen_until = Some(open.id());
                    } else if element.name() == "img" {
                        text.push_str(element.attr("alt").unwrap_or_default());
                    }
                    if is_break(element) {
                        text.push(' ');
                    }
                }
                _ => {}
            },
            ego_tree::iter::Edge::Close(close) => {
                if unseen_until == Some(close.id()) {
                    unseen_until = None;
                }
                if close.value().as_element().is_some_and(is_break) {
                    text.push(' ');
                }
            }
        }
    }
    let words = text.split(is_space).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").replace('\u{ad}', "")
}

fn is_break(element: &Element) -> bool {
    let name = element.name();
    name == "br" || PARAGRAPHS.contains(&name) || LINES.contains(&name)
}
