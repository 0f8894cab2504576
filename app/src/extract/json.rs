//! JSON and JSON lines as `path: value` lines in the order of the document.
//!
//! The records of a list of objects, and the lines of JSON lines, become blocks with a row number each.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::decode::decode;
use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, SpanPlace, TextBuilder};

/// Reads `bytes` as JSON or JSON lines. What is neither, but is not cut off either, stays source text with a note.
pub(super) fn read(bytes: &[u8], limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    let decoded = decode(bytes)?;
    let source = decoded.text.trim_start_matches('\u{feff}');
    let mut built = TextBuilder::new(limits);
    built.coverage.notes.extend(decoded.note);
    match parse(source) {
        Ok(Document::One(Node::List(items))) if items.iter().all(Node::is_container) => {
            push_records(&mut built, &items)?;
        }
        Ok(Document::One(node)) => push_node(&mut built, &mut String::new(), &node)?,
        Ok(Document::Lines(records)) => push_records(&mut built, &records)?,
        Err(err) if err.is_eof() && !source.trim().is_empty() => {
            return Err(ExtractError::damaged("JSON", format!("it is cut off: {err}")));
        }
        Err(err) => {
            built.note(format!("This is not valid JSON ({err}), so its source text was kept."));
            built.push(source)?;
        }
    }
    built.finish(DocumentKind::Json)
}

enum Document {
    One(Node),
    Lines(Vec<Node>),
}

fn parse(source: &str) -> Result<Document, serde_json::Error> {
    let whole = serde_json::from_str(source).map(Document::One);
    whole.or_else(|err| parse_lines(source).map(Document::Lines).ok_or(err))
}

/// One value a line, at least two of them.
fn parse_lines(source: &str) -> Option<Vec<Node>> {
    let lines = source.lines().filter(|line| !line.trim().is_empty());
    let records: Option<Vec<Node>> = lines.map(|line| serde_json::from_str(line).ok()).collect();
    records.filter(|records| records.len() > 1)
}

/// A value with the order of its keys. `serde_json` refuses more than 128 levels, so recursion is bounded.
enum Node {
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    fn is_container(&self) -> bool {
        !matches!(self, Self::Scalar(_))
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar("null".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Node::Map(map))
    }
}

fn push_records(built: &mut TextBuilder, records: &[Node]) -> Result<(), ExtractError> {
    for (row, record) in records.iter().enumerate() {
        built.break_paragraph();
        let start = built.len();
        push_node(built, &mut String::new(), record)?;
        built.mark(start, SpanPlace::Row(row as u32 + 1));
    }
    Ok(())
}

/// Writes every scalar under `node` as a line; `path` is the way to it and is given back unchanged.
fn push_node(built: &mut TextBuilder, path: &mut String, node: &Node) -> Result<(), ExtractError> {
    let path_bytes = path.len();
    match node {
        Node::Scalar(value) => push_line(built, path, value)?,
        Node::List(items) if !items.iter().any(Node::is_container) => {
            push_line(built, path, &join_scalars(items))?;
        }
        Node::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                push_node(built, path, item)?;
                path.truncate(path_bytes);
            }
        }
        Node::Map(entries) => {
            for (key, value) in entries {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
                push_node(built, path, value)?;
                path.truncate(path_bytes);
            }
        }
    }
    Ok(())
}

fn join_scalars(items: &[Node]) -> String {
    let values = items.iter().filter_map(|item| match item {
        Node::Scalar(value) => Some(value.as_str()),
        Node::List(_) | Node::Map(_) => None,
    });
    values.collect::<Vec<_>>().join(", ")
}

fn push_line(built: &mut TextBuilder, path: &str, value: &str) -> Result<(), ExtractError> {
    if value.trim().is_empty() {
        return Ok(());
    }
    if !path.is_empty() {
        built.push(path)?;
        built.push(": ")?;
    }
    built.push(value)?;
    built.push("\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    fn read_text(source: &str) -> Extraction {
        read(source.as_bytes(), &ExtractLimits::default()).unwrap()
    }

    #[test]
    fn scalars_keep_their_order_and_their_path() {
        let source = r#"{"z": 1, "a": {"list": [1, 2.5, "x"], "objects": [{"k": true}, {"k": null}]}}"#;
        assert_eq!(read_text(source).text, "z: 1\na.list: 1, 2.5, x\na.objects[0].k: true\na.objects[1].k: null");
    }

    #[test]
    fn records_of_a_list_and_of_json_lines_are_rows() {
        let expected = "id: 1\nname: one\n\nid: 2\nname: two";
        for source in [
            r#"[{"id": 1, "name": "one"}, {"id": 2, "name": "two"}]"#,
            "{\"id\": 1, \"name\": \"one\"}\r\n\n{\"id\": 2, \"name\": \"two\"}\n",
        ] {
            let extraction = read_text(source);
            assert_eq!(extraction.text, expected);
            assert_eq!(extraction.place(20..22).rows, Some((2, 2)));
        }
    }

    #[test]
    fn a_cut_off_file_is_damaged() {
        let result = read(br#"{"a": [1, 2"#, &ExtractLimits::default());
        assert!(matches!(result, Err(ExtractError::Damaged { .. })), "{result:?}");
    }

    #[test]
    fn comments_leave_the_source_text_with_a_note() {
        let source = "{\n  // words\n  \"a\": 1\n}";
        let extraction = read_text(source);
        assert_eq!(extraction.text, source);
        assert!(extraction.coverage.notes[0].contains("line 2"));
    }

    #[test]
    fn deep_nesting_is_kept_as_source_text() {
        let source = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        let extraction = read_text(&source);
        assert_eq!(extraction.text.len(), source.len());
        assert!(extraction.coverage.notes[0].contains("recursion limit"));
    }
}
