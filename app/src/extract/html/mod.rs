//! HTML: what a reader would see, with headings as sections and table rows as lines.
//!
//! The tree is walked without recursion: documents nest as deep as they like.

mod table;
mod walker;

use std::collections::HashSet;

use ego_tree::{NodeId, NodeRef};
use html5ever::tendril::TendrilSink;
use scraper::{Html, HtmlTreeSink, Node};

use super::decode::decode_declared;
use super::options::{given, selector};
use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, Metadata, ReadOptions, TextBuilder, properties};
use walker::{Walker, visible_text};

/// Bytes of source between two looks at the depth.
const PIECE_BYTES: usize = 4096;
/// Elements inside each other; browsers stop at 512.
const DEEPEST_ELEMENT: usize = 4000;
/// Elements without content, which HTML closes itself.
const VOID_ELEMENTS: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];

/// Reads `bytes` as HTML.
pub(super) fn read(bytes: &[u8], options: &ReadOptions, limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    let decoded = decode_declared(bytes, options, named_encoding(bytes).as_deref())?;
    let mut built = TextBuilder::new(limits);
    built.coverage.notes.extend(decoded.note);
    let is_xhtml = decoded.text.trim_start().starts_with("<?xml");
    let source = if is_xhtml { expand_empty_elements(&decoded.text).into() } else { decoded.text };
    let html = parse(&source)?;
    let (mut built, title) = append_selected(built, &html, given(options.html_selector.as_ref()))?;
    built.title = title;
    add_metadata(&mut built.metadata, html.tree.root());
    built.finish(DocumentKind::Html)
}

/// Adds what a reader would see of `source` to `built`; gives it back with the title of the source.
///
/// # Errors
/// The text would be over the budget, or elements are nested absurdly deep.
pub(super) fn append(built: TextBuilder, source: &str) -> Result<(TextBuilder, Option<String>), ExtractError> {
    append_selected(built, &parse(source)?, None)
}

/// As [`append`], but for what the elements that `selected` names hold, where it names any.
fn append_selected(
    built: TextBuilder,
    html: &Html,
    selected: Option<&str>,
) -> Result<(TextBuilder, Option<String>), ExtractError> {
    let root = html.tree.root();
    let mut walker = Walker::new(layout_tables(root), built);
    match selected {
        None => walker.walk(root)?,
        Some(text) => {
            for element in select(html, text)? {
                walker.walk(element)?;
            }
        }
    }
    let (built, headings) = walker.finish();
    Ok((built, document_title(root).or_else(|| headings.into_iter().next())))
}

/// The elements that a selector matches, in order, without those inside others of them.
fn select<'h>(html: &'h Html, text: &str) -> Result<Vec<NodeRef<'h, Node>>, ExtractError> {
    let selector = selector(text).map_err(|err| ExtractError::nothing_selected(err.to_string()))?;
    let mut chosen = HashSet::new();
    let mut outermost = Vec::new();
    for element in html.select(&selector) {
        chosen.insert(element.id());
        if !element.ancestors().any(|above| chosen.contains(&above.id())) {
            outermost.push(*element);
        }
    }
    if outermost.is_empty() {
        let detail = format!("no element of the page matches the selector {text:?}");
        return Err(ExtractError::nothing_selected(detail));
    }
    Ok(outermost)
}

/// XHTML may close an element in its opening tag, `<title/>`; to HTML that is an open one, and the rest of the page
/// its content. Gives such elements an end tag, but for those that HTML closes itself.
pub(super) fn expand_empty_elements(source: &str) -> String {
    let mut expanded = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("/>") {
        let (before, after) = rest.split_at(at);
        expanded.push_str(before);
        let tag = before.rfind('<').map_or("", |open| &before[open + 1..]);
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
        if name.is_empty() || VOID_ELEMENTS.contains(&name.as_str()) || tag.contains('>') {
            expanded.push_str("/>");
        } else {
            expanded.push_str(&format!("></{name}>"));
        }
        rest = &after[2..];
    }
    expanded.push_str(rest);
    expanded
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

/// What the page says of itself in its head.
fn add_metadata(metadata: &mut Metadata, root: NodeRef<'_, Node>) {
    let elements = root.descendants().filter_map(|node| node.value().as_element());
    for element in elements {
        match element.name() {
            "html" => metadata.add("language", element.attr("lang").unwrap_or_default()),
            "meta" => {
                let name = element.attr("name").or_else(|| element.attr("property")).unwrap_or_default();
                properties::add(metadata, name, element.attr("content").unwrap_or_default(), "published");
            }
            _ => {}
        }
    }
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
        read(html.as_bytes(), &ReadOptions::default(), &ExtractLimits::default()).unwrap()
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
    fn elements_that_xhtml_closes_at_once_swallow_nothing() {
        let extraction = read_text(
            "<?xml version='1.0'?><html><head><title/><script src='a.js' /></head><body><a id='x'/><p>seen<br/>too</p></body>",
        );
        assert_eq!(extraction.text, "seen\ntoo");
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
        let result = read(nested(500_000).as_bytes(), &ReadOptions::default(), &ExtractLimits::default());
        assert!(matches!(result, Err(ExtractError::OverBudget { .. })));
    }

    #[test]
    fn only_what_the_selector_matches_is_read() {
        let page = "<title>T</title><nav>menu</nav><main class=a><h1>One</h1><p>a</p><main class=a>b</main></main>\
                    <aside>ad</aside><main class=b>c</main><main class=a>d</main>";
        let selected = |selector: &str| {
            let options = ReadOptions { html_selector: Some(selector.to_owned()), ..ReadOptions::default() };
            read(page.as_bytes(), &options, &ExtractLimits::default())
        };
        let extraction = selected("main.a").unwrap();
        assert_eq!(extraction.text, "One\n\na\n\nb\n\nd");
        assert_eq!(extraction.title.as_deref(), Some("T"));
        assert_eq!(extraction.place(5..6).heading, ["One"]);
        let nothing = selected("article").unwrap_err().to_string();
        assert!(nothing.contains("no element") && nothing.contains("article"), "{nothing}");
    }

    #[test]
    fn the_named_encoding_is_used() {
        let (bytes, _, _) = encoding_rs::WINDOWS_1251
            .encode("<html><meta http-equiv='content-type' content='text/html; charset=windows-1251'><p>Мир</p>");
        let extraction = read(&bytes, &ReadOptions::default(), &ExtractLimits::default()).unwrap();
        assert_eq!(extraction.text, "Мир");
    }
}
