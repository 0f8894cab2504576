//! Where source code may be cut: the lines on which functions, members and blocks begin, by their depth.

use tree_sitter::{Node, Parser, TreeCursor};

use super::Language;
use crate::chunk::breaks::Places;
use crate::chunk::graphemes::Graphemes;

/// Deeper blocks are cut at their lines.
const MOST_LEVELS: usize = 6;

/// Places by depth, the outermost first; `None` where the text cannot be parsed.
pub(super) fn levels(text: &str, language: Language, graphemes: &Graphemes) -> Option<Vec<Places>> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    let tree = parser.parse(text, None)?;
    let mut walk = Walk { text, graphemes, levels: vec![Places::new(); MOST_LEVELS] };
    walk.siblings(&mut tree.walk(), 0, None);
    for places in &mut walk.levels {
        places.sort_unstable();
        places.dedup();
    }
    walk.levels.retain(|places| !places.is_empty());
    (!walk.levels.is_empty()).then_some(walk.levels)
}

struct Walk<'a> {
    text: &'a str,
    graphemes: &'a Graphemes,
    levels: Vec<Places>,
}

impl Walk<'_> {
    /// Goes over the children of the cursor's node, which stand at `depth` inside the item that begins at `outer`. The recursion is as deep as the levels
    /// and the nodes that begin no line between them, which is bounded by [`MOST_NESTED`].
    fn siblings(&mut self, cursor: &mut TreeCursor<'_>, depth: usize, outer: Option<usize>) {
        if depth >= MOST_LEVELS || cursor.depth() > MOST_NESTED || !cursor.goto_first_child() {
            return;
        }
        // Comments and attributes belong to what follows them: the place is where the first of them begins.
        let mut is_led = false;
        loop {
            let node = cursor.node();
            // A block is what its statements are in, and a statement may be no more than the expression in it.
            let is_item =
                node.is_named() && !is_wrapper(node) && outer != Some(node.start_byte()) && self.begins_line(node);
            if is_item && !is_led {
                self.add(node.start_byte(), depth);
            }
            let leads = is_lead(node) && follows_at_once(node);
            is_led = leads && (is_item || is_led);
            if node.end_position().row > node.start_position().row {
                let inner = if is_item { Some(node.start_byte()) } else { outer };
                self.siblings(cursor, depth + usize::from(is_item), inner);
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
        cursor.goto_parent();
    }

    fn add(&mut self, byte: usize, depth: usize) {
        if byte < self.text.len() && self.graphemes.is_boundary(byte) {
            self.levels[depth].push(byte);
        }
    }

    /// Whether nothing but white space stands before it on its line.
    fn begins_line(&self, node: Node<'_>) -> bool {
        let (start, column) = (node.start_byte(), node.start_position().column);
        let indent = self.text.get(start.saturating_sub(column)..start).filter(|_| column <= DEEPEST_INDENT);
        indent.is_some_and(|indent| indent.bytes().all(|byte| byte.is_ascii_whitespace()))
    }
}

/// Bytes of white space that a line may begin with, so that lines of a megabyte cost nothing.
const DEEPEST_INDENT: usize = 400;

/// Nodes inside each other that are followed; hostile text nests without end.
const MOST_NESTED: u32 = 200;

/// Whether a node only holds others together: the braces of a body, the indented lines under a colon.
fn is_wrapper(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.contains("block") || kind.ends_with("body") || kind.ends_with("list") || kind == "compound_statement"
}

/// Whether a node says something about the one that follows it.
fn is_lead(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.contains("comment") || kind.contains("attribute") || kind.contains("decorator") || kind.contains("annotation")
}

/// Whether the next node begins on the line after its last, at the latest. A line comment may end with its line end.
fn follows_at_once(node: Node<'_>) -> bool {
    node.next_sibling().is_some_and(|next| next.start_position().row <= node.end_position().row + 1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    fn lines_of(text: &str, language: Language) -> Vec<Vec<&str>> {
        let levels = levels(text, language, &Graphemes::new(text)).unwrap();
        let line = |&place: &usize| text[place..].lines().next().unwrap_or_default();
        levels.iter().map(|places| places.iter().map(line).collect()).collect()
    }

    #[test]
    fn functions_come_before_their_blocks_and_take_their_comments_along() {
        let text = "use a::b;\n\n/// Adds.\n#[inline]\nfn add() {\n    let x = 1;\n    if x > 0 {\n        go();\n    }\n}\n\nfn \
                    next() {}\n";
        let lines = lines_of(text, Language::Rust);
        assert_eq!(lines[0], ["use a::b;", "/// Adds.", "fn next() {}"]);
        assert_eq!(lines[1], ["let x = 1;", "if x > 0 {"]);
        assert_eq!(lines[2], ["go();"]);
    }

    #[test]
    fn methods_are_one_level_below_their_class() {
        let text = "import os\n\nclass Pump:\n    def start(self):\n        return 1\n\n    def stop(self):\n        return 0\n";
        let lines = lines_of(text, Language::Python);
        assert_eq!(lines[0], ["import os", "class Pump:"]);
        assert!(lines[1].contains(&"def start(self):") && lines[1].contains(&"def stop(self):"), "{lines:?}");
    }

    #[test]
    fn deep_nesting_ends() {
        let text = "{\n".repeat(5_000);
        let levels = levels(&text, Language::JavaScript, &Graphemes::new(&text));
        assert!(levels.is_none_or(|levels| levels.len() <= MOST_LEVELS));
    }
}
