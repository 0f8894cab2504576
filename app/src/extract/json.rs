//! JSON and JSON lines as `path: value` lines in the order of the document.
//!
//! The records of a list of objects, and the lines of JSON lines, become blocks with a row number each. Where a field is
//! asked for, it alone is the text of its record.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::decode::decode_as;
use super::options::given;
use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, ReadOptions, SpanPlace, TextBuilder};

/// Reads `bytes` as JSON or JSON lines. What is neither, but is not cut off either, stays source text with a note.
pub(super) fn read(bytes: &[u8], options: &ReadOptions, limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    let decoded = decode_as(bytes, options)?;
    let source = decoded.text.trim_start_matches('\u{feff}');
    let mut built = TextBuilder::new(limits);
    built.coverage.notes.extend(decoded.note);
    let parsed = parse(source);
    if let Some(field) = given(options.json_field.as_ref()) {
        let document = parsed.map_err(|err| ExtractError::damaged("JSON", format!("it has no records: {err}")))?;
        push_field(&mut built, &document.records(field), field)?;
        return built.finish(DocumentKind::Json);
    }
    match parsed {
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

impl Document {
    /// What holds the texts: the lines, the items of the list, the object itself where it has `field`, else the first
    /// list in it whose items have it.
    fn records(&self, field: &str) -> Vec<&Node> {
        let has_field = |items: &&Vec<Node>| items.iter().any(|item| item.field(field).is_some());
        match self {
            Self::Lines(records) | Self::One(Node::List(records)) => records.iter().collect(),
            Self::One(node) if node.field(field).is_some() => vec![node],
            Self::One(node) => match node.lists().find(has_field) {
                Some(items) => items.iter().collect(),
                None => vec![node],
            },
        }
    }
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

    /// The lists among the values of an object.
    fn lists(&self) -> impl Iterator<Item = &Vec<Self>> {
        let entries = if let Self::Map(entries) = self { entries.as_slice() } else { &[] };
        entries.iter().filter_map(|(_, value)| if let Self::List(items) = value { Some(items) } else { None })
    }

    /// The value of a field: of that name, or at the end of a path with dots.
    fn field(&self, name: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        let of = |wanted: &str| entries.iter().find(|(key, _)| key == wanted).map(|(_, value)| value);
        of(name).or_else(|| name.split_once('.').and_then(|(first, rest)| of(first)?.field(rest)))
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

/// Names of fields that an error lists.
const MOST_NAMED: usize = 8;

/// Writes the field of each record that has it, with the record's number.
fn push_field(built: &mut TextBuilder, records: &[&Node], field: &str) -> Result<(), ExtractError> {
    let mut without = 0;
    for (row, record) in records.iter().enumerate() {
        let Some(value) = record.field(field) else {
            without += 1;
            continue;
        };
        built.break_paragraph();
        let start = built.len();
        push_node(built, &mut String::new(), value)?;
        built.mark(start, SpanPlace::Row(row as u32 + 1));
    }
    if without == records.len() {
        return Err(ExtractError::nothing_selected(no_field(records, field)));
    }
    if without > 0 {
        built.note(format!("{without} of {} records have no field {field:?} and were left out.", records.len()));
    }
    Ok(())
}

fn no_field(records: &[&Node], field: &str) -> String {
    let named = records.iter().find_map(|record| match record {
        Node::Map(entries) => Some(entries.iter().take(MOST_NAMED).map(|(key, _)| key.as_str()).collect::<Vec<_>>()),
        Node::Scalar(_) | Node::List(_) => None,
    });
    match named {
        Some(keys) => format!("no record has a field {field:?}; the first one has {}", keys.join(", ")),
        None => format!("no record has a field {field:?}: the file holds no objects"),
    }
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
        read(source.as_bytes(), &ReadOptions::default(), &ExtractLimits::default()).unwrap()
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
    fn the_field_asked_for_is_the_text_of_each_record() {
        let read_field = |source: &str, field: &str| {
            let options = ReadOptions { json_field: Some(field.to_owned()), ..ReadOptions::default() };
            read(source.as_bytes(), &options, &ExtractLimits::default())
        };
        let lines = "{\"id\": 1, \"body\": \"one\\ntwo\"}\n{\"id\": 2}\n{\"id\": 3, \"body\": \"three\"}\n";
        let list = r#"[{"id": 1, "body": "one\ntwo"}, {"id": 2}, {"id": 3, "body": "three"}]"#;
        let wrapped = format!("{{\"count\": 3, \"items\": {list}}}");
        for source in [lines, list, &wrapped] {
            let extraction = read_field(source, "body").unwrap();
            assert_eq!(extraction.text, "one\ntwo\n\nthree", "{source}");
            assert_eq!(extraction.place(10..12).rows, Some((3, 3)));
            assert!(extraction.coverage.notes[0].contains("1 of 3 records"));
        }
        assert_eq!(read_field(r#"{"a": {"b": "deep"}}"#, "a.b").unwrap().text, "deep");
        let err = read_field(list, "text").unwrap_err().to_string();
        assert!(err.contains("\"text\"") && err.contains("id, body"), "{err}");
        assert!(matches!(read_field("no json", "body"), Err(ExtractError::Damaged { .. })));
    }

    #[test]
    fn a_cut_off_file_is_damaged() {
        let result = read(br#"{"a": [1, 2"#, &ReadOptions::default(), &ExtractLimits::default());
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
