//! HTML: what a reader would see, with headings as sections and table rows as lines.
//!
//! The tree is walked without recursion: documents nest as deep as they like.

mod table;

use std::collections::HashSet;

use ego_tree::{NodeId, NodeRef};
use html5ever::tendril::TendrilSink;
use scraper::node::Element;
use scraper::{Html, HtmlTreeSink, Node};

use super::decode::decode_labelled;
use super::sections::SectionWriter;
use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, TextBuilder};
use table::write_table;

/// Bytes of source between two looks at the depth.
const PIECE_BYTES: usize = 4096;
/// Elements inside each other; browsers stop at 512.
const DEEPEST_ELEMENT: usize = 4000;
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

/// Reads `bytes` as HTML.
pub(super) fn read(bytes: &[u8], limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    let decoded = decode_labelled(bytes, named_encoding(bytes).as_deref())?;
    let mut built = TextBuilder::new(limits);
    built.coverage.notes.extend(decoded.note);
    let html = parse(&decoded.text)?;
    let root = html.tree.root();
    let mut walker = Walker {
        layout_tables: layout_tables(root),
        built,
        sections: SectionWriter::default(),
        headings: Vec::new(),
        lists: Vec::new(),
        prefix: None,
        preformatted: 0,
        space_pending: false,
    };
    walker.walk(root)?;
    let Walker { mut built, sections, headings, .. } = walker;
    sections.finish(&mut built);
    built.title = document_title(root).or_else(|| headings.into_iter().next());
    built.finish(DocumentKind::Html)
}

/// Parses piece by piece and stops at absurd nesting, whose cost grows with the square of its depth.
fn parse(source: &str) -> Result<Html, ExtractError> {
    let sink = HtmlTreeSink::new(Html::new_document());
    let mut parser = html5ever::parse_document(sink, html5ever::ParseOpts::default());
    let mut rest = source;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(PIECE_BYTES.min(rest.len())));
        parser.process(piece.into());
        let html = parser.tokenizer.sink.sink.0.borrow();
        if last_depth(html.tree.root()) > DEEPEST_ELEMENT {
            return Err(ExtractError::over_budget(format!("its elements are nested more than {DEEPEST_ELEMENT} deep")));
        }
        drop(html);
        rest = after;
    }
    Ok(parser.finish())
}

/// How deep the element that was added last is.
fn last_depth(root: NodeRef<'_, Node>) -> usize {
    std::iter::successors(Some(root), NodeRef::last_child).count()
}

struct Walker {
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
    fn walk(&mut self, root: NodeRef<'_, Node>) -> Result<(), ExtractError> {
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

/// The tables that have a table in one of their cells.
fn layout_tables(root: NodeRef<'_, Node>) -> HashSet<NodeId> {
    let mut open = Vec::new();
    let mut layout = HashSet::new();
    for edge in root.traverse() {
        let (ego_tree::iter::Edge::Open(node) | ego_tree::iter::Edge::Close(node)) = edge;
        let is_table = matches!(node.value(), Node::Element(element) if element.name() == "table");
        match edge {
            ego_tree::iter::Edge::Open(_) if is_table => {
                layout.extend(open.last().copied());
                open.push(node.id());
            }
            ego_tree::iter::Edge::Close(_) if is_table => {
                open.pop();
            }
            _ => {}
        }
    }
    layout
}

fn document_title(root: NodeRef<'_, Node>) -> Option<String> {
    let title = root.descendants().find(|node| {
        matches!(node.value(), Node::Element(element) if element.name() == "title")
            && !node.ancestors().any(|above| matches!(above.value(), Node::Element(element) if element.name() == "svg"))
    })?;
    let text = visible_text(title);
    (!text.is_empty()).then_some(text)
}

/// The encoding that the first kilobyte names: `charset=…` in HTML, `encoding=…` in an XML declaration.
fn named_encoding(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).to_lowercase();
    let after = ["charset", "encoding"].iter().find_map(|word| {
        let (_, rest) = head.split_once(word)?;
        rest.trim_start().strip_prefix('=')
    })?;
    let name = after.trim_start().trim_start_matches(['"', '\'']);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'))?;
    Some(name[..end].to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;
    use crate::extract::SpanPlace;

    fn read_text(html: &str) -> Extraction {
        read(html.as_bytes(), &ExtractLimits::default()).unwrap()
    }

    #[test]
    fn only_what_is_seen_is_read() {
        let extraction = read_text(
            "<!doctype html><title>T &amp; U</title><style>p{}</style><body><p>Hello,\n   <b>wor</b>ld&nbsp;!</p>\
             <script>var x = '<p>no</p>'</script><p hidden>no</p><div style='display: none'>no</div>\
             <!-- no --><noscript>no</noscript><p>Bye<br>now</p>",
        );
        assert_eq!(extraction.text, "Hello, world !\n\nBye\nnow");
        assert_eq!(extraction.title.as_deref(), Some("T & U"));
    }

    #[test]
    fn headings_make_sections() {
        let extraction =
            read_text("<p>start</p><h1>One</h1><p>a</p><h3>Deep <i>er</i></h3><p>b</p><h2>Two</h2><p>c</p>");
        let sections: Vec<_> = extraction
            .spans
            .iter()
            .filter_map(|span| match &span.place {
                SpanPlace::Section(path) => Some((path.join(" > "), &extraction.text[span.start..span.end])),
                _ => None,
            })
            .collect();
        assert_eq!(
            sections,
            [
                ("One".to_owned(), "One\n\na\n\n"),
                ("One > Deep er".to_owned(), "Deep er\n\nb\n\n"),
                ("One > Two".to_owned(), "Two\n\nc"),
            ]
        );
        assert_eq!(extraction.title.as_deref(), Some("One"));
    }

    #[test]
    fn lists_have_bullets_and_numbers() {
        let extraction = read_text("<ul><li><p>one</p></li><li>two<ol start=3><li>x<li>y</ol></li></ul><p>after");
        assert_eq!(extraction.text, "- one\n- two\n  3. x\n  4. y\n\nafter");
    }

    #[test]
    fn preformatted_text_keeps_its_lines() {
        let extraction = read_text("<p>see</p><pre>fn main() {\n    run();\n}</pre>");
        assert_eq!(extraction.text, "see\n\nfn main() {\n    run();\n}");
    }

    #[test]
    fn data_tables_become_rows_and_layout_tables_blocks() {
        let extraction = read_text(
            "<table><tr><td><table><tr><th>Part<th>Price<tr><td>bolt<td>2.50<tr><td>nut<td>0.75</table>\
             <td>beside</table>",
        );
        assert_eq!(extraction.text, "Part: bolt; Price: 2.50\nPart: nut; Price: 0.75\n\nbeside");
        assert_eq!(extraction.place(30..31).rows, Some((2, 2)));
    }

    #[test]
    fn deep_nesting_is_read_and_absurd_nesting_refused_at_once() {
        let nested = |levels: usize| format!("{}deep", "<div>".repeat(levels));
        assert_eq!(read_text(&nested(2000)).text, "deep");
        let result = read(nested(500_000).as_bytes(), &ExtractLimits::default());
        assert!(matches!(result, Err(ExtractError::OverBudget { .. })));
    }

    #[test]
    fn the_named_encoding_is_used() {
        let (bytes, _, _) = encoding_rs::WINDOWS_1251
            .encode("<html><meta http-equiv='content-type' content='text/html; charset=windows-1251'><p>Мир</p>");
        let extraction = read(&bytes, &ExtractLimits::default()).unwrap();
        assert_eq!(extraction.text, "Мир");
    }
}
